/* rsyscall_fuse/rfs_locks.c - locks of ranges (fcntl) and of whole files (flock), at the server.
 *
 * A job that waits for a lock waits here: the server is asked again and again to wait for a while,
 * so that no slot is occupied for ever.  A signal ends the wait, as it does for a local file.
 *
 * Data that was written before a lock is released must be at the server when another process gets
 * the lock.  So the release waits for the writes.  And the process that gets a lock must see what
 * earlier owners of the lock wrote.  So the file's attributes are asked for, and if they have
 * changed, the kernel drops its copy of the contents before the lock is granted.
 *
 * The job's locks, and which of its processes has them, are known here.  Questions about them are
 * answered without the server, and a program that makes an image of the job gets all of them
 * (base/file_locks.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "base/file_locks.h"
#include "base/mem.h"
#include "rsyscall_fuse/rfs_private.h"

#define WAIT_MS   10000
#define LOCKS_MAX 4096 /* known locks; with more, a forgotten session cannot be renewed */
/* F_RDLCK, F_WRLCK and F_UNLCK of fcntl(2); the kernel passes them on */
#define KERNELS_RDLCK 0U
#define KERNELS_WRLCK 1U
#define KERNELS_UNLCK 2U

/* ---- the job's locks ------------------------------------------------------------------------- */

/* A lock that the job has.  It is kept so that it can be taken again at a server that was
 * restarted. */
struct rfs_lock {
    LIST_ENTRY(rfs_lock) entry;
    /* the open file by which the lock was taken; ends with it at the latest */
    struct rfs_open *open;
    uint64_t owner;
    uint64_t start, end; /* end: the last byte; UINT64_MAX: to the end of the file */
    uint32_t type;
    uint32_t process; /* process number, as the kernel numbers them for the file system */
    bool flock;
};

static void add_lock(struct rfs *fs, struct rfs_lock lock)
{
    if (fs->lock_count == LOCKS_MAX) {
        fs->locks_unknown = true;
        return;
    }
    struct rfs_lock *own = mem_dup(&lock, sizeof lock);
    LIST_INSERT_HEAD(&fs->locks, own, entry);
    fs->lock_count++;
}

static void drop_lock(struct rfs *fs, struct rfs_lock *lock)
{
    LIST_REMOVE(lock, entry);
    fs->lock_count--;
    mem_free(lock);
}

/* Removes the range from the known locks of the same owner: it is released, or about to be locked
 * in another way. */
static void take_out(struct rfs *fs, const struct rfs_lock *range)
{
    struct rfs_lock *next;
    for (struct rfs_lock *each = LIST_FIRST(&fs->locks); each != NULL; each = next) {
        next = LIST_NEXT(each, entry);
        if (each->owner != range->owner || each->flock != range->flock ||
            each->open->node != range->open->node || each->end < range->start ||
            each->start > range->end) {
            continue;
        }
        struct rfs_lock before = *each, behind = *each;
        drop_lock(fs, each);
        if (before.start < range->start) {
            before.end = range->start - 1;
            add_lock(fs, before);
        }
        if (behind.end > range->end) {
            behind.start = range->end + 1;
            add_lock(fs, behind);
        }
    }
}

static void note_lock(struct rfs_op *op)
{
    const struct rsys_request *request = &op->call.request;
    const struct rfs_lock lock = {.open = op->open,
                                  .owner = request->owner,
                                  .start = request->lock.start,
                                  .end = request->lock.length == 0
                                             ? UINT64_MAX
                                             : request->lock.start + request->lock.length - 1,
                                  .type = request->lock.type,
                                  .process = op->process,
                                  .flock = (request->how & RSYS_LOCK_FLOCK) != 0};
    take_out(op->fs, &lock);
    if (lock.type != RSYS_UNLOCKED) {
        add_lock(op->fs, lock);
    }
}

void rfs_locks_of_owner_over(struct rfs *fs, const struct rfs_node *node, uint64_t owner)
{
    struct rfs_lock *next;
    for (struct rfs_lock *each = LIST_FIRST(&fs->locks); each != NULL; each = next) {
        next = LIST_NEXT(each, entry);
        if (!each->flock && each->owner == owner && each->open->node == node) {
            drop_lock(fs, each);
        }
    }
}

void rfs_locks_of_open_over(struct rfs *fs, const struct rfs_open *open)
{
    struct rfs_lock *next;
    for (struct rfs_lock *each = LIST_FIRST(&fs->locks); each != NULL; each = next) {
        next = LIST_NEXT(each, entry);
        if (each->open == open) {
            drop_lock(fs, each);
        }
    }
}

