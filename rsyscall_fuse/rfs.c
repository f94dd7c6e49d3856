/* rsyscall_fuse/rfs.c - requests of the kernel: decoded, answered, interrupted.
 *
 * Design note: a table names the handler of each operation.  A handler answers at once, or makes a
 * struct rfs_op, which lives until the server has answered.  The kernel is trusted.  Its requests
 * are checked for completeness only so that another kernel version cannot lead us astray.
 *
 * A signal does not end a request, because programs do not expect EINTR from a file.  But a thread
 * that is being killed must not hang because the network is cut, and the kernel reports only the
 * first signal.  So the threads of interrupted requests are looked at each second until the
 * requests are answered.
 *
 * Source: <linux/fuse.h>, and fs/fuse of the kernel for what is documented nowhere else.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rsyscall_fuse/rfs.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "rsyscall_fuse/rfs_private.h"

#define INTERRUPT_LOOK_MS 1000
#define KERNELS_NAME_MAX  1024 /* most bytes of a name in a request */
#define KEPT_BYTES        ((size_t)4 << 20)
#define BACKGROUND_MAX    64 /* most reads ahead that the kernel has under way */

/* ---- answers --------------------------------------------------------------------------------- */

int rfs_answer2(struct rfs *fs, uint64_t unique, const void *data, size_t length, const void *more,
                size_t more_length)
{
    struct fuse_out_header header = {.len = (uint32_t)(sizeof(header) + length + more_length),
                                     .unique = unique};
    struct rfs_part parts[3] = {{&header, sizeof(header)}, {data, length}, {more, more_length}};
    return fs->device.answer(fs->device.arg, parts, 3);
}

int rfs_answer(struct rfs *fs, uint64_t unique, const void *data, size_t length)
{
    return rfs_answer2(fs, unique, data, length, NULL, 0);
}

void rfs_refuse(struct rfs *fs, uint64_t unique, int code)
{
    struct fuse_out_header header = {.len = sizeof(header), .error = code, .unique = unique};
    struct rfs_part part = {&header, sizeof(header)};
    /* Who does not wait any more does not miss it. */
    (void)fs->device.answer(fs->device.arg, &part, 1);
}

const void *rfs_in_arg(const struct rfs_in *in, size_t size)
{
    if (in->length < size) {
        rfs_refuse(in->fs, in->header->unique, -EIO);
        return NULL;
    }
    return in->arg;
}

const char *rfs_in_name(const struct rfs_in *in, size_t at)
{
    const char *name = (const char *)in->arg + at;
    if (at >= in->length || memchr(name, 0, in->length - at) == NULL) {
        rfs_refuse(in->fs, in->header->unique, -EIO);
        return NULL;
    }
    return name;
}

/* ---- ops ------------------------------------------------------------------------------------- */

struct rfs_op *rfs_op_create(const struct rfs_in *in, uint16_t rsys_op)
{
    struct rfs_op *op = mem_zalloc(sizeof(*op));
    op->fs = in->fs;
    op->unique = in->header->unique;
    op->opcode = in->header->opcode;
    op->thread = in->header->pid;
    op->node = in->node;
    op->began = ++in->fs->clock;
    op->call.request.op = rsys_op;
    rfs_node_ref(op->node);
    LIST_INSERT_HEAD(&in->fs->ops, op, entry);
    return op;
}

void rfs_op_end(struct rfs_op *op)
{
    struct rfs *fs = op->fs;
    LIST_REMOVE(op, entry);
    rfs_open_unref(op->open);
    rfs_node_unref(fs->nodes, op->node);
    rfs_node_unref(fs->nodes, op->node_to);
    mem_free(op->name);
    mem_free(op->name_to);
    mem_free(op->path);
    mem_free(op->path_to);
    mem_free(op->block);
    mem_free(op);
}

void rfs_op_refuse(struct rfs_op *op, int code)
{
    if (!op->answered) {
        rfs_refuse(op->fs, op->unique, code);
    }
    rfs_op_end(op);
}

int rfs_op_answer(struct rfs_op *op, const void *data, size_t length)
{
    return op->answered ? -ENOENT : rfs_answer(op->fs, op->unique, data, length);
}

void rfs_op_hold_open(struct rfs_op *op, uint64_t fh)
{
    op->open = (struct rfs_open *)(uintptr_t)fh;
    rfs_open_ref(op->open);
}

/* Returns an open file of the node, to ask the server about a node without a name; one for writing
 * if wanted and there is one. */
