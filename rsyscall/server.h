/* rsyscall/server.h - the server of remote system calls, on the machine that has the files.
 *
 * The problem: a program on a foreign machine gets access to a user's files.  The server runs in
 * the user's shadow, with the user's rights, beside the user's other jobs.  The client is assumed
 * to be hostile: it may send anything, as fast as it can.
 *
 * Design note.  A job (struct rsys_job) has a ticket that admits clients, and an offer: root
 * directories, their read-only or hidden parts, limits.  The kernel decides what the user may do;
 * this code only makes sure that nothing outside the roots is reached (view.h), and limits amounts.
 * A session is one client of a job, with its slots, open files and locks.  The session outlives its
 * connection for the time of the lease.
 *
 * System calls that may block (on a hanging file server) run on the job's own lanes, a few worker
 * threads with one request each, so another job never waits for them.  What surely does not block
 * is done at once on the loop thread: reading what is in memory, attributes in the kernel's cache.
 *
 * Memory is bounded for each job: waiting requests (queued_max bytes), replies that the client has
 * not taken (its connection is not read until they are), handles, and one remembered reply for each
 * slot.
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

#define RSYS_HELLO_MS   10000 /* time for a new connection to send HELLO before it is closed */
#define RSYS_PARTS_MAX  128
#define RSYS_WITHIN_MAX 16
#define RSYS_GRANTS_MAX 128

/* A directory of this machine that the job sees at the absolute path `view`. */
struct rsys_offer_root {
    const char *view;
    const char *directory;
    bool readonly;
};

/* A file or directory of this machine that, with everything below it, is read-only or hidden (only
 * its name is still visible in its directory), even when it is moved or replaced; see parts.h.  It
 * need not exist yet. */
struct rsys_offer_part {
    const char *path;
    bool hidden;
};

/* Why a path may be changed; see grants.h. */
enum rsys_grant_kind {
    /* the initial directory with all below; nothing when it is the home or above */
    RSYS_GRANT_START,
    RSYS_GRANT_GIVEN,  /* a directory with all below; a problem with it is an error */
    RSYS_GRANT_OUTPUT, /* an output file, or a directory with all below; need not exist */
};

/* A path of this machine that the job may change; absolute. */
struct rsys_offer_grant {
    enum rsys_grant_kind kind;
    const char *path;
};

struct rsys_limits {
    uint32_t slots;    /* requests under way in a session; at most RSYS_SLOTS_MAX */
    uint32_t sessions; /* sessions at once */
    uint32_t handles;  /* open handles of all sessions; each uses a descriptor */
    uint32_t lanes;    /* most lanes (worker threads) */
    /* ranges that its processes may have locked at once; the kernel searches them linearly */
    uint32_t ranges;
    uint32_t lease_ms;   /* milliseconds that a session lives without a message from its client */
    uint64_t queued_max; /* bytes of requests that wait or are being executed */
    uint64_t bytes_max;  /* bytes written in total, holes counted in whole blocks; 0: no limit */
    uint64_t files_max;  /* files made in total, minus those removed; 0: no limit */
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
    /* Directories of this machine.  Each root must be one of them or below one after resolving
     * links; other roots are refused (-EXDEV).  An empty list allows any root. */
    const char *const *within;
    size_t within_count; /* at most RSYS_WITHIN_MAX */
    /* true: only what the grants list may be changed, and of that neither dot entries of the home
     * nor programs that existed before began_ms, the time when the job first began */
    bool guarded;
    const struct rsys_offer_grant *grants;
    size_t grant_count; /* at most RSYS_GRANTS_MAX */
    const char *home;   /* the user's home directory; NULL: none */
    int64_t began_ms;
    /* do not enter file systems that are mounted below a root */
    bool stay_on_device;
    struct rsys_limits limits;
};

struct rsys_stats {
    uint64_t requests;
    uint64_t at_once;   /* requests executed on the loop thread */
    uint64_t malformed; /* requests answered -EBADMSG or that ended their connection */
    uint64_t repeated;  /* requests that came again after a cut */
    uint64_t bytes_read, bytes_written;
    uint64_t files;                          /* counted as for files_max */
    uint32_t sessions, connections, handles; /* current numbers */
    uint32_t lanes;                          /* current number of threads */
    /* maximum so far of the bytes of requests held at once */
    uint64_t queued_peak;
};

struct rsys_server_options {
    struct loop *loop;
    struct log *log; /* NULL: no log */
    /* descriptors for all jobs; 0: 16384, or half of this process's limit if that is less */
    uint32_t handles_total;
    uint32_t lanes_total; /* threads for all jobs, though each job may have one; 0: 64 */
};

struct rsys_server *rsys_server_create(const struct rsys_server_options *options);
/* Closes everything; waits for system calls that lanes are executing.  NULL is allowed. */
void rsys_server_destroy(struct rsys_server *server);

/* Takes over a new connection on the route of remote system calls, before TLS; identity as for
 * incoming_accept(). */
void rsys_server_take(struct rsys_server *server, struct incoming *incoming,
                      const struct tls_identity *identity);

/* Admits clients that show the ticket.  offer is copied.  Its directories are opened soon, on a
 * lane; if that fails, clients are told in the reply to HELLO.  Returns 0; -EINVAL: ticket empty or
 * too long, no root, too many roots, parts, grants or `within` directories, a path that is not
 * absolute, or a limit of 0; -EEXIST: the ticket is in use. */
int rsys_job_open(struct rsys_server *server, const char *ticket, const struct rsys_offer *offer,
                  struct rsys_job **ret);
/* Ends the job's sessions.  Requests that lanes are executing are finished and their results
 * dropped.  Does not wait.  NULL is allowed. */
void rsys_job_close(struct rsys_job *job);
/* Why its directories could not be opened, as far as known: 0, or -errno with err filled. */
int rsys_job_problem(const struct rsys_job *job, struct err *err);
void rsys_job_get_stats(const struct rsys_job *job, struct rsys_stats *ret);

#endif
