/* rsyscall_fuse/rfs_renew.c - renews a session with a restarted server: opens the files again.
 *
 * Design note: when a shadow dies, the job loses only descriptors and locks.  So each open file is
 * opened by its name, on the condition that it is the same file (device, inode and birth time,
 * because inode numbers are soon used again).  Then the locks are taken again, and only then do
 * waiting requests continue.  If one of these steps fails, the session is over, and the job returns
 * to its last checkpoint, because otherwise it would continue with wrong files.
 *
 * For requests without an answer, nobody knows whether they were done.  Most may be done twice.
 * Making or removing a name may not; but if that succeeds the second time, it was not done before,
 * and if it fails, nobody can tell.  An append is judged by the file's length, which only that one
 * write can have changed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"
#include "rsyscall_fuse/rfs_private.h"

#define HOW_KEPT                                                                                  \
    (RSYS_OPEN_READ | RSYS_OPEN_WRITE | RSYS_OPEN_APPEND | RSYS_OPEN_DIRECTORY | RSYS_OPEN_PATH | \
     RSYS_OPEN_SYNC)
#define FALLOC_MOVES (0x08U | 0x20U) /* COLLAPSE_RANGE and INSERT_RANGE: they move data */

/* An open file, or a lock, that is renewed. */
struct again {
    struct rfs_call call;
    struct rfs_renewal *renewal;
    struct rfs_open *open; /* holds a reference; NULL: a lock */
    char *path;
    uint64_t handle_before; /* its handle before the renewal, set when the new one is used */
    struct rsys_attr attr;  /* attributes at the renewed server */
};

struct rfs_renewal {
    struct rfs *fs;
    struct vec agains; /* struct again, for open files */
    size_t left;
    struct again lock_call;
    struct rfs_lock *lock;
    int code;
    char why[400];
};

static void again_free(void *item)
{
    struct again *again = item;
    rfs_open_unref(again->open);
    mem_free(again->path);
    mem_free(again);
}

void rfs_renewal_destroy(struct rfs_renewal *renewal)
{
    if (renewal != NULL) {
        vec_fini(&renewal->agains, again_free);
        mem_free(renewal);
    }
}

/* path: the file, which is the subject of why; NULL: why is a whole sentence. */
static void fail_renewal(struct rfs_renewal *renewal, int code, const char *path, const char *why)
{
    bool named = path != NULL;
    if (renewal->code == 0) {
        renewal->code = code;
        (void)snprintf(renewal->why, sizeof renewal->why,
                       "the server was restarted, and %s%.200s%s%s", named ? "/" : "",
                       named ? path : "", named ? " " : "", why);
    }
}

/* All is renewed: the new handles are used from now on, and the link asks, with the event
 * `again`, about each held call. */
static void finish_renewal(struct rfs_renewal *renewal)
{
    struct rfs *fs = renewal->fs;
    for (size_t i = 0; i < renewal->agains.count; i++) {
        struct again *again = renewal->agains.items[i];
        again->handle_before = again->open->handle;
        again->open->handle = again->open->handle_next;
    }
    rfs_link_renewed(fs->link, renewal->code, renewal->why);
    fs->renewal = NULL;
    rfs_renewal_destroy(renewal);
}

/* ---- locks ----------------------------------------------------------------------------------- */

static void next_lock(struct rfs_renewal *renewal);

static void lock_answered(struct rfs_call *call, const struct rsys_reply *reply)
{
    struct rfs_renewal *renewal = ((struct again *)call)->renewal;
    if (reply->status != 0) {
        fail_renewal(renewal, -ESTALE, NULL,
                     "another process has locked a file that the job had locked");
        finish_renewal(renewal);
    } else {
        next_lock(renewal);
    }
}

static void next_lock(struct rfs_renewal *renewal)
{
    renewal->lock = rfs_lock_again(renewal->fs, renewal->lock, &renewal->lock_call.call);
    if (renewal->lock == NULL) {
        finish_renewal(renewal);
    }
}

/* Fails the renewal when a locked file was changed: another process may have had the lock
 * meanwhile. */
static void judge_locked(struct rfs_renewal *renewal, const struct again *again)
{
    const struct rfs_node *node = again->open->node;
    if (rfs_locks_are_on(renewal->fs, node) && node->writes == NULL && node->cached.mode != 0 &&
        !rfs_same_contents(&node->cached, &again->attr)) {
        fail_renewal(renewal, -ESTALE, again->path,
                     "was changed while the job's lock was not held");
    }
}

/* ---- open files ------------------------------------------------------------------------------ */

static void all_open(struct rfs_renewal *renewal)
{
    struct rfs *fs = renewal->fs;
    for (size_t i = 0; i < renewal->agains.count && renewal->code == 0; i++) {
        judge_locked(renewal, renewal->agains.items[i]);
    }
    if (fs->locks_unknown) {
        fail_renewal(renewal, -ESTALE, NULL, "the job has too many locks to take them again");
    }
    if (renewal->code != 0) {
        finish_renewal(renewal);
        return;
    }
    next_lock(renewal);
}

static void open_answered(struct rfs_call *call, const struct rsys_reply *reply)
{
    struct again *again = (struct again *)call;
    struct rfs_renewal *renewal = again->renewal;
    if (reply->status < 0) {
        bool other = reply->status == -ESTALE || reply->status == -ENOENT ||
                     reply->status == -ENOTDIR || reply->status == -ELOOP;
        fail_renewal(renewal, reply->status, again->path,
                     other ? "is no longer the file that the job has open"
                           : err_code_text(reply->status));
    }
    again->open->handle_next = reply->handle;
    again->attr = reply->attr;
    if (--renewal->left == 0) {
        all_open(renewal);
    }
}

