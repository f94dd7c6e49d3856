/* ckpt/stub/process.c - what a process has once: signal handlers, timers, limits, and what the
 * kernel knows about its memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <linux/time_types.h>
#include <signal.h>
#include <sys/prctl.h>

#include "ckpt/stub/stub.h"
#include "ckpt/stub/sys.h"

#ifndef ARCH_REQ_XCOMP_PERM
#define ARCH_REQ_XCOMP_PERM 0x1023
#endif
#define DEFAULT_COMPONENTS                                                \
    UINT64_C(0x2ffff) /* each process may use them: all below AMX's tiles \
                       */

struct kernel_action {
    uint64_t handler, flags, restorer, mask;
};

static void set_actions(const struct stub *stub)
{
    struct ckpt_span actions = stub->process->actions;
    for (uint32_t i = 0; i < actions.count; i++) {
        const struct ckpt_action *saved =
            STUB_ENTRY(stub, CKPT_ACTIONS, struct ckpt_action, actions.first + i);
        struct kernel_action action = {saved->handler, saved->flags, saved->restorer, saved->mask};
        stub_must(stub, SYS4(rt_sigaction, saved->signal, &action, NULL, sizeof action.mask),
                  "setting the handler of a signal");
    }
}

/* Sets what ps shows, and where the heap continues. */
static void set_map(const struct stub *stub)
{
    const struct ckpt_process *process = stub->process;
    const struct ckpt_layout *layout = &process->layout;
    struct prctl_mm_map map = {.start_code = layout->start_code,
                               .end_code = layout->end_code,
                               .start_data = layout->start_data,
                               .end_data = layout->end_data,
                               .start_brk = layout->start_brk,
                               .brk = layout->brk,
                               .start_stack = layout->start_stack,
                               .arg_start = layout->arg_start,
                               .arg_end = layout->arg_end,
                               .env_start = layout->env_start,
                               .env_end = layout->env_end,
                               .exe_fd = (uint32_t)-1};
    map.auxv =
        (__u64 *)(uintptr_t)stub_entry(stub, CKPT_AUXV, process->auxv.first, sizeof(uint64_t));
    map.auxv_size = process->auxv.count * (uint32_t)sizeof(uint64_t);
    stub_must(stub, SYS5(prctl, PR_SET_MM, PR_SET_MM_MAP, &map, sizeof map, 0),
              "setting the addresses of the program's heap and stack (PR_SET_MM)");
}

static void queue_signals(const struct stub *stub)
{
    struct ckpt_span signals = stub->process->signals;
    for (uint32_t i = 0; i < signals.count; i++) {
        const struct ckpt_signal *saved =
            STUB_ENTRY(stub, CKPT_SIGNALS, struct ckpt_signal, signals.first + i);
        int number;
        __builtin_memcpy(&number, saved->info, sizeof number);
        stub_must(stub, SYS3(rt_sigqueueinfo, stub->process->pid, number, saved->info),
                  "sending a pending signal");
    }
}

/* Asks for the use of registers with large states: a process must ask for them. */
static void allow_registers(const struct stub *stub)
{
    for (unsigned i = 0; i < CKPT_COMPONENTS; i++) {
        if ((stub->process->xstate_allowed & ~DEFAULT_COMPONENTS & UINT64_C(1) << i) != 0) {
            stub_must(stub, SYS2(arch_prctl, ARCH_REQ_XCOMP_PERM, i),
                      "asking for permission to use AMX tiles");
        }
    }
}

void stub_make_process(struct stub *stub)
{
    const struct ckpt_process *process = stub->process;
    set_map(stub);
    set_actions(stub);
    queue_signals(stub);
    (void)SYS1(umask, process->umask);
    (void)SYS5(prctl, PR_SET_PDEATHSIG, process->death_signal, 0, 0, 0);
    (void)SYS5(prctl, PR_SET_CHILD_SUBREAPER, process->subreaper, 0, 0, 0);
    (void)SYS5(prctl, PR_SET_THP_DISABLE, process->thp_disable, 0, 0, 0);
    if (process->no_new_privs != 0) {
        (void)SYS5(prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    }
    (void)SYS5(prctl, PR_SET_DUMPABLE, process->dumpable != 0, 0, 0, 0);
    (void)SYS1(personality, process->personality);
    allow_registers(stub);
}

/* ---- at the end: they would go off */

static void set_timer(const struct stub *stub, const struct ckpt_timer *saved)
{
    struct sigevent event = {.sigev_signo = saved->signal, .sigev_notify = saved->notify};
    struct __kernel_itimerspec left = {.it_interval = {saved->interval_s, saved->interval_ns},
                                       .it_value = {saved->left_s, saved->left_ns}};
    int id = -1;
    event.sigev_value.sival_ptr = (void *)(uintptr_t)saved->value;
    if (saved->notify == SIGEV_THREAD_ID) {
        event._sigev_un._tid = saved->tid;
    }
    /* Numbers go up by one; those of timers that were deleted are passed by. */
    while (id != saved->id) {
        stub_must(stub, SYS3(timer_create, saved->clock, &event, &id), "creating a timer");
        if (id > saved->id) {
            stub_fail(stub, "the kernel gave a timer another number than", "", -EEXIST);
        }
        if (id != saved->id) {
            (void)SYS1(timer_delete, id);
        }
    }
    if (saved->left_s != 0 || saved->left_ns != 0) {
        stub_must(stub, SYS4(timer_settime, id, 0, &left, NULL), "starting a timer");
    }
}

static void set_limits(const struct stub *stub)
{
    struct ckpt_span limits = stub->process->limits;
    for (uint32_t i = 0; i < limits.count; i++) {
        const struct ckpt_limit *saved =
            STUB_ENTRY(stub, CKPT_LIMITS, struct ckpt_limit, limits.first + i);
        uint64_t now[2], wanted[2] = {saved->soft, saved->hard};
        if (SYS4(prlimit64, 0, saved->resource, NULL, now) != 0) {
            continue; /* unknown to this kernel */
        }
        /* What this place allows less of cannot be had. */
        wanted[1] = wanted[1] < now[1] ? wanted[1] : now[1];
        wanted[0] = wanted[0] < wanted[1] ? wanted[0] : wanted[1];
        (void)SYS4(prlimit64, 0, saved->resource, wanted, NULL);
    }
}

void stub_start_timers(struct stub *stub)
{
    const struct ckpt_process *process = stub->process;
    for (uint32_t i = 0; i < process->timers.count; i++) {
        set_timer(stub,
                  STUB_ENTRY(stub, CKPT_TIMERS, struct ckpt_timer, process->timers.first + i));
    }
    for (int which = 0; which < 3; which++) {
        const int64_t *timer = process->itimers[which];
        if (timer[0] != 0 || timer[1] != 0 || timer[2] != 0 || timer[3] != 0) {
            stub_must(stub, SYS3(setitimer, which, timer, NULL), "starting an interval timer");
        }
    }
    set_limits(stub);
}
