/* ckpt/stub/tree.c - the processes of a job: who is whose child, sessions and groups.
 *
 * Each process makes its own children, so that they are its children.  A child has the session that
 * its parent was in when it was made: those of an older session are made before the parent begins
 * its own, all others after.  Groups are joined when all processes are there, leaders first.  One
 * whose leader has ended is lent a process of that number for the moment.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/wait.h>

#include "ckpt/stub/stub.h"
#include "ckpt/stub/sys.h"

/* ---- meeting */

static uint32_t process_count(const struct stub *stub)
{
    return (uint32_t)stub->head->tables[CKPT_PROCESSES].count;
}

static const struct ckpt_process *process_at(const struct stub *stub, uint32_t index)
{
    return STUB_ENTRY(stub, CKPT_PROCESSES, struct ckpt_process, index);
}

static uint32_t index_of(const struct stub *stub)
{
    return (uint32_t)(stub->process - process_at(stub, 0));
}

/* Those that go through the stages: they that live. */
static uint32_t living(const struct stub *stub)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < process_count(stub); i++) {
        count += (process_at(stub, i)->flags & CKPT_ZOMBIE) == 0 ? 1 : 0;
    }
    return count;
}

void stub_give_up(const struct stub *stub)
{
    __atomic_store_n(&stub->meeting->lost, 1, __ATOMIC_RELEASE);
    for (unsigned i = 0; i < STUB_STAGES; i++) {
        __atomic_add_fetch(&stub->meeting->arrived[i], 0x10000, __ATOMIC_RELEASE);
        (void)SYS6(futex, &stub->meeting->arrived[i], FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
    }
}

void stub_meet(struct stub *stub, enum stub_stage stage)
{
    uint32_t *arrived = &stub->meeting->arrived[stage];
    uint32_t count = living(stub), now = __atomic_add_fetch(arrived, 1, __ATOMIC_ACQ_REL);
    (void)SYS6(futex, arrived, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
    while (now < count) {
        (void)SYS6(futex, arrived, FUTEX_WAIT, now, NULL, NULL, 0);
        now = __atomic_load_n(arrived, __ATOMIC_ACQUIRE);
    }
    if (__atomic_load_n(&stub->meeting->lost, __ATOMIC_ACQUIRE) != 0) {
        (void)SYS1(exit_group, STUB_EXIT_LOST);
    }
}

/* ---- making processes */

_Noreturn static void end_as(const struct ckpt_process *process)
{
    int status = process->status;
    if (WIFSIGNALED(status)) {
        uint64_t none = 0;
        (void)SYS4(rt_sigprocmask, SIG_SETMASK, &none, NULL, sizeof none);
        (void)SYS2(kill, process->pid, WTERMSIG(status));
    }
    (void)SYS1(exit_group, WEXITSTATUS(status));
    __builtin_unreachable();
}

static long clone_as(int32_t number, uint64_t exit_signal)
{
    struct clone_args args = {.exit_signal = exit_signal,
                              .set_tid = (uint64_t)(uintptr_t)&number,
                              .set_tid_size = 1};
    return SYS2(clone3, &args, sizeof args);
}

static void make(struct stub *stub, uint32_t index, void (*child)(struct stub *stub))
{
    const struct ckpt_process *process = process_at(stub, index);
    long pid = clone_as(process->pid, (uint64_t)process->exit_signal);
    if (pid == 0) {
        stub->process = process;
        if ((process->flags & CKPT_ZOMBIE) != 0) {
            end_as(process);
        }
        child(stub);
    }
    stub_must(stub, pid, "a process with the number that it had");
    if ((process->flags & CKPT_ZOMBIE) != 0) {
        siginfo_t info;
        (void)SYS5(waitid, P_PID, pid, &info, WEXITED | WNOWAIT | __WALL, NULL);
    }
}

static bool is_older(const struct stub *stub, const struct ckpt_process *child)
{
    return stub->process->sid == stub->process->pid && child->sid != stub->process->sid &&
           child->sid != child->pid;
}

static void make_children(struct stub *stub, bool older, void (*child)(struct stub *stub))
{
    uint32_t own = index_of(stub);
    for (uint32_t i = own + 1; i < process_count(stub); i++) {
        const struct ckpt_process *process = process_at(stub, i);
        if (process->parent == own && is_older(stub, process) == older) {
            make(stub, i, child);
        }
    }
}

/* That children have ended told us once; the job was told, or will be by what was pending. */
static void forget_children_signals(void)
{
    uint64_t set = UINT64_C(1) << (SIGCHLD - 1);
    const int64_t at_once[2] = {0, 0};
    while (SYS4(rt_sigtimedwait, &set, NULL, at_once, sizeof set) > 0) {
    }
}

static void join_group(struct stub *stub)
{
    const struct ckpt_process *process = stub->process;
    if (process->pgid == process->pid && process->sid != process->pid) {
        stub_must(stub, SYS2(setpgid, 0, 0), "a group of processes");
    }
    stub_meet(stub, STUB_LEADS);
    if (process->pgid != 0 && process->pgid != process->pid) {
        stub_must(stub, SYS2(setpgid, 0, process->pgid), "the group of a process");
    }
    stub_meet(stub, STUB_GROUPED);
}

void stub_make_tree(struct stub *stub, void (*child)(struct stub *stub))
{
    const struct ckpt_process *process = stub->process;
    make_children(stub, true, child);
    if (process->sid == process->pid) {
        stub_must(stub, SYS0(setsid), "a session");
    }
    make_children(stub, false, child);
    forget_children_signals();
    stub_meet(stub, STUB_BORN);
    join_group(stub);
}

void stub_make_orphans(struct stub *stub, void (*child)(struct stub *stub))
{
    for (uint32_t i = 1; i < process_count(stub); i++) {
        if (process_at(stub, i)->parent == CKPT_NOBODY) {
            make(stub, i, child);
        }
    }
}
