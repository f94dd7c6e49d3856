/* sim/seeds.h - a range of seeds, each in a process of its own, so that a crash is that seed's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_SEEDS_H
#define SIM_SEEDS_H

#include "sim/pool.h"

#define SEEDS_PARALLEL_MAX 16

struct seeds {
    struct pool_options pool; /* its seed is not used */
    uint64_t first, last;
    unsigned parallel;
    unsigned hours;   /* of sim/power_days.h; 0: a day of chaos, or: */
    bool checkpoints; /* sim/ckpt_days.h */
    bool stop;        /* start no more once a promise was broken */
};

/* Prints a line for each seed, and what was injected in all; returns 0, or 1 when a promise was
 * broken. */
int seeds_run(const struct seeds *seeds);

#endif