static struct rfs_open *any_open(const struct rfs_node *node, bool for_writing)
{
    struct rfs_open *open;
    LIST_FOREACH(open, &node->opens, entry)
    {
        if (!open->made_up && (!for_writing || (open->how & RSYS_OPEN_WRITE) != 0)) {
            return open;
        }
    }
    return for_writing ? any_open(node, false) : NULL;
}

int rfs_op_at(struct rfs_op *op, const char *name)
{
    struct rsys_at *at = &op->call.request.at;
    struct rfs_open *open = op->open;
    int code = name == NULL && open != NULL && !open->made_up
                   ? -ESTALE
                   : rfs_node_at(op->node, name, op->fs->path, at);
    if (code == -ESTALE) {
        bool for_writing = op->call.request.op == RSYS_SETATTR;
        open = open != NULL && !open->made_up ? open : any_open(op->node, for_writing);
        if (open != NULL) {
            op->path = mem_strdup(name != NULL ? name : "");
            *at = (struct rsys_at){.handle = open->handle,
                                   .path = {op->path, (uint16_t)strlen(op->path)}};
            if (op->open == NULL) {
                op->open = open; /* it stays open for as long as that */
                rfs_open_ref(open);
            }
            return 0;
        }
        code = name != NULL ? -ENOENT : code; /* in a directory that was removed */
    }
    if (code != 0) {
        rfs_op_refuse(op, code);
        return code;
    }
    op->path = mem_strndup(op->fs->path, at->path.length);
    at->path.data = op->path;
    return 0;
}

int rfs_op_to(struct rfs_op *op, struct rfs_node *parent, const char *name)
{
    struct rsys_at *to = &op->call.request.to;
    int code = rfs_node_at(parent, name, op->fs->path_to, to);
    if (code != 0) {
        rfs_op_refuse(op, code);
        return code;
    }
    op->path_to = mem_strndup(op->fs->path_to, to->path.length);
    to->path.data = op->path_to;
    return 0;
}

void rfs_op_send(struct rfs_op *op, rfs_call_f done)
{
    op->call.done = done;
    rfs_link_submit(op->fs->link, &op->call);
}

bool rfs_op_failed(struct rfs_op *op, const struct rsys_reply *reply)
{
    if (reply->status >= 0) {
        return false;
    }
    int code = reply->status;
    if (code == -ELOOP) {
        code = -ESTALE; /* a directory of the way has become a link: the kernel goes it anew */
    } else if (code == -EXDEV && op->call.request.op != RSYS_RENAME &&
               op->call.request.op != RSYS_LINK) {
        code = -EACCES; /* not what the server offers */
    }
    rfs_op_refuse(op, code);
    return true;
}

void rfs_done_plain(struct rfs_call *call, const struct rsys_reply *reply)
{
    struct rfs_op *op = (struct rfs_op *)call;
    if (!rfs_op_failed(op, reply)) {
        (void)rfs_op_answer(op, NULL, 0);
        rfs_op_end(op);
    }
}

/* ---- interrupts ------------------------------------------------------------------------------ */

static void look_at_interrupted(void *arg)
{
    struct rfs *fs = arg;
    struct rfs_op *op;
    bool left = false;
    LIST_FOREACH(op, &fs->ops, entry)
    {
        if (!op->interrupted || op->answered) {
            continue;
        }
        if (fs->device.is_killed(fs->device.arg, op->thread)) {
            rfs_refuse(fs, op->unique, -EINTR);
            op->answered = true;
        } else {
            left = true;
        }
    }
    if (left) {
        loop_timer_set(fs->interrupt_timer, INTERRUPT_LOOK_MS);
    }
}

static void rfs_interrupt(struct rfs_in *in)
{
    const struct fuse_interrupt_in *arg = RFS_IN(in, fuse_interrupt_in);
    struct rfs_op *op;
    if (arg == NULL) {
        return;
    }
    LIST_FOREACH(op, &in->fs->ops, entry)
    {
        if (op->unique == arg->unique) {
            op->interrupted = true;
            rfs_lock_interrupt(op);
            if (!loop_timer_is_set(in->fs->interrupt_timer)) {
                loop_timer_set(in->fs->interrupt_timer, INTERRUPT_LOOK_MS);
            }
            return;
        }
    }
}

/* ---- the rest -------------------------------------------------------------------------------- */

