/* rsyscall_fuse/beside.h - runs a job whose own processes request its files (door.h), for machines
 * where ordinary users may not create namespaces.
 *
 * The job is not in a sandbox: it sees this machine's programs and libraries.  Only its user
 * account, and whatever sandbox our caller put around us, keep it from this machine's files.
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
    struct rfs_link_options link; /* all but the ticket */
    const char *ticket_file;
    const char *server_file; /* as in struct rfs_mount_options */
    const char *library;     /* library that dynamically linked programs preload */
    const char *local;       /* directories that are local, such as "/usr:/opt"; NULL: "/tmp" */
    const char *scratch;     /* directory of this machine for the socket; the job's /tmp is local */
    /* directory for the door's socket, where a resumed job finds it; NULL: a new one in scratch */
    const char *door;
    const char *directory; /* the job's initial directory as the job sees it; NULL: "/" */
    /* files for standard input, output and error, as the job sees them; NULL: ours */
    const char *streams[3];
    const char *environment_file; /* as in struct rfs_mount_options; NULL: our environment */
    const char *image;            /* a local program that is run in place of argv[0]; NULL: none */
    const struct os_filter *filter; /* system call filter (seccomp) for the job; NULL: none */
    bool fetch;                     /* argv[0] is a file of the server */
    char *const *argv;              /* argv[0] is a path of this machine, unless fetch */
    bool stats;
};

/* Starts the job on the loop; the loop is stopped when the job has ended.  Returns 0 or -errno. */
int rfs_beside_create(struct loop *loop, struct os *os, const struct rfs_beside_options *options,
                      struct rfs_beside **ret, struct err *err);
/* Call after the loop has ended: returns the exit status for our program, or dies of the job's
 * signal. */
int rfs_beside_finish(struct rfs_beside *beside);

#endif
