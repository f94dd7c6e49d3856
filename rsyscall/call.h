/* rsyscall/call.h - one request while it is executed, and its result.
 *
 * Design note: the loop thread looks up handles and counts resources.  A lane (a worker thread)
 * makes the system calls and uses nothing but struct rsys_call.  Then the loop thread takes the
 * result.  So tables and counters need no locks.  Data that several requests may use at once (a
 * directory's position, a process's file locks) has a lock of its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RSYSCALL_CALL_H
#define RSYSCALL_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "rsyscall/rsys.h"

struct rsys_locker;
struct rsys_view;
struct stat;

/* An open file or directory.  The session's table of handles holds one reference, and each request
 * under way that uses the handle another; only the loop thread changes the count. */
struct rsys_handle {
    unsigned refs;
    /* the handle's number for the client; 0: removed from the session's table of handles */
    uint64_t number;
    int fd;        /* the file's descriptor; -1: a root directory that could not be opened */
    uint32_t how;  /* flags RSYS_OPEN_* with which the file was opened */
    uint32_t root; /* number of the root through which the file was reached */
    bool directory;
    uint64_t dev, ino;
    /* of a directory: lets one request at a time use the descriptor's position */
    struct rsys_turn *turn;
};

void rsys_turn_destroy(struct rsys_turn *turn); /* NULL is allowed */

/* Bytes of space before the data of a reply, for the reply's header and fields, so that header,
 * fields and data are sent together, without copying the data. */
#define RSYS_HEADROOM     1024
#define RSYS_SCRATCH_SIZE (RSYS_HEADROOM + RSYS_DATA_MAX)

struct rsys_call {
    /* The texts in `request` point into memory that lives as long as this struct rsys_call. */
    struct rsys_request request;
    struct rsys_view *view;
    /* The handles that request.at and request.to name; NULL: the operation has no such handle. */
    struct rsys_handle *at, *to;
    struct rsys_locker *locker; /* for LOCK and FLUSH: the owner of the locks; else NULL */
    uint32_t data_max;
    bool counted; /* true: the job has a quota, so `taken` and `replaced` must be filled in */
    /* results */
    struct rsys_reply reply;
    /* Buffer of RSYS_HEADROOM bytes and then reply.data.  Either the buffer `scratch`, or memory to
     * be freed by mem_free(). */
    unsigned char *out;
    size_t out_size;
    /* buffer of RSYS_SCRATCH_SIZE bytes that the server lends; NULL: `out` is allocated */
    unsigned char *scratch;
    /* Text of a symbolic link, owned: that which READLINK read, or that of the link because of
     * which reply.status is -ELOOP.  reply.text points into this memory. */
    char *link;
    struct rsys_handle opened; /* for OPEN: the new handle, if opened.fd >= 0 */
    /* valid if `counted`: bytes of disk that WRITE, COPY or FALLOCATE used */
    uint64_t taken;
    /* valid if `counted`; true: RENAME replaced a file, which is gone now */
    bool replaced;
    /* If locker is not NULL: estimated number of ranges that the owner of the locks has
     * locked now, never too small. */
    uint32_t ranges;
};

/* Executes the request; the result is in reply.status.  May block as long as the file system
 * does. */
void rsys_call_run(struct rsys_call *call);
/* Executes the request if that surely does not block, and returns true; otherwise returns false and
 * changes nothing. */
bool rsys_call_at_once(struct rsys_call *call);
/* Frees the results that nobody has taken over: buffers, and the descriptor in call->opened. */
void rsys_call_fini(struct rsys_call *call);

void rsys_attr_from_stat(const struct stat *from, struct rsys_attr *ret);

/* ---- parts of rsys_call_run() ---------------------------------------------------------------- */

/* Executes a request OPEN.  Each other rsys_do_...() function executes requests of the operation in
 * its name.  All of these functions return the status of the reply: 0 or -errno. */
int rsys_do_open(struct rsys_call *call);
int rsys_do_read(struct rsys_call *call);
int rsys_do_write(struct rsys_call *call);
int rsys_do_readdir(struct rsys_call *call);
int rsys_do_lock(struct rsys_call *call);
int rsys_do_flush(struct rsys_call *call);
/* The rsys_..._at_once() functions execute a READ, WRITE or OPEN if that surely does not block, and
 * return true; otherwise they return false. */
bool rsys_read_at_once(struct rsys_call *call);
bool rsys_write_at_once(struct rsys_call *call);
bool rsys_open_at_once(struct rsys_call *call);

/* Returns an upper bound, in bytes, of the disk space that writing `length` bytes at `offset` used.
 * before: the file's attributes before the write; updated to what they are after the write. */
uint64_t rsys_room_taken(struct stat *before, uint64_t offset, uint64_t length);

/* ---- owners of file locks (lock_linux.c) ----------------------------------------------------- */

/* The locks of one owner (a process of the job) on one file.  They are held by descriptors of their
 * own, so that they do not affect another owner's locks, and stay when a handle is closed. */
struct rsys_locker {
    unsigned refs; /* number of references; used only on the loop thread */
    uint64_t dev, ino, owner;
    /* Estimated number of locked ranges, never too small; used only on the loop thread. */
    uint32_t ranges;
    struct rsys_locker_fds *fds;
};
struct rsys_locker_fds *rsys_locker_fds_create(void);
void rsys_locker_fds_destroy(struct rsys_locker_fds *fds); /* closes descriptors, so it may block */

#endif
