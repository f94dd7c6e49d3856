/* base/os/os_spawn_linux.c - starting a program.
 *
 * Design note: a daemon with gigabytes of queue must not copy its page tables to start `wakeonlan`,
 * so the child is made with CLONE_VM | CLONE_VFORK: it borrows our memory and we stand still until
 * it has become the program or given up.  That also spares the usual pipe: the child writes what
 * failed into a struct of ours.  In return the child may do system calls only - no libc function
 * that locks, allocates, or (like glibc's setuid()) speaks to "all threads", which would be ours -
 * and all signals stay blocked until it has dropped our handlers, which must not run in it.
 *
 * The user is changed before files are opened: an output path in the job's directory is opened with
 * the job's rights, whatever link the job put there.
 *
 * A detached program is the grandchild: the child in between ends at once, so that init, or the
 * nearest reaper, inherits it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/os/os_spawn_linux.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"

#define INPUT_TEXT_MAX  ((size_t)64 << 10)
#define KERNEL_SIGNALS  64
#define KERNEL_SIGBYTES 8

/* ---- the child's side: system calls only ----------------------------------------------------- */

/* Makes descriptor `to` a copy of fd, or of the file at `path`, opened with flags.  The caller of
 * os_spawn() waits for us, so a FIFO that nobody has opened must not block (it reads as empty;
 * -ENXIO to write). */
CHILD_SIDE static bool redirect_stream(struct launch *launch, enum step step, int fd,
                                       const char *path, int flags, int to)
{
    if (fd < 0) {
        fd = (int)spawn_failed(launch, step,
                               syscall(SYS_openat, AT_FDCWD, path, flags | O_NONBLOCK, 0644));
        if (fd < 0 ||
            spawn_failed(launch, step, syscall(SYS_fcntl, fd, F_SETFL, flags & O_APPEND)) < 0) {
            return false;
        }
    }
    if (fd == to) {
        return spawn_failed(launch, step, syscall(SYS_fcntl, fd, F_SETFD, 0)) >= 0;
    }
    return spawn_failed(launch, step, syscall(SYS_dup3, fd, to, 0)) >= 0;
}

struct proc_entry { /* of getdents64(2) */
    uint64_t inode;
    int64_t offset;
    uint16_t length;
    uint8_t type;
    char name[];
};

/* Closes descriptors one by one: before Linux 5.9, or under a container's filter of system
 * calls. */
