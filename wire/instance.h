/* wire/instance.h - accepts each relayed request only once, so that a hub cannot replay it.
 *
 * The clocks of two hosts are never compared.  A receiver has a random instance id, and callers
 * sign it into each request.  Within one instance each request (the digest of its signed statement)
 * is accepted once.  The receiver draws a new id at each start, after INSTANCE_NUMBERS requests,
 * and at the first request that comes INSTANCE_MS or more after the instance's first one.  A
 * request signed for an older id is answered with the new id, and the caller signs it again.  So a
 * recorded request cannot be used twice, soon cannot be used at all, and the memory needed is
 * bounded.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_INSTANCE_H
#define WIRE_INSTANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/proof.h"

#define INSTANCE_NUMBERS 1000 /* after this many requests a receiver takes a new instance id */
/* an instance id is replaced when its first request was so many milliseconds ago */
#define INSTANCE_MS 30000
/* hash buckets for digests; a power of two above INSTANCE_NUMBERS */
#define INSTANCE_BUCKETS 2048
#define INSTANCE_KEY     16 /* bytes of each digest that are stored */

struct loop;

/* A receiver's instance id and the requests that it has accepted. */
struct instance {
    char id[INSTANCE_TEXT_SIZE];
    uint64_t first_ms; /* loop_now_ms() at the first request accepted with the present id */
    unsigned count;
    /* hash table of digests with open addressing; a free entry is all zeros; NULL: no request
     * accepted yet */
    uint8_t (*seen)[INSTANCE_KEY];
};

void instance_init(struct instance *instance, struct loop *loop); /* draws the first id */
void instance_fini(struct instance *instance);
/* Call it before judging a request: draws a new id when the old one is used up or too old.  Returns
 * whether the id changed. */
bool instance_renew(struct instance *instance, struct loop *loop);
/* Accepts a request whose signature was verified, by the digest of its statement.  Call
 * instance_renew() first.  False: the request was accepted before. */
bool instance_take(struct instance *instance, struct loop *loop,
                   const uint8_t digest[P256_DIGEST_BYTES]);

#endif
