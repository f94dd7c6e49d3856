/* base/redial.h - how long to wait before a connection is tried again.
 *
 * The span doubles with each failure, from 50 ms to 5 s, and the wait is anywhere in it: ten
 * thousand workers that lost the same hub come back spread out, and all within seconds.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_REDIAL_H
#define BASE_REDIAL_H

#include <stdint.h>

#define REDIAL_FIRST_MS 50
#define REDIAL_MAX_MS   5000
#define REDIAL_SLOWLY   7u /* failures from which on the span grows no more */

struct rng;

/* After so many failures in a row before this one: 1 to the span's milliseconds. */
uint64_t redial_delay_ms(struct rng *rng, unsigned failures);

#endif
