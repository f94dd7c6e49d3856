/* rsyscall_fuse/cage_linux.h - the sandbox ("cage") in which a job sees only the submit machine's
 * files.
 *
 * A process of ours, the keeper, is the init process (process 1) of new user, mount, PID and IPC
 * namespaces and, unless the job may use the network, of a network namespace with only the loopback
 * device.  The keeper mounts the file system, mounts parts of this machine over it (/proc, devices,
 * a scratch directory as /tmp), makes it the root and detaches the old root.  It then starts the
 * job, which has no privileges in these namespaces.  When the job has ended, the keeper kills all
 * other processes there.
 *
 * This needs no privilege.  Where the kernel or its administrator forbids user namespaces, an error
 * says so.
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
    /* directory of this machine for the job's /tmp; NULL: the submit machine's /tmp */
    const char *scratch;
    const char *directory; /* the job's initial directory as the job sees it; NULL: "/" */
    /* Files for standard input, output and error, as the job sees them; NULL: ours.  Output files
     * are created and emptied; output and error may be the same file. */
    const char *streams[3];
    bool network;
    const struct os_filter *filter; /* system call filter (seccomp); NULL: none */
    /* a second filter for jobs without network; NULL: none */
    const struct os_filter *offline_filter;
    char *const *argv;        /* argv[0] is searched in PATH, below the job's root */
    char *const *environment; /* the job's environment; NULL: ours */
    /* A program of this machine that is run in place of argv[0] and is not visible by name: a
     * checkpoint image.  NULL: none. */
    const char *image;
};

struct rfs_cage_events {
    /* The file system is mounted.  The callee owns the descriptors: of /dev/fuse, and of the
     * namespace's /proc. */
    void (*mounted)(void *arg, int fuse_fd, int proc_fd);
    void (*started)(void *arg);
    /* The job and all processes with it have ended; status as from wait(2). */
    void (*ended)(void *arg, int status);
    /* The job could not be started; why is the reason.  of_job: its program, directory or standard
     * files do not exist in its view, so it would fail on other machines too. */
    void (*failed)(void *arg, bool of_job, const char *why);
};

/* Creates the keeper process, which waits for rfs_cage_mount().  Call this early: the keeper is a
 * copy of this process and should not contain secrets.  The copy includes the options. */
int rfs_cage_create(struct loop *loop, const struct rfs_cage_options *options,
                    const struct rfs_cage_events *events, void *arg, struct rfs_cage **ret,
                    struct err *err);
/* Lets the keeper continue.  uid (not 0) and gid are those the job sees itself running as; max_read
 * is the most bytes of one read. */
int rfs_cage_mount(struct rfs_cage *cage, uid_t uid, gid_t gid, uint32_t max_read, struct err *err);
void rfs_cage_signal(struct rfs_cage *cage, int signal_number); /* sends a signal to the job */
/* kills all processes; the event ended or failed follows */
void rfs_cage_kill(struct rfs_cage *cage);
void rfs_cage_destroy(struct rfs_cage *cage); /* also kills; NULL is allowed */
int rfs_cage_signal_of(int status);           /* the signal that ended the job; 0: none */
/* For the end of our program: dies of the same signal, or returns the exit status. */
int rfs_cage_end_like(int status);

#endif
