/* base/loop_run.h - makes and runs a real event loop; for a process's main() only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_LOOP_RUN_H
#define BASE_LOOP_RUN_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct loop;

/* Makes the loop, and makes the process ignore SIGPIPE and SIGXFSZ, so that a closed connection or
 * a file that is too large is an error and does not kill the process.  Returns 0, -ENOMEM, or the
 * -errno of a failed system call. */
int loop_create(struct loop **ret, struct err *err);
/* Frees the loop.  All timers, streams, listeners and watches of the loop must have been
 * destroyed before.  Waits for the work running on lanes that still exist.  NULL is allowed. */
void loop_destroy(struct loop *loop);
/* Runs until loop_stop(); returns the exit status given there. */
int loop_run(struct loop *loop);
/* Runs until *flag is true or loop_stop() was called; for command line programs that wait for an
 * answer. */
void loop_run_until(struct loop *loop, const bool *flag);

/* Called for each callback that took longer than LOOP_CALLBACK_BUDGET_MS. what: kind of callback
 * ("timer", "readable" ...). function: address of the callback's function (base/symbol_linux.h). */
typedef void (*loop_overrun_f)(void *arg, const char *what, uintptr_t function, uint64_t took_ms);
void loop_on_overrun(struct loop *loop, loop_overrun_f call, void *arg);

struct loop_stats {
    uint64_t callbacks;
    uint64_t overruns;   /* number of callbacks that took longer than LOOP_CALLBACK_BUDGET_MS */
    uint64_t longest_ms; /* time of the longest callback so far */
};
void loop_get_stats(const struct loop *loop, struct loop_stats *ret);

#endif
