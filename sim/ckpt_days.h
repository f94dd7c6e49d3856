/* sim/ckpt_days.h - simulates one hour of a small pool whose jobs make checkpoints.
 *
 * Jobs of some minutes run on machines whose owners come back, and which are drained and put to
 * sleep, lose power, stand still and have full disks.  Starters, startds and the programs that make
 * images are killed.  The seed decides what else happens: nothing (then an eviction may cost at
 * most one checkpoint interval plus the time to make and send an image); occasional deaths of
 * daemons on the central machine and link failures (then the bound holds outside of these times);
 * or all faults of chaos.h.  ckpt_truth.h lists what must be true.
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
    bool calm; /* no faults; jobs are evicted only by machines' owners and by an administrator */
    bool trace;
};
/* Runs the simulation; ret->figures says how many checkpoints were made and how much work was lost.
 * After a broken promise, the end of the trace is printed to stdout. */
void ckpt_days_run(const struct ckpt_days_options *options, struct pool_result *ret);

#endif
