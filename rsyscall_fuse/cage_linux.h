/* rsyscall_fuse/cage_linux.h - the sandbox ("cage") in which a job sees only the submit machine's
 * files.
 *
 * The keeper, a process of roost-rsys-mount, is the init process (process 1) of new user, mount,
 * PID and IPC namespaces and, unless the job may use the network, of a network namespace with only
 * the loopback device.  The keeper mounts the file system, mounts parts of this machine over it
 * (/proc, devices, a scratch directory as /tmp), makes it the root and detaches the old root.  It
 * then starts the job, which has no privileges in these namespaces.  When the job has ended, the
 * keeper kills all other processes there.
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
struct os_filter; /* a system call filter (base/os/os_cage.h) */
struct rfs_cage;

struct rfs_cage_options {
    /* Directory of this machine that the job sees as /tmp; NULL: it sees the submit machine's
     * /tmp. */
    const char *scratch;
    const char *directory; /* the job's initial directory as the job sees it; NULL: "/" */
    /* Files for standard input, output and error, as the job sees them; NULL: those of this
     * process.  Output files are created and emptied; output and error may be the same file. */
    const char *streams[3];
    bool network;
    const struct os_filter *filter; /* system call filter (seccomp) for the job; NULL: none */
    /* A second system call filter, for a job that may not use the network; NULL: none. */
    const struct os_filter *offline_filter;
    /* The job's program, searched in PATH as the job sees it, and its arguments, ended by NULL. */
    char *const *argv;
    char *const *environment; /* the job's environment; NULL: that of this process */
    /* A program of this machine that is run in place of argv[0] and is not visible by name: a
     * checkpoint image.  NULL: none. */
    const char *image;
};

struct rfs_cage_events {
    /* Called when the file system is mounted.  The callee owns the descriptors: fuse_fd, of
     * /dev/fuse; proc_fd, of the sandbox's /proc, or -1. */
    void (*mounted)(void *arg, int fuse_fd, int proc_fd);
    void (*started)(void *arg);
    /* Called when the job and all its processes have ended; status is that of the job, as from
     * wait(2). */
    void (*ended)(void *arg, int status);
    /* Called when the job could not be started; why is the reason. of_job: true: the job's program,
     * directory or standard files do not exist where the job sees files, so it would fail on other
     * machines, too. */
    void (*failed)(void *arg, bool of_job, const char *why);
};

/* Creates the keeper process, which waits for rfs_cage_mount().  To be called early: the keeper is
 * a copy (fork) of this process, with the options, and should not contain secrets. */
int rfs_cage_create(struct loop *loop, const struct rfs_cage_options *options,
                    const struct rfs_cage_events *events, void *arg, struct rfs_cage **ret,
                    struct err *err);
/* Lets the keeper mount the file system and start the job.  uid (not 0), gid: the user and group as
 * which the job sees itself running; max_read: most bytes of one read of the file system.  Returns
 * 0 or -errno. */
int rfs_cage_mount(struct rfs_cage *cage, uid_t uid, gid_t gid, uint32_t max_read, struct err *err);
void rfs_cage_signal(struct rfs_cage *cage, int signal_number); /* sends a signal to the job */
/* Kills the keeper, the job and all its processes; then the event `ended` or `failed` follows. */
void rfs_cage_kill(struct rfs_cage *cage);
/* Kills the processes of the cage, if there are any, and frees it.  NULL is allowed. */
void rfs_cage_destroy(struct rfs_cage *cage);
/* Returns the signal that ended the job; 0: none did. status: as given to the event `ended`. */
int rfs_cage_signal_of(int status);
/* To be called at the end of roost-rsys-mount. status: as given to the event `ended`.  If a signal
 * ended the job, ends this process by the same signal; otherwise returns the job's exit status. */
int rfs_cage_end_like(int status);

#endif