static void rfs_init(struct rfs_in *in)
{
    const struct fuse_init_in *arg = RFS_IN(in, fuse_init_in);
    if (arg == NULL) {
        return;
    }
    const uint32_t WANTED = FUSE_ASYNC_READ | FUSE_POSIX_LOCKS | FUSE_FLOCK_LOCKS |
                            FUSE_ATOMIC_O_TRUNC | FUSE_BIG_WRITES | FUSE_DO_READDIRPLUS |
                            FUSE_READDIRPLUS_AUTO | FUSE_PARALLEL_DIROPS | FUSE_HANDLE_KILLPRIV |
                            FUSE_MAX_PAGES | FUSE_CACHE_SYMLINKS | FUSE_ABORT_ERROR;
    struct fuse_init_out out = {
        .major = FUSE_KERNEL_VERSION,
        .minor = arg->minor < FUSE_KERNEL_MINOR_VERSION ? arg->minor : FUSE_KERNEL_MINOR_VERSION,
        .max_readahead = arg->max_readahead,
        .flags = arg->flags & WANTED,
        .max_background = BACKGROUND_MAX,
        .congestion_threshold = BACKGROUND_MAX * 3 / 4,
        .max_write = RFS_WRITE_MAX,
        .time_gran = 1,
        .max_pages = RFS_WRITE_MAX / 4096,
    };
    if (arg->major != FUSE_KERNEL_VERSION) { /* it then asks again with ours, or gives up */
        out = (struct fuse_init_out){.major = FUSE_KERNEL_VERSION,
                                     .minor = FUSE_KERNEL_MINOR_VERSION};
    }
    (void)rfs_answer(in->fs, in->header->unique, &out, sizeof(out));
}

static void rfs_forget(struct rfs_in *in)
{
    const struct fuse_forget_in *arg =
        in->length >= sizeof(*arg) ? (const struct fuse_forget_in *)in->arg : NULL;
    if (arg != NULL) {
        rfs_node_forget(in->fs->nodes, in->node, arg->nlookup);
    }
}

static void rfs_batch_forget(struct rfs_in *in)
{
    const struct fuse_batch_forget_in *arg = in->arg;
    const struct fuse_forget_one *each = (const struct fuse_forget_one *)(arg + 1);
    if (in->length < sizeof(*arg) || (in->length - sizeof(*arg)) / sizeof(*each) < arg->count) {
        return;
    }
    for (uint32_t i = 0; i < arg->count; i++) {
        rfs_node_forget(in->fs->nodes, rfs_node_of(in->fs->nodes, each[i].nodeid), each[i].nlookup);
    }
}

/* Answers the kernel's goodbye; there is nothing else to do. */
static void rfs_bye(struct rfs_in *in)
{
    (void)rfs_answer(in->fs, in->header->unique, NULL, 0);
}

struct handler {
    void (*call)(struct rfs_in *in);
    bool no_node; /* the request's node number is missing or may be unknown */
};

/* An operation that is not in this table is answered -ENOSYS; the kernel then does without it and
 * does not ask again. */
static const struct handler HANDLERS[] = {
    [FUSE_LOOKUP] = {rfs_lookup, false},
    [FUSE_FORGET] = {rfs_forget, false},
    [FUSE_GETATTR] = {rfs_getattr, false},
    [FUSE_SETATTR] = {rfs_setattr, false},
    [FUSE_READLINK] = {rfs_readlink, false},
    [FUSE_SYMLINK] = {rfs_symlink, false},
    [FUSE_MKNOD] = {rfs_mknod, false},
    [FUSE_MKDIR] = {rfs_mkdir, false},
    [FUSE_UNLINK] = {rfs_unlink, false},
    [FUSE_RMDIR] = {rfs_unlink, false},
    [FUSE_RENAME] = {rfs_rename, false},
    [FUSE_RENAME2] = {rfs_rename, false},
    [FUSE_LINK] = {rfs_hard_link, false},
    [FUSE_OPEN] = {rfs_open_file, false},
    [FUSE_CREATE] = {rfs_create_file, false},
    [FUSE_TMPFILE] = {rfs_create_file, false},
    [FUSE_READ] = {rfs_read, false},
    [FUSE_WRITE] = {rfs_write, false},
    [FUSE_STATFS] = {rfs_statfs, false},
    [FUSE_RELEASE] = {rfs_release, false},
    [FUSE_RELEASEDIR] = {rfs_release, false},
    [FUSE_FSYNC] = {rfs_fsync, false},
    [FUSE_FSYNCDIR] = {rfs_fsync, false},
    [FUSE_FLUSH] = {rfs_flush, false},
    [FUSE_INIT] = {rfs_init, true},
    [FUSE_OPENDIR] = {rfs_opendir, false},
    [FUSE_READDIR] = {rfs_readdir, false},
    [FUSE_READDIRPLUS] = {rfs_readdir, false},
    [FUSE_GETLK] = {rfs_getlk, false},
    [FUSE_SETLK] = {rfs_setlk, false},
    [FUSE_SETLKW] = {rfs_setlk, false},
    [FUSE_ACCESS] = {rfs_access, false},
    [FUSE_INTERRUPT] = {rfs_interrupt, true},
    [FUSE_IOCTL] = {rfs_ioctl, false},
    [FUSE_DESTROY] = {rfs_bye, true},
    [FUSE_BATCH_FORGET] = {rfs_batch_forget, true},
    [FUSE_FALLOCATE] = {rfs_fallocate, false},
    [FUSE_LSEEK] = {rfs_lseek, false},
    [FUSE_COPY_FILE_RANGE] = {rfs_copy, false},
};

