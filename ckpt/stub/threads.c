/* ckpt/stub/threads.c - the job's threads.
 *
 * Each is made with the number that it had, on a stack in the window, with all signals blocked.
 * What the kernel keeps for a thread is told it; when all are there, each returns from a signal
 * handler that never ran: the one way to load all registers, the extended ones, the mask of signals
 * and the alternate stack at once.  The frame lies on the stack in the window.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <asm/prctl.h>
#include <errno.h>
#include <linux/capability.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <linux/time.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "ckpt/rest.h"
#include "ckpt/stub/stub.h"
#include "ckpt/stub/sys.h"
#include "ckpt/xstate.h"

#define NS_PER_S         1000000000
#define XSTATE_MAGIC1    0x46505853U
#define XSTATE_MAGIC2    0x46505845U
#define XSTATE_SOFTWARE  464U /* offset of the bytes that are the software's */
#define XSTATE_ALIGNMENT 64U
#define UC_FP_XSTATE     0x1U
#define UC_SIGCONTEXT_SS 0x2U
#define UC_STRICT_SS     0x4U
#define SS_USER          0x2bU

/* linux/arch/x86/include/uapi/asm/sigcontext.h */
struct context {
    uint64_t r8, r9, r10, r11, r12, r13, r14, r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip,
        eflags;
    uint16_t cs, gs, fs, ss;
    uint64_t err, trapno, oldmask, cr2, xstate, reserved[8];
};

struct frame {
    uint64_t flags, link;
    uint64_t altstack;
    uint32_t altstack_flags, pad;
    uint64_t altstack_bytes;
    struct context context;
    uint64_t mask;
    uint8_t info[128];
};

struct xstate_software {
    uint32_t magic1, extended_bytes;
    uint64_t xfeatures;
    uint32_t xstate_bytes, pad[7];
};

struct start { /* at the bottom of a thread's stack */
    struct stub *stub;
    const struct ckpt_thread *thread;
    uint64_t stack;
};

static uint64_t stack_of(const struct stub *stub, uint32_t index)
{
    return stub->head->stacks + index * stub->head->stack_bytes;
}

/* The namespace gave us all capabilities in it.  A program that was started there has none, and a
 * checkpoint of it could not hold them. */
static void give_up_powers(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0}};
    if (SYS0(geteuid) != 0) {
        (void)SYS2(capset, &header, none);
    }
}

/* ---- its registers */

static bool is_writable(const struct stub *stub, uint64_t start, uint64_t end)
{
    for (uint32_t i = 0; i < stub->process->regions.count; i++) {
        const struct ckpt_region *region =
            STUB_ENTRY(stub, CKPT_REGIONS, struct ckpt_region, stub->process->regions.first + i);
        if (start >= region->start && end <= region->end) {
            return (region->prot & PROT_WRITE) != 0;
        }
    }
    return false;
}

/* Makes the thread wait only for the rest of its time, by the code at CKPT_WAIT_AT. */
static void wait_for_the_rest(const struct stub *stub, const struct ckpt_thread *thread,
                              struct ckpt_registers *registers)
{
    uint64_t place = registers->rsp - CKPT_WAIT_ROOM;
    struct __kernel_timespec now = {0, 0};
    if (thread->left_s < 0 || !is_writable(stub, place, registers->rsp)) {
        return;
    }
    (void)SYS2(clock_gettime, CLOCK_MONOTONIC, &now);
    rest_begin(registers, stub->stub + CKPT_WAIT_AT, thread->left_s, thread->left_ns,
               now.tv_sec * NS_PER_S + now.tv_nsec, (struct ckpt_wait *)place);
}

_Noreturn static void go_on(const struct start *start)
{
    const struct stub *stub = start->stub;
    const struct ckpt_thread *thread = start->thread;
    struct ckpt_registers registers = thread->registers, *saved = &registers;
    wait_for_the_rest(stub, thread, saved);
    uint64_t xstate = start->stack + sizeof *start + XSTATE_ALIGNMENT - 1;
    xstate &= ~(uint64_t)(XSTATE_ALIGNMENT - 1);
    const uint8_t *from = stub_entry(stub, CKPT_XSTATES, thread->xstate, 1);
    uint64_t features;
    uint32_t bytes = (uint32_t)xstate_fit(&stub->head->xstate, from, &stub->xstate,
                                          (uint8_t *)xstate, &features);
    struct xstate_software software = {.magic1 = XSTATE_MAGIC1,
                                       .extended_bytes = bytes + 4,
                                       .xfeatures = features,
                                       .xstate_bytes = bytes};
    uint32_t magic2 = XSTATE_MAGIC2;
    __builtin_memcpy((void *)(xstate + XSTATE_SOFTWARE), &software, sizeof software);
    __builtin_memcpy((void *)(xstate + bytes), &magic2, sizeof magic2);
    uint64_t place = (xstate + bytes + sizeof magic2 + 15) & ~UINT64_C(15);
    struct frame *frame = (struct frame *)place;
    *frame = (struct frame){.flags = UC_FP_XSTATE | UC_SIGCONTEXT_SS | UC_STRICT_SS,
                            .altstack = thread->altstack,
                            .altstack_flags = thread->altstack_flags,
                            .altstack_bytes = thread->altstack_bytes,
                            .mask = thread->mask,
                            .context = {.r8 = saved->r8,
                                        .r9 = saved->r9,
                                        .r10 = saved->r10,
                                        .r11 = saved->r11,
                                        .r12 = saved->r12,
                                        .r13 = saved->r13,
                                        .r14 = saved->r14,
                                        .r15 = saved->r15,
                                        .rdi = saved->rdi,
                                        .rsi = saved->rsi,
                                        .rbp = saved->rbp,
                                        .rbx = saved->rbx,
                                        .rdx = saved->rdx,
                                        .rax = saved->rax,
                                        .rcx = saved->rcx,
                                        .rsp = saved->rsp,
                                        .rip = saved->rip,
                                        .eflags = saved->eflags,
                                        .cs = (uint16_t)saved->cs,
                                        .ss = SS_USER,
                                        .xstate = xstate}};
    stub_sigreturn(place);
}

