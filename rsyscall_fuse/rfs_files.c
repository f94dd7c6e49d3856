/* rsyscall_fuse/rfs_files.c - files: opened, closed, flushed, and operations on whole files.
 *
 * Design note: the job's view of a file is brought up to date when it is opened (close-to-open
 * consistency).  The file is opened by its name, on the condition that it is still the same file;
 * if not, the kernel gets -ESTALE and looks the name up again.  The attributes in the reply tell
 * whether the contents that the kernel has cached are still those of the server: equal to what was
 * last seen, or to the result of our own writes.  If not, the kernel drops the contents, and is
 * told to ask for the attributes again.  This notice touches no page of the file, so it cannot wait
 * for an answer that we have not given yet.
 *
 * Source for O_*: open(2) of Linux on x86-64; the kernel passes these flags on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "base/loop.h"
#include "base/mem.h"
#include "rsyscall_fuse/rfs_private.h"

#define FLAG_WRONLY  01U
#define FLAG_RDWR    02U
#define FLAG_ACCMODE 03U
#define FLAG_EXCL    0200U
#define FLAG_TRUNC   01000U
#define FLAG_APPEND  02000U
/* in one request, so that others get the server's time, too */
#define COPY_BYTES_MAX ((uint64_t)64 << 20)

/* ---- open files ------------------------------------------------------------------------------ */

struct rfs_open *rfs_open_create(struct rfs *fs, struct rfs_node *node,
                                 const struct rsys_reply *reply, uint32_t how)
{
    struct rfs_open *open = mem_zalloc(sizeof(*open));
    open->fs = fs;
    open->node = node;
    open->made_up = reply == NULL;
    open->handle = reply != NULL ? reply->handle : 0;
    open->birth = reply != NULL ? reply->birth : 0;
    open->how = how;
    open->refs = 1;
    rfs_node_ref(node);
    LIST_INSERT_HEAD(&node->opens, open, entry);
    LIST_INSERT_HEAD(&fs->opens, open, any);
    return open;
}

static void close_answered(struct rfs_call *call, const struct rsys_reply *reply)
{
    (void)reply; /* there is nobody to tell */
    mem_free(call);
}

static void rfs_close_handle(struct rfs *fs, uint64_t handle)
{
    if (!fs->ending) {
        struct rfs_call *call = mem_zalloc(sizeof(*call));
        call->request.op = RSYS_CLOSE;
        call->request.at.handle = handle;
        call->done = close_answered;
        rfs_link_submit(fs->link, call);
    }
}

void rfs_open_ref(struct rfs_open *open)
{
    open->refs++;
}

void rfs_open_unref(struct rfs_open *open)
{
    if (open == NULL || --open->refs > 0) {
        return;
    }
    LIST_REMOVE(open, entry);
    LIST_REMOVE(open, any);
    rfs_ahead_destroy(open->ahead);
    rfs_listing_destroy(open->listing);
    rfs_locks_of_open_over(open->fs, open);
    if (!open->made_up) {
        rfs_close_handle(open->fs, open->handle);
    }
    rfs_node_unref(open->fs->nodes, open->node);
    mem_free(open);
}

/* ---- OPEN ------------------------------------------------------------------------------------ */

static uint32_t how_of(uint32_t flags)
{
    uint32_t how = (flags & FLAG_ACCMODE) == FLAG_WRONLY ? RSYS_OPEN_WRITE
                   : (flags & FLAG_ACCMODE) == FLAG_RDWR ? RSYS_OPEN_READ | RSYS_OPEN_WRITE
                                                         : RSYS_OPEN_READ;
    how |= (flags & FLAG_APPEND) != 0 ? RSYS_OPEN_APPEND : 0;
    how |= (flags & FLAG_TRUNC) != 0 ? RSYS_OPEN_TRUNC : 0;
    return how;
}

/* Tells the kernel that its cached attributes of the node are not valid any more. */
static void notify_changed(struct rfs *fs, const struct rfs_node *node)
{
    struct fuse_out_header header = {.error = FUSE_NOTIFY_INVAL_INODE};
    struct fuse_notify_inval_inode_out notice = {.ino = rfs_node_number(fs->nodes, node),
                                                 .off = -1};
    struct rfs_part parts[2] = {{&header, sizeof(header)}, {&notice, sizeof(notice)}};
    header.len = sizeof(header) + sizeof(notice);
    (void)fs->device.answer(fs->device.arg, parts, 2); /* it may have forgotten the file */
}

