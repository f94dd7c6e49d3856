/* ckpt/stub/keeper.c - a namespace in which a job may have the numbers it had: see keeper.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/stub/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "ckpt/stub/sys.h"
#include "ckpt/stub/text.h"

#define ALL_SIGNALS  (~UINT64_C(0))
#define SIGNAL_BYTES 8
#define BIT(signal)  (UINT64_C(1) << ((signal)-1))
#define EXIT_NO_JOB  0x100 /* in what the keeper writes: the error is in the other word */

struct outcome {    /* from the keeper to the outer process */
    int32_t status; /* as wait4() gives it; EXIT_NO_JOB with bits above: an error */
    int32_t error;
    int32_t what; /* enum step */
};

enum step { STEP_NONE, STEP_PIPE, STEP_NAMESPACES, STEP_MAPS, STEP_PROC, STEP_CLONE };

static const char *step_text(int step, long error)
{
    switch (step) {
    case STEP_PIPE:
        return "a pipe";
    case STEP_NAMESPACES:
        if (error == -EPERM || error == -ENOSPC) {
            return "this kernel lets ordinary users make no namespaces "
                   "(kernel.unprivileged_userns_clone, user.max_user_namespaces)";
        }
        return "user, process and mount namespaces of its own";
    case STEP_MAPS:
        return "the user of its namespace";
    case STEP_PROC:
        return "/proc of its namespace";
    case STEP_CLONE:
        return "a process with the number that it had";
    default:
        return "";
    }
}

static long write_file(const char *path, const struct stub_text *text)
{
    long fd = SYS4(openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC, 0);
    if (fd < 0) {
        return fd;
    }
    long rc = SYS3(write, fd, text->bytes, text->length);
    (void)SYS1(close, fd);
    return rc < 0 ? rc : 0;
}

/* Each user is himself. */
static long map_one(const char *path, long id)
{
    struct stub_text text = {.length = 0};
    text_put_number(&text, id);
    text_put(&text, " ");
    text_put_number(&text, id);
    text_put(&text, " 1");
    return write_file(path, &text);
}

static long map_users(long user, long group)
{
    struct stub_text deny = {.length = 0};
    text_put(&deny, "deny");
    long rc = map_one("/proc/self/uid_map", user);
    rc = rc != 0 ? rc : write_file("/proc/self/setgroups", &deny);
    return rc != 0 ? rc : map_one("/proc/self/gid_map", group);
}

/* ---- clocks */

#define SECOND_NS INT64_C(1000000000)

struct clock {
    const char *name; /* in timens_offsets */
    int32_t id;
    int64_t base_ns; /* how far our own is from the machine's */
};

static long read_text(const char *path, char *text, size_t size)
{
    long fd = SYS4(openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0) {
        return fd;
    }
    long got = SYS3(read, fd, text, size - 1);
    (void)SYS1(close, fd);
    text[got > 0 ? got : 0] = '\0';
    return got < 0 ? got : 0;
}

static int64_t signed_number(const char **at)
{
    while (**at == ' ') {
        (*at)++;
    }
    bool negative = **at == '-';
    *at += negative ? 1 : 0;
    int64_t number = (int64_t)text_number(at, 10);
    return negative ? -number : number;
}

/* "NAME SECONDS NANOSECONDS" of that line. */
static int64_t offset_in(const char *text, const char *name)
{
    size_t length = text_length(name);
    for (const char *at = text; *at != '\0';) {
        size_t same = 0;
        while (same < length && at[same] == name[same]) {
            same++;
        }
        if (same == length) {
            at += length;
            int64_t seconds = signed_number(&at);
            return seconds * SECOND_NS + signed_number(&at);
        }
        while (*at != '\0' && *at++ != '\n') {
        }
    }
    return 0;
}

