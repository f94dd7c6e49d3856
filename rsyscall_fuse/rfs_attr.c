/* rsyscall_fuse/rfs_attr.c - attributes: how long they are valid, and which of them are shown.
 *
 * Design note: while writes are under way, the file's size in a reply of the server may be older
 * than the size that the kernel knows already, and the kernel would cut off the end of its copy.
 * So such attributes are corrected by the writes under way, and are valid for no time.  The job's
 * own stat() waits for the writes instead; only attributes that come along with names are
 * concerned.
 *
 * Other attributes are valid for a sixteenth of the time since the file's last change: a minute for
 * a file of /usr, a second for a log file.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "base/loop.h"
#include "base/mem.h"
#include "rsyscall_fuse/rfs_private.h"

#define MODE_MADE_UP    0040555U /* a directory that nobody may write to */
#define MODE_TYPE       0170000U
#define MODE_DIR        0040000U
#define MADE_UP_BLKSIZE 4096
#define AGE_PART        16
#define INO_MIX         0x9e3779b97f4a7c15ULL
#define ACCESS_READ     4U
#define ACCESS_EXECUTE  1U

bool rfs_same_contents(const struct rsys_attr *a, const struct rsys_attr *b)
{
    return a->mode == b->mode && a->size == b->size && a->mtime.s == b->mtime.s &&
           a->mtime.ns == b->mtime.ns && a->ctime.s == b->ctime.s && a->ctime.ns == b->ctime.ns;
}

void rfs_made_up_attr(const struct rfs_node *node, struct rsys_attr *ret)
{
    *ret = (struct rsys_attr){.mode = MODE_MADE_UP,
                              .nlink = 2,
                              .blksize = MADE_UP_BLKSIZE,
                              .dev = node->dev,
                              .ino = node->ino};
}

void rfs_fill_attr(struct rfs *fs, const struct rsys_attr *attr, struct fuse_attr *ret)
{
    if (fs->home_dev == 0) {
        fs->home_dev = attr->dev;
    }
    /* The job sees one device: numbers of another's files must not be the same by chance. */
    uint64_t other = attr->dev == fs->home_dev ? 0 : (attr->dev * INO_MIX) & ~(uint64_t)UINT32_MAX;
    *ret = (struct fuse_attr){
        .ino = attr->ino ^ other,
        .size = attr->size,
        .blocks = attr->blocks,
        .atime = (uint64_t)attr->atime.s,
        .mtime = (uint64_t)attr->mtime.s,
        .ctime = (uint64_t)attr->ctime.s,
        .atimensec = attr->atime.ns,
        .mtimensec = attr->mtime.ns,
        .ctimensec = attr->ctime.ns,
        .mode = attr->mode,
        .nlink = attr->nlink,
        .uid = fs->options.uid,
        .gid = fs->options.gid,
        .blksize = attr->blksize,
    };
}

uint64_t rfs_valid_ms(const struct rfs *fs, const struct rsys_attr *attr)
{
    int64_t changed_s = attr->mtime.s > attr->ctime.s ? attr->mtime.s : attr->ctime.s;
    int64_t age_s = loop_wall_s(fs->loop) - changed_s;
    uint64_t ms = age_s > 0 ? (uint64_t)age_s * 1000 / AGE_PART : 0;
    ms = ms > fs->options.attr_min_ms ? ms : fs->options.attr_min_ms;
    return ms < fs->options.attr_max_ms ? ms : fs->options.attr_max_ms;
}

void rfs_attr_seen(struct rfs *fs, struct rfs_node *node, struct rsys_attr *attr, uint64_t began,
                   uint64_t *valid_ms)
{
    uint64_t end = rfs_written_end(node);
    *valid_ms = rfs_valid_ms(fs, attr);
    if (end > 0 || node->acked_at > began) {
        attr->size = attr->size > node->attr.size ? attr->size : node->attr.size;
        attr->size = attr->size > end ? attr->size : end;
        *valid_ms = 0;
    }
    node->attr = *attr;
    node->attr_ms = loop_now_ms(fs->loop);
}

static bool is_older(const struct rsys_time *a, const struct rsys_time *b)
{
    return a->s != b->s ? a->s < b->s : a->ns < b->ns;
}

