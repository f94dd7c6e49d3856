/* rsyscall_fuse/rfs_private.h - declarations that the files of the file system share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RSYSCALL_FUSE_RFS_PRIVATE_H
#define RSYSCALL_FUSE_RFS_PRIVATE_H

#include <linux/fuse.h>
#include <sys/queue.h>

#include "rsyscall_fuse/rfs.h"
#include "rsyscall_fuse/rfs_link.h"
#include "rsyscall_fuse/rfs_nodes.h"

struct rfs_ahead;
struct rfs_listing;
struct rfs_lock;
struct rfs_op;
struct rfs_renewal;

struct rfs {
    struct loop *loop;
    struct rfs_link *link;
    struct rfs_options options;
    struct rfs_device device;
    struct rfs_nodes *nodes;
    uint32_t server_uid, server_gid;
    uint64_t home_dev; /* st_dev of the first file that was seen */
    uint64_t clock;    /* counts calls, and answers to writes, to tell which came first */
    uint64_t dirty_bytes;
    struct loop_timer *interrupt_timer;
    /* operations that wait until no data is on its way to the server */
    TAILQ_HEAD(, rfs_op) settlers;
    LIST_HEAD(, rfs_op) ops;
    LIST_HEAD(, rfs_open) opens;
    LIST_HEAD(, rfs_lock) locks; /* locks that the server granted */
    size_t lock_count;
    bool locks_unknown;          /* too many locks to remember them */
    struct rfs_renewal *renewal; /* see rfs_renew.c; NULL: no renewal of the session under way */
    struct rfs_stats stats;
    bool ending;
    char path[RSYS_PATH_MAX + 1], path_to[RSYS_PATH_MAX + 1];
};

/* An open file, held by the kernel until RELEASE and by operations under way; then it is closed at
 * the server. */
struct rfs_open {
    struct rfs *fs;
    struct rfs_node *node;
    LIST_ENTRY(rfs_open) entry; /* in the node's list */
    LIST_ENTRY(rfs_open) any;   /* in the list of all open files */
    /* handle at the server; handle_next: in the new session during a renewal */
    uint64_t handle, handle_next;
    uint64_t birth; /* birth time of the file from OPEN's reply; 0: not known */
    uint32_t how;   /* RSYS_OPEN_* */
    unsigned refs;
    bool made_up; /* a virtual directory, not on the server */
    bool locked;  /* an owner may have locks on it */
    int write_error;
    struct rfs_ahead *ahead;     /* rfs_reads.c */
    struct rfs_listing *listing; /* rfs_dirs.c */
};

/* A request of the kernel that needs the server. */
struct rfs_op {
    struct rfs_call call;
    struct rfs *fs;
    uint64_t unique;
    uint32_t opcode, thread;
    uint32_t process;                /* process of a lock request */
    struct rfs_node *node, *node_to; /* references are held */
    struct rfs_open *open;           /* a reference is held */
    struct rfs_open *open_to;        /* target of a copy; held by the kernel until the answer */
    char *name, *name_to, *path, *path_to;
    uint64_t began; /* value of rfs.clock at the beginning */
    bool interrupted, answered;
    uint32_t how;
    uint64_t offset, size;
    void (*go)(struct rfs_op *op); /* called when earlier writes have reached the server */
    TAILQ_ENTRY(rfs_op) waiting;   /* in the list of operations that wait for that */
    LIST_ENTRY(rfs_op) entry;
    unsigned char *block; /* of a waiting write: the kernel's request */
};

struct rfs_in {
    struct rfs *fs;
    const struct fuse_in_header *header;
    const void *arg;
    size_t length;
    struct rfs_node *node;
    unsigned char *block; /* the block that contains header and arg; NULL after it was kept */
};

#define RFS_IN(in, type) ((const struct type *)rfs_in_arg((in), sizeof(struct type)))

/* ---- rfs.c ---- */

/* The fixed part of a request's argument.  NULL: it is too short, and -EIO was answered. */
const void *rfs_in_arg(const struct rfs_in *in, size_t size);
/* The name at byte `at` of the argument.  NULL: there is none, and the error was answered. */
const char *rfs_in_name(const struct rfs_in *in, size_t at);

int rfs_answer(struct rfs *fs, uint64_t unique, const void *data, size_t length);
int rfs_answer2(struct rfs *fs, uint64_t unique, const void *data, size_t length, const void *more,
                size_t more_length);
void rfs_refuse(struct rfs *fs, uint64_t unique, int code);

/* Makes an op for a request and references its node; does not send it. */
struct rfs_op *rfs_op_create(const struct rfs_in *in, uint16_t rsys_op);
void rfs_op_end(struct rfs_op *op);
void rfs_op_refuse(struct rfs_op *op, int code); /* answers with an error and ends the op */
/* Answers the request.  Returns 0, or -ENOENT: no process waits for it any more. */
int rfs_op_answer(struct rfs_op *op, const void *data, size_t length);
void rfs_op_hold_open(struct rfs_op *op, uint64_t fh);
/* Sets the request's file: the node, or a name in it; without a name, through an open file if there
 * is one.  Not 0: the op was refused and ended. */
