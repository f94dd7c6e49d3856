/* master/master_plan.h - decides when a daemon that ended is started again.
 *
 * Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MASTER_MASTER_PLAN_H
#define MASTER_MASTER_PLAN_H

#include <stdbool.h>
#include <stdint.h>

/* How long the master waits before it restarts a daemon that has ended. */
struct master_backoff {
    uint64_t constant_ms; /* wait before the first restart, ms */
    double factor;        /* factor by which the wait grows with each further restart, > 1 */
    uint64_t ceiling_ms;  /* longest wait, ms */
    /* if a daemon has run for this time, ms, its earlier failures are forgotten */
    uint64_t recover_ms;
};

/* Called when a daemon has ended: returns its number of failures in a row. failures: that number
 * before; ran_ms: how long the daemon has run. */
unsigned master_plan_failures(const struct master_backoff *backoff, unsigned failures,
                              uint64_t ran_ms);

/* Returns how many ms to wait before restarting a daemon that has failed `failures` times in a row
 * (>= 1). */
uint64_t master_plan_delay_ms(const struct master_backoff *backoff, unsigned failures);

/* Returns whether this daemon is stopped after the others: the collector, because the others still
 * report to it. */
bool master_plan_stops_last(const char *daemon);

#endif
