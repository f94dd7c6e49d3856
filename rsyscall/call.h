/* rsyscall/call.h - one request being done: what a lane has in its hands.
 *
 * Design note: the loop thread finds the handles and counts; a lane does the system calls, with
 * nothing but what is in struct rsys_call; the loop thread takes the result.  So tables and
 * counters need no locks.  What several calls may use at once (a directory's position, a process's
 * locks) has one of its own.
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

/* Something open.  The table of its session holds a reference, each call that uses it another; the
 * loop thread counts. */
struct rsys_handle {
    unsigned refs;
    uint64_t number; /* as the client says it; 0: out of the table */
    int fd;          /* -1: a root whose view is not there */
    uint32_t how;    /* RSYS_OPEN_* */
    uint32_t root;   /* which it was reached by */
    bool directory;
    uint64_t dev, ino;
    struct rsys_turn *turn; /* of a directory: one reader at a time */
};

void rsys_turn_destroy(struct rsys_turn *turn); /* NULL is allowed */

/* Room before the data, so that a reply is sent in one piece. */
#define RSYS_HEADROOM     1024
#define RSYS_SCRATCH_SIZE (RSYS_HEADROOM + RSYS_DATA_MAX)

struct rsys_call {
    struct rsys_request request; /* its texts are in memory that lives as long as the call */
    struct rsys_view *view;
    struct rsys_handle *at, *to; /* what request.at and .to name; at is NULL for an op without */
    struct rsys_locker *locker;  /* LOCK and FLUSH */
    uint32_t data_max;
    bool counted; /* there is a quota */
    /* results */
    struct rsys_reply reply;
    unsigned char *out; /* RSYS_HEADROOM, then reply.data; owned by the call (mem_free), */
    size_t out_size;
    unsigned char *scratch;    /* unless it is this, which is lent: RSYS_SCRATCH_SIZE, or NULL */
    char *link;                /* reply.text of READLINK and -ELOOP; owned by the call */
    struct rsys_handle opened; /* OPEN: fd >= 0 */
    uint64_t taken;            /* counted: bytes of the disk that WRITE, COPY or FALLOCATE took */
    bool replaced;             /* counted: RENAME took the name of a file, which is no more */
    uint32_t ranges;           /* with a locker: that it has locked now, rather too many */
};

/* Does it; reply.status says how it went.  It may block for as long as the files do. */
void rsys_call_run(struct rsys_call *call);
/* Does it if that is sure not to block, else returns false and changes nothing. */
bool rsys_call_at_once(struct rsys_call *call);
/* Frees results that nobody took; an opened descriptor, too. */
void rsys_call_fini(struct rsys_call *call);

void rsys_attr_from_stat(const struct stat *from, struct rsys_attr *ret);

/* ---- parts of rsys_call_run() in files of their own; each returns the status ----------------- */

int rsys_do_open(struct rsys_call *call);
int rsys_do_read(struct rsys_call *call);
int rsys_do_write(struct rsys_call *call);
int rsys_do_readdir(struct rsys_call *call);
int rsys_do_lock(struct rsys_call *call);
int rsys_do_flush(struct rsys_call *call);
/* The same, of rsys_call_at_once(). */
bool rsys_read_at_once(struct rsys_call *call);
bool rsys_write_at_once(struct rsys_call *call);
bool rsys_open_at_once(struct rsys_call *call);

/* How much of the disk that many bytes there may have taken; before: the file's attributes, which
 * become those that it has after that. */
uint64_t rsys_room_taken(struct stat *before, uint64_t offset, uint64_t length);

/* ---- locks: whose (lock_linux.c) ------------------------------------------------------------- */

/* The locks of one owner (a process of the job) on one file: descriptors of their own, so that they
 * neither disturb another owner's nor go when a handle is closed. */
struct rsys_locker {
    unsigned refs; /* loop thread */
    uint64_t dev, ino, owner;
    uint32_t ranges; /* loop thread: as was told last */
    struct rsys_locker_fds *fds;
};
struct rsys_locker_fds *rsys_locker_fds_create(void);
void rsys_locker_fds_destroy(struct rsys_locker_fds *fds); /* closes: may block */

#endif
