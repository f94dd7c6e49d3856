/* ckpt/dump_process_linux.c - what the kernel keeps of a process and its threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/rseq.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "ckpt/dump.h"
#include "ckpt/image.h"
#include "ckpt/xstate.h"

#define SIGNALS         64
#define SIGNAL_BYTES    8
#define STABLE_TRIES    20
#define PEEKED          16
#define AUXV_MAX        128
#define CPUS_RSEQ_BYTES 32

#ifndef ARCH_GET_XCOMP_PERM
#define ARCH_GET_XCOMP_PERM 0x1022
#endif

/* linux/include/linux/errno.h: never seen by programs, but by tracers. */
#define ERESTARTSYS           512
#define ERESTARTNOINTR        513
#define ERESTARTNOHAND        514
#define ERESTART_RESTARTBLOCK 516

static int proc_text(pid_t pid, const char *name, char *text, size_t size)
{
    char path[128];
    (void)snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return -errno;
    }
    size_t got = fread(text, 1, size - 1, file);
    text[got] = '\0';
    (void)fclose(file);
    return 0;
}

/* ---- a thread */

/* Registers with which it goes on: a system call that was interrupted is issued again: true. */
static bool reissue(struct ckpt_registers *registers)
{
    switch ((int64_t)registers->rax) {
    case -ERESTARTSYS:
    case -ERESTARTNOINTR:
    case -ERESTARTNOHAND:
    case -ERESTART_RESTARTBLOCK:
        if ((int64_t)registers->orig_rax >= 0) {
            registers->rax = registers->orig_rax;
            registers->rip -= CKPT_SYSCALL_BYTES;
            return true;
        }
        return false;
    default:
        return false;
    }
}

static uint64_t word_of_status(const char *status, const char *name, int base)
{
    const char *at = strstr(status, name);
    return at != NULL ? strtoull(at + strlen(name), NULL, base) : 0;
}

/* In the middle of a restartable sequence: begun anew, as the kernel does when it interrupts one.
 */
static void leave_sequence(const struct dump *dump, const struct ckpt_thread *thread,
                           struct ckpt_registers *registers)
{
    struct rseq_cs sequence;
    uint64_t address = 0;
    if (thread->rseq == 0 ||
        tracee_read(&dump->now->tracee, thread->rseq + offsetof(struct rseq, rseq_cs), &address,
                    sizeof address) != (ssize_t)sizeof address ||
        address == 0 ||
        tracee_read(&dump->now->tracee, address, &sequence, sizeof sequence) !=
            (ssize_t)sizeof sequence) {
        return;
    }
    if (registers->rip - sequence.start_ip < sequence.post_commit_offset) {
        registers->rip = sequence.abort_ip;
    }
}

static int read_signals(struct dump *dump, pid_t tid, bool shared, struct ckpt_span *ret)
{
    siginfo_t infos[PEEKED];
    struct __ptrace_peeksiginfo_args args = {.flags = shared ? PTRACE_PEEKSIGINFO_SHARED : 0,
                                             .nr = PEEKED};
    long got;
    ret->first = dump->tables.counts[CKPT_SIGNALS];
    while ((got = ptrace(PTRACE_PEEKSIGINFO, tid, &args, infos)) > 0) {
        for (long i = 0; i < got; i++) {
            struct ckpt_signal signal;
            memcpy(signal.info, &infos[i], sizeof signal.info);
            (void)tables_add(&dump->tables, CKPT_SIGNALS, &signal);
        }
        args.off += (uint64_t)got;
    }
    ret->count = dump->tables.counts[CKPT_SIGNALS] - ret->first;
    return got < 0 ? -errno : 0;
}

static void read_rseq(pid_t tid, struct ckpt_thread *thread)
{
    struct __ptrace_rseq_configuration rseq;
    if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, tid, (void *)sizeof rseq, &rseq) ==
            (long)sizeof rseq &&
        rseq.rseq_abi_pointer != 0) {
        thread->rseq = rseq.rseq_abi_pointer;
        thread->rseq_bytes = rseq.rseq_abi_size;
        thread->rseq_signature = rseq.signature;
    }
}

