/* base/loop_run.h - making and running a real event loop: for a process's main only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_LOOP_RUN_H
#define BASE_LOOP_RUN_H

#include <stdbool.h>

struct err;
struct loop;

int loop_create(struct loop **ret, struct err *err); /* -ENOMEM, or what the kernel refused */
void loop_destroy(struct loop *loop);                /* NULL is allowed */
/* Runs until loop_stop(); returns its exit status. */
int loop_run(struct loop *loop);
/* Runs until *flag becomes true or loop_stop(): for command line programs that wait for an answer.
 */
void loop_run_until(struct loop *loop, const bool *flag);

#endif
