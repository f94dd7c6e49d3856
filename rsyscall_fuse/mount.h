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
/* Exit status: the job could not be started; a line on standard error says why. */
#define RFS_MOUNT_FAIL 1
/* Exit status: the job's program, directory or standard files could not be opened. */
#define RFS_MOUNT_REFUSED 126

struct rfs_mount_options {
    /* settings of the connection; link.ticket is set from ticket_file */
    struct rfs_link_options link;
    struct rfs_cage_options cage;
    /* settings of the file system; files.uid and files.gid are set from the server's reply to
     * HELLO */
    struct rfs_options files;
    const char *ticket_file;
    /* File with the server's current address (rfs_address_read()); NULL: the address never
     * changes. */
    const char *server_file;
    /* The job's environment: a file of entries, each ended by a zero byte; NULL: the environment of
     * this process. */
    const char *environment_file;
    bool stats;
};

/* Reads the ticket, the first line of the file, into ret.  Returns 0 or -errno. */
int rfs_ticket_read(struct os *os, const char *file, char ret[RSYS_TICKET_MAX + 1],
                    struct err *err);

/* most bytes of a server's address, with the terminating zero */
#define RFS_ADDRESS_SIZE 300
/* Reads the server's address, the first line of the file, into ret and returns ret.  Returns NULL
 * if file is NULL, or there is no such file, or that line is empty. */
const char *rfs_address_read(struct os *os, const char *file, char ret[RFS_ADDRESS_SIZE]);

/* Reads a job's environment from a file. *text: the file's contents; ret: gets pointers to the
 * entries in *text, and a final NULL.  The caller owns both, also after an error.  Returns 0 or
 * -errno. */
int rfs_environment_read(struct os *os, const char *file, char **text, struct vec *ret,
                         struct err *err);

/* Connects to the server, mounts the file system and starts the job, on the loop; the loop is
 * stopped when the job has ended.  Returns 0; or -errno (such as -EPERM) if a sandbox is not
 * possible. */
int rfs_mount_create(struct loop *loop, struct os *os, const struct rfs_mount_options *options,
                     struct rfs_mount **ret, struct err *err);
/* Begins to test, without a server, whether a file system can be mounted for a job on this machine;
 * the loop is stopped when the result is known.  Returns 0 or -errno. */
int rfs_probe_create(struct loop *loop, struct rfs_probe **ret, struct err *err);
/* To be called after the loop has ended: frees probe and returns the result of the test: 0:
 * possible; -EOPNOTSUPP: not possible, with the reason in err. */
int rfs_probe_finish(struct rfs_probe *probe, struct err *err);
/* To be called after the loop has ended: frees mount and returns the exit status for
 * roost-rsys-mount;
 * if a signal killed the job, ends this process by the same signal. */
int rfs_mount_finish(struct rfs_mount *mount);

#endif