static int read_altstack(struct dump *dump, size_t index, struct ckpt_thread *thread)
{
    struct tracee *tracee = &dump->now->tracee;
    stack_t stack;
    long rc = TRACEE_CALL(tracee, index, SYS_sigaltstack, 0, tracee->scratch);
    if (rc != 0) {
        return (int)rc;
    }
    ssize_t got = tracee_read(tracee, tracee->scratch, &stack, sizeof stack);
    if (got != (ssize_t)sizeof stack) {
        return got < 0 ? (int)got : -EIO;
    }
    thread->altstack = (uint64_t)(uintptr_t)stack.ss_sp;
    thread->altstack_bytes = stack.ss_size;
    thread->altstack_flags = (uint32_t)stack.ss_flags & ~(uint32_t)SS_ONSTACK;
    return 0;
}

static int read_clear_tid(struct dump *dump, size_t index, struct ckpt_thread *thread)
{
    struct tracee *tracee = &dump->now->tracee;
    long rc = TRACEE_CALL(tracee, index, SYS_prctl, PR_GET_TID_ADDRESS, tracee->scratch);
    if (rc != 0) {
        return (int)rc;
    }
    ssize_t got =
        tracee_read(tracee, tracee->scratch, &thread->clear_tid, sizeof thread->clear_tid);
    return got == (ssize_t)sizeof thread->clear_tid ? 0 : -EIO;
}

static void copy_registers(const struct user_regs_struct *from, struct ckpt_registers *to)
{
    *to = (struct ckpt_registers){.r15 = from->r15,
                                  .r14 = from->r14,
                                  .r13 = from->r13,
                                  .r12 = from->r12,
                                  .rbp = from->rbp,
                                  .rbx = from->rbx,
                                  .r11 = from->r11,
                                  .r10 = from->r10,
                                  .r9 = from->r9,
                                  .r8 = from->r8,
                                  .rax = from->rax,
                                  .rcx = from->rcx,
                                  .rdx = from->rdx,
                                  .rsi = from->rsi,
                                  .rdi = from->rdi,
                                  .orig_rax = from->orig_rax,
                                  .rip = from->rip,
                                  .cs = from->cs,
                                  .eflags = from->eflags,
                                  .rsp = from->rsp,
                                  .ss = from->ss,
                                  .fs_base = from->fs_base,
                                  .gs_base = from->gs_base,
                                  .ds = from->ds,
                                  .es = from->es,
                                  .fs = from->fs,
                                  .gs = from->gs};
}

static int read_xstate(struct dump *dump, const struct tracee_thread *held,
                       struct ckpt_thread *thread)
{
    uint8_t xstate[CKPT_XSTATE_MAX];
    ssize_t bytes = tracee_xstate(held, xstate);
    if (bytes < 0) {
        return (int)bytes;
    }
    dump->head.xstate_bytes = (uint32_t)bytes;
    thread->xstate = tables_add_xstate(&dump->tables, xstate, (size_t)bytes);
    return 0;
}

/* It stands in the window, with what the stub has set by then. */
static int take_halted(struct dump *dump, const struct ckpt_thread *halted,
                       struct ckpt_thread *thread)
{
    const struct image *before = dump->now->before;
    const struct ckpt_xstate_layout *from = &image_head(before)->xstate;
    const uint8_t *saved = image_xstate(before, halted);
    struct ckpt_xstate_layout here;
    uint8_t xstate[CKPT_XSTATE_MAX] = {0};
    uint64_t features;
    xstate_read_layout(&here); /* it has been stopped since before it came here */
    if (xstate_fit_max(from, &here) > dump->head.xstate_bytes ||
        xstate_missing(from, saved, &here) != NULL) {
        return -EOPNOTSUPP;
    }
    (void)xstate_fit(from, saved, &here, xstate, &features);
    thread->registers = halted->registers;
    thread->left_s = halted->left_s;
    thread->left_ns = halted->left_ns;
    thread->mask = halted->mask;
    thread->altstack = halted->altstack;
    thread->altstack_bytes = halted->altstack_bytes;
    thread->altstack_flags = halted->altstack_flags;
    thread->xstate = tables_add_xstate(&dump->tables, xstate, dump->head.xstate_bytes);
    return 0;
}

