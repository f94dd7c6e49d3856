/* base/redial.h - how long to wait before connecting again after a failure.
 *
 * The wait is a random part of a span that doubles with each failure, from 50 ms to 5 s: when ten
 * thousand workers lose the same collector, they come back spread out, and all within seconds.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_REDIAL_H
#define BASE_REDIAL_H

#include <stdint.h>

#define REDIAL_FIRST_MS 50
#define REDIAL_MAX_MS   5000
/* with this many failures in a row the span has its largest value and does not grow any more */
#define REDIAL_SLOWLY 7u

struct rng;

/* Returns the wait, at least 1 ms. failures: how many attempts in a row failed before the one that
 * just failed. */
uint64_t redial_delay_ms(struct rng *rng, unsigned failures);

#endif
