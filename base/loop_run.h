/* base/loop_run.h - making and running a real event loop: for a process's main only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_LOOP_RUN_H
#define BASE_LOOP_RUN_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct loop;

/* Also has the process ignore SIGPIPE and SIGXFSZ: a peer that is gone and a file that is too large
 * are errors, not deaths.  Returns 0, -ENOMEM, or what the kernel refused. */
int loop_create(struct loop **ret, struct err *err);
/* NULL is allowed.  Whoever made timers, streams, listeners and watches on the loop has destroyed
 * them before; lanes that are left are waited for. */
void loop_destroy(struct loop *loop);
/* Runs until loop_stop(); returns its exit status. */
int loop_run(struct loop *loop);
/* Runs until *flag becomes true or loop_stop(): for command line programs that wait for an answer.
 */
void loop_run_until(struct loop *loop, const bool *flag);

/* Callbacks over the budget.  what is the kind of callback ("timer", "readable", ...), offset its
 * function's place in the executable, for `addr2line -f -e PROGRAM`. */
typedef void (*loop_overrun_f)(void *arg, const char *what, uint64_t offset, uint64_t took_ms);
void loop_on_overrun(struct loop *loop, loop_overrun_f call, void *arg);

struct loop_stats {
    uint64_t callbacks;
    uint64_t overruns;   /* of LOOP_CALLBACK_BUDGET_MS */
    uint64_t longest_ms; /* the longest callback so far */
};
void loop_get_stats(const struct loop *loop, struct loop_stats *ret);

#endif
