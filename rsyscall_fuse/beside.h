/* rsyscall_fuse/beside.h - runs a job whose own processes request its files from the server
 * (door.h), for machines where ordinary users may not create namespaces.
 *
 * The job is not in a sandbox: it sees this machine's programs and libraries.  Only the Unix user
 * as which it runs, and whatever sandbox the caller of roost-rsys-mount put around it, keep
 * the job away from this machine's files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RSYSCALL_FUSE_BESIDE_H
#define RSYSCALL_FUSE_BESIDE_H

#include <stdbool.h>

#include "rsyscall_fuse/rfs_link.h"

struct err;
struct loop;
struct os;
struct os_filter;
struct rfs_beside;

struct rfs_beside_options {
    /* settings of the connection; link.ticket is set from ticket_file */
    struct rfs_link_options link;
    const char *ticket_file;
    /* File with the server's current address (rfs_address_read()); NULL: the address never
     * changes. */
    const char *server_file;
    const char *library; /* path of the library that dynamically linked programs preload */
    /* Directories that the job sees as they are on this machine, such as "/usr:/opt"; NULL:
     * "/tmp". */
    const char *local;
    /* Directory of this machine in which the door's directory is made.  The job sees it, like those
     * of `local`, as it is on this machine. */
    const char *scratch;
    /* Directory for the door's socket, where a resumed job finds it; NULL: a new one in scratch. */
    const char *door;
    const char *directory; /* the job's initial directory as the job sees it; NULL: "/" */
    /* Paths of files for standard input, output and error, as the job sees them; NULL: those of
     * this process. */
    const char *streams[3];
    /* The job's environment: a file of entries, each ended by a zero byte; NULL: the environment of
     * this process. */
    const char *environment_file;
    const char *image; /* a local program that is run in place of argv[0]; NULL: none */
    const struct os_filter *filter; /* system call filter (seccomp) for the job; NULL: none */
    bool fetch;        /* true: argv[0] is a file of the server; false: a path of this machine */
    char *const *argv; /* the job's program and its arguments, ended by NULL */
    bool stats;
};

/* Connects to the server and starts the job, on the loop; the loop is stopped when the job has
 * ended.  Returns 0 or -errno. */
int rfs_beside_create(struct loop *loop, struct os *os, const struct rfs_beside_options *options,
                      struct rfs_beside **ret, struct err *err);
/* To be called after the loop has ended: frees `beside` and returns the exit status for
 * roost-rsys-mount; if a signal killed the job, ends this process by the same signal. */
int rfs_beside_finish(struct rfs_beside *beside);

#endif
