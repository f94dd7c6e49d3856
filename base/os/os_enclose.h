/* base/os/os_enclose.h - a process that cannot leave anything behind: when it ends, in whatever
 * way, all its descendants are killed.
 *
 * Problem: a program that starts jobs for somebody else may be killed, may stand still, or may lose
 * the connection to whoever asked for the jobs, and a job's processes can leave every group,
 * session and tree.
 *
 * Design: the calling process becomes the watcher and does little else, so little can happen to it.
 * Its child does the work. With namespaces, the child is process 1 of a PID namespace (an ordinary
 * user's in a user namespace that keeps the uid and gid) with mounts and IPC of its own: the kernel
 * kills everything in there when the child ends, and kills the child when the watcher ends. A lease
 * limits both: a timer of the kernel kills the watcher OS_ENCLOSE_GRACE_MS after the end of the
 * lease, even when both stand still.
 *
 * Where namespaces cannot be had, both processes adopt orphans (PR_SET_CHILD_SUBREAPER), and each
 * kills the descendants when the other one ends.  What is lost then: a descendant that has become
 * another user; and all of them when both processes are killed in the same moment.
 *
 * The watcher stays outside of the namespaces, so it can also start programs that go on when all
 * this has ended (os_enclosure_launch()).
 *
 * Rejected: the cage of os_cage.h.  It holds one program for each start, so every job would pay for
 * new namespaces; here the namespaces stay while jobs come and go.
 *
 * Sources: pid_namespaces(7), user_namespaces(7), PR_SET_PDEATHSIG and PR_SET_CHILD_SUBREAPER of
 * prctl(2), timer_create(2).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_OS_OS_ENCLOSE_H
#define BASE_OS_OS_ENCLOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct loop;
struct os_enclosure; /* the child's side */

/* After the end of the lease: the watcher, if it runs, kills the child after the first time, and
 * the kernel kills the watcher after the second one. */
#define OS_ENCLOSE_LATE_MS  200
#define OS_ENCLOSE_GRACE_MS 500
/* What os_enclose_run() returns when the watcher had to end the child because of the lease. */
#define OS_ENCLOSE_LEASE_STATUS 3

struct os_enclose {
    bool no_namespaces; /* true: do not try to get namespaces */
    uint64_t lease_ms;  /* length of the first lease, which begins now */
};

/* Runs inside(arg, enclosure) in a child process.  Returns, in the calling process, the exit status
 * for main(): what inside() returned; OS_ENCLOSE_LEASE_STATUS with err filled; or 1 with err
 * filled: the child could not be made, or a signal ended it.  All descendants of the child are dead
 * then, but see above.  The calling process must have no thread, loop or child, and nothing in the
 * buffers of stdio; its standard input and output are the child's.  SIGTERM, SIGHUP and SIGINT are
 * passed on to the child, which has 2 s to end. */
int os_enclose_run(const struct os_enclose *spec, int (*inside)(void *arg, struct os_enclosure *),
                   void *arg, struct err *err);

/* ---- for the child --------------------------------------------------------------------------- */

/* Returns whether the child is process 1 of a PID namespace. */
bool os_enclosure_is_namespace(const struct os_enclosure *enclosure);
/* Moves the end of the lease to end_ms of CLOCK_BOOTTIME.  Costs no system call with namespaces,
 * unless the end comes earlier than before. */
void os_enclosure_renew(struct os_enclosure *enclosure, uint64_t end_ms);
/* Returns whether the child has any descendant, dead ones that are not reaped included. */
bool os_enclosure_has_others(const struct os_enclosure *enclosure);
/* Sends SIGKILL to all descendants; they may still be dying when this returns. */
void os_enclosure_kill_others(struct os_enclosure *enclosure);
/* Kills all descendants again and again until none is left, for at most 5 s; blocks until then. */
void os_enclosure_sweep(struct os_enclosure *enclosure);
/* Returns the pid that the host knows for the child itself, or for a child of it, that has this pid
 * in here; pid itself if that cannot be found (before Linux 4.1).  Without pidfds (before 5.3) it
 * costs a look at all processes of the host. */
pid_t os_enclosure_outer_pid(const struct os_enclosure *enclosure, pid_t pid);
/* Asks the watcher to start this same program with these arguments (argv[0] too, ended by NULL),
 * outside of the namespaces and in a session of its own.  It is not ended with the rest.  Its
 * standard input and error are empty; what it writes to its standard output, at most
 * OS_ENCLOSE_TEXT_MAX bytes of it, is given to said(), once, when it has closed that: said() frees
 * text with mem_free().  Returns 0 or -errno. */
#define OS_ENCLOSE_TEXT_MAX ((size_t)1 << 20)
int os_enclosure_launch(struct os_enclosure *enclosure, struct loop *loop, const char *const *argv,
                        void (*said)(void *arg, char *text, size_t length), void *arg,
                        struct err *err);

#endif