bool rfs_locks_are_on(const struct rfs *fs, const struct rfs_node *node)
{
    const struct rfs_lock *each;
    LIST_FOREACH(each, &fs->locks, entry)
    {
        if (each->open->node == node) {
            return true;
        }
    }
    return false;
}

struct rfs_lock *rfs_lock_again(struct rfs *fs, struct rfs_lock *before, struct rfs_call *call)
{
    struct rfs_lock *lock = before != NULL ? LIST_NEXT(before, entry) : LIST_FIRST(&fs->locks);
    if (lock != NULL) {
        uint64_t length = lock->end == UINT64_MAX ? 0 : lock->end - lock->start + 1;
        call->request = (struct rsys_request){.op = RSYS_LOCK,
                                              .at = {.handle = lock->open->handle_next},
                                              .owner = lock->owner,
                                              .how = lock->flock ? RSYS_LOCK_FLOCK : 0,
                                              .lock = {.type = lock->type,
                                                       .start = lock->start,
                                                       .length = length}};
        rfs_link_submit(fs->link, call);
    }
    return lock;
}

/* ---- reporting locks ------------------------------------------------------------------------- */

static void tell_lock(const struct rfs_lock *lock, uint32_t process, struct file_locks_told *told)
{
    if (told->count < FILE_LOCKS_MAX) {
        told->locks[told->count] =
            (struct file_lock_told){.start = lock->start,
                                    .last = lock->end,
                                    .flags =
                                        (lock->type == RSYS_LOCK_WRITE ? FILE_LOCK_WRITES : 0) |
                                        (lock->flock ? FILE_LOCK_WHOLE : 0) |
                                        (lock->process == process ? FILE_LOCK_OWN : 0)};
    }
    told->count++;
}

void rfs_ioctl(struct rfs_in *in)
{
    const struct fuse_ioctl_in *arg = RFS_IN(in, fuse_ioctl_in);
    struct fuse_ioctl_out out = {.result = 0};
    struct file_locks_told told = {.count = 0};
    const struct rfs_lock *lock;
    if (arg == NULL) {
        return;
    }
    if (arg->cmd != FILE_LOCKS_ASK || arg->out_size < sizeof told) {
        rfs_refuse(in->fs, in->header->unique, -ENOTTY);
        return;
    }
    if (in->fs->locks_unknown) {
        rfs_refuse(in->fs, in->header->unique, -E2BIG);
        return;
    }
    LIST_FOREACH(lock, &in->fs->locks, entry)
    {
        if (lock->open == (const struct rfs_open *)(uintptr_t)arg->fh) {
            tell_lock(lock, in->header->pid, &told);
        }
    }
    (void)rfs_answer2(in->fs, in->header->unique, &out, sizeof out, &told, sizeof told);
}

/* Returns a lock of the job that conflicts with the request; NULL: none. */
static const struct rfs_lock *in_the_way(const struct rfs_op *op)
{
    const struct rsys_request *request = &op->call.request;
    uint64_t length = request->lock.length;
    uint64_t end = length == 0 ? UINT64_MAX : request->lock.start + length - 1;
    const struct rfs_lock *lock;
    LIST_FOREACH(lock, &op->fs->locks, entry)
    {
        if (!lock->flock && lock->open->node == op->node && lock->owner != request->owner &&
            lock->start <= end && lock->end >= request->lock.start &&
            (lock->type == RSYS_LOCK_WRITE || request->lock.type == RSYS_LOCK_WRITE)) {
            return lock;
        }
    }
    return NULL;
}

/* ---- asking for one -------------------------------------------------------------------------- */

static bool fill_request(struct rfs_op *op, const struct fuse_lk_in *arg)
{
    struct rsys_request *request = &op->call.request;
    request->owner = arg->owner;
    request->lock.start = arg->lk.start;
    request->lock.length = arg->lk.end >= INT64_MAX ? 0 : arg->lk.end - arg->lk.start + 1;
    request->lock.type = arg->lk.type == KERNELS_RDLCK   ? RSYS_LOCK_READ
                         : arg->lk.type == KERNELS_WRLCK ? RSYS_LOCK_WRITE
                                                         : RSYS_UNLOCKED;
    return arg->lk.type <= KERNELS_UNLCK && arg->lk.start <= INT64_MAX &&
           arg->lk.end >= arg->lk.start;
}

static void answer_get(struct rfs_op *op, uint32_t type, uint64_t start, uint64_t end, uint32_t pid)
{
    struct fuse_lk_out out = {.lk = {.start = start,
                                     .end = end > INT64_MAX ? INT64_MAX : end,
                                     .type = type == RSYS_LOCK_READ    ? KERNELS_RDLCK
                                             : type == RSYS_LOCK_WRITE ? KERNELS_WRLCK
                                                                       : KERNELS_UNLCK,
                                     .pid = pid}};
    (void)rfs_op_answer(op, &out, sizeof(out));
    rfs_op_end(op);
}

