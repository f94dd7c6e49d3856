/* base/redial.c - see redial.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/redial.h"

#include "base/random.h"

uint64_t redial_delay_ms(struct rng *rng, unsigned failures)
{
    uint64_t span_ms = (uint64_t)REDIAL_FIRST_MS
                       << (failures < REDIAL_SLOWLY ? failures : REDIAL_SLOWLY);
    return 1 + rng_below(rng, span_ms < REDIAL_MAX_MS ? span_ms : REDIAL_MAX_MS);
}
