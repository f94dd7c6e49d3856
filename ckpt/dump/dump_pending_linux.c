/* ckpt/dump/dump_pending_linux.c - calls that a signal ends which came while the process stood
 * still.
 *
 * The kernel would have handled the signal first, and then ended the call with EINTR, or issued it
 * again: pause() would have returned.  In the image the signal is pending, and the thread's
 * registers are to issue the call: it would be handled before that, and the call would wait for one
 * that came already.  So such a call has ended in the image.
 *
 * A signal of the whole process is handled by any thread that lets it through.  Which one is
 * decided here, as its call is the one that ends.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/mem.h"
#include "ckpt/dump/dump.h"

struct handled { /* sets of signals */
    uint64_t all;
    uint64_t restarting; /* SA_RESTART */
};

static struct handled read_handled(struct dump *dump)
{
    struct ckpt_span actions = dump->now->process.actions;
    struct handled handled = {.all = 0};
    for (uint32_t i = 0; i < actions.count; i++) {
        const struct ckpt_action *action =
            tables_at(&dump->tables, CKPT_ACTIONS, actions.first + i);
        uint64_t bit = UINT64_C(1) << (action->signal - 1);
        if (action->handler > 1) { /* neither SIG_DFL nor SIG_IGN */
            handled.all |= bit;
            handled.restarting |= (action->flags & SA_RESTART) != 0 ? bit : 0;
        }
    }
    return handled;
}

static uint64_t bit_of(const struct ckpt_signal *signal)
{
    int number;
    memcpy(&number, signal->info, sizeof number);
    return UINT64_C(1) << ((unsigned)(number - 1) % 64);
}

static struct ckpt_thread *thread_at(struct dump *dump, uint32_t i)
{
    return tables_at(&dump->tables, CKPT_THREADS, dump->now->process.threads.first + i);
}

/* Returns the thread that handles the signal: the first one, if it can.  CKPT_NOBODY: all threads
 * block it. */
static uint32_t handler_of(struct dump *dump, uint64_t bit)
{
    for (uint32_t i = 0; i < dump->now->process.threads.count; i++) {
        if ((thread_at(dump, i)->mask & bit) == 0) {
            return i;
        }
    }
    return CKPT_NOBODY;
}

static struct ckpt_signal *copy_signals(struct dump *dump, struct ckpt_span span)
{
    struct ckpt_signal *copy = mem_alloc((span.count + 1) * sizeof *copy);
    for (uint32_t i = 0; i < span.count; i++) {
        copy[i] =
            *(const struct ckpt_signal *)tables_at(&dump->tables, CKPT_SIGNALS, span.first + i);
    }
    return copy;
}

/* Moves the process's pending signals that the thread handles to that thread; CKPT_NOBODY: keeps
 * the others pending for the process. */
static void hand_out(struct dump *dump, const struct handled *handled,
                     const struct ckpt_signal *signals, uint32_t count, uint32_t to)
{
    struct ckpt_span *span =
        to == CKPT_NOBODY ? &dump->now->process.signals : &thread_at(dump, to)->signals;
    struct ckpt_span own = *span, none = {.first = 0};
    struct ckpt_signal *before = copy_signals(dump, to == CKPT_NOBODY ? none : own);
    struct ckpt_span now = {.first = dump->tables.counts[CKPT_SIGNALS]};
    for (uint32_t i = 0; to != CKPT_NOBODY && i < own.count; i++) {
        (void)tables_add(&dump->tables, CKPT_SIGNALS, &before[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint64_t bit = bit_of(&signals[i]);
        uint32_t by = (bit & handled->all) != 0 ? handler_of(dump, bit) : CKPT_NOBODY;
        if (by == to) {
            (void)tables_add(&dump->tables, CKPT_SIGNALS, &signals[i]);
        }
    }
    now.count = dump->tables.counts[CKPT_SIGNALS] - now.first;
    *span = now;
    mem_free(before);
}

static void hand_out_all(struct dump *dump, const struct handled *handled)
{
    struct ckpt_span shared = dump->now->process.signals;
    struct ckpt_signal *signals = copy_signals(dump, shared);
    bool any = false;
    for (uint32_t i = 0; i < shared.count; i++) {
        uint64_t bit = bit_of(&signals[i]);
        any = any || ((bit & handled->all) != 0 && handler_of(dump, bit) != CKPT_NOBODY);
    }
    for (uint32_t i = 0; any && i < dump->now->process.threads.count; i++) {
        hand_out(dump, handled, signals, shared.count, i);
    }
    if (any) {
        hand_out(dump, handled, signals, shared.count, CKPT_NOBODY);
    }
    mem_free(signals);
}

/* Returns whether a signal that is handled now, the lowest one first, ends the interrupted call. */
static bool ends_call(int64_t code, uint64_t comes, const struct handled *handled)
{
    uint64_t first = comes & (~comes + 1);
    return comes != 0 && (code == -ERESTARTNOHAND || code == -ERESTART_RESTARTBLOCK ||
                          (code == -ERESTARTSYS && (first & handled->restarting) == 0));
}

void dump_pending(struct dump *dump)
{
    struct handled handled = read_handled(dump);
    if (handled.all == 0) {
        return;
    }
    hand_out_all(dump, &handled);
    for (uint32_t i = 0; i < dump->now->process.threads.count; i++) {
        const struct tracee_thread *held = &dump->now->tracee.threads[i];
        struct ckpt_thread *thread = thread_at(dump, i);
        uint64_t comes = 0;
        for (uint32_t j = 0; j < thread->signals.count; j++) {
            comes |= bit_of(tables_at(&dump->tables, CKPT_SIGNALS, thread->signals.first + j));
        }
        comes &= handled.all & ~thread->mask;
        if ((int64_t)held->registers.orig_rax >= 0 && dump_halted(dump->now, held) == NULL &&
            ends_call((int64_t)held->registers.rax, comes, &handled)) {
            thread->registers.rax = (uint64_t)-EINTR; /* it was to be issued again */
            thread->registers.rip += CKPT_SYSCALL_BYTES;
            thread->left_s = -1;
        }
    }
}
