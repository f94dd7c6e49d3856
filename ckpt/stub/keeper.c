/* ckpt/stub/keeper.c - runs a job in a PID namespace in which it can get its process numbers back:
 * see keeper.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/stub/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "ckpt/stub/sys.h"
#include "ckpt/stub/text.h"

#define ALL_SIGNALS  (~UINT64_C(0))
#define SIGNAL_BYTES 8
#define BIT(signal)  (UINT64_C(1) << ((signal)-1))
#define STDIO        3

struct outcome {    /* from the keeper to the outer process */
    int32_t status; /* as wait4() gives it: of the end, of a stop, of going on after one */
    int32_t error;
    int32_t what; /* enum step */
};

enum step { STEP_NONE, STEP_PIPE, STEP_NAMESPACES, STEP_MAPS, STEP_PROC, STEP_CLONE };

struct kernel_action {
    uint64_t handler, flags, restorer, mask;
};

struct talk {                    /* between keeper and outer process */
    const struct keeper *keeper; /* of the keeper; else NULL */
    int in, out;                 /* descriptors; -1: none */
    bool is_over;
    struct outcome end; /* then */
};

/* As keeper_run() found it. */
struct before {
    uint64_t mask;
    struct kernel_action of_children; /* SIGCHLD: may be ignored, and then nobody is waited for */
};

static const char *step_text(int step, long error)
{
    switch (step) {
    case STEP_PIPE:
        return "a pipe";
    case STEP_NAMESPACES:
        if (error == -EPERM || error == -ENOSPC) {
            return "ordinary users may create no namespaces on this machine "
                   "(kernel.unprivileged_userns_clone, user.max_user_namespaces)";
        }
        return "creating user, process and mount namespaces";
    case STEP_MAPS:
        return "mapping the user of the namespace";
    case STEP_PROC:
        return "mounting /proc of the namespace";
    case STEP_CLONE:
        return "creating a process with its former number";
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

/* Maps a user or group to itself. */
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
    /* In timens_offsets.  Not a pointer: a compiler may keep the initial value of the struct as
     * data, and the address in it would have to be relocated. */
    char name[12];
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

/* Reads "NAME SECONDS NANOSECONDS" of a line. */
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

/* Sets the clocks for processes that are made from now on.  Where that is impossible the job
 * continues without. */
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

static void set_back(const struct before *before)
{
    (void)SYS4(rt_sigaction, SIGCHLD, &before->of_children, NULL, SIGNAL_BYTES);
    (void)SYS4(rt_sigprocmask, SIG_SETMASK, &before->mask, NULL, SIGNAL_BYTES);
}

static long start_keeper(const struct keeper *keeper, int *out, const struct before *before)
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
        set_back(before);
        keeper->job(keeper->arg);
        (void)SYS1(exit_group, 127);
    }
    if (pid > 0 && keeper->after != NULL) {
        keeper->after(keeper->arg);
    }
    return pid;
}

static bool is_stop_of_terminal(int status)
{
    int signal = WIFSTOPPED(status) ? WSTOPSIG(status) : 0;
    return signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU;
}

/* Reads what the keeper reports: a shell that waits for us must see that the job has stopped. */
static void read_outcome(struct talk *talk)
{
    struct outcome told, last = {.status = 0};
    bool any = false;
    while (talk->in >= 0 && SYS3(read, talk->in, &told, sizeof told) == (long)sizeof told) {
        last = told;
        any = true;
    }
    bool stopped = WIFSTOPPED(last.status);
    if (any && stopped) {
        (void)SYS2(kill, SYS0(getpid), SIGSTOP);
    } else if (any && !WIFCONTINUED(last.status)) {
        talk->is_over = true;
        talk->end = last;
    }
}

static void report_outcome(const struct talk *talk, int status)
{
    const struct outcome told = {.status = status};
    if (talk->out >= 0) {
        (void)SYS3(write, talk->out, &told, sizeof told);
    }
}

/* Waits until that child has ended; returns its status.  Signals that somebody sends us are passed
 * to it; those of the terminal it gets itself. */
static long wait_for(long pid, struct talk *talk)
{
    uint64_t all = ALL_SIGNALS;
    for (;;) {
        int status;
        long changed;
        while ((changed = SYS4(wait4, -1, &status, WNOHANG | WUNTRACED | WCONTINUED, NULL)) > 0) {
            bool ended = WIFEXITED(status) || WIFSIGNALED(status);
            if (changed == pid && ended) {
                read_outcome(talk);
                return status;
            }
            if (ended && talk->keeper != NULL && talk->keeper->other_ended != NULL) {
                talk->keeper->other_ended(talk->keeper->arg, changed);
            }
            if (changed == pid && (is_stop_of_terminal(status) || WIFCONTINUED(status))) {
                report_outcome(talk, status);
            }
        }
        if (changed == -ECHILD) {
            return changed;
        }
        siginfo_t info;
        long signal = SYS4(rt_sigtimedwait, &all, &info, NULL, SIGNAL_BYTES);
        if (signal > 0 && signal != SIGCHLD && info.si_code <= 0) {
            (void)SYS2(kill, pid, signal); /* it may be gone */
        }
        read_outcome(talk);
    }
}