CHILD_SIDE static long close_listed(long first)
{
    char entries[2048] __attribute__((aligned(8)));
    long directory =
        syscall(SYS_openat, AT_FDCWD, "/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    long length = directory;
    while (length >= 0 &&
           (length = syscall(SYS_getdents64, directory, entries, sizeof(entries))) > 0) {
        for (long at = 0; at < length;) {
            const struct proc_entry *entry = (const struct proc_entry *)(void *)(entries + at);
            long fd = 0;
            for (const char *digit = entry->name; *digit != '\0'; digit++) {
                fd = *digit >= '0' && *digit <= '9' && fd >= 0 ? fd * 10 + (*digit - '0') : -1;
            }
            if (fd >= first && fd != directory) {
                (void)syscall(SYS_close, fd);
            }
            at += entry->length;
        }
    }
    if (directory >= 0) {
        (void)syscall(SYS_close, directory);
    }
    return length;
}

CHILD_SIDE long spawn_close_from(unsigned first)
{
    long result = syscall(SYS_close_range, first, UINT_MAX, 0);
    return result < 0 && (errno == ENOSYS || errno == EPERM) ? close_listed((long)first) : result;
}

CHILD_SIDE static bool set_terminal(struct launch *launch)
{
    return (!launch->has_tty ||
            spawn_failed(launch, STEP_SESSION,
                         syscall(SYS_ioctl, launch->terminal[0], TIOCSCTTY, 0)) >= 0) &&
           redirect_stream(launch, STEP_STDIN, launch->terminal[0], "", 0, 0) &&
           redirect_stream(launch, STEP_STDOUT, launch->terminal[1], "", 0, 1) &&
           redirect_stream(launch, STEP_STDERR, launch->terminal[2], "", 0, 2) &&
           spawn_failed(launch, STEP_DESCRIPTORS, spawn_close_from(3)) >= 0;
}

CHILD_SIDE static bool set_files(struct launch *launch)
{
    const struct os_spawn *spec = launch->spec;
    if (launch->terminal[0] >= 0) {
        return set_terminal(launch);
    }
    const int output =
        O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY | (spec->truncate_output ? O_TRUNC : 0);
    const char *in = spec->stdin_path != NULL ? spec->stdin_path : "/dev/null";
    const char *out = spec->stdout_path != NULL ? spec->stdout_path : "/dev/null";
    const char *error = spec->stderr_path != NULL ? spec->stderr_path : "/dev/null";
    bool ours_in = in[0] == '-' && in[1] == '\0', ours_out = out[0] == '-' && out[1] == '\0';
    bool ours_error = error[0] == '-' && error[1] == '\0';
    return (ours_in ||
            redirect_stream(launch, STEP_STDIN, launch->input_fd, in, O_RDONLY | O_NOCTTY, 0)) &&
           (ours_out || redirect_stream(launch, STEP_STDOUT, -1, out, output, 1)) &&
           (ours_error || redirect_stream(launch, STEP_STDERR, -1, error, output, 2)) &&
           spawn_failed(launch, STEP_DESCRIPTORS, spawn_close_from(3)) >= 0;
}

CHILD_SIDE static bool set_user(struct launch *launch)
{
    const struct os_spawn *spec = launch->spec;
    return !spec->change_user ||
           (spawn_failed(launch, STEP_USER, syscall(SYS_setgroups, 0, NULL)) >= 0 &&
            spawn_failed(launch, STEP_USER,
                         syscall(SYS_setresgid, spec->gid, spec->gid, spec->gid)) >= 0 &&
            spawn_failed(launch, STEP_USER,
                         syscall(SYS_setresuid, spec->uid, spec->uid, spec->uid)) >= 0);
}

/* Makes sure that nothing in a cage ever gets a privilege.  A process that may not lower the set
 * has none of it: an ordinary user outside of a user namespace. */
CHILD_SIDE static void drop_bounds(const struct launch *launch)
{
    long rc = launch->spec->cage != NULL ? 0 : -1;
    for (int i = 0; rc >= 0; i++) {
        rc = syscall(SYS_prctl, PR_CAPBSET_DROP, i, 0, 0, 0); /* until there is no such one */
    }
}

CHILD_SIDE static bool set_nice(struct launch *launch)
{
    if (launch->spec->nice == 0) {
        return true;
    }
    long now = 20 - syscall(SYS_getpriority, PRIO_PROCESS, 0);
    return spawn_failed(launch, STEP_NICE,
                        syscall(SYS_setpriority, PRIO_PROCESS, 0, now + launch->spec->nice)) >= 0;
}

/* Enters the cgroup before anything else, so that everything is counted there. */
CHILD_SIDE static bool enter_cage(struct launch *launch)
{
    const struct os_cage *cage = launch->spec->cage;
    char self[16];
    if (cage == NULL) {
        return true;
    }
    if (cage->namespaces) { /* the old /proc knows us by the pid that our starter knows */
        long length =
            spawn_failed(launch, STEP_NAMESPACES,
                         syscall(SYS_readlinkat, launch->proc_fd, "self", self, sizeof(self)));
        for (long i = 0; i < length; i++) {
            launch->end.program = 10 * launch->end.program + (self[i] - '0');
        }
        if (length < 0) {
            return false;
        }
    }
    for (size_t i = 0; i < launch->procs_count; i++) {
        if (spawn_failed(launch, STEP_CGROUP, syscall(SYS_write, launch->procs[i], "0", 1)) < 0) {
            return false;
        }
    }
    if (cage->limit_cpus) {
        (void)syscall(SYS_sched_setaffinity, 0, sizeof(cage->cpus), cage->cpus);
    }
    if (cage->oom_score > 0) { /* only ever worse for it: a wish, not a wall */
        char text[8];
        size_t digits = 0;
        int divisor = cage->oom_score >= 1000 ? 1000 : cage->oom_score >= 100 ? 100 : 10;
        for (; divisor > 0; divisor /= 10) { /* a leading zero would make it octal */
            ((volatile char *)text)[digits++] = (char)('0' + cage->oom_score / divisor % 10);
        }
        long fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
        (void)syscall(SYS_write, fd, text, digits);
        (void)syscall(SYS_close, fd);
    }
    return true;
}

/* Sets a limit to this value, or to the present limit if that is lower. */
CHILD_SIDE static bool limit_one(struct launch *launch, int which, uint64_t most)
{
    struct rlimit limit, now;
    if (spawn_failed(launch, STEP_LIMITS, syscall(SYS_prlimit64, 0, which, NULL, &now)) < 0) {
        return false;
    }
    limit.rlim_max = (rlim_t)most > now.rlim_max ? now.rlim_max : (rlim_t)most;
    limit.rlim_cur = limit.rlim_max;
    return spawn_failed(launch, STEP_LIMITS, syscall(SYS_prlimit64, 0, which, &limit, NULL)) >= 0;
}

CHILD_SIDE static bool set_limits(struct launch *launch)
{
    const struct os_cage *cage = launch->spec->cage;
    return cage == NULL ||
           ((!cage->limit_core || limit_one(launch, RLIMIT_CORE, cage->core_bytes)) &&
            (cage->stack_bytes == 0 || limit_one(launch, RLIMIT_STACK, cage->stack_bytes)));
}

_Static_assert(sizeof(struct os_filter_code) == sizeof(struct sock_filter),
               "an instruction of a filter has the layout of the kernel's");

CHILD_SIDE static bool set_filter(struct launch *launch)
{
    const struct os_cage *cage = launch->spec->cage;
    if (cage == NULL || cage->filter == NULL) {
        return true;
    }
    struct sock_fprog program;
    program.len = cage->filter->count;
    program.filter = (struct sock_filter *)(uintptr_t)cage->filter->codes;
    return spawn_failed(launch, STEP_FILTER,
                        syscall(SYS_prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0)) >=
           0;
}

CHILD_SIDE static void set_signals(void)
{
    unsigned char defaults[64],
        none[KERNEL_SIGBYTES]; /* all zero: the kernel's SIG_DFL, no flags */
    for (size_t i = 0; i < sizeof(defaults); i++) {
        ((volatile unsigned char *)defaults)[i] = 0;
    }
    for (size_t i = 0; i < sizeof(none); i++) {
        ((volatile unsigned char *)none)[i] = 0;
    }
    for (long i = 1; i <= KERNEL_SIGNALS; i++) {
        (void)syscall(SYS_rt_sigaction, i, defaults, NULL, KERNEL_SIGBYTES); /* not KILL and STOP */
    }
    (void)syscall(SYS_rt_sigprocmask, SIG_SETMASK, none, NULL, KERNEL_SIGBYTES);
}

/* A parent that has ended before the kernel knew of the wish sends no signal. */
CHILD_SIDE static bool bind_to_parent(struct launch *launch)
{
    return launch->spec->kin != OS_BOUND_CHILD ||
           (spawn_failed(launch, STEP_LEASE,
                         syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)) >= 0 &&
            syscall(SYS_getppid) == launch->parent);
}

