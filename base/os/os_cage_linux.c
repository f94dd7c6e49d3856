/* base/os/os_cage_linux.c - starts a program in namespaces of its own: see base/os/os_cage.h.
 *
 * Design note: the process that holds the namespaces ("the keeper", process 1 in there) shares our
 * memory and, unlike a vfork, runs beside us as long as the program does.  So it must not touch our
 * data: it does only system calls, all signals stay blocked in it, and once the program runs it
 * does only calls that cannot fail, because errno is shared, too.  A futex tells us that the keeper
 * has started the program, or that it has failed; the kernel also clears the futex when the keeper
 * dies.
 *
 * Sources: pid_namespaces(7), user_namespaces(7), mount_namespaces(7), CLONE_CHILD_CLEARTID of
 * clone(2).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/os_spawn_linux.h"

#define SMALL "mode=0755,size=64k" /* a file system in memory, of directories alone */

/* ---- the keeper's side: system calls only ---------------------------------------------------- */

CHILD_SIDE static bool write_file(struct launch *launch, const char *path, const char *text)
{
    size_t length = 0;
    while (((const volatile char *)text)[length] != '\0') {
        length++;
    }
    int fd = (int)spawn_failed(launch, STEP_NAMESPACES,
                               syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC, 0));
    if (fd < 0) {
        return false;
    }
    long wrote = spawn_failed(launch, STEP_NAMESPACES, syscall(SYS_write, fd, text, length));
    (void)syscall(SYS_close, fd);
    return wrote >= 0;
}

CHILD_SIDE static bool map_user(struct launch *launch)
{
    return !launch->spec->cage->user_namespace ||
           (write_file(launch, "/proc/self/setgroups", "deny") &&
            write_file(launch, "/proc/self/uid_map", launch->user_map) &&
            write_file(launch, "/proc/self/gid_map", launch->group_map));
}

/* Makes the directories that lead to a mount point; others of our mounts may have hidden them. */
CHILD_SIDE static void make_way(const char *path)
{
    char part[PATH_MAX];
    size_t i = 0;
    for (; i + 1 < sizeof(part) && path[i] != '\0'; i++) {
        ((volatile char *)part)[i] = path[i];
        ((volatile char *)part)[i + 1] = '\0';
        if (i > 0 && path[i + 1] == '/') {
            (void)syscall(SYS_mkdirat, AT_FDCWD, part, 0755); /* the mount says what is wrong */
        }
    }
    (void)syscall(SYS_mkdirat, AT_FDCWD, path, 0755);
}

CHILD_SIDE static void fd_path(int fd, char *ret)
{
    static const char PREFIX[] = "/proc/self/fd/";
    volatile char *at = ret;
    for (size_t i = 0; i < sizeof(PREFIX) - 1; i++) {
        *at++ = PREFIX[i];
    }
    int divisor = 1;
    while (fd / divisor >= 10) {
        divisor *= 10;
    }
    for (; divisor > 0; divisor /= 10) {
        *at++ = (char)('0' + fd / divisor % 10);
    }
    *at = '\0';
}

/* Keeps the other flags of the mount: in a user namespace none of them may be removed. */
CHILD_SIDE static long make_readonly(const char *path)
{
    static const struct {
        unsigned long is, flag;
    } KEPT[] = {{ST_NOSUID, MS_NOSUID},         {ST_NODEV, MS_NODEV},
                {ST_NOEXEC, MS_NOEXEC},         {ST_NOATIME, MS_NOATIME},
                {ST_NODIRATIME, MS_NODIRATIME}, {ST_RELATIME, MS_RELATIME}};
    struct statfs about;
    unsigned long flags = MS_BIND | MS_REMOUNT | MS_RDONLY;
    long rc = syscall(SYS_statfs, path, &about);
    for (size_t i = 0; i < sizeof(KEPT) / sizeof(KEPT[0]) && rc >= 0; i++) {
        flags |= ((unsigned long)about.f_flags & KEPT[i].is) != 0 ? KEPT[i].flag : 0;
    }
    return rc < 0 ? rc : syscall(SYS_mount, NULL, path, NULL, flags, NULL);
}

/* Covers a directory by an empty one; does nothing if it does not exist. *empty is the one that
 * covered the first directory (-1: none yet): to mount the same one again is much cheaper for the
 * kernel, now and when the namespace ends, than another file system. */