/* Decides by the attributes in the reply to OPEN whether the kernel's contents are still valid.
 * Returns FOPEN_* flags. */
static uint32_t opened_contents(struct rfs_op *op, struct rfs_node *node,
                                const struct rsys_reply *reply, bool notify)
{
    struct rfs *fs = op->fs;
    struct rsys_attr attr = reply->attr;
    uint64_t valid_ms;
    bool kept = node->cached.mode != 0 && rfs_same_contents(&node->cached, &attr);
    bool known = node->attr.mode != 0 && rfs_same_contents(&node->attr, &attr);
    if ((op->call.request.how & RSYS_OPEN_TRUNC) != 0) {
        kept = false;
    }
    if (!kept) {
        node->version++;
    }
    node->cached = attr;
    rfs_attr_seen(fs, node, &attr, op->began, &valid_ms);
    if (!known && notify) {
        notify_changed(fs, node);
    }
    return kept || reply->value == 1 ? FOPEN_KEEP_CACHE : 0;
}

static void open_answered(struct rfs_call *call, const struct rsys_reply *reply)
{
    struct rfs_op *op = (struct rfs_op *)call;
    if (reply->status == -ENOENT || reply->status == -ENOTDIR || reply->status == -ELOOP) {
        rfs_op_refuse(op, -ESTALE); /* the name is another's: the kernel looks anew */
        return;
    }
    if (rfs_op_failed(op, reply)) {
        return;
    }
    struct rfs_open *open = rfs_open_create(op->fs, op->node, reply, op->call.request.how);
    struct fuse_open_out out = {.fh = (uint64_t)(uintptr_t)open,
                                .open_flags = opened_contents(op, op->node, reply, true)};
    if (rfs_op_answer(op, &out, sizeof(out)) != 0) {
        rfs_open_unref(open);
    }
    rfs_op_end(op);
}

static void open_go(struct rfs_op *op)
{
    struct rsys_request *request = &op->call.request;
    op->began = ++op->fs->clock;
    if (rfs_op_at(op, NULL) == 0) {
        if (request->at.path.length > 0) {
            request->how |= RSYS_OPEN_SAME;
            request->attr.dev = op->node->dev;
            request->attr.ino = op->node->ino;
        }
        rfs_op_send(op, open_answered);
    }
}

void rfs_open_file(struct rfs_in *in)
{
    const struct fuse_open_in *arg = RFS_IN(in, fuse_open_in);
    if (arg != NULL) {
        struct rfs_op *op = rfs_op_create(in, RSYS_OPEN);
        op->call.request.how = how_of(arg->flags);
        rfs_when_written(op, open_go);
    }
}

/* ---- CREATE, TMPFILE ------------------------------------------------------------------------- */

static void create_answered(struct rfs_call *call, const struct rsys_reply *reply)
{
    struct rfs_op *op = (struct rfs_op *)call;
    struct rfs *fs = op->fs;
    if (rfs_op_failed(op, reply)) {
        return;
    }
    struct rsys_attr attr = reply->attr;
    struct rfs_node *node = op->name != NULL
                                ? rfs_nodes_found(fs->nodes, op->node, op->name, &attr)
                                : rfs_nodes_nameless(fs->nodes, op->node->space, &attr);
    struct {
        struct fuse_entry_out entry;
        struct fuse_open_out open;
    } out = {.open = {.open_flags = opened_contents(op, node, reply, false)}};
    rfs_fill_entry(fs, node, &attr, op->began, &out.entry);
    struct rfs_open *open = rfs_open_create(fs, node, reply, op->call.request.how);
    out.open.fh = (uint64_t)(uintptr_t)open;
    if (rfs_op_answer(op, &out, sizeof(out)) != 0) {
        rfs_open_unref(open);
        rfs_node_forget(fs->nodes, node, 1);
    }
    rfs_op_end(op);
}

