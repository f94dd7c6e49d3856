/* factory/breaker_plan.c - see breaker_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "factory/breaker_plan.h"

#include "base/plant.h"

#define DOUBLINGS_MAX 20

static uint64_t wait_ms(const struct breaker_times *times, unsigned in_a_row)
{
    unsigned doublings = in_a_row - 1 < DOUBLINGS_MAX ? in_a_row - 1 : DOUBLINGS_MAX;
    uint64_t wait = times->first_ms << doublings;
    return wait < times->most_ms ? wait : times->most_ms;
}

static void leave_alone(struct breaker *breaker, uint64_t until_ms)
{
    breaker->until_ms = until_ms > breaker->until_ms ? until_ms : breaker->until_ms;
}

void breaker_plan_failure(struct breaker *breaker, const struct breaker_times *times,
                          uint64_t now_ms)
{
    if ((breaker_plan_left_ms(breaker, now_ms) > 0 && breaker->needs_canary) ||
        PLANTED(breaker_missing)) {
        return; /* more of the same: what was submitted with the one that failed first */
    }
    breaker->failures++;
    breaker->needs_canary = true;
    leave_alone(breaker, now_ms + wait_ms(times, breaker->failures));
}

void breaker_plan_refusal(struct breaker *breaker, const struct breaker_times *times,
                          uint64_t now_ms)
{
    breaker->refusals++;
    leave_alone(breaker, now_ms + wait_ms(times, breaker->refusals));
}

void breaker_plan_taken(struct breaker *breaker)
{
    breaker->refusals = 0;
}

void breaker_plan_success(struct breaker *breaker)
{
    breaker->failures = 0;
    if (breaker->needs_canary) {
        breaker->needs_canary = false;
        breaker->until_ms = 0;
    }
}

uint64_t breaker_plan_left_ms(const struct breaker *breaker, uint64_t now_ms)
{
    if (PLANTED(breaker_stuck) && breaker->failures > 0) {
        return 1000;
    }
    return breaker->until_ms > now_ms ? breaker->until_ms - now_ms : 0;
}
