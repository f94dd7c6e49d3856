/* rsyscall_fuse/mount.h - runs a job in its sandbox on a server's files, from start to end.
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

#define RFS_MOUNT_LOST 75 /* exit status: the session was lost, so the job was killed */
#define RFS_MOUNT_FAIL                                                        \
    1 /* exit status: the job could not be started; a line on stderr says why \
       */
/* exit status: the job's program, directory or standard files could not be opened. */
#define RFS_MOUNT_REFUSED 126

struct rfs_mount_options {
    struct rfs_link_options link; /* all but the ticket */
    struct rfs_cage_options cage;
    struct rfs_options files; /* uid and gid are set from the server's reply */
    const char *ticket_file;
    /* file with the server's current address, see rfs_address_read(); NULL: the address never
     * changes */
    const char *server_file;
    /* the job's environment, entries ended by zero bytes; NULL: ours */
    const char *environment_file;
    bool stats;
};

/* Reads the ticket: the first line of the file.  Returns 0 or -errno. */
int rfs_ticket_read(struct os *os, const char *file, char ret[RSYS_TICKET_MAX + 1],
                    struct err *err);

#define RFS_ADDRESS_SIZE 300
/* Reads the first line of the file into ret and returns ret; NULL: there is no file, or the line is
 * empty. */
const char *rfs_address_read(struct os *os, const char *file, char ret[RFS_ADDRESS_SIZE]);

/* Reads a job's environment: *text is the file's contents, and ret gets pointers to its entries and
 * a final NULL. The caller owns both, also after an error. */
int rfs_environment_read(struct os *os, const char *file, char **text, struct vec *ret,
                         struct err *err);

/* Starts everything on the loop; the loop is stopped when the job has ended.  Returns 0, or -errno
 * (such as -EPERM) when a sandbox is not possible. */
int rfs_mount_create(struct loop *loop, struct os *os, const struct rfs_mount_options *options,
                     struct rfs_mount **ret, struct err *err);
/* Tests, without a server, whether a job can have a file system on this machine; stops the loop
 * when done. */
int rfs_probe_create(struct loop *loop, struct rfs_probe **ret, struct err *err);
/* the result: 0, or -EOPNOTSUPP with the reason in err */
int rfs_probe_finish(struct rfs_probe *probe, struct err *err);
/* Call after the loop has ended.  Returns the exit status for our program, or dies of the signal
 * that killed the job. */
int rfs_mount_finish(struct rfs_mount *mount);

#endif
