/* wire/instance.h - which relayed requests are new: the receiver's instance, and the numbers it
 * saw.
 *
 * No clock of two hosts is compared.  A receiver has a random instance id that signed requests
 * name; within one instance each request (by the digest of its statement) is taken once.  The id is
 * drawn anew at each start, after INSTANCE_NUMBERS requests, and at the first request that comes
 * INSTANCE_MS or more after the first: what was signed for an older id is answered with the new
 * one, and the caller signs once more.  So what a hub has recorded is worth nothing twice, and soon
 * nothing at all, and the memory for it is bounded.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_INSTANCE_H
#define WIRE_INSTANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/proof.h"

#define INSTANCE_NUMBERS 1000
#define INSTANCE_MS      30000
#define INSTANCE_BUCKETS 2048 /* of the numbers seen; a power of two above INSTANCE_NUMBERS */
#define INSTANCE_KEY     16   /* bytes of a digest that are kept */

struct loop;

struct instance {
    char id[INSTANCE_TEXT_SIZE];
    uint64_t first_ms; /* loop_now_ms() of the first request */
    unsigned count;
    uint8_t (*seen)[INSTANCE_KEY]; /* open addressing; all zero: free.  NULL until the first */
};

void instance_init(struct instance *instance, struct loop *loop); /* draws the id */
void instance_fini(struct instance *instance);
/* To be called before a request is judged: draws a new id when it is time to.  True: it did. */
bool instance_renew(struct instance *instance, struct loop *loop);
/* Takes a request whose proof was found to be right, after instance_renew().  False: it was taken
 * before. */
bool instance_take(struct instance *instance, struct loop *loop,
                   const uint8_t digest[P256_DIGEST_BYTES]);

#endif
