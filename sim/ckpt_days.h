/* sim/ckpt_days.h - an hour of a small simulated pool whose jobs have checkpoints.
 *
 * Jobs of minutes on machines with owners who come back, that are drained and put to sleep, lose
 * power, stand still and have full disks; starters, startds and the programs that make images are
 * killed.  By the seed that is all (then what an eviction costs is bounded: one interval and what
 * it takes to make and send an image), or daemons of the central machine die and links break as
 * well, now and then (the bound is good but for these times), or all of chaos.h goes on on top of
 * it.  ckpt_truth.h says what must be true.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_CKPT_DAYS_H
#define SIM_CKPT_DAYS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/pool.h"

struct ckpt_days_options {
    uint64_t seed;
    unsigned nodes, jobs;
    bool calm; /* nothing goes wrong but evictions by owners and by hand */
    bool trace;
};
/* ret->figures says what was made and lost.  On a broken promise the end of the trace is on stdout.
 */
void ckpt_days_run(const struct ckpt_days_options *options, struct pool_result *ret);

#endif
