/* rsyscall_fuse/beside.h - a job whose own processes ask for its files: where ordinary users may
 * make no namespaces (door.h).
 *
 * The job is not shut in: it sees this machine's programs and libraries, and what keeps it from
 * this machine's files is its user, and whatever whoever started us has put around us.
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
    struct rfs_link_options link; /* but the ticket */
    const char *ticket_file;
    const char *server_file; /* as rfs_mount_options has it */
    const char *library;     /* preloaded by programs that are linked dynamically */
    const char *local;       /* names that are this machine's, "/usr:/opt"; NULL: "/tmp" */
    const char *scratch; /* a directory of this machine, for the socket; the job's /tmp is local */
    const char *door;    /* the socket's directory, which images of the job find where they are
                          * resumed; NULL: one in scratch */
    const char *directory; /* where the job starts, in its own view; NULL: "/" */
    const char
        *streams[3]; /* files in its view that are standard input, output, error; NULL: ours */
    const char *environment_file; /* as in mount.h; NULL: ours */
    const char *image; /* a program of this machine that is run in place of argv[0]; NULL: none */
    const struct os_filter *filter; /* of system calls; NULL: none */
    bool fetch;                     /* argv[0] is the server's */
    char *const *argv;              /* argv[0]: a path of this machine, unless fetch */
    bool stats;
};

/* Starts it all on the loop, which is stopped when it is over. */
int rfs_beside_create(struct loop *loop, struct os *os, const struct rfs_beside_options *options,
                      struct rfs_beside **ret, struct err *err);
/* After the loop has ended: the exit status for the program, or dies of the job's signal. */
int rfs_beside_finish(struct rfs_beside *beside);

#endif
