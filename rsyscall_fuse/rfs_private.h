/* rsyscall_fuse/rfs_private.h - declarations shared by the source files of the FUSE file system
 * (rfs*.c).
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
    /* the number of the server's file system (st_dev) that holds the first file whose attributes
     * this client got */
    uint64_t home_dev;
    uint64_t clock; /* counts requests, and answers to writes, to tell which came first */
    uint64_t dirty_bytes;
    struct loop_timer *interrupt_timer;
    /* Operations that wait until the server has all data that the job has written. */
    TAILQ_HEAD(, rfs_op) settlers;
    LIST_HEAD(, rfs_op) ops;
    LIST_HEAD(, rfs_open) opens;
    LIST_HEAD(, rfs_lock) locks; /* locks of the job that the server has granted */
    size_t lock_count;
    bool locks_unknown;          /* true: there were too many locks, so `locks` does not list all */
    struct rfs_renewal *renewal; /* state of a renewal of the session (rfs_renew.c); NULL: none */
    struct rfs_stats stats;
    bool ending;
    char path[RSYS_PATH_MAX + 1], path_to[RSYS_PATH_MAX + 1];
};

/* An open file.  The kernel (until it sends RELEASE) and operations under way hold references; when
 * the last is dropped, the file is closed at the server. */
struct rfs_open {
    struct rfs *fs;
    struct rfs_node *node;
    LIST_ENTRY(rfs_open) entry; /* entry in the node's list of open files */
    LIST_ENTRY(rfs_open) any;   /* entry in the list of all open files */
    /* The file's handle at the server; during a renewal, its handle in the new session. */
    uint64_t handle, handle_next;
    uint64_t birth; /* birth time of the file from OPEN's reply, ns since 1970; 0: not known */
    uint32_t how;   /* flags RSYS_OPEN_* with which the file was opened */
    unsigned refs;
    bool made_up; /* true: a virtual directory, which the server does not have */
    bool locked;  /* true: a process may have locks on the file through this open file */
    int write_error;
    struct rfs_ahead *ahead;     /* state of reading ahead (rfs_reads.c); NULL: none */
    struct rfs_listing *listing; /* state of reading a directory (rfs_dirs.c); NULL: none */
};

/* An operation: a request of the kernel that needs the server. */
struct rfs_op {
    struct rfs_call call;
    struct rfs *fs;
    uint64_t unique;
    uint32_t opcode, thread;
    uint32_t process; /* of a lock request: pid of the process that locks, from the kernel */
    /* The files that the operation is about; it holds references to them.  NULL: none. */
    struct rfs_node *node, *node_to;
    struct rfs_open *open; /* the open file; the operation holds a reference; NULL: none */
    /* Of a copy: the open file to copy to, which the kernel keeps open until the answer. */
    struct rfs_open *open_to;
    char *name, *name_to, *path, *path_to;
    /* value of rfs.clock (a count of requests and answers) when the operation began */
    uint64_t began;
    bool interrupted, answered;
    uint32_t how;
    uint64_t offset, size;
    /* called when the earlier writes have reached the server */
    void (*go)(struct rfs_op *op);
    TAILQ_ENTRY(rfs_op) waiting; /* entry in the list of operations that wait for earlier writes */
    LIST_ENTRY(rfs_op) entry;
    unsigned char *block; /* of a waiting write: the kernel's request, owned; else NULL */
};

/* A request of the kernel while it is being handled. */
struct rfs_in {
    struct rfs *fs;
    const struct fuse_in_header *header;
    const void *arg;
    size_t length;
    struct rfs_node *node;
    /* the memory block with header and arg; NULL: an operation has taken it over */
    unsigned char *block;
};

#define RFS_IN(in, type) ((const struct type *)rfs_in_arg((in), sizeof(struct type)))

/* ---- rfs.c ---- */

/* Returns the fixed part of the request's argument, which has `size` bytes.  Returns NULL if the
 * argument is shorter; then the request was answered with -EIO. */
const void *rfs_in_arg(const struct rfs_in *in, size_t size);
/* Returns the name that begins at byte `at` of the request's argument.  Returns NULL if there is
 * none; then the request was answered with -EIO. */
const char *rfs_in_name(const struct rfs_in *in, size_t at);

int rfs_answer(struct rfs *fs, uint64_t unique, const void *data, size_t length);
int rfs_answer2(struct rfs *fs, uint64_t unique, const void *data, size_t length, const void *more,
                size_t more_length);
void rfs_refuse(struct rfs *fs, uint64_t unique, int code);

/* Makes an operation for a request of the kernel, with a reference to the request's node; does not
 * send it to the server. rsys_op: enum rsys_op. */
struct rfs_op *rfs_op_create(const struct rfs_in *in, uint16_t rsys_op);
void rfs_op_end(struct rfs_op *op);
/* Answers the kernel's request with the error `code` (-errno), and frees the operation. */
void rfs_op_refuse(struct rfs_op *op, int code);
/* Answers the kernel's request with data[0..length).  Returns 0; or -ENOENT: no process waits for
 * the answer any more. */
int rfs_op_answer(struct rfs_op *op, const void *data, size_t length);
void rfs_op_hold_open(struct rfs_op *op, uint64_t fh);
/* Sets the file that the request to the server is about: op->node or, if name is not NULL, the
 * file `name` in the directory op->node.  A file that has no path any more is named through an open
 * file.  Returns 0; or -errno: the kernel's request was answered with that error, and the operation
 * was freed. */
int rfs_op_at(struct rfs_op *op, const char *name);
int rfs_op_to(struct rfs_op *op, struct rfs_node *parent, const char *name);
void rfs_op_send(struct rfs_op *op, rfs_call_f done);
/* Returns whether the server's reply is an error; if so, the kernel's request was answered with
 * that error, and the operation was freed. */