static int read_thread(struct dump *dump, size_t index)
{
    struct tracee_thread *held = &dump->now->tracee.threads[index];
    struct ckpt_thread thread = {.mask = held->mask};
    char name[64], status[8192];
    void *list = NULL;
    size_t list_bytes = 0;
    (void)snprintf(name, sizeof name, "task/%d/status", (int)held->tid);
    int rc = proc_text(dump->now->tracee.pid, name, status, sizeof status);
    if (rc != 0) {
        return rc;
    }
    thread.tid = tracee_number(dump->now->tracee.pid, held->tid);
    copy_registers(&held->registers, &thread.registers);
    (void)snprintf(name, sizeof name, "task/%d/comm", (int)held->tid);
    rc = proc_text(dump->now->tracee.pid, name, status, sizeof status);
    status[strcspn(status, "\n")] = '\0';
    thread.command = tables_text(&dump->tables, status);
    rc = rc != 0 ? rc : read_xstate(dump, held, &thread);
    if (rc == 0 && syscall(SYS_get_robust_list, held->tid, &list, &list_bytes) == 0) {
        thread.robust = (uint64_t)(uintptr_t)list;
        thread.robust_bytes = list_bytes;
    }
    read_rseq(held->tid, &thread);
    leave_sequence(dump, &thread, &thread.registers);
    if ((int64_t)thread.registers.orig_rax == SYS_restart_syscall &&
        (int64_t)thread.registers.rax == -ERESTART_RESTARTBLOCK) {
        thread.registers.orig_rax = (uint64_t)dump_interrupted_call(dump, &thread.registers);
        rc = (int64_t)thread.registers.orig_rax < 0 ? -EOPNOTSUPP : rc;
    }
    bool again = reissue(&thread.registers);
    rc = rc != 0 ? rc : dump_wait(dump, &thread, again, held->is_mended);
    rc = rc != 0 ? rc : read_signals(dump, held->tid, false, &thread.signals);
    rc = rc != 0 ? rc : read_altstack(dump, index, &thread);
    rc = rc != 0 ? rc : read_clear_tid(dump, index, &thread);
    const struct ckpt_thread *halted = dump_halted(dump->now, held);
    rc = rc == 0 && halted != NULL ? take_halted(dump, halted, &thread) : rc;
    if (rc == 0) {
        (void)tables_add(&dump->tables, CKPT_THREADS, &thread);
    }
    return rc;
}

int dump_threads(struct dump *dump, struct err *err)
{
    dump->now->process.threads.first = dump->tables.counts[CKPT_THREADS];
    for (size_t i = 0; i < dump->now->tracee.count; i++) {
        int rc = read_thread(dump, i);
        if (rc != 0) {
            return err_set(err, rc, "process %d: thread %d: %s", (int)dump->now->tracee.pid,
                           (int)dump->now->tracee.threads[i].tid, err_code_text(rc));
        }
    }
    dump->now->process.threads.count = (uint32_t)dump->now->tracee.count;
    return 0;
}

/* ---- the process */

struct kernel_action {
    uint64_t handler, flags, restorer, mask;
};

/* Only those that are caught or ignored: all others are as they are at the start of a program. */
static int read_actions(struct dump *dump, const char *status)
{
    struct tracee *tracee = &dump->now->tracee;
    uint64_t set =
        word_of_status(status, "\nSigCgt:", 16) | word_of_status(status, "\nSigIgn:", 16);
    dump->now->process.actions.first = dump->tables.counts[CKPT_ACTIONS];
    for (unsigned signal = 1; signal <= SIGNALS; signal++) {
        struct kernel_action action;
        if ((set & (UINT64_C(1) << (signal - 1))) == 0) {
            continue;
        }
        long rc =
            TRACEE_CALL(tracee, 0, SYS_rt_sigaction, signal, 0, tracee->scratch, SIGNAL_BYTES);
        if (rc != 0) {
            return (int)rc;
        }
        if (tracee_read(tracee, tracee->scratch, &action, sizeof action) !=
            (ssize_t)sizeof action) {
            return -EIO;
        }
        const struct ckpt_action saved = {.signal = signal,
                                          .handler = action.handler,
                                          .flags = action.flags,
                                          .restorer = action.restorer,
                                          .mask = action.mask};
        (void)tables_add(&dump->tables, CKPT_ACTIONS, &saved);
    }
    dump->now->process.actions.count =
        dump->tables.counts[CKPT_ACTIONS] - dump->now->process.actions.first;
    return 0;
}

