/* rsyscall_fuse/cage_linux.h - the place in which a job sees nothing but the submit machine's
 * files.
 *
 * A process of its own, "the keeper", is process 1 of new user, mount, PID and IPC namespaces, and,
 * unless the job may use the network, of a network namespace with nothing but the loopback.  It
 * mounts the file system, lays what belongs to this machine over it (/proc, devices, a directory to
 * scribble in as /tmp), makes it the root and forgets the old one, and starts the job, which has no
 * rights in those namespaces.  When the job has ended it ends whatever else runs there.
 *
 * It needs no privilege; where the kernel or its administrator forbids user namespaces it says so.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RSYSCALL_FUSE_CAGE_LINUX_H
#define RSYSCALL_FUSE_CAGE_LINUX_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct loop;
struct os_filter; /* base/os/os_cage.h */
struct rfs_cage;

struct rfs_cage_options {
    const char *scratch; /* a directory of this machine that is /tmp; NULL: the submit machine's */
    const char *directory; /* in which the job starts, as it sees it; NULL: "/" */
    /* Files in its own view that are its standard input, output and error; NULL: ours.  Output is
     * made and emptied; output and error may be one file. */
    const char *streams[3];
    bool network;
    const struct os_filter *filter;         /* of system calls; NULL: none */
    const struct os_filter *offline_filter; /* beside it, without network; NULL: none */
    char *const *argv;                      /* argv[0] is looked for in PATH of the job's root */
    char *const *environment;               /* of the job; NULL: ours */
    /* A program of this machine that is run in place of argv[0], and not seen by its name: the
     * image of a checkpoint; NULL: none. */
    const char *image;
};

struct rfs_cage_events {
    /* The file system is mounted: its device, and /proc of the namespace, which are the callee's.
     */
    void (*mounted)(void *arg, int fuse_fd, int proc_fd);
    void (*started)(void *arg);
    /* The job has ended, and all that ran with it: as wait(2) tells it. */
    void (*ended)(void *arg, int status);
    /* It did not come to that, with why.  of_job: its program, its directory or its standard files
     * cannot be had in its view; elsewhere it would fail, too. */
    void (*failed)(void *arg, bool of_job, const char *why);
};

/* Makes the keeper, which waits for rfs_cage_mount().  To be called early: the keeper is a copy of
 * this process, and should know no secret.  Options are copied by that. */
int rfs_cage_create(struct loop *loop, const struct rfs_cage_options *options,
                    const struct rfs_cage_events *events, void *arg, struct rfs_cage **ret,
                    struct err *err);
/* Goes on: who the job takes itself for (not 0), and how much may be read at once. */
int rfs_cage_mount(struct rfs_cage *cage, uid_t uid, gid_t gid, uint32_t max_read, struct err *err);
void rfs_cage_signal(struct rfs_cage *cage, int signal_number); /* to the job */
void rfs_cage_kill(struct rfs_cage *cage);    /* all of it; ended or failed will come */
void rfs_cage_destroy(struct rfs_cage *cage); /* kills; NULL is allowed */
int rfs_cage_signal_of(int status);           /* that ended it; 0: none did */
/* For the end of the program: dies of the same signal, or returns the exit status. */
int rfs_cage_end_like(int status);

#endif
