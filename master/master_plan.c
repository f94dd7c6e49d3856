/* master/master_plan.c - decides when a daemon that ended is restarted: see master_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "master/master_plan.h"

#include <string.h>

unsigned master_plan_failures(const struct master_backoff *backoff, unsigned failures,
                              uint64_t ran_ms)
{
    return ran_ms >= backoff->recover_ms ? 1 : failures + 1;
}

uint64_t master_plan_delay_ms(const struct master_backoff *backoff, unsigned failures)
{
    double delay_ms = (double)backoff->constant_ms;
    for (unsigned i = 1; i < failures && delay_ms < (double)backoff->ceiling_ms; i++) {
        delay_ms *= backoff->factor;
    }
    return delay_ms < (double)backoff->ceiling_ms ? (uint64_t)delay_ms : backoff->ceiling_ms;
}

bool master_plan_stops_last(const char *daemon)
{
    return strcmp(daemon, "collector") == 0;
}
