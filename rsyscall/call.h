/* rsyscall/call.h - one request while it is executed, and its result.
 *
 * Design note: the loop thread looks up handles and counts resources.  A lane (a worker thread)
 * makes the system calls and uses nothing but struct rsys_call.  The loop thread then takes the
 * result.  So tables and counters need no locks.  Data that several calls may use at once (a
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

/* An open file or directory.  The session's table holds one reference, and each call that uses it
 * another; only the loop thread changes the count. */
struct rsys_handle {
    unsigned refs;
    uint64_t number; /* the handle's number for the client; 0: removed from the table */
    int fd;          /* -1: a root whose view could not be opened */
    uint32_t how;    /* RSYS_OPEN_* */
    uint32_t root;   /* number of the root through which it was reached */
    bool directory;
    uint64_t dev, ino;
    struct rsys_turn *turn; /* of a directory: lets one reader at a time use its position */
};

void rsys_turn_destroy(struct rsys_turn *turn); /* NULL is allowed */

/* Space before the data, for the header and fields, so that a reply is sent in one piece. */
#define RSYS_HEADROOM     1024
#define RSYS_SCRATCH_SIZE (RSYS_HEADROOM + RSYS_DATA_MAX)

struct rsys_call {
    struct rsys_request request; /* its texts point into memory that lives as long as the call */
    struct rsys_view *view;
    /* the handles in request.at and request.to; at is NULL for an operation without a handle */
    struct rsys_handle *at, *to;
    struct rsys_locker *locker; /* for LOCK and FLUSH */
    uint32_t data_max;
    bool counted; /* a quota applies; fill in taken and replaced */
    /* results */
    struct rsys_reply reply;
    /* RSYS_HEADROOM bytes, then reply.data; owned by the call (mem_free()), unless equal to
     * scratch */
    unsigned char *out;
    size_t out_size;
    unsigned char *scratch;    /* a lent buffer of RSYS_SCRATCH_SIZE bytes, or NULL */
    char *link;                /* memory of reply.text for READLINK and -ELOOP; owned by the call */
    struct rsys_handle opened; /* for OPEN: the new handle, when fd >= 0 */
    uint64_t taken;            /* if counted: bytes of disk that WRITE, COPY or FALLOCATE used */
    bool replaced;             /* if counted: RENAME replaced a file, which is gone now */
    uint32_t ranges;           /* with a locker: upper bound of the ranges it has locked now */
};

/* Executes the request; the result is in reply.status.  May block as long as the file system
 * does. */
void rsys_call_run(struct rsys_call *call);
/* Executes the request if that surely does not block; otherwise returns false and changes
 * nothing. */
bool rsys_call_at_once(struct rsys_call *call);
/* Frees results that were not taken, and closes an opened descriptor. */
void rsys_call_fini(struct rsys_call *call);

void rsys_attr_from_stat(const struct stat *from, struct rsys_attr *ret);

/* ---- parts of rsys_call_run() in files of their own; each returns the status ----------------- */

int rsys_do_open(struct rsys_call *call);
int rsys_do_read(struct rsys_call *call);
int rsys_do_write(struct rsys_call *call);
int rsys_do_readdir(struct rsys_call *call);
int rsys_do_lock(struct rsys_call *call);
int rsys_do_flush(struct rsys_call *call);
/* Variants of rsys_do_read() and so on for rsys_call_at_once(). */
bool rsys_read_at_once(struct rsys_call *call);
bool rsys_write_at_once(struct rsys_call *call);
bool rsys_open_at_once(struct rsys_call *call);

/* An upper bound of the disk space that writing length bytes at offset used.  before holds the
 * file's attributes before the write, and is updated to those after it. */
uint64_t rsys_room_taken(struct stat *before, uint64_t offset, uint64_t length);

/* ---- owners of file locks (lock_linux.c) ----------------------------------------------------- */

/* The locks of one owner (a process of the job) on one file.  They have descriptors of their own,
 * so that they do not affect another owner's locks and survive the closing of a handle. */
struct rsys_locker {
    unsigned refs; /* only used on the loop thread */
    uint64_t dev, ino, owner;
    uint32_t ranges; /* only used on the loop thread: ranges locked, as last reported */
    struct rsys_locker_fds *fds;
};
struct rsys_locker_fds *rsys_locker_fds_create(void);
void rsys_locker_fds_destroy(struct rsys_locker_fds *fds); /* closes descriptors, so it may block */

#endif
