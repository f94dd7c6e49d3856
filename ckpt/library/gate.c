/* ckpt/library/gate.c - a lock for sections in which no image is made, and for images, one at a
 * time.
 *
 * Many threads may share it, and a thread that wants it alone is preferred.  The C library's locks
 * cannot be used, because they know only threads that the C library has made.  `taking` says that
 * an image is being made.  A thread that wants to enter a section waits for the end of that, or
 * until the program runs again (struct outcome): what it does then is not in the image.  Another
 * process writes that word and cannot wake us: so it is checked every millisecond.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <linux/futex.h>
#include <stddef.h>

#include "ckpt/library/library.h"
#include "ckpt/stub/sys.h"

#define LOOK_AGAIN_NS 1000000

static uint32_t load_word(const uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static void wake_waiters(const uint32_t *word)
{
    (void)SYS6(futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

static bool is_open(const struct gate *gate, const struct outcome *outcome)
{
    return load_word(&gate->taking) == 0 || load_word(&outcome->is_held_no_more) != 0;
}

bool gate_try(struct gate *gate, const struct outcome *outcome)
{
    __atomic_add_fetch(&gate->sections, 1, __ATOMIC_SEQ_CST);
    if (is_open(gate, outcome)) {
        return true;
    }
    gate_leave(gate);
    return false;
}

void gate_wait(const struct gate *gate, const struct outcome *outcome)
{
    const int64_t soon[2] = {0, LOOK_AGAIN_NS};
    while (!is_open(gate, outcome)) {
        (void)SYS6(futex, &gate->taking, FUTEX_WAIT_PRIVATE, 1, soon, NULL, 0);
    }
}

void gate_leave(struct gate *gate)
{
    if (__atomic_sub_fetch(&gate->sections, 1, __ATOMIC_SEQ_CST) == 0) {
        wake_waiters(&gate->sections);
    }
}

void gate_close(struct gate *gate)
{
    uint32_t none = 0, sections;
    while (!__atomic_compare_exchange_n(&gate->taking, &none, 1, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST)) {
        (void)SYS6(futex, &gate->taking, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
        none = 0;
    }
    while ((sections = load_word(&gate->sections)) != 0) {
        (void)SYS6(futex, &gate->sections, FUTEX_WAIT_PRIVATE, sections, NULL, NULL, 0);
    }
}

void gate_open(struct gate *gate)
{
    __atomic_store_n(&gate->taking, 0, __ATOMIC_SEQ_CST);
    wake_waiters(&gate->taking);
}
