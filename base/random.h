/* base/random.h - a small pseudo-random generator for decisions, jitter and simulations.
 *
 * Design note: in the simulator a daemon must repeat its run exactly, so the generator is an
 * argument, never a global.  It is xoshiro256** (Blackman and Vigna, "Scrambled linear pseudorandom
 * number generators", 2018), its state filled by splitmix64.  Its output is predictable: for keys,
 * claim ids and tokens use loop_secret() of base/loop.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct rng {
    uint64_t state[4];
};

void rng_seed(struct rng *rng, uint64_t seed); /* starts the sequence; any seed is good, also 0 */
uint64_t rng_next(struct rng *rng);            /* returns 64 random bits */
/* Returns a number from 0 to limit - 1, each equally likely; limit >= 1. */
uint64_t rng_below(struct rng *rng, uint64_t limit);
/* Returns a number in [0, 1), each multiple of 2^-53 equally likely. */
double rng_real(struct rng *rng);
/* fills out with random bytes; not for secrets */
void rng_bytes(struct rng *rng, void *out, size_t length);

/* Returns a number spread evenly over ms - percent% .. ms + percent%, never below 0. percent:
 * 0..100. */
uint64_t rng_jitter(struct rng *rng, uint64_t ms, unsigned percent);

#endif