void rfs_create_file(struct rfs_in *in)
{
    const struct fuse_create_in *arg = RFS_IN(in, fuse_create_in);
    const char *name = arg != NULL ? rfs_in_name(in, sizeof(*arg)) : NULL;
    if (name == NULL) {
        return;
    }
    bool nameless = in->header->opcode == FUSE_TMPFILE;
    struct rfs_op *op = rfs_op_create(in, RSYS_OPEN);
    struct rsys_request *request = &op->call.request;
    request->mode = arg->mode;
    request->how = how_of(arg->flags) | (nameless ? RSYS_OPEN_TMPFILE : RSYS_OPEN_CREATE);
    request->how |= !nameless && (arg->flags & FLAG_EXCL) != 0 ? RSYS_OPEN_EXCL : 0;
    if (in->node->space == RFS_NO_ROOT) {
        rfs_op_refuse(op, -EROFS);
    } else if (!nameless && rfs_view_below(in->node, name) != NULL) {
        rfs_op_refuse(op, -EEXIST);
    } else {
        op->name = nameless ? NULL : mem_strdup(name);
        if (rfs_op_at(op, op->name) == 0) {
            rfs_op_send(op, create_answered);
        }
    }
}

/* ---- the end of an open file ----------------------------------------------------------------- */

void rfs_release(struct rfs_in *in)
{
    const struct fuse_release_in *arg = RFS_IN(in, fuse_release_in);
    if (arg != NULL) {
        (void)rfs_answer(in->fs, in->header->unique, NULL, 0);
        rfs_open_unref((struct rfs_open *)(uintptr_t)arg->fh);
    }
}

/* Refuses the op with the error of an earlier write, which was answered before it was sent.
 * Returns 0 when there is none. */
static int tell_write_error(struct rfs_op *op)
{
    int code = op->open->write_error;
    op->open->write_error = 0;
    if (code != 0) {
        rfs_op_refuse(op, code);
    }
    return code;
}

static void flush_answered(struct rfs_call *call, const struct rsys_reply *reply)
{
    const struct rfs_op *op = (const struct rfs_op *)call;
    if (reply->status == 0) {
        rfs_locks_of_owner_over(op->fs, op->node, call->request.owner);
    }
    rfs_done_plain(call, reply);
}

static void flush_go(struct rfs_op *op)
{
    if (tell_write_error(op) != 0) {
        return;
    }
    if (op->open->locked) {
        op->call.request.at.handle = op->open->handle;
        rfs_op_send(op, flush_answered);
    } else {
        (void)rfs_op_answer(op, NULL, 0);
        rfs_op_end(op);
    }
}

void rfs_flush(struct rfs_in *in)
{
    const struct fuse_flush_in *arg = RFS_IN(in, fuse_flush_in);
    if (arg != NULL) {
        struct rfs_op *op = rfs_op_create(in, RSYS_FLUSH);
        rfs_op_hold_open(op, arg->fh);
        op->call.request.owner = arg->lock_owner;
        rfs_when_written(op, flush_go);
    }
}

static void fsync_go(struct rfs_op *op)
{
    if (tell_write_error(op) != 0) {
        return;
    }
    if (op->open->made_up) {
        (void)rfs_op_answer(op, NULL, 0);
        rfs_op_end(op);
    } else {
        op->call.request.at.handle = op->open->handle;
        rfs_op_send(op, rfs_done_plain);
    }
}

void rfs_fsync(struct rfs_in *in)
{
    const struct fuse_fsync_in *arg = RFS_IN(in, fuse_fsync_in);
    if (arg != NULL) {
        struct rfs_op *op = rfs_op_create(in, RSYS_FSYNC);
        rfs_op_hold_open(op, arg->fh);
        op->call.request.how = (arg->fsync_flags & FUSE_FSYNC_FDATASYNC) != 0 ? RSYS_SYNC_DATA : 0;
        /* Who takes a checkpoint of the job asks this of its root: the image is to be of a moment
         * that the server has seen. */
        bool all = in->header->opcode == FUSE_FSYNCDIR && in->header->nodeid == FUSE_ROOT_ID;
        if (all) {
            rfs_when_all_written(op, fsync_go);
        } else {
            rfs_when_written(op, fsync_go);
        }
    }
}

