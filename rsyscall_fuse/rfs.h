/* rsyscall_fuse/rfs.h - a FUSE file system whose files are on the submit machine.
 *
 * The file system takes the kernel's requests (FUSE, <linux/fuse.h>) as bytes and answers in bytes;
 * it uses the server through a struct rfs_link.  There is one thread, and no function waits: a
 * request that cannot be answered at once is remembered. docs/decisions/0018 says why libfuse is
 * not used.
 *
 * What a job can rely on:
 * - Close-to-open: a process that opens a file sees everything written by processes that closed it
 *   before, here or on the submit machine.  In between, attributes and names may be out of date by
 *   at most attr_max_ms.
 * - close(), fsync() and stat() wait for earlier writes.  close() and fsync() report errors of
 *   writes that were acknowledged before they reached the server.
 * - All files seem to belong to the job's user.  The server, which runs as the submitting user,
 *   decides what is allowed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RSYSCALL_FUSE_RFS_H
#define RSYSCALL_FUSE_RFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rsyscall/rsys.h"
#include "rsyscall_fuse/rfs_link.h"

struct err;
struct loop;
struct rfs;
struct rfs_link;

#define RFS_WRITE_MAX ((size_t)1 << 20) /* most bytes of one write by the kernel */
/* Most bytes of one request of the kernel. */
#define RFS_REQUEST_MAX (RFS_WRITE_MAX + ((size_t)64 << 10))

struct rfs_part {
    const void *data;
    size_t length;
};

struct rfs_options {
    uint32_t uid, gid;    /* owner of all files as the job sees them */
    uint32_t attr_min_ms; /* ms for which attributes of a file that has just changed are cached */
    uint32_t attr_max_ms; /* ms for which attributes of a file unchanged for long are cached */
    uint32_t negative_ms; /* ms for which it is remembered that a name does not exist */
    /* Most bytes that the job has written and that the server does not have yet. */
    size_t write_behind_max;
    size_t read_ahead_max; /* most bytes read ahead for each open file */
    /* Directories that exist for the job even if the server does not have them, ended by NULL;
     * NULL: none. */
    const char *const *places;
};
#define RFS_OPTIONS_DEFAULT                                                     \
    {                                                                           \
        .attr_min_ms = 1000, .attr_max_ms = 60000, .negative_ms = 1000,         \
        .write_behind_max = (size_t)16 << 20, .read_ahead_max = (size_t)4 << 20 \
    }

struct rfs_device {
    /* Sends an answer, which consists of parts[0..count), to the kernel.  Returns 0; or -ENOENT: no
     * process waits for the answer any more. */
    int (*answer)(void *arg, const struct rfs_part *parts, size_t count);
    /* Returns whether the thread with that number is being killed, so that it need not wait for an
     * answer. */
    bool (*is_killed)(void *arg, uint32_t thread);
    /* Makes the kernel drop its cached contents and attributes of the file with that inode number,
     * then calls done(done_arg).  The kernel first waits for reads of the file that are under way;
     * other requests are handled meanwhile. */
    void (*drop_contents)(void *arg, uint64_t number, void (*done)(void *done_arg), void *done_arg);
    void *arg;
};

/* Creates the file system for a session that has begun; hello is the server's reply to HELLO
 * (borrowed for this call).  link must outlive the file system, and so must what device refers to.
 * Returns 0; -EPROTO: the server's roots are invalid; or another -errno. */
int rfs_create(struct loop *loop, struct rfs_link *link, const struct rsys_reply *hello,
               const struct rfs_options *options, const struct rfs_device *device, struct rfs **ret,
               struct err *err);
/* Frees the file system.  To be called after rfs_link_destroy(), which answers the remaining calls.
 * NULL is allowed. */
void rfs_destroy(struct rfs *fs);

/* Handles one whole request of the kernel. request: a block of memory from base/mem.h with room for
 * RFS_REQUEST_MAX bytes.  Returns true if the file system keeps the block and frees it later;
 * false: the caller still owns it. */
bool rfs_take(struct rfs *fs, unsigned char *request, size_t length);

/* To be called by the event `renew` of struct rfs_link_events: opens the job's open files again in
 * the new session, takes the job's locks again, and then calls rfs_link_renewed(). */
void rfs_renew(struct rfs *fs);
/* To be called by the event `again` of struct rfs_link_events: decides what the link does with a
 * call that has no answer from the old session, and puts the new session's handles into the call.
 * was_sent: the old session may have executed the call. */
enum rfs_again rfs_judge_again(struct rfs *fs, struct rfs_call *call, bool was_sent);

/* Returns whether the server has all data that the job has written. */
bool rfs_all_is_written(const struct rfs *fs);

struct rfs_stats {
    uint64_t requests; /* number of requests of the kernel */
    /* Number of reads by the kernel; number of those that were answered from data read ahead. */
    uint64_t reads, ahead;
    uint64_t writes; /* number of writes by the kernel */
    size_t nodes;
    size_t dirty_bytes;
};
void rfs_get_stats(const struct rfs *fs, struct rfs_stats *ret);

#endif