CHILD_SIDE static long hide_directory(const char *path, int *empty)
{
    char from[32];
    if (*empty >= 0) {
        fd_path(*empty, from);
        if (syscall(SYS_mount, from, path, NULL, MS_BIND, NULL) >= 0 || errno == ENOENT) {
            return 0;
        }
    }
    long rc = syscall(SYS_mount, "tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, SMALL);
    if (rc >= 0 && *empty < 0) {
        *empty = (int)syscall(SYS_openat, AT_FDCWD, path, O_PATH | O_CLOEXEC, 0);
    }
    return rc < 0 && errno == ENOENT ? 0 : rc;
}

CHILD_SIDE static bool make_mount(struct launch *launch, const struct os_mount *mount, int source,
                                  int *empty)
{
    const unsigned long plain = MS_NOSUID | MS_NODEV;
    char from[32];
    long rc = 0;
    launch->mount = mount;
    switch (mount->kind) {
    case OS_MOUNT_BIND:
        make_way(mount->to);
        fd_path(source, from);
        rc = syscall(SYS_mount, from, mount->to, NULL, MS_BIND | MS_REC, NULL);
        break;
    case OS_MOUNT_READONLY:
        make_way(mount->to); /* a file is there already */
        fd_path(source, from);
        rc = syscall(SYS_mount, from, mount->to, NULL, MS_BIND | MS_REC, NULL);
        rc = rc < 0 ? rc : make_readonly(mount->to);
        break;
    case OS_MOUNT_HIDE:
        rc = hide_directory(mount->to, empty);
        break;
    case OS_MOUNT_WAY:
        make_way(mount->to);
        rc = syscall(SYS_mount, "tmpfs", mount->to, "tmpfs", plain | MS_NOEXEC, SMALL);
        break;
    case OS_MOUNT_MEMORY:
        rc = syscall(SYS_mount, "tmpfs", mount->to, "tmpfs", plain, "mode=1777");
        rc = rc < 0 && errno == ENOENT ? 0 : rc;
        break;
    case OS_MOUNT_PROC:
        rc = syscall(SYS_mount, "proc", mount->to, "proc", plain | MS_NOEXEC, NULL);
        break;
    }
    return spawn_failed(launch, STEP_MOUNT, rc) >= 0;
}

CHILD_SIDE static bool make_mounts(struct launch *launch)
{
    const struct os_cage *cage = launch->spec->cage;
    /* What others mount and unmount later is seen; what we do is not. */
    if (spawn_failed(launch, STEP_NAMESPACES,
                     syscall(SYS_mount, NULL, "/", NULL, MS_REC | MS_SLAVE, NULL)) < 0) {
        return false;
    }
    for (size_t i = 0; i < cage->mount_count; i++) {
        if (cage->mounts[i].kind == OS_MOUNT_BIND || cage->mounts[i].kind == OS_MOUNT_READONLY) {
            launch->mount = &cage->mounts[i];
            launch->sources[i] =
                (int)spawn_failed(launch, STEP_MOUNT,
                                  syscall(SYS_openat, AT_FDCWD, cage->mounts[i].from,
                                          O_PATH | O_CLOEXEC, 0));
            if (launch->sources[i] < 0) {
                return false;
            }
        }
    }
    int empty = -1; /* closed with all others */
    for (size_t i = 0; i < cage->mount_count; i++) {
        if (!make_mount(launch, &cage->mounts[i], launch->sources[i], &empty)) {
            return false;
        }
    }
    return true;
}

CHILD_SIDE void spawn_is_ready(struct launch *launch)
{
    (void)__atomic_sub_fetch(&launch->starting, 1, __ATOMIC_SEQ_CST);
    (void)syscall(SYS_futex, &launch->starting, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

CHILD_SIDE static int keep_cage(void *arg)
{
    struct launch *launch = arg;
    pid_t program = -1;
    if (spawn_failed(launch, STEP_NAMESPACES,
                     syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)) >= 0 &&
        map_user(launch) && make_mounts(launch)) {
        /* Our memory is nobody's business in there, where all may be of one user. */
        if (launch->spec->cage->user_namespace) {
            (void)syscall(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0, 0);
        }
        program = (pid_t)spawn_failed(launch, STEP_FORK,
                                      clone(spawn_become_program, launch->inner_stack_top,
                                            CHILD_FLAGS, launch));
    }
    bool runs = program > 0 && launch->step == STEP_NONE;
    if (!runs) {
        launch->end.program = 0;
    }
    (void)spawn_close_from(0);
    (void)syscall(SYS_prctl, PR_SET_NAME, "roost-keeper", 0, 0, 0);
    (void)syscall(SYS_chdir, "/");
    spawn_is_ready(launch);
    while (runs) {
        int status;
        struct rusage usage;
        long pid = syscall(SYS_wait4, -1, &status, 0, &usage);
        if (pid == program) {
            launch->end.status = status;
            launch->end.usage = usage;
            __atomic_store_n(&launch->end.ended, true, __ATOMIC_SEQ_CST);
            runs = false;
        }
    }
    (void)syscall(SYS_exit_group, 0);
    return 0;
}

CHILD_SIDE static int keep_lease(void *arg)
{
    return spawn_lease_process(arg, keep_cage);
}

/* ---- our side -------------------------------------------------------------------------------- */

void spawn_in_cage(struct launch *launch, char *stack_top, pid_t *ret)
{
    const struct os_cage *cage = launch->spec->cage;
    int flags = CHILD_MEMORY | SIGCHLD | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC |
                (cage->user_namespace ? CLONE_NEWUSER : 0);
    bool leased = launch->lease_fd >= 0;
    (void)snprintf(launch->user_map, sizeof launch->user_map, "%u %u 1", (unsigned)geteuid(),
                   (unsigned)geteuid());
    (void)snprintf(launch->group_map, sizeof launch->group_map, "%u %u 1", (unsigned)getegid(),
                   (unsigned)getegid());
    launch->proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    launch->starting = leased ? 2 : 1;
    if (cage->user_namespace) {
        (void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); /* else the maps are not ours to write */
    }
    launch->keeper_flags = flags;
    launch->keeper_stack_top = stack_top;
    launch->end.has_lease = leased;
    pid_t child = leased ? clone(keep_lease, launch->lease_stack_top,
                                 CHILD_MEMORY | SIGCHLD | CLONE_CHILD_CLEARTID, launch, NULL, NULL,
                                 &launch->starting)
                         : clone(keep_cage, stack_top, flags | CLONE_CHILD_CLEARTID, launch, NULL,
                                 NULL, &launch->starting);
    if (spawn_failed(launch, leased ? STEP_FORK : STEP_NAMESPACES, child) >= 0) {
        int waits_for;
        while ((waits_for = __atomic_load_n(&launch->starting, __ATOMIC_SEQ_CST)) > 0) {
            (void)syscall(SYS_futex, &launch->starting, FUTEX_WAIT, waits_for, NULL, NULL, 0);
        }
        if (launch->step == STEP_NONE && launch->end.program == 0) { /* it was killed */
            launch->step = STEP_FORK;
            launch->error = EAGAIN;
        }
        if (launch->step != STEP_NONE) {
            while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
            }
        } else if (!leased) {
            launch->end.keeper = child;
        }
    }
    if (launch->proc_fd >= 0) {
        close(launch->proc_fd);
    }
    *ret = child;
}

/* ---- beside a program that is in a cage ------------------------------------------------------ */

/* A child joins the namespaces, because we must stay where we are.  Its own child, the program,
 * becomes our child (CLONE_PARENT) and is in the PID namespace from its birth. */
CHILD_SIDE static int join_and_spawn(void *arg)
{
    struct launch *launch = arg;
    bool joined = true;
    for (int i = 0; i < SPAWN_NAMESPACES && joined; i++) {
        joined = launch->joined[i] < 0 ||
                 spawn_failed(launch, STEP_JOIN, syscall(SYS_setns, launch->joined[i], 0)) >= 0;
    }
    if (joined) {
        launch->grandchild =
            (pid_t)spawn_failed(launch, STEP_FORK,
                                clone(spawn_become_program, launch->inner_stack_top,
                                      CHILD_FLAGS | CLONE_PARENT, launch));
    }
    (void)syscall(SYS_exit_group, 0);
    return 0;
}

/* Opens the process's namespaces that differ from ours: to join one's own user namespace is an
 * error. */
static bool open_namespaces(struct launch *launch)
{
    static const char *const NAMES[SPAWN_NAMESPACES] = {"user", "ipc", "mnt", "pid"};
    for (int i = 0; i < SPAWN_NAMESPACES; i++) {
        char path[64], own[64];
        struct stat theirs, ours;
        (void)snprintf(path, sizeof path, "/proc/%d/ns/%s", (int)launch->spec->beside, NAMES[i]);
        (void)snprintf(own, sizeof own, "/proc/self/ns/%s", NAMES[i]);
        if (stat(path, &theirs) == 0 && stat(own, &ours) == 0 && theirs.st_ino == ours.st_ino) {
            continue;
        }
        launch->joined[i] = (int)spawn_failed(launch, STEP_JOIN, open(path, O_RDONLY | O_CLOEXEC));
        if (launch->joined[i] < 0) {
            return false;
        }
    }
    return true;
}

static void reap_child(pid_t pid)
{
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
}

void spawn_beside(struct launch *launch, char *stack_top, pid_t *ret)
{
    for (int i = 0; i < SPAWN_NAMESPACES; i++) {
        launch->joined[i] = -1;
    }
    if (open_namespaces(launch)) {
        reap_child((pid_t)spawn_failed(launch, STEP_FORK,
                                       clone(join_and_spawn, stack_top, CHILD_FLAGS, launch)));
        if (launch->step != STEP_NONE) {
            reap_child(launch->grandchild);
        } else if (launch->grandchild <= 0) { /* what is between was killed */
            launch->step = STEP_FORK;
            launch->error = EAGAIN;
        }
    }
    for (int i = 0; i < SPAWN_NAMESPACES; i++) {
        if (launch->joined[i] >= 0) {
            close(launch->joined[i]);
        }
    }
    *ret = launch->grandchild;
}