static int read_itimers(struct dump *dump)
{
    struct tracee *tracee = &dump->now->tracee;
    for (uint64_t which = 0; which < 3; which++) {
        struct itimerval timer;
        long rc = TRACEE_CALL(tracee, 0, SYS_getitimer, which, tracee->scratch);
        if (rc != 0) {
            return (int)rc;
        }
        if (tracee_read(tracee, tracee->scratch, &timer, sizeof timer) != (ssize_t)sizeof timer) {
            return -EIO;
        }
        dump->now->process.itimers[which][0] = timer.it_interval.tv_sec;
        dump->now->process.itimers[which][1] = timer.it_interval.tv_usec;
        dump->now->process.itimers[which][2] = timer.it_value.tv_sec;
        dump->now->process.itimers[which][3] = timer.it_value.tv_usec;
    }
    return 0;
}

static int read_timer(struct dump *dump, struct ckpt_timer *timer)
{
    struct tracee *tracee = &dump->now->tracee;
    struct itimerspec left;
    long rc = TRACEE_CALL(tracee, 0, SYS_timer_gettime, (uint64_t)timer->id, tracee->scratch);
    if (rc == 0 &&
        tracee_read(tracee, tracee->scratch, &left, sizeof left) != (ssize_t)sizeof left) {
        rc = -EIO;
    }
    if (rc == 0) {
        timer->interval_s = left.it_interval.tv_sec;
        timer->interval_ns = left.it_interval.tv_nsec;
        timer->left_s = left.it_value.tv_sec;
        timer->left_ns = left.it_value.tv_nsec;
        (void)tables_add(&dump->tables, CKPT_TIMERS, timer);
    }
    return (int)rc;
}

/* The number that a thread has inside its namespace. */
static int32_t inner_of(const struct dump *dump, pid_t tid)
{
    for (uint32_t i = 0; i < dump->now->tracee.count; i++) {
        if (dump->now->tracee.threads[i].tid == tid) {
            const struct ckpt_thread *threads = (const void *)dump->tables.bytes[CKPT_THREADS].data;
            return threads[dump->now->process.threads.first + i].tid;
        }
    }
    return 0;
}

/* Of each: "ID: 0\nsignal: 14/VALUE\nnotify: signal/pid.123\nClockID: 0\n" */
static int read_timers(struct dump *dump)
{
    char text[16384], *rest = NULL;
    struct ckpt_timer timer = {.id = -1};
    int rc = proc_text(dump->now->tracee.pid, "timers", text, sizeof text);
    dump->now->process.timers.first = dump->tables.counts[CKPT_TIMERS];
    for (char *line = strtok_r(text, "\n", &rest); rc == 0 && line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        char how[16], whose[8];
        int signal, id;
        uint64_t value;
        if (sscanf(line, "ID: %d", &timer.id) == 1) {
            timer = (struct ckpt_timer){.id = timer.id};
        } else if (sscanf(line, "signal: %d/%" SCNx64, &signal, &value) == 2) {
            timer.signal = signal;
            timer.value = value;
        } else if (sscanf(line, "notify: %15[^/]/%7[^.].%d", how, whose, &id) == 3) {
            bool thread = strcmp(whose, "tid") == 0;
            timer.notify = strcmp(how, "none") == 0 ? SIGEV_NONE
                           : thread                 ? SIGEV_THREAD_ID
                                                    : SIGEV_SIGNAL;
            timer.tid = thread ? inner_of(dump, id) : 0;
        } else if (sscanf(line, "ClockID: %d", &timer.clock) == 1) {
            rc = read_timer(dump, &timer);
        }
    }
    dump->now->process.timers.count =
        dump->tables.counts[CKPT_TIMERS] - dump->now->process.timers.first;
    return rc == -ENOENT ? 0 : rc; /* a kernel without them */
}