static void open_again(struct rfs_renewal *renewal, struct rfs_open *open)
{
    struct rfs *fs = renewal->fs;
    struct again *again = mem_zalloc(sizeof(*again));
    struct rsys_request *request = &again->call.request;
    again->renewal = renewal;
    again->open = open;
    rfs_open_ref(open);
    vec_push(&renewal->agains, again);
    int code = rfs_node_at(open->node, NULL, fs->path, &request->at);
    if (code != 0) {
        fail_renewal(renewal, code, NULL, "a file that the job has open has no name any more");
        return;
    }
    again->path = mem_strndup(fs->path, request->at.path.length);
    request->at.path.data = again->path;
    request->op = RSYS_OPEN;
    request->how = open->how & HOW_KEPT;
    if (!rfs_node_is_view(open->node) && request->at.path.length > 0) {
        request->how |= RSYS_OPEN_SAME;
        request->attr.dev = open->node->dev;
        request->attr.ino = open->node->ino;
        request->birth = open->birth;
    }
    again->call.renews = true;
    again->call.done = open_answered;
}

void rfs_renew(struct rfs *fs)
{
    struct rfs_renewal *renewal = mem_zalloc(sizeof(*renewal));
    struct rfs_open *open;
    renewal->fs = fs;
    renewal->lock_call.renewal = renewal;
    renewal->lock_call.call.renews = true;
    renewal->lock_call.call.done = lock_answered;
    fs->renewal = renewal;
    LIST_FOREACH(open, &fs->opens, any)
    {
        if (!open->made_up) {
            open_again(renewal, open);
        }
    }
    renewal->left = renewal->agains.count;
    if (renewal->code != 0 || renewal->left == 0) {
        all_open(renewal);
        return;
    }
    for (size_t i = 0; i < renewal->agains.count; i++) {
        struct again *again = renewal->agains.items[i];
        rfs_link_submit(fs->link, &again->call);
    }
}

/* ---- requests without an answer -------------------------------------------------------------- */

/* Finds the open file by its old handle; NULL: none. */
static const struct again *find_open(const struct rfs_renewal *renewal, uint64_t handle)
{
    for (size_t i = 0; i < renewal->agains.count; i++) {
        const struct again *again = renewal->agains.items[i];
        if (again->handle_before == handle) {
            return again;
        }
    }
    return NULL;
}

/* Decides whether an append was done, by the file's size.  At most one append of a file is under
 * way. */
static enum rfs_again judge_append(struct rfs *fs, const struct again *again,
                                   const struct rsys_request *request)
{
    struct rfs_node *node = again->open->node;
    if (node->attr.mode == 0) {
        return RFS_UNKNOWN;
    }
    if (again->attr.size == node->attr.size) {
        return RFS_AGAIN;
    }
    if (again->attr.size != node->attr.size + request->data_length) {
        return RFS_UNKNOWN;
    }
    rfs_attr_ours(fs, node, &again->attr);
    return RFS_WAS_DONE;
}

static enum rfs_again judge_request(struct rfs *fs, const struct again *again,
                                    const struct rsys_request *request)
{
    switch (request->op) {
    case RSYS_WRITE:
        return (again->open->how & RSYS_OPEN_APPEND) != 0 ? judge_append(fs, again, request)
                                                          : RFS_AGAIN;
    case RSYS_OPEN:
        return (request->how & RSYS_OPEN_EXCL) != 0 ? RFS_AGAIN_IN_DOUBT : RFS_AGAIN;
    case RSYS_MKDIR:
    case RSYS_MKNOD:
    case RSYS_SYMLINK:
    case RSYS_LINK:
    case RSYS_UNLINK:
    case RSYS_RMDIR:
        return RFS_AGAIN_IN_DOUBT;
    case RSYS_RENAME:
        return (request->how & RSYS_RENAME_EXCHANGE) != 0 ? RFS_UNKNOWN : RFS_AGAIN_IN_DOUBT;
    case RSYS_FALLOCATE:
        return (request->how & FALLOC_MOVES) != 0 ? RFS_UNKNOWN : RFS_AGAIN;
    case RSYS_CANCEL: /* of a slot of the session that is gone */
        return RFS_DROPPED;
    default:
        return RFS_AGAIN;
    }
}

/* Replaces an old handle by the new one.  False: the file was not open any more. */
static bool put_right(const struct rfs_renewal *renewal, uint64_t *handle, const struct again **ret)
{
    if (*handle < RSYS_ROOTS_MAX) {
        return true;
    }
    *ret = find_open(renewal, *handle);
    if (*ret != NULL) {
        *handle = (*ret)->open->handle;
    }
    return *ret != NULL;
}

enum rfs_again rfs_judge_again(struct rfs *fs, struct rfs_call *call, bool was_sent)
{
    struct rsys_request *request = &call->request;
    const struct again *at = NULL, *to = NULL;
    if (!put_right(fs->renewal, &request->at.handle, &at) ||
        !put_right(fs->renewal, &request->to.handle, &to)) {
        return request->op == RSYS_CLOSE ? RFS_DROPPED : RFS_UNKNOWN;
    }
    return was_sent                     ? judge_request(fs, at, request)
           : request->op == RSYS_CANCEL ? RFS_DROPPED
                                        : RFS_AGAIN;
}