CHILD_SIDE int spawn_become_program(void *arg)
{
    struct launch *launch = arg;
    const struct os_spawn *spec = launch->spec;
    bool caged = enter_cage(launch);
    drop_bounds(launch); /* before the user is changed: it takes a privilege */
    if (caged &&
        (!spec->new_session || spawn_failed(launch, STEP_SESSION, syscall(SYS_setsid)) >= 0) &&
        set_nice(launch) && set_user(launch) &&
        (spec->cwd == NULL ||
         spawn_failed(launch, STEP_DIRECTORY, syscall(SYS_chdir, spec->cwd)) >= 0) &&
        set_files(launch) &&
        spawn_failed(launch, STEP_LIMITS,
                     syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, launch->files, NULL)) >= 0 &&
        set_limits(launch) &&
        (!spec->no_new_privs ||
         spawn_failed(launch, STEP_PRIVILEGES,
                      syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) >= 0) &&
        set_filter(launch) && bind_to_parent(launch)) {
        set_signals();
        (void)spawn_failed(launch, STEP_EXEC,
                           syscall(SYS_execve, spec->file != NULL ? spec->file : launch->argv[0],
                                   launch->argv, launch->env));
    }
    (void)syscall(SYS_exit_group, 127);
    return 127;
}

CHILD_SIDE static int become_parent_of_program(void *arg)
{
    struct launch *launch = arg;
    launch->grandchild = (pid_t)spawn_failed(launch, STEP_FORK,
                                             clone(spawn_become_program, launch->inner_stack_top,
                                                   CHILD_FLAGS, launch));
    (void)syscall(SYS_exit_group, 0);
    return 0;
}