static int read_limits(struct dump *dump)
{
    dump->now->process.limits.first = dump->tables.counts[CKPT_LIMITS];
    for (uint32_t resource = 0; resource < RLIM_NLIMITS; resource++) {
        struct rlimit limit;
        if (prlimit(dump->now->tracee.pid, (enum __rlimit_resource)resource, NULL, &limit) != 0) {
            return -errno;
        }
        const struct ckpt_limit saved = {.resource = resource,
                                         .soft = limit.rlim_cur,
                                         .hard = limit.rlim_max};
        (void)tables_add(&dump->tables, CKPT_LIMITS, &saved);
    }
    dump->now->process.limits.count = RLIM_NLIMITS;
    return 0;
}

/* The fields of /proc/PID/stat that say where its memory is, by their numbers in proc(5). */
static int read_places(struct dump *dump)
{
    struct ckpt_process *process = &dump->now->process;
    struct {
        int field;
        uint64_t *place;
    } places[] = {{26, &process->start_code}, {27, &process->end_code}, {28, &process->start_stack},
                  {45, &process->start_data}, {46, &process->end_data}, {47, &process->start_brk},
                  {48, &process->arg_start},  {49, &process->arg_end},  {50, &process->env_start},
                  {51, &process->env_end}};
    char text[2048], *rest = NULL;
    int rc = proc_text(dump->now->tracee.pid, "stat", text, sizeof text);
    char *at = rc == 0 ? strrchr(text, ')') : NULL;
    if (at == NULL) {
        return rc != 0 ? rc : -EIO;
    }
    int field = 3;
    for (char *word = strtok_r(at + 1, " ", &rest); word != NULL;
         word = strtok_r(NULL, " ", &rest), field++) {
        for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
            if (places[i].field == field) {
                *places[i].place = strtoull(word, NULL, 10);
            }
        }
    }
    long brk = TRACEE_CALL(&dump->now->tracee, 0, SYS_brk, 0);
    process->brk = (uint64_t)brk;
    return 0;
}

static int read_auxv(struct dump *dump)
{
    uint64_t auxv[AUXV_MAX];
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/auxv", (int)dump->now->tracee.pid);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return -errno;
    }
    size_t words = fread(auxv, sizeof auxv[0], AUXV_MAX, file);
    (void)fclose(file);
    dump->now->process.auxv.first = dump->tables.counts[CKPT_AUXV];
    dump->now->process.auxv.count = (uint32_t)words;
    for (size_t i = 0; i < words; i++) {
        (void)tables_add(&dump->tables, CKPT_AUXV, &auxv[i]);
    }
    return 0;
}

static uint32_t ask(struct dump *dump, uint64_t option, uint32_t otherwise)
{
    struct tracee *tracee = &dump->now->tracee;
    uint32_t word = otherwise;
    if (TRACEE_CALL(tracee, 0, SYS_prctl, option, tracee->scratch) == 0) {
        (void)tracee_read(tracee, tracee->scratch, &word, sizeof word);
    }
    return word;
}

static uint32_t ask_result(struct dump *dump, uint64_t option)
{
    long result = TRACEE_CALL(&dump->now->tracee, 0, SYS_prctl, option);
    return result > 0 ? (uint32_t)result : 0;
}

static void read_link(const struct dump *dump, const char *name, char *path, size_t size)
{
    char link[64];
    (void)snprintf(link, sizeof link, "/proc/%d/%s", (int)dump->now->tracee.pid, name);
    ssize_t length = readlink(link, path, size - 1);
    path[length > 0 ? length : 0] = '\0';
}

static void read_names(struct dump *dump)
{
    struct ckpt_process *process = &dump->now->process;
    char path[4096];
    read_link(dump, "exe", path, sizeof path);
    process->exe =
        tables_text(&dump->tables, dump->now->was != NULL
                                       ? image_text(dump->now->before, dump->now->was->exe)
                                       : path);
    read_link(dump, "cwd", path, sizeof path);
    process->cwd = tables_text(&dump->tables, path);
    read_link(dump, "root", path, sizeof path);
    process->root = tables_text(&dump->tables, path);
    const struct ckpt_thread *first =
        tables_at(&dump->tables, CKPT_THREADS, process->threads.first);
    process->command = first->command;
}

/* ---- timers go on while the process stands still */

static bool has_timers(const struct ckpt_process *process)
{
    bool any = process->timers.count > 0;
    for (size_t i = 0; i < sizeof process->itimers / sizeof process->itimers[0]; i++) {
        any = any || process->itimers[i][2] != 0 || process->itimers[i][3] != 0;
    }
    return any;
}

