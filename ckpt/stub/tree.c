/* ckpt/stub/tree.c - makes the processes of a job: parents and children, sessions and groups.
 *
 * Each process makes its own children, so that they are its children.  A child has the session in
 * which its parent was when the child was made: children of an older session are made before the
 * parent begins its own, all others after.  A process whose parent has ended is made by a helper
 * that then ends, in the process's session.  Groups are joined when all processes exist, leaders
 * first.  Sessions and groups whose leader has ended get a temporary process with that number.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <linux/time_types.h>
#include <signal.h>
#include <sys/wait.h>

#include "ckpt/stub/stub.h"
#include "ckpt/stub/sys.h"

#define LOOK_AGAIN_NS 100000000
#define KILLED        "a process of the job was killed during the resume"

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

/* Counts the living processes, from that index on. */
static uint32_t count_living(const struct stub *stub, uint32_t index)
{
    uint32_t count = 0;
    for (uint32_t i = index; i < process_count(stub); i++) {
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

/* If a child was killed meanwhile (by a machine that is out of memory) nobody would ever continue:
 * ends the resuming. */
static void check_children(const struct stub *stub)
{
    for (uint32_t i = index_of(stub) + 1; i < process_count(stub); i++) {
        const struct ckpt_process *child = process_at(stub, i);
        siginfo_t info = {.si_pid = 0};
        if (child->parent == index_of(stub) && (child->flags & CKPT_ZOMBIE) == 0 &&
            SYS5(waitid, P_PID, child->pid, &info, WEXITED | WNOWAIT | WNOHANG | __WALL, NULL) ==
                0 &&
            info.si_pid != 0) {
            stub_fail(stub, KILLED, "", -ESRCH);
        }
    }
}

void stub_see_end(const struct stub *stub, long pid)
{
    uint32_t here = __atomic_load_n(&stub->meeting->arrived[STUB_STAGES - 1], __ATOMIC_ACQUIRE);
    for (uint32_t i = 1; here < count_living(stub, 0) && i < process_count(stub); i++) {
        const struct ckpt_process *process = process_at(stub, i);
        if (process->pid == pid && (process->flags & CKPT_ZOMBIE) == 0) {
            stub_fail(stub, KILLED, "", -ESRCH);
        }
    }
}

/* Waits until so many processes have reached the stage. */
static void wait_for(const struct stub *stub, enum stub_stage stage, uint32_t count)
{
    const struct __kernel_timespec pause = {.tv_nsec = LOOK_AGAIN_NS};
    uint32_t *arrived = &stub->meeting->arrived[stage], now;
    while ((now = __atomic_load_n(arrived, __ATOMIC_ACQUIRE)) < count) {
        if (SYS6(futex, arrived, FUTEX_WAIT, now, &pause, NULL, 0) == -ETIMEDOUT) {
            check_children(stub);
        }
    }
    if (__atomic_load_n(&stub->meeting->lost, __ATOMIC_ACQUIRE) != 0) {
        (void)SYS1(exit_group, STUB_EXIT_LOST);
    }
}

void stub_meet(struct stub *stub, enum stub_stage stage)
{
    uint32_t *arrived = &stub->meeting->arrived[stage];
    (void)__atomic_add_fetch(arrived, 1, __ATOMIC_ACQ_REL);
    (void)SYS6(futex, arrived, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
    wait_for(stub, stage, count_living(stub, 0));
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

static void make_own_orphans(struct stub *stub, void (*child)(struct stub *stub));

/* A process that has ended may still lead a session or group in which others are: makes that, then
 * ends. */
_Noreturn static void be_zombie(struct stub *stub, void (*child)(struct stub *stub))
{
    const struct ckpt_process *process = stub->process;
    if (process->sid == process->pid) {
        stub_must(stub, SYS0(setsid), "creating a session");
        make_own_orphans(stub, child);
    } else if (process->pgid == process->pid) {
        stub_must(stub, SYS2(setpgid, 0, 0), "creating a process group");
    }
    end_as(process);
}

static void make_process(struct stub *stub, uint32_t index, void (*child)(struct stub *stub))
{
    const struct ckpt_process *process = process_at(stub, index);
    long pid = clone_as(process->pid, (uint64_t)process->exit_signal);
    if (pid == 0) {
        stub->process = process;
        if ((process->flags & CKPT_ZOMBIE) != 0) {
            be_zombie(stub, child);
        }
        child(stub);
    }
    stub_must(stub, pid, "creating a process with its former number");
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
            make_process(stub, i, child);
        }
    }
}

/* ---- whose parent has ended */

static bool is_there(const struct stub *stub, int32_t number)
{
    for (uint32_t i = 0; i < process_count(stub); i++) {
        if (process_at(stub, i)->pid == number) {
            return true;
        }
    }
    return false;
}

/* Makes the orphans of a session through a helper process of that number, which begins the session
 * if it leads it, and ends. */
static void make_orphans_of(struct stub *stub, int32_t session, int32_t number,
                            void (*child)(struct stub *stub))
{
    long pid = clone_as(number, SIGCHLD);
    if (pid == 0) {
        if (session == number) {
            stub_must(stub, SYS0(setsid), "creating a session");
        }
        for (uint32_t i = 1; i < process_count(stub); i++) {
            const struct ckpt_process *process = process_at(stub, i);
            if (process->parent == CKPT_NOBODY && process->sid == session &&
                process->pid != session) {
                make_process(stub, i, child);
            }
        }
        (void)SYS1(exit_group, 0);
    }
    stub_must(stub, pid, "creating a parent for orphaned processes");
    stub_must(stub, SYS4(wait4, pid, NULL, __WALL, NULL), "ending a helper process");
}

/* Returns whether that process is the first orphan of a session that it does not lead itself. */
static bool is_first_orphan(const struct stub *stub, uint32_t index)
{
    const struct ckpt_process *orphan = process_at(stub, index);
    if (orphan->parent != CKPT_NOBODY || orphan->sid == 0 || orphan->sid == orphan->pid) {
        return false;
    }
    for (uint32_t i = 1; i < index; i++) {
        const struct ckpt_process *process = process_at(stub, i);
        if (process->parent == CKPT_NOBODY && process->sid == orphan->sid &&
            process->sid != process->pid) {
            return false;
        }
    }
    return true;
}

/* Returns a number that no process, thread, group or session of the job has. */
static int32_t free_number(const struct stub *stub)
{
    int32_t highest = 1;
    for (uint32_t i = 0; i < process_count(stub); i++) {
        const struct ckpt_process *process = process_at(stub, i);
        highest = process->pid > highest ? process->pid : highest;
        highest = process->sid > highest ? process->sid : highest;
        highest = process->pgid > highest ? process->pgid : highest;
    }
    for (uint32_t i = 0; i < (uint32_t)stub->head->tables[CKPT_THREADS].count; i++) {
        int32_t tid = STUB_ENTRY(stub, CKPT_THREADS, struct ckpt_thread, i)->tid;
        highest = tid > highest ? tid : highest;
    }
    return highest + 1;
}

static void make_own_orphans(struct stub *stub, void (*child)(struct stub *stub))
{
    for (uint32_t i = 1; i < process_count(stub); i++) {
        if (is_first_orphan(stub, i) && process_at(stub, i)->sid == stub->process->pid) {
            make_orphans_of(stub, stub->process->pid, free_number(stub), child);
        }
    }
}

/* ---- groups */

/* Drops the signals that children have ended: the job was told when it happened, or will be by a
 * pending signal. */
static void forget_children_signals(void)
{
    uint64_t set = UINT64_C(1) << (SIGCHLD - 1);
    const int64_t at_once[2] = {0, 0};
    while (SYS4(rt_sigtimedwait, &set, NULL, at_once, sizeof set) > 0) {
    }
}

/* Returns whether this process must make a temporary leader: it is the first of a group whose
 * leader has ended, and no process was born into that group. */
static bool must_lend(const struct stub *stub)
{
    const struct ckpt_process *process = stub->process;
    if (process->pgid == 0 || is_there(stub, process->pgid) ||
        SYS2(kill, -process->pgid, 0) != -ESRCH) {
        return false;
    }
    for (uint32_t i = 0; i < index_of(stub); i++) {
        const struct ckpt_process *other = process_at(stub, i);
        if (other->pgid == process->pgid && (other->flags & CKPT_ZOMBIE) == 0) {
            return false;
        }
    }
    return true;
}

static void lend_leader(const struct stub *stub)
{
    long pid = clone_as(stub->process->pgid, 0);
    while (pid == 0) {
        (void)SYS0(pause);
    }
    stub_must(stub, pid, "creating a process for a process group");
    stub_must(stub, SYS2(setpgid, pid, pid), "creating a process group");
}

/* Children that have ended cannot join a group by themselves.  Only a process that waits for a
 * group notices. */
static void put_zombies_to_groups(const struct stub *stub)
{
    for (uint32_t i = index_of(stub) + 1; i < process_count(stub); i++) {
        const struct ckpt_process *child = process_at(stub, i);
        if (child->parent == index_of(stub) && (child->flags & CKPT_ZOMBIE) != 0 &&
            child->pgid != 0 && child->pgid != child->pid) {
            (void)SYS2(setpgid, child->pid, child->pgid);
        }
    }
}

static void join_group(struct stub *stub)
{
    const struct ckpt_process *process = stub->process;
    bool lent = must_lend(stub);
    if (lent) {
        lend_leader(stub);
    }
    if (process->pgid == process->pid && process->sid != process->pid) {
        stub_must(stub, SYS2(setpgid, 0, 0), "joining a process group");
    }
    stub_meet(stub, STUB_LEADS);
    if (process->pgid != 0 && process->pgid != process->pid) {
        stub_must(stub, SYS2(setpgid, 0, process->pgid), "reading the group of a process");
    }
    put_zombies_to_groups(stub);
    stub_meet(stub, STUB_GROUPED);
    stub_put_in_front(stub);
    if (lent) {
        (void)SYS2(kill, process->pgid, SIGKILL);
        (void)SYS4(wait4, process->pgid, NULL, __WALL, NULL);
    }
}

void stub_make_tree(struct stub *stub, void (*child)(struct stub *stub))
{
    const struct ckpt_process *process = stub->process;
    make_children(stub, true, child);
    if (process->sid == process->pid) {
        stub_must(stub, SYS0(setsid), "creating a session");
        stub_take_terminal(stub);
    }
    make_children(stub, false, child);
    if (process->sid == process->pid) {
        make_own_orphans(stub, child);
    }
    forget_children_signals();
    stub_meet(stub, STUB_BORN);
    join_group(stub);
}

void stub_make_orphans(struct stub *stub, void (*child)(struct stub *stub))
{
    for (uint32_t i = 1; i < process_count(stub); i++) {
        const struct ckpt_process *process = process_at(stub, i);
        if (process->parent == CKPT_NOBODY && (process->sid == 0 || process->sid == process->pid)) {
            make_process(stub, i, child);
        } else if (is_first_orphan(stub, i) && !is_there(stub, process->sid)) {
            make_orphans_of(stub, process->sid, process->sid, child);
        }
    }
}

/* One after the other, the last one first: a process is stopped by its parent, which comes before
 * it, when it has stopped its own children.  It waits at that stage. */
void stub_stop_children(struct stub *stub)
{
    wait_for(stub, STUB_HALTED, count_living(stub, index_of(stub) + 1));
    for (uint32_t i = index_of(stub) + 1; i < process_count(stub); i++) {
        const struct ckpt_process *process = process_at(stub, i);
        siginfo_t info;
        if (process->parent == index_of(stub) && (process->flags & CKPT_STOPPED) != 0) {
            (void)SYS2(kill, process->pid, SIGSTOP);
            (void)SYS5(waitid, P_PID, process->pid, &info, WSTOPPED | __WALL, NULL);
        }
    }
    forget_children_signals();
    stub_meet(stub, STUB_HALTED);
}