static void put_offset(struct stub_text *text, const struct clock *clock, int64_t wanted_ns)
{
    int64_t now[2] = {0, 0}; /* s, ns */
    if (wanted_ns <= 0 || SYS2(clock_gettime, clock->id, now) != 0) {
        return;
    }
    int64_t offset = clock->base_ns + wanted_ns - now[0] * SECOND_NS - now[1];
    int64_t rest = (offset % SECOND_NS + SECOND_NS) % SECOND_NS;
    text_put(text, clock->name);
    text_put(text, " ");
    text_put_number(text, (offset - rest) / SECOND_NS);
    text_put(text, " ");
    text_put_number(text, rest);
    text_put(text, "\n");
}

/* For what is made from now on.  Where that cannot be had the job goes on without. */
static void set_clocks(const int64_t *wanted_ns)
{
    static const char PATH[] = "/proc/self/timens_offsets";
    char before[256];
    struct stub_text text = {.length = 0};
    if (wanted_ns == NULL || SYS1(unshare, CLONE_NEWTIME) != 0 ||
        read_text(PATH, before, sizeof before) != 0) {
        return;
    }
    struct clock monotonic = {"monotonic", 1 /* CLOCK_MONOTONIC */, 0};
    struct clock boottime = {"boottime", 7 /* CLOCK_BOOTTIME */, 0};
    monotonic.base_ns = offset_in(before, monotonic.name);
    boottime.base_ns = offset_in(before, boottime.name);
    put_offset(&text, &monotonic, wanted_ns[0]);
    put_offset(&text, &boottime, wanted_ns[1]);
    (void)write_file(PATH, &text);
}

/* ---- the job's process, and waiting for it */

static long start(const struct keeper *keeper, int *out, uint64_t mask)
{
    struct clone_args args = {.exit_signal = SIGCHLD};
    int32_t number = keeper->pid != NULL ? *keeper->pid : 0;
    if (keeper->before != NULL) {
        *out = keeper->before(keeper->arg, *out);
    }
    if (keeper->pid != NULL) {
        args.set_tid = (uint64_t)(uintptr_t)&number;
        args.set_tid_size = 1;
    }
    long pid = SYS2(clone3, &args, sizeof args);
    if (pid == 0) {
        (void)SYS4(rt_sigprocmask, SIG_SETMASK, &mask, NULL, SIGNAL_BYTES);
        keeper->job(keeper->arg);
        (void)SYS1(exit_group, 127);
    }
    if (pid > 0 && keeper->after != NULL) {
        keeper->after(keeper->arg);
    }
    return pid;
}

/* Until that child has ended: its status.  Signals that somebody sends us are for it; those of the
 * terminal it has from there. */
static long wait_for(long pid)
{
    uint64_t all = ALL_SIGNALS;
    for (;;) {
        int status;
        long ended;
        while ((ended = SYS4(wait4, -1, &status, WNOHANG, NULL)) > 0) {
            if (ended == pid) {
                return status;
            }
        }
        if (ended == -ECHILD) {
            return ended;
        }
        siginfo_t info;
        long signal = SYS4(rt_sigtimedwait, &all, &info, NULL, SIGNAL_BYTES);
        if (signal > 0 && signal != SIGCHLD && info.si_code <= 0) {
            (void)SYS2(kill, pid, signal); /* it may be gone */
        }
    }
}

/* What it was able to do by making the namespace it needs no more; and whoever is the job's user,
 * inside or outside, may look at it as at the job. */
static void give_up_powers(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
    if (SYS0(geteuid) != 0) {
        (void)SYS2(capset, &header, none);
    }
}

