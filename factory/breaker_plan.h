/* factory/breaker_plan.h - when a site that did not serve is asked again.
 *
 * Pure.  After a failure a site is left alone for a time that doubles with each failure in a row.
 * Then one glidein is tried alone, the canary: when it joins the pool the site is as good as new,
 * when it does not the site is left alone again.  A site that refuses (a quota, a limit) works: it
 * is also asked again after a doubled time, but nothing has to be proved first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FACTORY_BREAKER_PLAN_H
#define FACTORY_BREAKER_PLAN_H

#include <stdbool.h>
#include <stdint.h>

struct breaker {
    unsigned failures, refusals; /* in a row */
    uint64_t until_ms;           /* monotonic: the site is left alone until then; 0: it is not */
    bool needs_canary;           /* one glidein at a time, until one has joined */
};

/* How long a site is left alone after the first failure, and at most. */
struct breaker_times {
    uint64_t first_ms, most_ms;
};

void breaker_plan_failure(struct breaker *breaker, const struct breaker_times *times,
                          uint64_t now_ms);
void breaker_plan_refusal(struct breaker *breaker, const struct breaker_times *times,
                          uint64_t now_ms);
void breaker_plan_taken(struct breaker *breaker);   /* a submission was taken */
void breaker_plan_success(struct breaker *breaker); /* a glidein has joined the pool */
/* Returns for how many ms more the site is left alone; 0: it may be asked. */
uint64_t breaker_plan_left_ms(const struct breaker *breaker, uint64_t now_ms);

#endif
