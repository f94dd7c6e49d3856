/* sim/chaos.h - what goes wrong in a simulated pool, by seed.
 *
 * From its beginning to its end, every few seconds one thing: a daemon is killed, at any moment or
 * in the middle of a write; a machine loses power, at any moment or in the middle of a commit; a
 * link breaks, with or without a word, for seconds or for longer than a lease; a link is slow; a
 * disk refuses a write; a machine does not come up.  At the end everything is repaired: what is
 * lost then is lost by the pool.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_CHAOS_H
#define SIM_CHAOS_H

#include <stdint.h>

#include "sim/sim.h"

struct chaos;

struct chaos_options {
    uint64_t seed;
    uint64_t begin_us, end_us;
    uint64_t pause_max_us; /* between two things */
    struct sim_host *central;
    unsigned nodes; /* hosts that are not central */
};
struct chaos *chaos_create(struct sim *sim, const struct chaos_options *options);
void chaos_destroy(struct chaos *chaos);

#endif
