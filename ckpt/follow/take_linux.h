/* ckpt/follow/take_linux.h - copies the changed pages of a process to our memory while it stands
 * still.
 *
 * The pages are scattered, and most time goes into finding each: two processors need half the time.
 * The second thread is started before the process is stopped; if it does not get a processor,
 * nobody waits for it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_FOLLOW_TAKE_LINUX_H
#define CKPT_FOLLOW_TAKE_LINUX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct subject;
struct take; /* the second thread */

/* Starts the second thread.  NULL: that failed; take_runs() works without it. */
struct take *take_create(void);
void take_destroy(struct take *take);

/* Copies the contents of all changed runs of the subject to `to`, one after the other, and sets
 * page_run.at of each. *ret_bytes: their size. take may be NULL.  False: not all could be read
 * (delta_read()). */
bool take_runs(struct take *take, struct subject *subject, unsigned char *to, uint64_t *ret_bytes);

#endif
