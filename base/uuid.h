/* base/uuid.h - identifiers that sort by the time they were made (UUID version 7, RFC 9562
 * section 5.7).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_UUID_H
#define BASE_UUID_H

#include <stdint.h>

#define UUID_TEXT_MAX 37 /* bytes of a UUID as text: 36 characters and the terminating zero */

struct rng;

/* Writes "0192f0c1-....-7...-....-............": 48 bits of utc_ms, then random bits of rng.
 * Unique, not secret. */
void uuid_v7(uint64_t utc_ms, struct rng *rng, char out[UUID_TEXT_MAX]);

#endif
