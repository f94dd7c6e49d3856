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
 * threads that each execute one request at a time, so another job never waits for them.  A request
 * that surely does not block (data in memory, attributes in the kernel's cache) is executed at
 * once on the loop thread.
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

#define RSYS_HELLO_MS   10000 /* milliseconds within which a new connection must send HELLO */
#define RSYS_PARTS_MAX  128
#define RSYS_WITHIN_MAX 16
#define RSYS_GRANTS_MAX 128

/* A directory of this machine that the job sees at the absolute path `view`. */
struct rsys_offer_root {
    const char *view;
    const char *directory;
    bool readonly;
};

/* A file or directory of this machine that, with everything below it, is read-only or (if `hidden`)
 * hidden from the job; of a hidden file, only the name is still visible in its directory.  This
 * holds even if the file is moved or replaced (parts.h).  The file need not exist yet. */
struct rsys_offer_part {
    const char *path;
    bool hidden;
};

/* Why a job may change what is at a path, the granted path (grants.h). */
enum rsys_grant_kind {
    /* The path is the job's initial directory: the job may change everything below that directory,
     * but nothing if the directory is the home directory or above. */
    RSYS_GRANT_START,
    /* The path is a directory of the submit command remote_write: the job may change everything
     * below it.  If rsys_grants_create() refuses the directory, or it is missing, no session
     * begins. */
    RSYS_GRANT_GIVEN,
    /* The path is an output file, or a directory of output files, of the job; it need not exist. */
    RSYS_GRANT_OUTPUT,
};

/* An absolute path of this machine at which the job may change files. */
struct rsys_offer_grant {
    enum rsys_grant_kind kind;
    const char *path;
};

struct rsys_limits {
    uint32_t slots;    /* most requests under way in a session; at most RSYS_SLOTS_MAX */
    uint32_t sessions; /* most sessions of the job at once */
    uint32_t handles;  /* most open handles of all sessions; each uses a descriptor */
    uint32_t lanes;    /* most lanes (worker threads) of the job */
    /* Most ranges that the job's processes may have locked at once: the kernel searches all locks
     * of a file for each new lock. */
    uint32_t ranges;
    uint32_t lease_ms;   /* milliseconds that a session lives without a message from its client */
    uint64_t queued_max; /* most bytes of requests that wait or are being executed */
    /* Most bytes that the job may write in total; for a write into a hole of a file, whole disk
     * blocks are counted.  0: no limit. */
    uint64_t bytes_max;
    /* Most files that the job may make in total; each file that it removes allows another one.  0:
     * no limit. */
    uint64_t files_max;
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
    /* Directories of this machine in which the roots must lie: each root must be, after resolving
     * links, one of these directories or below one; other roots are refused (-EXDEV).  An empty
     * list allows any root. */
    const char *const *within;
    size_t within_count; /* at most RSYS_WITHIN_MAX */
    /* True: the job may change only files at the paths in `grants`, and of these neither names that
     * begin with a dot in the home directory nor programs that existed before began_ms, the time
     * when the job first began. */
    bool guarded;
    const struct rsys_offer_grant *grants;
    size_t grant_count; /* at most RSYS_GRANTS_MAX */
    const char *home;   /* the user's home directory; NULL: none */
    int64_t began_ms;
    /* True: file systems that are mounted below a root are not entered. */
    bool stay_on_device;
    struct rsys_limits limits;
};

struct rsys_stats {
    uint64_t requests;
    uint64_t at_once;   /* requests that were executed at once, on the loop thread */
    uint64_t malformed; /* malformed requests: answered -EBADMSG, or the connection was closed */
    uint64_t repeated;  /* requests that a client sent again after its connection was cut */
    uint64_t bytes_read, bytes_written;
    uint64_t files; /* files that the job has made, minus those that it has removed */
    /* current numbers of sessions, connections and open handles */
    uint32_t sessions, connections, handles;
    uint32_t lanes; /* current number of the job's lanes (worker threads) */
    /* Most bytes of waiting and executing requests that there have been at once. */
    uint64_t queued_peak;
};

struct rsys_server_options {
    struct loop *loop;
    struct log *log; /* NULL: no log */
    /* Most open handles (descriptors) of all jobs together; 0: 16384, or half of this process's
     * limit of descriptors if that is less. */
    uint32_t handles_total;
    /* Most lanes (threads) of all jobs together; each job may have one in any case; 0: 64. */
    uint32_t lanes_total;
};

struct rsys_server *rsys_server_create(const struct rsys_server_options *options);
/* Closes all jobs and connections, and frees the server; waits for system calls that lanes are
 * executing.  NULL is allowed. */
void rsys_server_destroy(struct rsys_server *server);

/* Takes over a new connection whose route is that of remote system calls, before TLS begins.
 * identity: the server's certificate for TLS, as for incoming_accept(). */
void rsys_server_take(struct rsys_server *server, struct incoming *incoming,
                      const struct tls_identity *identity);

/* From now on, admits clients that show the ticket, and offers them what `offer` says, which is
 * copied.  The offered directories are opened soon, on a lane; if that fails, the reply to a
 * client's HELLO says so.  Returns 0; -EINVAL: the ticket is empty or too long, there is no root,
 * there are too many roots, parts, grants or `within` directories, a path is not absolute, or a
 * limit is 0; -EEXIST: the ticket is in use. */
int rsys_job_open(struct rsys_server *server, const char *ticket, const struct rsys_offer *offer,
                  struct rsys_job **ret);
/* Ends the job's sessions.  Requests that lanes are executing are finished, and their results are
 * dropped; this function does not wait for that.  NULL is allowed. */
void rsys_job_close(struct rsys_job *job);
/* Returns why the offered directories of the job could not be opened: -errno, with err filled; 0:
 * the directories are open, or the lane that opens them has not finished yet. */
int rsys_job_problem(const struct rsys_job *job, struct err *err);
void rsys_job_get_stats(const struct rsys_job *job, struct rsys_stats *ret);

#endif