bool rfs_take(struct rfs *fs, unsigned char *request, size_t length)
{
    struct rfs_in in = {.fs = fs, .header = (const struct fuse_in_header *)request};
    if (length < sizeof(*in.header)) {
        return false;
    }
    in.arg = request + sizeof(*in.header);
    in.length = length - sizeof(*in.header);
    in.block = request;
    fs->stats.requests++;
    const struct handler *handler =
        in.header->opcode < ARRAY_COUNT(HANDLERS) ? &HANDLERS[in.header->opcode] : NULL;
    if (handler == NULL || handler->call == NULL) {
        rfs_refuse(fs, in.header->unique, -ENOSYS);
        return false;
    }
    if (!handler->no_node) {
        in.node = rfs_node_of(fs->nodes, in.header->nodeid);
    }
    handler->call(&in);
    return in.block == NULL;
}

/* ---- life ------------------------------------------------------------------------------------ */

static int add_roots(struct rfs *fs, const struct rsys_reply *hello, struct err *err)
{
    struct rsys_root root;
    size_t at = 0, count = 0;
    int code;
    while ((code = rsys_root_next(hello->data, hello->data_length, &at, &root)) == 1) {
        if (root.number >= RSYS_ROOTS_MAX ||
            rfs_nodes_add_root(fs->nodes, root.number, root.view.data, root.view.length, err) !=
                0) {
            return -EPROTO;
        }
        count++;
    }
    if (code < 0 || count == 0) {
        return err_set(err, -EPROTO, "the server names no root directory that it offers");
    }
    return 0;
}

int rfs_create(struct loop *loop, struct rfs_link *link, const struct rsys_reply *hello,
               const struct rfs_options *options, const struct rfs_device *device, struct rfs **ret,
               struct err *err)
{
    struct rfs *fs = mem_zalloc(sizeof(*fs));
    /* As in the server: blocks of contents, given back and wanted again, stay with us. */
    mem_free(mem_alloc(KEPT_BYTES));
    fs->loop = loop;
    fs->link = link;
    fs->options = *options;
    fs->device = *device;
    fs->nodes = rfs_nodes_create();
    fs->server_uid = hello->uid;
    fs->server_gid = hello->gid;
    TAILQ_INIT(&fs->settlers);
    LIST_INIT(&fs->ops);
    LIST_INIT(&fs->opens);
    LIST_INIT(&fs->locks);
    fs->interrupt_timer = loop_timer_create(loop, look_at_interrupted, fs);
    int code = add_roots(fs, hello, err);
    for (size_t i = 0; code == 0 && options->places != NULL && options->places[i] != NULL; i++) {
        code = rfs_nodes_add_place(fs->nodes, options->places[i], err);
    }
    if (code != 0) {
        rfs_destroy(fs);
        return code;
    }
    *ret = fs;
    return 0;
}

void rfs_destroy(struct rfs *fs)
{
    if (fs != NULL) {
        fs->ending = true; /* nothing is asked of the server any more */
        rfs_renewal_destroy(fs->renewal);
        while (!LIST_EMPTY(&fs->ops)) { /* they waited for the kernel */
            rfs_op_end(LIST_FIRST(&fs->ops));
        }
        while (!LIST_EMPTY(&fs->opens)) {
            struct rfs_open *open = LIST_FIRST(&fs->opens);
            open->refs = 1; /* the kernel's */
            rfs_open_unref(open);
        }
        loop_timer_destroy(fs->interrupt_timer);
        rfs_nodes_destroy(fs->nodes);
        mem_free(fs);
    }
}

bool rfs_all_is_written(const struct rfs *fs)
{
    return fs->dirty_bytes == 0;
}

void rfs_get_stats(const struct rfs *fs, struct rfs_stats *ret)
{
    *ret = fs->stats;
    ret->nodes = rfs_nodes_count(fs->nodes);
    ret->dirty_bytes = fs->dirty_bytes;
}