void rfs_attr_ours(struct rfs *fs, struct rfs_node *node, const struct rsys_attr *attr)
{
    if (node->attr.mode != 0 && is_older(&attr->ctime, &node->attr.ctime)) {
        return; /* answers come in any order */
    }
    if (node->cached.mode != 0) {
        node->cached = *attr;
    }
    node->attr = *attr;
    node->attr_ms = loop_now_ms(fs->loop);
}

static void answer_attr(struct rfs_op *op, const struct rsys_attr *attr, uint64_t valid_ms)
{
    struct fuse_attr_out out = {.attr_valid = valid_ms / 1000,
                                .attr_valid_nsec = (uint32_t)(valid_ms % 1000) * 1000000};
    rfs_fill_attr(op->fs, attr, &out.attr);
    (void)rfs_op_answer(op, &out, sizeof(out));
    rfs_op_end(op);
}

/* ---- GETATTR --------------------------------------------------------------------------------- */

static void answer_made_up(struct rfs_op *op)
{
    struct rsys_attr attr;
    rfs_made_up_attr(op->node, &attr);
    answer_attr(op, &attr, op->fs->options.attr_max_ms);
}

static void getattr_done(struct rfs_call *call, const struct rsys_reply *reply)
{
    struct rfs_op *op = (struct rfs_op *)call;
    struct rfs_node *node = op->node;
    uint64_t valid_ms;
    if (rfs_node_is_view(node) && node->view->root == RFS_NO_ROOT &&
        (reply->status < 0 || (reply->attr.mode & MODE_TYPE) != MODE_DIR)) {
        answer_made_up(op);
        return;
    }
    if (rfs_op_failed(op, reply)) {
        return;
    }
    if (!rfs_node_is_view(node) && (reply->attr.dev != node->dev || reply->attr.ino != node->ino)) {
        rfs_op_refuse(op, -ESTALE); /* another file has its name: the kernel looks anew */
        return;
    }
    struct rsys_attr attr = reply->attr;
    rfs_attr_seen(op->fs, node, &attr, op->began, &valid_ms);
    answer_attr(op, &attr, valid_ms);
}

static void getattr_go(struct rfs_op *op)
{
    op->began = ++op->fs->clock;
    if (rfs_op_at(op, NULL) == 0) {
        rfs_op_send(op, getattr_done);
    }
}

void rfs_getattr(struct rfs_in *in)
{
    const struct fuse_getattr_in *arg = RFS_IN(in, fuse_getattr_in);
    if (arg == NULL) {
        return;
    }
    struct rfs_op *op = rfs_op_create(in, RSYS_STAT);
    if (in->node->space == RFS_NO_ROOT) {
        answer_made_up(op);
        return;
    }
    if ((arg->getattr_flags & FUSE_GETATTR_FH) != 0) {
        rfs_op_hold_open(op, arg->fh);
    }
    rfs_when_written(op, getattr_go);
}

/* ---- SETATTR --------------------------------------------------------------------------------- */

static void setattr_done(struct rfs_call *call, const struct rsys_reply *reply)
{
    struct rfs_op *op = (struct rfs_op *)call;
    if (!rfs_op_failed(op, reply)) {
        op->node->version++;
        rfs_attr_ours(op->fs, op->node, &reply->attr);
        answer_attr(op, &reply->attr, rfs_valid_ms(op->fs, &reply->attr));
    }
}

static void setattr_go(struct rfs_op *op)
{
    op->began = ++op->fs->clock;
    if (rfs_op_at(op, NULL) == 0) {
        rfs_op_send(op, setattr_done);
    }
}

/* Translates the FATTR_* bits of the request to RSYS_SET_*.  False: the change is not allowed for
 * anybody. */
static bool setattr_how(const struct rfs *fs, const struct fuse_setattr_in *arg,
                        struct rsys_request *request)
{
    static const struct {
        uint32_t valid, how;
    } BITS[] = {
        {FATTR_MODE, RSYS_SET_MODE},           {FATTR_SIZE, RSYS_SET_SIZE},
        {FATTR_ATIME, RSYS_SET_ATIME},         {FATTR_MTIME, RSYS_SET_MTIME},
        {FATTR_ATIME_NOW, RSYS_SET_ATIME_NOW}, {FATTR_MTIME_NOW, RSYS_SET_MTIME_NOW},
    };
    for (size_t i = 0; i < sizeof(BITS) / sizeof(BITS[0]); i++) {
        request->how |= (arg->valid & BITS[i].valid) != 0 ? BITS[i].how : 0;
    }
    if ((request->how & RSYS_SET_ATIME_NOW) != 0) {
        request->how &= ~RSYS_SET_ATIME;
    }
    if ((request->how & RSYS_SET_MTIME_NOW) != 0) {
        request->how &= ~RSYS_SET_MTIME;
    }
    request->attr.mode = arg->mode;
    request->attr.size = arg->size;
    request->attr.atime = (struct rsys_time){(int64_t)arg->atime, arg->atimensec};
    request->attr.mtime = (struct rsys_time){(int64_t)arg->mtime, arg->mtimensec};
    /* All files look like the job's own already. */
    return ((arg->valid & FATTR_UID) == 0 || arg->uid == fs->options.uid) &&
           ((arg->valid & FATTR_GID) == 0 || arg->gid == fs->options.gid);
}