/* ---- the parent's side ----------------------------------------------------------------------- */

static bool is_caged(const struct os_spawn *spec)
{
    return spec->cage != NULL && spec->cage->namespaces;
}

/* Returns whether the administrator has switched namespaces off.  The kernel's error is the same as
 * for too many of them. */
static bool is_switched_off(void)
{
    static const char *const LIMITS[] = {"user", "mnt", "pid", "ipc"};
    for (size_t i = 0; i < sizeof(LIMITS) / sizeof(LIMITS[0]); i++) {
        char path[64], text[32];
        (void)snprintf(path, sizeof path, "/proc/sys/user/max_%s_namespaces", LIMITS[i]);
        if (os_read_small(path, text, sizeof text) > 0 && strtol(text, NULL, 10) == 0) {
            return true;
        }
    }
    return false;
}

static int launch_err(const struct launch *launch, struct err *err)
{
    const struct os_spawn *spec = launch->spec;
    const char *why = strerror(launch->error);
    int code = -launch->error;
    /* What may succeed a moment later, or on another machine, keeps its number: the caller tells it
     * from what this machine can never do. */
    int walls = err_is_shortage(code) ? code : -ENOTSUP;
    switch (launch->step) {
    case STEP_USER:
        return err_set(err, code, "%s: cannot become uid %u: %s", spec->argv[0],
                       (unsigned)spec->uid, why);
    case STEP_DIRECTORY:
        return err_set(err, code, "%s: cannot change to directory %s: %s", spec->argv[0], spec->cwd,
                       why);
    case STEP_STDIN:
        return err_set(err, code, "%s: cannot read %s: %s", spec->argv[0],
                       spec->stdin_path != NULL ? spec->stdin_path : "standard input", why);
    case STEP_STDOUT:
        return err_set(err, code, "%s: cannot write to %s: %s", spec->argv[0],
                       spec->stdout_path != NULL ? spec->stdout_path : "/dev/null", why);
    case STEP_STDERR:
        return err_set(err, code, "%s: cannot write to %s: %s", spec->argv[0],
                       spec->stderr_path != NULL ? spec->stderr_path : "/dev/null", why);
    case STEP_NICE:
        return err_set(err, code, "%s: cannot change the priority by %d: %s", spec->argv[0],
                       spec->nice, why);
    case STEP_EXEC:
        return err_set(err, code, "%s: %s", spec->file != NULL ? spec->file : spec->argv[0], why);
    case STEP_CGROUP:
        return err_set(err, walls, "%s: cannot join the control group: %s", spec->argv[0], why);
    case STEP_NAMESPACES: {
        /* Not allowed, a kernel without them, or a root directory that is not a mount point. */
        bool never = launch->error == EPERM || launch->error == EINVAL || launch->error == ENOSYS ||
                     (launch->error == ENOSPC && is_switched_off());
        return err_set(err, never ? -ENOSYS : walls, "%s: cannot create namespaces: %s",
                       spec->argv[0], why);
    }
    case STEP_MOUNT:
        return err_set(err, walls, "%s: cannot mount %s in the new mount namespace: %s",
                       spec->argv[0], launch->mount->to, why);
    case STEP_FILTER:
        return err_set(err, -EPROTONOSUPPORT, "%s: cannot install the system call filter: %s",
                       spec->argv[0], why);
    case STEP_JOIN:
        return err_set(err, code, "%s: cannot join the namespaces of process %d: %s", spec->argv[0],
                       (int)spec->beside, why);
    case STEP_LEASE:
        return err_set(err, walls, "%s: cannot make the timer of the lease: %s", spec->argv[0],
                       why);
    case STEP_NONE:
    case STEP_FORK:
    case STEP_SESSION:
    case STEP_DESCRIPTORS:
    case STEP_LIMITS:
    case STEP_PRIVILEGES:
        break;
    }
    return err_set(err, code, "%s: cannot start the program: %s", spec->argv[0], why);
}