int rfs_op_at(struct rfs_op *op, const char *name);
int rfs_op_to(struct rfs_op *op, struct rfs_node *parent, const char *name);
void rfs_op_send(struct rfs_op *op, rfs_call_f done);
/* Returns whether the reply is an error; then ends the op with it. */
bool rfs_op_failed(struct rfs_op *op, const struct rsys_reply *reply);
/* handles a reply without fields */
void rfs_done_plain(struct rfs_call *call, const struct rsys_reply *reply);

/* ---- rfs_attr.c ---- */

bool rfs_same_contents(const struct rsys_attr *a, const struct rsys_attr *b);
void rfs_fill_attr(struct rfs *fs, const struct rsys_attr *attr, struct fuse_attr *ret);
uint64_t rfs_valid_ms(const struct rfs *fs, const struct rsys_attr *attr);
/* Stores attributes from the reply to a call that began at clock value `began`.  Their size may be
 * older than our own writes; *valid_ms is then 0. */
void rfs_attr_seen(struct rfs *fs, struct rfs_node *node, struct rsys_attr *attr, uint64_t began,
                   uint64_t *valid_ms);
/* Stores attributes that result from our own change; the kernel's cached contents stay valid. */
void rfs_attr_ours(struct rfs *fs, struct rfs_node *node, const struct rsys_attr *attr);
void rfs_made_up_attr(const struct rfs_node *node, struct rsys_attr *ret);
void rfs_getattr(struct rfs_in *in);
void rfs_setattr(struct rfs_in *in);
void rfs_access(struct rfs_in *in);
void rfs_statfs(struct rfs_in *in);

/* ---- rfs_names.c ---- */

/* Fills in an entry and counts a lookup: the caller must answer with it or call
 * rfs_node_forget(). */
void rfs_fill_entry(struct rfs *fs, struct rfs_node *node, struct rsys_attr *attr, uint64_t began,
                    struct fuse_entry_out *ret);
void rfs_lookup(struct rfs_in *in);
void rfs_readlink(struct rfs_in *in);
void rfs_mkdir(struct rfs_in *in);
void rfs_mknod(struct rfs_in *in);
void rfs_symlink(struct rfs_in *in);
void rfs_hard_link(struct rfs_in *in);
void rfs_rename(struct rfs_in *in);
void rfs_unlink(struct rfs_in *in);

/* ---- rfs_files.c ---- */

void rfs_open_file(struct rfs_in *in);
void rfs_create_file(struct rfs_in *in);
void rfs_release(struct rfs_in *in);
void rfs_flush(struct rfs_in *in);
void rfs_fsync(struct rfs_in *in);
void rfs_fallocate(struct rfs_in *in);
void rfs_lseek(struct rfs_in *in);
void rfs_copy(struct rfs_in *in);
/* Makes the open file after OPEN was answered; reply is NULL for a virtual directory. */
struct rfs_open *rfs_open_create(struct rfs *fs, struct rfs_node *node,
                                 const struct rsys_reply *reply, uint32_t how);
void rfs_open_ref(struct rfs_open *open);
void rfs_open_unref(struct rfs_open *open); /* NULL is allowed */

/* ---- rfs_reads.c ---- */

void rfs_read(struct rfs_in *in);
void rfs_ahead_destroy(struct rfs_ahead *ahead); /* NULL is allowed */

/* ---- rfs_writes.c ---- */

void rfs_write(struct rfs_in *in);
/* Calls go(op) when all data written to op->node has reached the server; at once, if no write is
 * under way. */
void rfs_when_written(struct rfs_op *op, void (*go)(struct rfs_op *op));
/* Calls go(op) when all data written to any file has reached the server. */
void rfs_when_all_written(struct rfs_op *op, void (*go)(struct rfs_op *op));
/* A lower bound of the file's size from writes under way; 0: there are none. */
uint64_t rfs_written_end(const struct rfs_node *node);

/* ---- rfs_dirs.c ---- */

void rfs_opendir(struct rfs_in *in);
void rfs_readdir(struct rfs_in *in);
void rfs_listing_destroy(struct rfs_listing *listing); /* NULL is allowed */

/* ---- rfs_locks.c ---- */

void rfs_getlk(struct rfs_in *in);
/* Reports the locks of an open file, for checkpoints (base/file_locks.h). */
void rfs_ioctl(struct rfs_in *in);
void rfs_setlk(struct rfs_in *in);
/* Makes an op that waits for a lock be answered -EINTR. */
void rfs_lock_interrupt(struct rfs_op *op);
/* Forget locks that the server released: those of an owner on a file, or those of an open file. */
void rfs_locks_of_owner_over(struct rfs *fs, const struct rfs_node *node, uint64_t owner);
void rfs_locks_of_open_over(struct rfs *fs, const struct rfs_open *open);
bool rfs_locks_are_on(const struct rfs *fs, const struct rfs_node *node);
/* Requests the lock after `before` (NULL: the first) again from a restarted server, without
 * waiting; returns that lock, NULL when there are no more.  The caller owns call; its request is
 * set here. */
struct rfs_lock *rfs_lock_again(struct rfs *fs, struct rfs_lock *before, struct rfs_call *call);

/* ---- rfs_renew.c ---- */

void rfs_renewal_destroy(struct rfs_renewal *renewal); /* NULL is allowed */

#endif