/* Answers a question about a conflicting lock of another machine, whose process has no number here:
 * 0. */
static void get_answered(struct rfs_call *call, const struct rsys_reply *reply)
{
    struct rfs_op *op = (struct rfs_op *)call;
    if (!rfs_op_failed(op, reply)) {
        const struct rsys_lock *lock = &reply->lock;
        uint64_t end = lock->length == 0 ? UINT64_MAX : lock->start + lock->length - 1;
        answer_get(op, lock->type, lock->start, end, 0);
    }
}

static void contents_dropped(void *arg)
{
    struct rfs_op *op = arg;
    (void)rfs_op_answer(op, NULL, 0);
    rfs_op_end(op);
}

/* After a lock was granted: if the file was changed meanwhile, the kernel's copy of its contents is
 * dropped. */
static void check_answered(struct rfs_call *call, const struct rsys_reply *reply)
{
    struct rfs_op *op = (struct rfs_op *)call;
    struct rfs_node *node = op->node;
    if (reply->status == 0 && rfs_same_contents(&node->cached, &reply->attr)) {
        contents_dropped(op);
        return;
    }
    if (reply->status == 0) {
        struct rsys_attr attr = reply->attr;
        uint64_t valid_ms;
        rfs_attr_seen(op->fs, node, &attr, op->began, &valid_ms);
        node->cached = reply->attr;
    } else {
        node->cached.mode = 0;
    }
    node->version++;
    op->fs->device.drop_contents(op->fs->device.arg, rfs_node_number(op->fs->nodes, node),
                                 contents_dropped, op);
}

static void set_answered(struct rfs_call *call, const struct rsys_reply *reply)
{
    struct rfs_op *op = (struct rfs_op *)call;
    bool waits = op->opcode == FUSE_SETLKW;
    if (waits && reply->status == -EAGAIN && !op->interrupted) {
        rfs_op_send(op, set_answered);
        return;
    }
    if (reply->status == 0) {
        note_lock(op);
    }
    if (reply->status == 0 && op->call.request.lock.type != RSYS_UNLOCKED) {
        op->open->locked = true;
        op->began = ++op->fs->clock;
        op->call.request.op = RSYS_STAT;
        rfs_op_send(op, check_answered);
        return;
    }
    if (waits && reply->status == -EAGAIN) {
        rfs_op_refuse(op, -EINTR);
        return;
    }
    rfs_done_plain(call, reply);
}

static void lock_go(struct rfs_op *op)
{
    bool gets = (op->call.request.how & RSYS_LOCK_GET) != 0;
    const struct rfs_lock *lock = gets ? in_the_way(op) : NULL;
    if (lock != NULL) {
        answer_get(op, lock->type, lock->start, lock->end, lock->process);
        return;
    }
    op->call.request.at.handle = op->open->handle;
    rfs_op_send(op, gets ? get_answered : set_answered);
}

static void request_lock(struct rfs_in *in, uint32_t how, uint32_t wait_ms)
{
    const struct fuse_lk_in *arg = RFS_IN(in, fuse_lk_in);
    if (arg == NULL) {
        return;
    }
    struct rfs_op *op = rfs_op_create(in, RSYS_LOCK);
    rfs_op_hold_open(op, arg->fh);
    op->process = arg->lk.pid;
    if (!fill_request(op, arg)) {
        rfs_op_refuse(op, -EINVAL);
        return;
    }
    op->call.request.how = how | ((arg->lk_flags & FUSE_LK_FLOCK) != 0 ? RSYS_LOCK_FLOCK : 0);
    op->call.request.wait_ms = arg->lk.type == KERNELS_UNLCK ? 0 : wait_ms;
    rfs_when_written(op, lock_go);
}

void rfs_getlk(struct rfs_in *in)
{
    request_lock(in, RSYS_LOCK_GET, 0);
}

void rfs_setlk(struct rfs_in *in)
{
    request_lock(in, 0, in->header->opcode == FUSE_SETLKW ? WAIT_MS : 0);
}

static void cancel_answered(struct rfs_call *call, const struct rsys_reply *reply)
{
    (void)reply; /* it is the lock that is answered */
    mem_free(call);
}

void rfs_lock_interrupt(struct rfs_op *op)
{
    if (op->opcode == FUSE_SETLKW && op->call.request.op == RSYS_LOCK && op->call.sent) {
        struct rfs_call *call = mem_zalloc(sizeof(*call));
        call->request.op = RSYS_CANCEL;
        call->request.slot_of = op->call.request.slot;
        call->request.seq_of = op->call.request.seq;
        call->done = cancel_answered;
        rfs_link_submit(op->fs->link, call);
    }
}