bool rfs_op_failed(struct rfs_op *op, const struct rsys_reply *reply);
/* To be given to rfs_op_send() if only the status of the server's reply matters: answers the
 * kernel's request and frees the operation. */
void rfs_done_plain(struct rfs_call *call, const struct rsys_reply *reply);

/* ---- rfs_attr.c ---- */

/* Returns whether the contents of a file, whose attributes were a and later b, are probably the
 * same: type and permissions, size, mtime and ctime are equal. */
bool rfs_same_contents(const struct rsys_attr *a, const struct rsys_attr *b);
void rfs_fill_attr(struct rfs *fs, const struct rsys_attr *attr, struct fuse_attr *ret);
uint64_t rfs_valid_ms(const struct rfs *fs, const struct rsys_attr *attr);
/* Stores a file's attributes from a reply of the server. began: value of rfs.clock when the request
 * that the reply answers began. *valid_ms: how long the attributes may be cached; 0 if writes were
 * under way: then the size in the reply may be too old, and is corrected. */
void rfs_attr_seen(struct rfs *fs, struct rfs_node *node, struct rsys_attr *attr, uint64_t began,
                   uint64_t *valid_ms);
/* Stores a file's attributes after a change by this client; contents that the kernel has cached
 * stay valid. */
void rfs_attr_ours(struct rfs *fs, struct rfs_node *node, const struct rsys_attr *attr);
void rfs_made_up_attr(const struct rfs_node *node, struct rsys_attr *ret);
void rfs_getattr(struct rfs_in *in);
void rfs_setattr(struct rfs_in *in);
void rfs_access(struct rfs_in *in);
void rfs_statfs(struct rfs_in *in);

/* ---- rfs_names.c ---- */

/* Fills in the kernel's entry for a node, from the attributes in the reply to a request that began
 * when rfs.clock was `began`, and counts a lookup: the caller must answer the kernel with the
 * entry, or call rfs_node_forget(). */
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

/* Handles the kernel's request FUSE_OPEN.  Each other function whose one argument is `in` handles
 * the kernel's request of its name. */
void rfs_open_file(struct rfs_in *in);
void rfs_create_file(struct rfs_in *in);
void rfs_release(struct rfs_in *in);
void rfs_flush(struct rfs_in *in);
void rfs_fsync(struct rfs_in *in);
void rfs_fallocate(struct rfs_in *in);
void rfs_lseek(struct rfs_in *in);
void rfs_copy(struct rfs_in *in);
/* Makes an open file from the server's reply to OPEN; reply is NULL for a virtual directory. how:
 * RSYS_OPEN_*. */
struct rfs_open *rfs_open_create(struct rfs *fs, struct rfs_node *node,
                                 const struct rsys_reply *reply, uint32_t how);
void rfs_open_ref(struct rfs_open *open);
void rfs_open_unref(struct rfs_open *open); /* NULL is allowed */

/* ---- rfs_reads.c ---- */

/* Handles the kernel's request FUSE_READ. */
void rfs_read(struct rfs_in *in);
void rfs_ahead_destroy(struct rfs_ahead *ahead); /* NULL is allowed */

/* ---- rfs_writes.c ---- */

/* Handles the kernel's request FUSE_WRITE. */
void rfs_write(struct rfs_in *in);
/* Calls go(op) when the server has all data that was written to the file op->node; at once, if no
 * write is under way. */
void rfs_when_written(struct rfs_op *op, void (*go)(struct rfs_op *op));
/* Calls go(op) when the server has all data that was written to any file. */
void rfs_when_all_written(struct rfs_op *op, void (*go)(struct rfs_op *op));
/* Returns the offset at which the data of writes under way will end: the file will be at least so
 * large.  0: no writes are under way. */
uint64_t rfs_written_end(const struct rfs_node *node);

/* ---- rfs_dirs.c ---- */

/* Handles the kernel's request FUSE_OPENDIR. */
void rfs_opendir(struct rfs_in *in);
void rfs_readdir(struct rfs_in *in);
void rfs_listing_destroy(struct rfs_listing *listing); /* NULL is allowed */

/* ---- rfs_locks.c ---- */

/* Handles the kernel's request FUSE_GETLK. */
void rfs_getlk(struct rfs_in *in);
/* Handles the kernel's request FUSE_IOCTL: reports the locks of an open file to the checkpoint
 * dumper (base/file_locks.h). */
void rfs_ioctl(struct rfs_in *in);
void rfs_setlk(struct rfs_in *in);
/* Asks the server to end the wait of an operation for a lock, so that it is answered with
 * -EINTR. */
void rfs_lock_interrupt(struct rfs_op *op);
/* Forgets the locks of an owner on a file, which the server has released. */
void rfs_locks_of_owner_over(struct rfs *fs, const struct rfs_node *node, uint64_t owner);
/* Forgets the locks of an open file, which the server has released. */
void rfs_locks_of_open_over(struct rfs *fs, const struct rfs_open *open);
bool rfs_locks_are_on(const struct rfs *fs, const struct rfs_node *node);
/* For a restarted server: requests again the lock that follows `before` in the list of locks (NULL:
 * the first lock).  Returns that lock, without waiting for the answer; NULL: there are no more
 * locks. The caller owns `call`, whose request is set here. */
struct rfs_lock *rfs_lock_again(struct rfs *fs, struct rfs_lock *before, struct rfs_call *call);

/* ---- rfs_renew.c ---- */

void rfs_renewal_destroy(struct rfs_renewal *renewal); /* NULL is allowed */

#endif