/* ---- what the kernel keeps for a thread */

static void queue_own_signals(const struct stub *stub, const struct ckpt_thread *thread)
{
    for (uint32_t i = 0; i < thread->signals.count; i++) {
        const struct ckpt_signal *saved =
            STUB_ENTRY(stub, CKPT_SIGNALS, struct ckpt_signal, thread->signals.first + i);
        int number;
        __builtin_memcpy(&number, saved->info, sizeof number);
        stub_must(stub,
                  SYS4(rt_tgsigqueueinfo, stub->process->pid, thread->tid, number, saved->info),
                  "sending a pending signal to a thread");
    }
}

static void tell_kernel(const struct stub *stub, const struct ckpt_thread *thread)
{
    (void)SYS5(prctl, PR_SET_NAME, stub_text(stub, thread->command), 0, 0, 0);
    if (thread->robust != 0) {
        stub_must(stub, SYS2(set_robust_list, thread->robust, thread->robust_bytes),
                  "setting the list of robust mutexes");
    }
    (void)SYS1(set_tid_address, thread->clear_tid);
    if (thread->timer_slack != 0) {
        (void)SYS5(prctl, PR_SET_TIMERSLACK, thread->timer_slack, 0, 0, 0);
    }
    stub_must(stub, SYS2(arch_prctl, ARCH_SET_FS, thread->registers.fs_base),
              "setting the base of FS");
    stub_must(stub, SYS2(arch_prctl, ARCH_SET_GS, thread->registers.gs_base),
              "setting the base of GS");
    if (thread->rseq != 0) {
        uint32_t *rseq = (uint32_t *)thread->rseq; /* cpu_id_start, cpu_id, rseq_cs */
        rseq[0] = 0;
        rseq[1] = (uint32_t)-1;
        rseq[2] = rseq[3] = 0;
        stub_must(stub, SYS4(rseq, thread->rseq, thread->rseq_bytes, 0, thread->rseq_signature),
                  "setting up restartable sequences");
    }
    queue_own_signals(stub, thread);
    give_up_powers();
}

/* ---- together */

static void wait_for_release(struct stub *stub)
{
    while (__atomic_load_n(&stub->released, __ATOMIC_ACQUIRE) == 0) {
        (void)SYS6(futex, &stub->released, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    }
}

static void run_thread(void *arg)
{
    const struct start *start = arg;
    struct stub *stub = start->stub;
    tell_kernel(stub, start->thread);
    __atomic_add_fetch(&stub->ready, 1, __ATOMIC_RELEASE);
    (void)SYS6(futex, &stub->ready, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    wait_for_release(stub);
    go_on(start);
}

static struct start *prepare_thread(struct stub *stub, uint32_t index)
{
    struct start *start = (struct start *)stack_of(stub, index);
    *start = (struct start){.stub = stub,
                            .thread = STUB_ENTRY(stub, CKPT_THREADS, struct ckpt_thread,
                                                 stub->process->threads.first + index),
                            .stack = stack_of(stub, index)};
    return start;
}

static void start_thread(struct stub *stub, uint32_t index)
{
    struct start *start = prepare_thread(stub, index);
    int32_t tid = start->thread->tid;
    struct clone_args args = {.flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
                                       CLONE_THREAD | CLONE_SYSVSEM,
                              .stack = start->stack,
                              .stack_size = stub->head->stack_bytes,
                              .set_tid = (uint64_t)(uintptr_t)&tid,
                              .set_tid_size = 1};
    stub_must(stub, stub_clone(&args, sizeof args, run_thread, start),
              "creating a thread with its former number");
}

void stub_run_threads(struct stub *stub)
{
    uint32_t count = stub->process->threads.count;
    struct start *first = prepare_thread(stub, 0);
    for (uint32_t i = 1; i < count; i++) {
        start_thread(stub, i);
    }
    uint32_t ready;
    while ((ready = __atomic_load_n(&stub->ready, __ATOMIC_ACQUIRE)) != count - 1) {
        (void)SYS6(futex, &stub->ready, FUTEX_WAIT_PRIVATE, ready, NULL, NULL, 0);
    }
    tell_kernel(stub, first->thread);
    stub_meet(stub, STUB_READY);
    stub_finish_descriptors(stub);
    stub_meet(stub, STUB_FINISHED);
    stub_start_timers(stub);
    (void)SYS1(close, stub->image); /* who is stopped from here on may be saved as he is */
    (void)SYS1(close, stub->say);
    stub_stop_children(stub);
    __atomic_store_n(&stub->released, 1, __ATOMIC_RELEASE);
    (void)SYS6(futex, &stub->released, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
    go_on(first);
}