void rfs_setattr(struct rfs_in *in)
{
    const struct fuse_setattr_in *arg = RFS_IN(in, fuse_setattr_in);
    if (arg == NULL) {
        return;
    }
    struct rfs_op *op = rfs_op_create(in, RSYS_SETATTR);
    if (!setattr_how(in->fs, arg, &op->call.request)) {
        rfs_op_refuse(op, -EPERM);
        return;
    }
    if (in->node->space == RFS_NO_ROOT) {
        rfs_op_refuse(op, -EROFS);
        return;
    }
    if ((arg->valid & FATTR_FH) != 0) {
        rfs_op_hold_open(op, arg->fh);
    }
    rfs_when_written(op, setattr_go);
}

/* ---- ACCESS, STATFS -------------------------------------------------------------------------- */

/* True when access is certain, whichever groups the submitting user is in.  Otherwise the server is
 * asked. */
static bool is_allowed(const struct rfs *fs, const struct rfs_node *node, uint32_t mask)
{
    uint32_t mode = node->attr.mode;
    if (mask == 0) {
        return true;
    }
    if (mode == 0 || (mask & ~(ACCESS_READ | ACCESS_EXECUTE)) != 0 ||
        loop_now_ms(fs->loop) - node->attr_ms > rfs_valid_ms(fs, &node->attr)) {
        return false;
    }
    uint32_t allowed = node->attr.uid == fs->server_uid ? mode >> 6 : (mode >> 3) & mode;
    return (allowed & mask) == mask;
}

void rfs_access(struct rfs_in *in)
{
    const struct fuse_access_in *arg = RFS_IN(in, fuse_access_in);
    if (arg == NULL) {
        return;
    }
    if (is_allowed(in->fs, in->node, arg->mask)) {
        (void)rfs_answer(in->fs, in->header->unique, NULL, 0);
        return;
    }
    if (in->node->space == RFS_NO_ROOT) {
        bool writes = (arg->mask & ~(ACCESS_READ | ACCESS_EXECUTE)) != 0;
        rfs_refuse(in->fs, in->header->unique, writes ? -EROFS : 0);
        return;
    }
    struct rfs_op *op = rfs_op_create(in, RSYS_ACCESS);
    op->call.request.how = arg->mask;
    if (rfs_op_at(op, NULL) == 0) {
        rfs_op_send(op, rfs_done_plain);
    }
}

static void statfs_done(struct rfs_call *call, const struct rsys_reply *reply)
{
    struct rfs_op *op = (struct rfs_op *)call;
    if (rfs_op_failed(op, reply)) {
        return;
    }
    const struct rsys_statfs *from = &reply->statfs;
    struct fuse_statfs_out out = {.st = {.blocks = from->blocks,
                                         .bfree = from->bfree,
                                         .bavail = from->bavail,
                                         .files = from->files,
                                         .ffree = from->ffree,
                                         .bsize = from->frsize,
                                         .frsize = from->frsize,
                                         .namelen = from->namelen}};
    (void)rfs_op_answer(op, &out, sizeof(out));
    rfs_op_end(op);
}

void rfs_statfs(struct rfs_in *in)
{
    if (in->node->space == RFS_NO_ROOT) {
        struct fuse_statfs_out out = {
            .st = {.bsize = MADE_UP_BLKSIZE, .frsize = MADE_UP_BLKSIZE, .namelen = RSYS_NAME_MAX}};
        (void)rfs_answer(in->fs, in->header->unique, &out, sizeof(out));
        return;
    }
    struct rfs_op *op = rfs_op_create(in, RSYS_STATFS);
    if (rfs_op_at(op, NULL) == 0) {
        rfs_op_send(op, statfs_done);
    }
}
