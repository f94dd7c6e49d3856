/* starter/checkpoint_plan.h - when a checkpoint is worth its cost.
 *
 * Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_CHECKPOINT_PLAN_H
#define STARTER_CHECKPOINT_PLAN_H

#include <stdint.h>

#define CHECKPOINT_COST 50 /* a checkpoint may take this part of the time */

/* How long after one that took so long the next follows. */
uint64_t checkpoint_plan_interval_ms(uint64_t took_ms, uint64_t min_ms, uint64_t max_ms);

/* How long to wait before more is sent, when so much was in so long.  rate_bytes: a second; 0: any.
 */
uint64_t checkpoint_plan_wait_ms(int64_t rate_bytes, uint64_t sent_bytes, uint64_t since_ms);

#endif
