/* rsyscall_fuse/mount.h - a job in its cage, on the files of a server, from its start to its end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RSYSCALL_FUSE_MOUNT_H
#define RSYSCALL_FUSE_MOUNT_H

#include <stdbool.h>

#include "rsyscall_fuse/cage_linux.h"
#include "rsyscall_fuse/rfs.h"
#include "rsyscall_fuse/rfs_link.h"

struct err;
struct loop;
struct os;
struct vec;
struct rfs_mount;
struct rfs_probe;

#define RFS_MOUNT_LOST 75 /* exit status: the session was lost, and the job ended for it */
#define RFS_MOUNT_FAIL 1  /* it could not be started, with a line on stderr */
/* The same, for what it names itself: its program, its directory or its standard files. */
#define RFS_MOUNT_REFUSED 126

struct rfs_mount_options {
    struct rfs_link_options link; /* but the ticket */
    struct rfs_cage_options cage;
    struct rfs_options files; /* uid and gid are set by what the server says */
    const char *ticket_file;
    const char *server_file; /* where the server is by now: rfs_address_read(); NULL: it stays */
    const char *environment_file; /* the job's environment, a zero byte after each; NULL: ours */
    bool stats;
};

/* The file's first line. */
int rfs_ticket_read(struct os *os, const char *file, char ret[RSYS_TICKET_MAX + 1],
                    struct err *err);

#define RFS_ADDRESS_SIZE 300
/* The file's first line, in ret; NULL: there is no file, or nothing in it. */
const char *rfs_address_read(struct os *os, const char *file, char ret[RFS_ADDRESS_SIZE]);

/* A job's environment: *text is what the file says, ret points to each in it and ends with NULL;
 * both are the caller's, also after an error. */
int rfs_environment_read(struct os *os, const char *file, char **text, struct vec *ret,
                         struct err *err);

/* Starts it all on the loop, which is stopped when it is over.  -EPERM and others: it cannot be. */
int rfs_mount_create(struct loop *loop, struct os *os, const struct rfs_mount_options *options,
                     struct rfs_mount **ret, struct err *err);
/* Can a job have a file system here?  Tries it, without a server, until the loop is stopped. */
int rfs_probe_create(struct loop *loop, struct rfs_probe **ret, struct err *err);
int rfs_probe_finish(struct rfs_probe *probe, struct err *err); /* -EOPNOTSUPP: no, and why */
/* After the loop has ended.  Returns the exit status for the program, or dies of the signal that
 * the job died of. */
int rfs_mount_finish(struct rfs_mount *mount);

#endif
