/* master/master_plan.h - when a daemon that ended is started again.
 *
 * Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef MASTER_MASTER_PLAN_H
#define MASTER_MASTER_PLAN_H

#include <stdbool.h>
#include <stdint.h>

struct master_backoff {
    uint64_t constant_ms; /* before the first restart */
    double factor;        /* of each further one, > 1 */
    uint64_t ceiling_ms;
    uint64_t recover_ms; /* a daemon that ran so long counts as healthy again */
};

/* How many failures in a row that makes, given how long the daemon ran. */
unsigned master_plan_failures(const struct master_backoff *backoff, unsigned failures,
                              uint64_t ran_ms);

/* The wait before a restart after that many failures in a row (>= 1). */
uint64_t master_plan_delay_ms(const struct master_backoff *backoff, unsigned failures);

/* The stages of stopping: the collector outlives the others, who still want to tell it things. */
bool master_plan_stops_last(const char *daemon);

#endif
