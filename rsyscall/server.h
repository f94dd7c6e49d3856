/* rsyscall/server.h - remote system calls: the side that has the files.
 *
 * The problem: a program on a stranger's machine is let into the files of a user.  It runs in the
 * user's shadow, with the user's rights, beside the user's other jobs; and the client is taken for
 * an enemy: what it sends may be anything, as fast as it can.
 *
 * Design note.  A job (struct rsys_job) is what may be let in: a ticket, and what is offered:
 * roots, parts of them that are read-only or hidden, limits.  The kernel decides what the user may
 * do; this code decides only that nothing outside the roots is reached (view.h), and how much.  A
 * session is a client of a job: its slots, what it has open, its locks.  It outlives its connection
 * by the lease.
 *
 * What may block (a file server that hangs) is done on lanes of the job's own, a few threads, one
 * request each: another job is never behind it.  What is sure not to block is done at once, on the
 * loop thread: a read of what is in memory, attributes of what is in the kernel's cache.
 *
 * Memory is bounded, per job: requests that wait (queued_max bytes), replies that are not taken
 * (the connection is not read until they are), handles, one remembered reply per slot.
 *
 * Protocol: docs/protocol/rsyscall.md.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RSYSCALL_SERVER_H
#define RSYSCALL_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct incoming;
struct log;
struct loop;
struct rsys_job;
struct rsys_server;
struct tls_identity;

#define RSYS_HELLO_MS   10000 /* a connection that has not said HELLO by then is closed */
#define RSYS_PARTS_MAX  128
#define RSYS_WITHIN_MAX 16
#define RSYS_GRANTS_MAX 128

/* A directory of this machine that the job sees at the absolute path `view`. */
struct rsys_offer_root {
    const char *view;
    const char *directory;
    bool readonly;
};

/* A file or directory of this machine, and all below it: read-only, or as if it were not there
 * (its name can still be seen in its directory), whatever becomes of it: parts.h.  Nothing needs to
 * be there yet. */
struct rsys_offer_part {
    const char *path;
    bool hidden;
};

/* How a path came to be among what may be changed: grants.h. */
enum rsys_grant_kind {
    RSYS_GRANT_START,  /* the initial directory with all below, unless it is the home or above */
    RSYS_GRANT_GIVEN,  /* a directory with all below; what is not right with it is an error */
    RSYS_GRANT_OUTPUT, /* a file, or a directory with all below; neither needs to be there */
};

/* What of all that may be changed; absolute paths of this machine. */
struct rsys_offer_grant {
    enum rsys_grant_kind kind;
    const char *path;
};

struct rsys_limits {
    uint32_t slots;      /* requests under way in a session, at most RSYS_SLOTS_MAX */
    uint32_t sessions;   /* at once */
    uint32_t handles;    /* open at once, of all its sessions; each is a descriptor */
    uint32_t lanes;      /* threads at most */
    uint32_t ranges;     /* that its processes have locked at once: the kernel looks through them */
    uint32_t lease_ms;   /* how long a session lives without hearing of its client */
    uint64_t queued_max; /* bytes of requests that wait or are done */
    uint64_t bytes_max;  /* written in all, in holes as whole blocks; 0: no limit */
    uint64_t files_max;  /* made in all, less those that were removed; 0: no limit */
};
#define RSYS_LIMITS_DEFAULT                           \
    ((struct rsys_limits){.slots = 64,                \
                          .sessions = 4,              \
                          .handles = 1024,            \
                          .lanes = 4,                 \
                          .ranges = 4096,             \
                          .lease_ms = 20 * 60 * 1000, \
                          .queued_max = (uint64_t)8 << 20})

struct rsys_offer {
    const struct rsys_offer_root *roots;
    size_t root_count; /* 1 to RSYS_ROOTS_MAX */
    const struct rsys_offer_part *parts;
    size_t part_count; /* at most RSYS_PARTS_MAX */
    /* Directories of this machine: each root is to be one of them or below one, whatever links its
     * name has; otherwise it is not offered (-EXDEV).  None: anywhere. */
    const char *const *within;
    size_t within_count; /* at most RSYS_WITHIN_MAX */
    /* With guarded nothing may be changed but what the grants say, and of that neither dot entries
     * of the home nor programs from before began_ms, when the job first began. */
    bool guarded;
    const struct rsys_offer_grant *grants;
    size_t grant_count; /* at most RSYS_GRANTS_MAX */
    const char *home;   /* NULL: it has none */
    int64_t began_ms;
    /* Not into file systems that are mounted below a root, whatever they are. */
    bool stay_on_device;
    struct rsys_limits limits;
};

struct rsys_stats {
    uint64_t requests;
    uint64_t at_once;   /* of them, done on the loop thread */
    uint64_t malformed; /* answered -EBADMSG, or the connection ended for it */
    uint64_t repeated;  /* came again after a cut */
    uint64_t bytes_read, bytes_written;
    uint64_t files;                          /* as files_max counts */
    uint32_t sessions, connections, handles; /* now */
    uint32_t lanes;                          /* threads, now */
    uint64_t queued_peak;                    /* bytes of requests held at once, the most so far */
};

struct rsys_server_options {
    struct loop *loop;
    struct log *log;        /* NULL: silent */
    uint32_t handles_total; /* descriptors of all jobs; 0: 16384, or half of what may be had */
    uint32_t lanes_total;   /* threads of all jobs, but each may have one; 0: 64 */
};

struct rsys_server *rsys_server_create(const struct rsys_server_options *options);
/* Ends all.  Waits for what lanes are doing.  NULL is allowed. */
void rsys_server_destroy(struct rsys_server *server);

/* A connection on the route of remote system calls, before TLS; identity as incoming_accept()
 * wants it. */
void rsys_server_take(struct rsys_server *server, struct incoming *incoming,
                      const struct tls_identity *identity);

/* From now on whoever shows the ticket is let in.  offer is copied; its directories are opened
 * soon, on a lane: what cannot be is told to who says HELLO.  -EINVAL: ticket empty or too long, no
 * root, too many roots, parts, grants or directories that they are to be in, a view or path that is
 * not absolute, a limit of 0; -EEXIST: the ticket is in use. */
int rsys_job_open(struct rsys_server *server, const char *ticket, const struct rsys_offer *offer,
                  struct rsys_job **ret);
/* Its sessions end; what lanes are doing for it is done, and forgotten.  Does not wait.  NULL is
 * allowed. */
void rsys_job_close(struct rsys_job *job);
/* Why its directories cannot be offered, as far as is known by now: 0, or -errno and err. */
int rsys_job_problem(const struct rsys_job *job, struct err *err);
void rsys_job_get_stats(const struct rsys_job *job, struct rsys_stats *ret);

#endif
