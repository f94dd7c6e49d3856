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

/* How long to wait before a restart. */
struct master_backoff {
    uint64_t constant_ms; /* wait before the first restart */
    double factor;        /* factor by which the wait grows with each further restart, > 1 */
    uint64_t ceiling_ms;  /* longest wait */
    uint64_t recover_ms;  /* a daemon that ran so long counts as healthy again */
};

/* Returns the number of failures in a row, given the number before and how long the daemon ran. */
unsigned master_plan_failures(const struct master_backoff *backoff, unsigned failures,
                              uint64_t ran_ms);

/* Returns how long to wait before a restart after that many failures in a row (>= 1). */
uint64_t master_plan_delay_ms(const struct master_backoff *backoff, unsigned failures);

/* Returns whether this daemon is stopped after the others: the collector, because the others still
 * report to it. */
bool master_plan_stops_last(const char *daemon);

#endif