/* Returns whether "NAME=value" sets the same name as the other. */
static bool same_name(const char *a, const char *b)
{
    size_t length = strcspn(a, "=");
    return strncmp(a, b, length) == 0 && b[length] == '=';
}

/* Makes the environment: env, with env_add replacing or added; items are borrowed. */
static void make_env(const struct os_spawn *spec, struct vec *ret)
{
    static const char *const OF_OTHERS[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C", NULL};
    const char *const *base = spec->env != NULL   ? spec->env
                              : spec->change_user ? OF_OTHERS
                                                  : (const char *const *)environ;
    for (; base != NULL && *base != NULL; base++) {
        bool replaced = false;
        for (const char *const *add = spec->env_add; add != NULL && *add != NULL; add++) {
            replaced = replaced || same_name(*add, *base);
        }
        if (!replaced) {
            vec_push(ret, (void *)(uintptr_t)*base);
        }
    }
    for (const char *const *add = spec->env_add; add != NULL && *add != NULL; add++) {
        vec_push(ret, (void *)(uintptr_t)*add);
    }
    vec_push(ret, NULL);
}

/* Makes a file in memory that holds the text; -1 with *code set if there is none, or on failure. */
static int make_input(const char *text, int *code, struct err *err)
{
    size_t length = strlen(text);
    if (length > INPUT_TEXT_MAX) {
        *code = err_set(err, -E2BIG, "the standard input is longer than %zu bytes", INPUT_TEXT_MAX);
        return -1;
    }
    int fd = memfd_create("input", MFD_CLOEXEC);
    if (fd < 0 || write(fd, text, length) != (ssize_t)length || lseek(fd, 0, SEEK_SET) != 0) {
        *code = err_set(err, -errno, "cannot store the standard input: %s", strerror(errno));
        if (fd >= 0) {
            close(fd);
        }
        return -1;
    }
    return fd;
}

static int launch_run(struct launch *launch, char *stack_top, pid_t *ret, struct err *err)
{
    bool detached = launch->spec->kin == OS_DETACHED;
    sigset_t all, before;
    pid_t child;
    launch->parent = getpid();
    CHECK(sigfillset(&all) == 0);
    CHECK(pthread_sigmask(SIG_SETMASK, &all, &before) == 0);
    if (is_caged(launch->spec)) {
        spawn_in_cage(launch, stack_top, &child);
        detached = false;
    } else if (launch->spec->beside > 0) {
        spawn_beside(launch, stack_top, &child);
    } else {
        child =
            (pid_t)spawn_failed(launch, STEP_FORK,
                                clone(detached ? become_parent_of_program : spawn_become_program,
                                      stack_top, CHILD_FLAGS, launch));
        if (child > 0 && (detached || launch->step != STEP_NONE)) {
            while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
            }
        }
    }
    CHECK(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
    if (launch->step != STEP_NONE) {
        return launch_err(launch, err);
    }
    *ret = detached ? launch->grandchild : child;
    return 0;
}

static int launch_prepare(struct launch *launch, struct err *err)
{
    const struct os_cage *cage = launch->spec->cage;
    CHECK(launch->spec->beside == 0 ||
          (!is_caged(launch->spec) && launch->spec->kin != OS_DETACHED));
    if (launch->spec->terminal != NULL) {
        os_terminal_theirs(launch->spec->terminal, launch->terminal, &launch->has_tty);
    }
    if (cage == NULL) {
        return 0;
    }
    CHECK(cage->mount_count <= SPAWN_MOUNTS_MAX);
    CHECK(!cage->namespaces || launch->spec->kin != OS_DETACHED);
    int code = spawn_lease_open(launch);
    if (code != 0) {
        return err_set(err, code, "%s: cannot make the FIFO %s: %s", launch->spec->argv[0],
                       cage->lease_path, strerror(-code));
    }
    code = os_cgroup_open_procs(cage->cgroup, launch->procs, &launch->procs_count);
    return code == 0 ? 0
                     : err_set(err, err_is_shortage(code) ? code : -ENOTSUP,
                               "%s: cannot join the control group: %s", launch->spec->argv[0],
                               strerror(-code));
}

int spawn_program(struct os *os, const struct os_spawn *spec, int stdin_fd, struct spawned *ret,
                  struct err *err)
{
    struct vec env = {0};
    int code = 0, input_fd = -1;
    if (spec->input_text != NULL) {
        input_fd = make_input(spec->input_text, &code, err);
        if (code != 0) {
            return err_prefix(err, code, "%s", spec->argv[0]);
        }
    }
    make_env(spec, &env);
    /* Three stacks, which grow down, and behind them the launch. */
    size_t stacks = 2 * SPAWN_STACK_BYTES + SPAWN_LEASE_BYTES;
    size_t size = stacks + sizeof(struct launch);
    char *mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) {
        code = err_set(err, -errno, "%s: cannot start the program: %s", spec->argv[0],
                       strerror(errno));
    } else {
        struct launch *launch = (struct launch *)(void *)(mapped + stacks);
        struct spawned spawned = {0};
        *launch = (struct launch){.spec = spec,
                                  .argv = (char *const *)(uintptr_t)spec->argv,
                                  .env = (char *const *)env.items,
                                  .input_fd = input_fd >= 0 ? input_fd : stdin_fd,
                                  .files = &os->files,
                                  .inner_stack_top = mapped + 2 * SPAWN_STACK_BYTES,
                                  .lease_stack_top = mapped + stacks,
                                  .lease_fd = -1,
                                  .keeper_pidfd = -1,
                                  .terminal = {-1, -1, -1}};
        code = launch_prepare(launch, err);
        code = code != 0 ? code : launch_run(launch, mapped + SPAWN_STACK_BYTES, &spawned.pid, err);
        for (size_t i = 0; i < launch->procs_count; i++) {
            close(launch->procs[i]);
        }
        if (launch->lease_fd >= 0) {
            close(launch->lease_fd);
        }
        if (code == 0 && spec->terminal != NULL) {
            os_terminal_started(spec->terminal);
        }
        if (code == 0 && is_caged(spec)) {
            /* the program has its own memory now; the keeper stays on its stack */
            (void)madvise(mapped + SPAWN_STACK_BYTES, SPAWN_STACK_BYTES, MADV_REMOVE);
            spawned.end = &launch->end;
            spawned.shared = mapped;
            spawned.shared_bytes = size;
        } else {
            (void)munmap(mapped, size);
        }
        if (code == 0) {
            *ret = spawned;
        }
    }
    if (input_fd >= 0) {
        close(input_fd);
    }
    vec_fini(&env, NULL);
    return code;
}