/* Gives up the capabilities that making the namespace gave: they are not needed any more, and the
 * job's user, inside or outside, may then look at it as at the job. */
static void give_up_powers(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
    if (SYS0(geteuid) != 0) {
        (void)SYS2(capset, &header, none);
    }
}

/* Makes process 1 of the namespace end when the outer process does, which may have happened
 * already. */
static void end_with_outer(const int ends[2])
{
    struct pollfd end = {.fd = ends[1]};
    (void)SYS1(close, ends[0]);
    (void)SYS2(prctl, PR_SET_PDEATHSIG, SIGKILL);
    if (SYS3(poll, &end, 1, 0) > 0 && (end.revents & POLLERR) != 0) {
        (void)SYS1(exit_group, 0);
    }
}

_Noreturn static void keep_namespace(const struct keeper *keeper, const int ends[2],
                                     const struct before *before)
{
    struct outcome outcome = {.status = 0};
    struct talk talk = {.keeper = keeper, .in = -1, .out = ends[1]};
    end_with_outer(ends);
    long rc = SYS5(mount, "none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
    rc =
        rc != 0 ? rc : SYS5(mount, "proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
    if (rc != 0) {
        outcome = (struct outcome){.error = (int32_t)rc, .what = STEP_PROC};
    } else {
        long pid = start_keeper(keeper, &talk.out, before);
        if (pid < 0) {
            outcome = (struct outcome){.error = (int32_t)pid, .what = STEP_CLONE};
        } else {
            (void)SYS5(prctl, PR_SET_NAME, "roost-keeper", 0, 0, 0);
            give_up_powers();
            outcome.status = (int32_t)wait_for(pid, &talk);
        }
    }
    (void)SYS3(write, talk.out, &outcome, sizeof outcome);
    (void)SYS1(exit_group, 0);
    __builtin_unreachable();
}

/* The reader and the job can write to that file, too: at worst an end that is not the job's own is
 * taken for it. */
static void write_outcome(const struct keeper *keeper, const char *word)
{
    const int how = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    long fd = keeper->outcome != NULL ? SYS4(openat, AT_FDCWD, keeper->outcome, how, 0600) : -1;
    if (fd >= 0) {
        (void)SYS3(write, fd, word, text_length(word));
        (void)SYS1(close, fd);
    }
}

/* Neither end gets a number of 0 to 2, which may be closed: the job would have it there.  Writing
 * wakes us, even when we are stopped. */
static long make_pipe(int ends[2])
{
    int made[2];
    long rc = SYS2(pipe2, made, O_CLOEXEC);
    if (rc != 0) {
        return rc;
    }
    for (int i = 0; i < 2; i++) {
        long far = SYS3(fcntl, made[i], F_DUPFD_CLOEXEC, STDIO);
        rc = far < 0 ? far : rc;
        ends[i] = (int)far;
        (void)SYS1(close, made[i]);
    }
    (void)SYS3(fcntl, ends[0], F_SETOWN, SYS0(getpid));
    (void)SYS3(fcntl, ends[0], F_SETSIG, SIGCONT);
    (void)SYS3(fcntl, ends[0], F_SETFL, O_NONBLOCK | O_ASYNC);
    return rc;
}

static long run_outside(const struct keeper *keeper, const struct before *before, int *what)
{
    int ends[2];
    long user = SYS0(geteuid), group = SYS0(getegid);
    write_outcome(keeper, KEEPER_BEGAN);
    *what = STEP_PIPE;
    long rc = make_pipe(ends);
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
        keep_namespace(keeper, ends, before);
    }
    if (pid < 0) {
        return pid;
    }
    (void)SYS1(close, ends[1]);
    struct talk talk = {.in = ends[0], .out = -1};
    long status = wait_for(pid, &talk);
    (void)SYS1(close, ends[0]);
    if (!talk.is_over) {
        return status; /* the keeper was killed, and all with it */
    }
    *what = talk.end.what;
    if (talk.end.error == 0) {
        write_outcome(keeper, KEEPER_ENDED);
    }
    return talk.end.error != 0 ? talk.end.error : talk.end.status;
}

long keeper_run(const struct keeper *keeper, const char **what)
{
    const struct kernel_action plain = {.handler = 0};
    uint64_t all = ALL_SIGNALS;
    struct before before;
    struct talk silent = {.keeper = keeper, .in = -1, .out = -1};
    int step = STEP_CLONE;
    (void)SYS4(rt_sigprocmask, SIG_SETMASK, &all, &before.mask, SIGNAL_BYTES);
    (void)SYS4(rt_sigaction, SIGCHLD, &plain, &before.of_children, SIGNAL_BYTES);
    long rc;
    if (keeper->is_inside) {
        int none = -1;
        set_clocks(keeper->clocks_ns);
        long pid = start_keeper(keeper, &none, &before);
        rc = pid < 0 ? pid : wait_for(pid, &silent);
    } else {
        rc = run_outside(keeper, &before, &step);
    }
    set_back(&before);
    if (rc < 0) {
        *what = step_text(step, rc);
    }
    return rc;
}

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