/* Changes when a signal comes. */
static uint64_t sum_of_pending(const struct dump *dump)
{
    const struct tracee *tracee = &dump->now->tracee;
    uint64_t sum = 0;
    for (size_t i = 0; i < tracee->count; i++) {
        char name[64], status[8192];
        (void)snprintf(name, sizeof name, "task/%d/status", (int)tracee->threads[i].tid);
        if (proc_text(tracee->pid, name, status, sizeof status) == 0) {
            sum = sum * 31 + word_of_status(status, "\nSigPnd:", 16);
            sum = sum * 31 + (i == 0 ? word_of_status(status, "\nShdPnd:", 16) : 0);
        }
    }
    return sum;
}

static int read_signals_again(struct dump *dump)
{
    struct ckpt_process *process = &dump->now->process;
    int rc = read_signals(dump, dump->now->tracee.pid, true, &process->signals);
    for (uint32_t i = 0; rc == 0 && process->timers.count > 0 && i < process->threads.count; i++) {
        struct ckpt_span signals;
        rc = read_signals(dump, dump->now->tracee.threads[i].tid, false, &signals);
        struct ckpt_thread *thread =
            tables_at(&dump->tables, CKPT_THREADS, process->threads.first + i);
        thread->signals = rc == 0 ? signals : thread->signals;
    }
    return rc;
}

/* One that goes off is either left to go off, or its signal is pending: neither both nor none. */
static int read_timers_and_signals(struct dump *dump)
{
    for (int i = 0; i < STABLE_TRIES; i++) {
        int rc = read_itimers(dump);
        rc = rc != 0 ? rc : read_timers(dump);
        bool any = i > 0 || has_timers(&dump->now->process);
        uint64_t before = any ? sum_of_pending(dump) : 0;
        if (rc == 0 && any) { /* once more: what had not gone off before that sum */
            rc = read_itimers(dump);
            rc = rc != 0 ? rc : read_timers(dump);
        }
        rc = rc != 0 ? rc : read_signals_again(dump);
        if (rc != 0 || !any || before == sum_of_pending(dump)) {
            return rc;
        }
    }
    return -EBUSY;
}

int dump_process(struct dump *dump, struct err *err)
{
    struct ckpt_process *process = &dump->now->process;
    char status[8192];
    int rc = proc_text(dump->now->tracee.pid, "status", status, sizeof status);
    if (rc == 0 && word_of_status(status, "\nSeccomp:", 10) == 1) {
        return err_set(err, -EOPNOTSUPP, "process %d: it is in seccomp's strict mode",
                       (int)dump->now->tracee.pid);
    }
    process->umask = (uint32_t)word_of_status(status, "\nUmask:", 8);
    process->no_new_privs = (uint32_t)word_of_status(status, "\nNoNewPrivs:", 10);
    read_names(dump);
    rc = rc != 0 ? rc : read_actions(dump, status);
    rc = rc != 0 ? rc : read_timers_and_signals(dump);
    if (rc == 0) {
        dump_pending(dump);
    }
    rc = rc != 0 ? rc : read_limits(dump);
    rc = rc != 0 ? rc : read_places(dump);
    rc = rc != 0 ? rc : read_auxv(dump);
    if (rc != 0) {
        return err_set(err, rc, "process %d: %s", (int)dump->now->tracee.pid, err_code_text(rc));
    }
    process->death_signal = (int32_t)ask(dump, PR_GET_PDEATHSIG, 0);
    process->subreaper = ask(dump, PR_GET_CHILD_SUBREAPER, 0);
    process->dumpable = ask_result(dump, PR_GET_DUMPABLE);
    process->thp_disable = ask_result(dump, PR_GET_THP_DISABLE);
    if (TRACEE_CALL(&dump->now->tracee, 0, SYS_arch_prctl, ARCH_GET_XCOMP_PERM,
                    dump->now->tracee.scratch) == 0) {
        (void)tracee_read(&dump->now->tracee, dump->now->tracee.scratch, &process->xstate_allowed,
                          sizeof process->xstate_allowed);
    }
    long persona = TRACEE_CALL(&dump->now->tracee, 0, SYS_personality, 0xffffffff);
    process->personality = persona > 0 ? (uint32_t)persona : 0;
    return 0;
}
