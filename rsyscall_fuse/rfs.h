/* rsyscall_fuse/rfs.h - a file system for the kernel whose files are at the submit machine.
 *
 * Takes the kernel's requests (FUSE, <linux/fuse.h>) as bytes and gives it answers as bytes; asks
 * the server through a struct rfs_link.  One thread, nothing waits: what cannot be answered at once
 * is remembered.  docs/decisions/0018 says why the kernel is spoken to without libfuse.
 *
 * What a job can rely on:
 * - Close-to-open: who opens a file sees all that was written by whoever closed it before, here or
 *   at the submit machine.  In between, attributes and names may be old by attr_max_ms at most.
 * - close(), fsync(), and stat() wait for what was written; close() and fsync() tell an error of
 *   a write that was answered before it reached the server.
 * - All files are shown as the job's user's: the server, which runs as the submitting user, judges
 *   what may be done.
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

#define RFS_WRITE_MAX   ((size_t)1 << 20) /* bytes in one write of the kernel's */
#define RFS_REQUEST_MAX (RFS_WRITE_MAX + ((size_t)64 << 10)) /* bytes of one of its requests */

struct rfs_part {
    const void *data;
    size_t length;
};

struct rfs_options {
    uint32_t uid, gid;       /* whose all files are, in the job's eyes */
    uint32_t attr_min_ms;    /* for how long what was just changed is believed to stay as it is */
    uint32_t attr_max_ms;    /* and what was not changed for long */
    uint32_t negative_ms;    /* that there is no such name */
    size_t write_behind_max; /* bytes that are written for the job, but not yet for the server */
    size_t read_ahead_max;   /* bytes that are asked for before the job does, per open file */
    /* Directories that are there even if the server has none, ended by NULL; NULL: none. */
    const char *const *places;
};
#define RFS_OPTIONS_DEFAULT                                                     \
    {                                                                           \
        .attr_min_ms = 1000, .attr_max_ms = 60000, .negative_ms = 1000,         \
        .write_behind_max = (size_t)16 << 20, .read_ahead_max = (size_t)4 << 20 \
    }

struct rfs_device {
    /* An answer for the kernel, in parts.  0, or -ENOENT: nobody waits for it any more. */
    int (*answer)(void *arg, const struct rfs_part *parts, size_t count);
    /* Is the thread being killed?  So it need not wait for an answer. */
    bool (*is_killed)(void *arg, uint32_t thread);
    /* The kernel is to drop its copy of a file's contents and attributes.  It waits for pages that
     * are being read for that, so requests go on meanwhile; then done is called. */
    void (*drop_contents)(void *arg, uint64_t number, void (*done)(void *done_arg), void *done_arg);
    void *arg;
};

/* For a session that has begun: hello is the server's reply (borrowed).  link and device outlive
 * it. -EPROTO: the server's roots cannot be understood. */
int rfs_create(struct loop *loop, struct rfs_link *link, const struct rsys_reply *hello,
               const struct rfs_options *options, const struct rfs_device *device, struct rfs **ret,
               struct err *err);
/* After the link: its calls are answered then.  NULL is allowed. */
void rfs_destroy(struct rfs *fs);

/* A request of the kernel's, whole, in a block of base/mem.h that has room for RFS_REQUEST_MAX.
 * True: the block is kept, and freed later. */
bool rfs_take(struct rfs *fs, unsigned char *request, size_t length);

/* For the link's renew and again: what is open, is opened again in a new session. */
void rfs_renew(struct rfs *fs);
enum rfs_again rfs_judge_again(struct rfs *fs, struct rfs_call *call, bool was_sent);

/* Nothing that was written is still on the way to the server. */
bool rfs_all_is_written(const struct rfs *fs);

struct rfs_stats {
    uint64_t requests;     /* of the kernel */
    uint64_t reads, ahead; /* asked of it; of these answered from what was read ahead */
    uint64_t writes;       /* of the kernel */
    size_t nodes;
    size_t dirty_bytes;
};
void rfs_get_stats(const struct rfs *fs, struct rfs_stats *ret);

#endif
