/* base/os/os_lease_linux.c - the lease process of a cage, which kills the cage at the end of its
 * lease: see base/os/os_cage.h.
 *
 * Design note: the lease process shares our memory, as the keeper does, and runs beside us; so it
 * does only system calls, and once the program runs only such that cannot fail, because errno is
 * shared.  The timer belongs to the lease process alone (POSIX timers are not shared and not
 * inherited), so the lease process itself moves it: each message in the FIFO is an end.  A lease
 * process that is stopped reads no message and is killed at the last end that it knew.
 *
 * Sources: timer_create(2), PR_SET_PDEATHSIG of prctl(2), pid_namespaces(7).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/os_spawn_linux.h"

#define MS_PER_S  1000
#define NS_PER_MS 1000000

#define LEASE_FD  0 /* where the lease process has the FIFO, and the keeper's pidfd */
#define KEEPER_FD 1

/* ---- the lease process's side: system calls only
 * ----------------------------------------------------- */

CHILD_SIDE static void set_end(struct launch *launch, uint64_t end_ms)
{
    uint64_t at_ms = end_ms + OS_CAGE_GRACE_MS;
    launch->lease_time.it_value.tv_sec = (time_t)(at_ms / MS_PER_S);
    launch->lease_time.it_value.tv_nsec = (long)(at_ms % MS_PER_S) * NS_PER_MS;
    (void)syscall(SYS_timer_settime, launch->lease_timer, TIMER_ABSTIME, &launch->lease_time, NULL);
}

CHILD_SIDE static void watch_lease(struct launch *launch, pid_t keeper)
{
    for (;;) {
        struct pollfd fds[2];
        uint64_t end_ms;
        ((volatile struct pollfd *)fds)[0].fd = LEASE_FD;
        ((volatile struct pollfd *)fds)[0].events = POLLIN;
        ((volatile struct pollfd *)fds)[0].revents = 0;
        ((volatile struct pollfd *)fds)[1].fd = KEEPER_FD;
        ((volatile struct pollfd *)fds)[1].events = POLLIN;
        ((volatile struct pollfd *)fds)[1].revents = 0;
        (void)syscall(SYS_ppoll, fds, 2, NULL, NULL, 8);
        if (fds[1].revents != 0) {
            (void)syscall(SYS_wait4, keeper, NULL, 0, NULL);
            __atomic_store_n(&launch->end.keeper_reaped, true, __ATOMIC_SEQ_CST);
            return;
        }
        if ((fds[0].revents & POLLIN) != 0 &&
            syscall(SYS_read, LEASE_FD, &end_ms, sizeof(end_ms)) == (long)sizeof(end_ms)) {
            set_end(launch, end_ms);
        }
    }
}

CHILD_SIDE int spawn_lease_process(struct launch *launch, int (*keep)(void *launch))
{
    pid_t keeper = -1;
    if (spawn_failed(launch, STEP_LEASE, syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)) >=
            0 &&
        spawn_failed(launch, STEP_LEASE,
                     syscall(SYS_timer_create, CLOCK_BOOTTIME, &launch->lease_event,
                             &launch->lease_timer)) >= 0) {
        set_end(launch, launch->spec->cage->lease_end_ms);
        keeper = (pid_t)spawn_failed(launch, STEP_NAMESPACES,
                                     clone(keep, launch->keeper_stack_top,
                                           launch->keeper_flags | CLONE_PIDFD, launch,
                                           &launch->keeper_pidfd));
    }
    if (keeper > 0) {
        launch->end.keeper = keeper;
        (void)syscall(SYS_dup3, launch->lease_fd, LEASE_FD, 0);
        (void)syscall(SYS_dup3, launch->keeper_pidfd, KEEPER_FD, 0);
        (void)spawn_close_from(KEEPER_FD + 1);
        (void)syscall(SYS_prctl, PR_SET_NAME, "roost-keeper", 0, 0, 0);
        (void)syscall(SYS_chdir, "/");
        spawn_is_ready(launch);
        watch_lease(launch, keeper);
    }
    (void)syscall(SYS_exit_group, 0);
    return 0;
}

/* ---- our side -------------------------------------------------------------------------------- */

static bool has_pidfds(void)
{
    int fd = pidfd_open(getpid(), 0);
    if (fd >= 0) {
        close(fd);
    }
    return fd >= 0;
}

static int open_fifo(const char *path)
{
    struct stat about;
    int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0 && fstat(fd, &about) == 0 && S_ISFIFO(about.st_mode) && about.st_uid == geteuid()) {
        return fd;
    }
    if (fd >= 0) {
        close(fd);
        errno = EEXIST;
        return -1;
    }
    if (errno != ENOENT || mkfifo(path, 0600) != 0) {
        return -1;
    }
    return open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
}

int spawn_lease_open(struct launch *launch)
{
    const struct os_cage *cage = launch->spec->cage;
    if (cage->lease_path == NULL || !cage->namespaces || !has_pidfds()) {
        return 0;
    }
    launch->lease_event.sigev_notify = SIGEV_SIGNAL;
    launch->lease_event.sigev_signo = SIGKILL;
    launch->lease_fd = open_fifo(cage->lease_path);
    return launch->lease_fd >= 0 ? 0 : -errno;
}

bool os_cage_can_lease(struct os *os)
{
    static const char *const ARGV[] = {"/bin/true", NULL};
    const struct os_mount proc = {.kind = OS_MOUNT_PROC, .to = "/proc"};
    const struct os_cage cage = {.namespaces = true,
                                 .user_namespace = geteuid() != 0,
                                 .mounts = &proc,
                                 .mount_count = 1};
    const struct os_spawn spec = {.argv = ARGV, .no_new_privs = true, .cage = &cage};
    pid_t pid;
    return has_pidfds() && os_spawn(os, &spec, NULL, NULL, &pid, NULL) == 0;
}

void os_cage_renew(struct os *os, const char *lease_path, uint64_t end_ms)
{
    (void)os;
    struct stat about;
    int fd = open(lease_path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) {
        return;
    }
    if (fstat(fd, &about) == 0 && S_ISFIFO(about.st_mode)) {
        (void)!write(fd, &end_ms,
                     sizeof(end_ms)); /* full: its reader is stopped, and will be killed */
    }
    close(fd);
}
