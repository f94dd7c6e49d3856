/* ckpt/follow/take_linux.h - the changed pages of a process, to our memory, while it stands still.
 *
 * They lie scattered, and most of the time goes into finding each: two processors do that in half
 * of it.  The second thread waits from before the process is stopped; if it does not get a
 * processor nobody waits for it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_FOLLOW_TAKE_LINUX_H
#define CKPT_FOLLOW_TAKE_LINUX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct subject;
struct take; /* a second thread */

struct take *take_create(void); /* NULL: there is none, and it is done without */
void take_destroy(struct take *take);

/* The contents of all changed runs, one behind the other; sets where each lies, and how many
 * bytes they are.  `take` may be NULL.  False: not all could be read (delta_read()). */
bool take_runs(struct take *take, struct subject *subject, unsigned char *to, uint64_t *ret_bytes);

#endif
