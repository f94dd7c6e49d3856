/* sim/chaos.h - injects faults into a simulated pool, chosen by a seed.
 *
 * From begin_us to end_us, every few seconds one fault: a daemon is killed, at any moment or in the
 * middle of a write; a machine loses power, at any moment or in the middle of a commit; a link
 * breaks, with or without notice, for seconds or for longer than a lease; a link becomes slow; a
 * disk refuses a write; a machine does not boot; a wall clock is set.  At the end everything is
 * repaired, so whatever is still lost then was lost by the pool.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_CHAOS_H
#define SIM_CHAOS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/sim.h"

struct chaos;

struct chaos_options {
    uint64_t seed;
    uint64_t begin_us, end_us;
    uint64_t pause_max_us; /* longest pause between two faults */
    /* From begin_us until then wall clocks of machines are set, by up to ten years, and right
     * again; at the end all are right.  0: no clock is set. */
    uint64_t clocks_end_us;
    struct sim_host *central;
    unsigned nodes; /* number of hosts besides the central machine */
};
struct chaos *chaos_create(struct sim *sim, const struct chaos_options *options);
void chaos_destroy(struct chaos *chaos);

#endif
