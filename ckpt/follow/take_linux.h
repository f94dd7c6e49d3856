/* ckpt/follow/take_linux.h - copies the changed pages of a process to the follower's memory while
 * the process stands still.
 *
 * The pages are scattered, and most of the time goes into finding each page.  So two threads share
 * the work, which takes half the time on two processors.  The second thread is started before the
 * process is stopped; if it does not get a processor, the first thread does all the work.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_FOLLOW_TAKE_LINUX_H
#define CKPT_FOLLOW_TAKE_LINUX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct subject;
struct take; /* state of the second thread, which helps to copy */

/* Starts the second thread.  Returns NULL if that failed; take_runs() works without that thread. */
struct take *take_create(void);
void take_destroy(struct take *take);

/* Copies the contents of all changed page runs of the process `subject` to the buffer `to`, one
 * after the other, and sets page_run.at of each. *ret_bytes: their total size. take may be NULL.
 * Returns false if some of them could not be read. */
bool take_runs(struct take *take, struct subject *subject, unsigned char *to, uint64_t *ret_bytes);

#endif