/* ---- a whole file ---------------------------------------------------------------------------- */

static void fallocate_answered(struct rfs_call *call, const struct rsys_reply *reply)
{
    struct rfs_op *op = (struct rfs_op *)call;
    if (reply->status == 0) {
        op->node->version++;
        rfs_attr_ours(op->fs, op->node, &reply->attr);
    }
    rfs_done_plain(call, reply);
}

static void fallocate_go(struct rfs_op *op)
{
    op->call.request.at.handle = op->open->handle;
    rfs_op_send(op, fallocate_answered);
}

void rfs_fallocate(struct rfs_in *in)
{
    const struct fuse_fallocate_in *arg = RFS_IN(in, fuse_fallocate_in);
    if (arg != NULL) {
        struct rfs_op *op = rfs_op_create(in, RSYS_FALLOCATE);
        rfs_op_hold_open(op, arg->fh);
        op->call.request.offset = arg->offset;
        op->call.request.length = arg->length;
        op->call.request.how = arg->mode;
        rfs_when_written(op, fallocate_go);
    }
}

static void seek_answered(struct rfs_call *call, const struct rsys_reply *reply)
{
    struct rfs_op *op = (struct rfs_op *)call;
    if (!rfs_op_failed(op, reply)) {
        struct fuse_lseek_out out = {.offset = reply->value};
        (void)rfs_op_answer(op, &out, sizeof(out));
        rfs_op_end(op);
    }
}

static void lseek_go(struct rfs_op *op)
{
    op->call.request.at.handle = op->open->handle;
    rfs_op_send(op, seek_answered);
}

void rfs_lseek(struct rfs_in *in)
{
    const struct fuse_lseek_in *arg = RFS_IN(in, fuse_lseek_in);
    if (arg != NULL) {
        struct rfs_op *op = rfs_op_create(in, RSYS_SEEK);
        rfs_op_hold_open(op, arg->fh);
        op->call.request.offset = arg->offset;
        op->call.request.how = arg->whence; /* SEEK_DATA, SEEK_HOLE: the same numbers */
        rfs_when_written(op, lseek_go);
    }
}

static void copy_answered(struct rfs_call *call, const struct rsys_reply *reply)
{
    struct rfs_op *op = (struct rfs_op *)call;
    op->node->version++;
    if (!rfs_op_failed(op, reply)) {
        struct fuse_write_out out = {.size = (uint32_t)reply->value};
        (void)rfs_op_answer(op, &out, sizeof(out));
        rfs_op_end(op);
    }
}

static void copy_go(struct rfs_op *op)
{
    op->call.request.at.handle = op->open->handle;
    op->call.request.to.handle = op->open_to->handle;
    rfs_op_send(op, copy_answered);
}

/* Continues a copy when the writes to the source are done: now those to the target, which becomes
 * the op's node. */
static void copy_source_written(struct rfs_op *op)
{
    struct rfs_node *source = op->node;
    op->node = op->node_to;
    op->node_to = source;
    rfs_when_written(op, copy_go);
}

void rfs_copy(struct rfs_in *in)
{
    const struct fuse_copy_file_range_in *arg = RFS_IN(in, fuse_copy_file_range_in);
    if (arg == NULL) {
        return;
    }
    struct rfs_op *op = rfs_op_create(in, RSYS_COPY);
    struct rsys_request *request = &op->call.request;
    struct rfs_open *to = (struct rfs_open *)(uintptr_t)arg->fh_out;
    rfs_op_hold_open(op, arg->fh_in); /* the kernel holds both until it is answered */
    op->node_to = to->node;
    rfs_node_ref(op->node_to);
    op->open_to = to;
    request->offset = arg->off_in;
    request->offset_to = arg->off_out;
    request->length = arg->len < COPY_BYTES_MAX ? arg->len : COPY_BYTES_MAX;
    if ((to->how & RSYS_OPEN_APPEND) != 0) {
        rfs_op_refuse(op, -EBADF); /* as copy_file_range(2) has it */
        return;
    }
    rfs_when_written(op, copy_source_written);
}
