/* shadow/lanes.c - see lanes.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "shadow/lanes.h"

#include "base/check.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "shadow/shadow_state.h"

/* Copies by encoding and decoding, because expressions are shared with a count, and a count belongs
 * to one thread. */
struct ad *lanes_copy_ad(const struct ad *ad)
{
    struct strbuf bytes;
    struct ad *copy = NULL;
    strbuf_init(&bytes, 0);
    ad_encode(ad, false, &bytes);
    CHECK(!bytes.failed); /* it came in one frame */
    int result = ad_decode(bytes.data, bytes.length, NULL, &copy, NULL);
    CHECK(result == 0);
    strbuf_fini(&bytes);
    return copy;
}

/* A job always has the same lane, so works of an earlier run of it come first. */
struct loop_lane *lanes_of(const struct shadow *shadow, const char *id)
{
    uint32_t hash = 2166136261U; /* FNV-1a */
    for (; *id != '\0'; id++) {
        hash = (hash ^ (unsigned char)*id) * 16777619U;
    }
    return shadow->lanes[hash % shadow->lane_count];
}
