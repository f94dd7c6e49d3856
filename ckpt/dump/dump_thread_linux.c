/* ckpt/dump/dump_thread_linux.c - saves what the kernel knows about each thread of a process.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <linux/rseq.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "ckpt/dump/dump.h"
#include "ckpt/image/image.h"
#include "ckpt/proc_linux.h"
#include "ckpt/xstate.h"

#define PEEKED 16

/* Changes the registers so that the thread can continue.  True: they issue an interrupted system
 * call again. */
static bool reissue_call(struct ckpt_registers *registers)
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

/* In the middle of a restartable sequence (rseq): it is begun again, as the kernel does when it
 * interrupts one. */
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

int dump_signals(struct dump *dump, pid_t tid, bool shared, struct ckpt_span *ret)
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

/* The thread stands in the window: takes what the stub has set up to there. */
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

/* The name of a thread. */
static int read_command(struct dump *dump, pid_t tid, uint32_t *ret)
{
    struct strbuf name;
    char file[64];
    (void)snprintf(file, sizeof file, "task/%d/comm", (int)tid);
    strbuf_init(&name, 0);
    int rc = proc_read(dump->now->tracee.pid, file, &name);
    if (rc == 0) {
        name.data[name.length - 1] = '\0'; /* the end of the line */
        *ret = tables_text(&dump->tables, strbuf_text(&name));
    }
    strbuf_fini(&name);
    return rc;
}

static int fail_thread(const struct dump *dump, pid_t tid, int rc, const char *why, struct err *err)
{
    return err_set(err, rc, "process %d: thread %d: %s", (int)dump->now->tracee.pid, (int)tid, why);
}

/* Finds the call of a wait that was interrupted before.  False: it cannot be found. */
static bool find_call(struct dump *dump, struct ckpt_registers *registers)
{
    if ((int64_t)registers->orig_rax != SYS_restart_syscall ||
        (int64_t)registers->rax != -ERESTART_RESTARTBLOCK) {
        return true;
    }
    registers->orig_rax = (uint64_t)dump_interrupted_call(dump, registers);
    return (int64_t)registers->orig_rax >= 0;
}

static int read_thread(struct dump *dump, size_t index, struct err *err)
{
    struct tracee_thread *held = &dump->now->tracee.threads[index];
    struct ckpt_thread thread = {.mask = held->mask};
    void *list = NULL;
    size_t list_bytes = 0;
    thread.tid = proc_innermost(dump->now->tracee.pid, held->tid, "NSpid:");
    copy_registers(&held->registers, &thread.registers);
    int rc = thread.tid > 0 ? read_command(dump, held->tid, &thread.command) : -ESRCH;
    rc = rc != 0 ? rc : read_xstate(dump, held, &thread);
    if (rc == 0 && syscall(SYS_get_robust_list, held->tid, &list, &list_bytes) == 0) {
        thread.robust = (uint64_t)(uintptr_t)list;
        thread.robust_bytes = list_bytes;
    }
    read_rseq(held->tid, &thread);
    leave_sequence(dump, &thread, &thread.registers);
    if (rc == 0 && !find_call(dump, &thread.registers)) {
        return fail_thread(dump, held->tid, -EOPNOTSUPP,
                           "cannot find out in which system call the thread waits", err);
    }
    bool again = reissue_call(&thread.registers);
    rc = rc != 0 ? rc : dump_wait(dump, &thread, again, held->is_mended);
    rc = rc != 0 ? rc : dump_signals(dump, held->tid, false, &thread.signals);
    rc = rc != 0 ? rc : read_altstack(dump, index, &thread);
    rc = rc != 0 ? rc : read_clear_tid(dump, index, &thread);
    const struct ckpt_thread *halted = dump_halted(dump->now, held);
    if (rc == 0 && halted != NULL && take_halted(dump, halted, &thread) != 0) {
        return fail_thread(
            dump, held->tid, -EOPNOTSUPP,
            "this processor has no place for extended registers that the thread uses", err);
    }
    if (rc == 0) {
        (void)tables_add(&dump->tables, CKPT_THREADS, &thread);
    }
    return rc != 0 ? fail_thread(dump, held->tid, rc, err_code_text(rc), err) : 0;
}

int dump_threads(struct dump *dump, struct err *err)
{
    dump->now->process.threads.first = dump->tables.counts[CKPT_THREADS];
    for (size_t i = 0; i < dump->now->tracee.count; i++) {
        int rc = read_thread(dump, i, err);
        if (rc != 0) {
            return rc;
        }
    }
    dump->now->process.threads.count = (uint32_t)dump->now->tracee.count;
    return 0;
}
