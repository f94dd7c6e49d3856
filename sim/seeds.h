/* sim/seeds.h - runs a range of seeds, each in its own process, so that a crash affects only that
 * seed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_SEEDS_H
#define SIM_SEEDS_H

#include "sim/pool.h"

#define SEEDS_PARALLEL_MAX 16

struct seeds {
    struct pool_options pool; /* options of each run; the field seed is not used */
    uint64_t first, last;
    unsigned parallel;
    /* > 0: simulate this number of hours of machines that are woken and put to sleep
     * (power_days.h); 0: simulate one day with random faults of machines and network (pool.h) */
    unsigned hours;
    /* if hours is not 0: the machines sleep and wake by figures of the queue */
    bool queue;
    /* if hours is 0: simulate one hour of jobs with checkpoints (ckpt_days.h) instead of the day */
    bool checkpoints;
    /* if not 0: simulate a factory with so many sites (factory_days.h), and at most so many
     * glideins at a time, instead of the day */
    unsigned sites, glideins;
    bool stop; /* start no further seed after a broken promise */
};

/* Prints a line for each seed and the total of injected faults.  Returns 0, or 1 when a promise was
 * broken. */
int seeds_run(const struct seeds *seeds);

#endif
