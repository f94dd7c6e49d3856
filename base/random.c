/* base/random.c - xoshiro256** and splitmix64.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/random.h"

#include <string.h>

#include "base/check.h"

/* Spreads a seed over the state: neighbouring seeds give unrelated sequences, and the state is
 * never all zero. */
static uint64_t next_splitmix64(uint64_t *seed)
{
    *seed += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = *seed;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint64_t rotate_left(uint64_t x, unsigned bits)
{
    return (x << bits) | (x >> (64 - bits));
}

void rng_seed(struct rng *rng, uint64_t seed)
{
    for (size_t i = 0; i < ARRAY_COUNT(rng->state); i++) {
        rng->state[i] = next_splitmix64(&seed);
    }
}

uint64_t rng_next(struct rng *rng)
{
    uint64_t *s = rng->state;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

uint64_t rng_below(struct rng *rng, uint64_t limit)
{
    CHECK(limit > 0);
    /* 2^64 mod limit: draws below it would make small results more likely, and are thrown away. */
    uint64_t unfair = (0 - limit) % limit;
    uint64_t draw = 0;
    do {
        draw = rng_next(rng);
    } while (draw < unfair);
    return draw % limit;
}

double rng_real(struct rng *rng)
{
    return (double)(rng_next(rng) >> 11) * 0x1p-53;
}

void rng_bytes(struct rng *rng, void *out, size_t length)
{
    unsigned char *bytes = out;
    while (length > 0) {
        uint64_t draw = rng_next(rng);
        for (size_t i = 0; i < sizeof(draw) && length > 0; i++, length--) {
            *bytes++ = (unsigned char)(draw >> (8 * i)); /* the same on every machine */
        }
    }
}

uint64_t rng_jitter(struct rng *rng, uint64_t ms, unsigned percent)
{
    CHECK(percent <= 100);
    CHECK(ms <= UINT64_MAX / 200);
    uint64_t spread = ms * percent / 100;
    return ms - spread + rng_below(rng, 2 * spread + 1);
}