/* Process 1 of the namespace. */
_Noreturn static void keep(const struct keeper *keeper, int out, uint64_t mask)
{
    struct outcome outcome = {.status = 0};
    (void)SYS2(prctl, PR_SET_PDEATHSIG, SIGKILL);
    long rc = SYS5(mount, "none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
    rc =
        rc != 0 ? rc : SYS5(mount, "proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
    if (rc != 0) {
        outcome = (struct outcome){.error = (int32_t)rc, .what = STEP_PROC};
    } else {
        long pid = start(keeper, &out, mask);
        if (pid < 0) {
            outcome = (struct outcome){.error = (int32_t)pid, .what = STEP_CLONE};
        } else {
            (void)SYS5(prctl, PR_SET_NAME, "roost-keeper", 0, 0, 0);
            give_up_powers();
            outcome.status = (int32_t)wait_for(pid);
        }
    }
    (void)SYS3(write, out, &outcome, sizeof outcome);
    (void)SYS1(exit_group, 0);
    __builtin_unreachable();
}

/* It lies where its reader and the job can write, too: at worst the job's end is said to be its
 * own.
 */
static void tell(const struct keeper *keeper, const char *word)
{
    const int how = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    long fd = keeper->outcome != NULL ? SYS4(openat, AT_FDCWD, keeper->outcome, how, 0600) : -1;
    if (fd >= 0) {
        (void)SYS3(write, fd, word, text_length(word));
        (void)SYS1(close, fd);
    }
}

static long run_outside(const struct keeper *keeper, uint64_t mask, int *what)
{
    int ends[2];
    struct outcome outcome = {.status = 0};
    long user = SYS0(geteuid), group = SYS0(getegid);
    tell(keeper, KEEPER_BEGAN);
    *what = STEP_PIPE;
    long rc = SYS2(pipe2, ends, O_CLOEXEC);
    if (rc != 0) {
        return rc;
    }
    *what = STEP_NAMESPACES;
    rc = SYS1(unshare, CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS);
    if (rc == 0) {
        *what = STEP_MAPS;
        rc = map_users(user, group);
    } else if (user == 0 && SYS1(unshare, CLONE_NEWPID | CLONE_NEWNS) == 0) {
        rc = 0; /* who may do anything needs no user namespace for it */
    }
    if (rc != 0) {
        return rc;
    }
    set_clocks(keeper->clocks_ns);
    struct clone_args args = {.exit_signal = SIGCHLD};
    *what = STEP_CLONE;
    long pid = SYS2(clone3, &args, sizeof args);
    if (pid == 0) {
        keep(keeper, ends[1], mask);
    }
    if (pid < 0) {
        return pid;
    }
    (void)SYS1(close, ends[1]);
    long status = wait_for(pid);
    if (SYS3(read, ends[0], &outcome, sizeof outcome) != (long)sizeof outcome) {
        return status; /* the keeper was killed, and all with it */
    }
    (void)SYS1(close, ends[0]);
    *what = outcome.what;
    if (outcome.error == 0) {
        tell(keeper, KEEPER_ENDED);
    }
    return outcome.error != 0 ? outcome.error : outcome.status;
}

long keeper_run(const struct keeper *keeper, const char **what)
{
    uint64_t all = ALL_SIGNALS, mask;
    int step = STEP_CLONE;
    (void)SYS4(rt_sigprocmask, SIG_SETMASK, &all, &mask, SIGNAL_BYTES);
    long rc;
    if (keeper->is_inside) {
        int none = -1;
        set_clocks(keeper->clocks_ns);
        long pid = start(keeper, &none, mask);
        rc = pid < 0 ? pid : wait_for(pid);
    } else {
        rc = run_outside(keeper, mask, &step);
    }
    (void)SYS4(rt_sigprocmask, SIG_SETMASK, &mask, NULL, SIGNAL_BYTES);
    if (rc < 0) {
        *what = step_text(step, rc);
    }
    return rc;
}

struct kernel_action {
    uint64_t handler, flags, restorer, mask;
};

_Noreturn void keeper_end_as(int status)
{
    if (WIFSIGNALED(status)) {
        struct kernel_action action = {.handler = 0};
        uint64_t mask = ~BIT(WTERMSIG(status));
        uint64_t none[2] = {0, 0};
        (void)SYS4(prlimit64, 0, 4 /* RLIMIT_CORE */, none, NULL); /* one core is enough */
        (void)SYS4(rt_sigaction, WTERMSIG(status), &action, NULL, SIGNAL_BYTES);
        (void)SYS4(rt_sigprocmask, SIG_SETMASK, &mask, NULL, SIGNAL_BYTES);
        (void)SYS2(kill, SYS0(getpid), WTERMSIG(status));
    }
    (void)SYS1(exit_group, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    __builtin_unreachable();
}
