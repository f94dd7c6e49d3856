/* wire/instance.c - see instance.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wire/instance.h"

#include <string.h>

#include "base/check.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"

static void draw_id(struct instance *instance, struct loop *loop)
{
    uint8_t bytes[(INSTANCE_TEXT_SIZE - 1) / 2];
    loop_secret(loop, bytes, sizeof bytes);
    text_hex(bytes, sizeof bytes, instance->id);
    instance->count = 0;
    mem_free(instance->seen);
    instance->seen = NULL;
}

void instance_init(struct instance *instance, struct loop *loop)
{
    *instance = (struct instance){.seen = NULL};
    draw_id(instance, loop);
}

void instance_fini(struct instance *instance)
{
    mem_free(instance->seen);
    instance->seen = NULL;
}

bool instance_renew(struct instance *instance, struct loop *loop)
{
    if (instance->count == 0 || (instance->count < INSTANCE_NUMBERS &&
                                 loop_now_ms(loop) - instance->first_ms < INSTANCE_MS)) {
        return false;
    }
    draw_id(instance, loop);
    return true;
}

bool instance_take(struct instance *instance, struct loop *loop,
                   const uint8_t digest[P256_DIGEST_BYTES])
{
    static const uint8_t FREE[INSTANCE_KEY];
    uint32_t at = 0;
    CHECK(instance->count < INSTANCE_NUMBERS);
    if (instance->seen == NULL) {
        instance->seen = mem_zalloc(sizeof(instance->seen[0]) * INSTANCE_BUCKETS);
        instance->first_ms = loop_now_ms(loop);
    }
    memcpy(&at, digest, sizeof at);
    for (at %= INSTANCE_BUCKETS; memcmp(instance->seen[at], FREE, INSTANCE_KEY) != 0;
         at = (at + 1) % INSTANCE_BUCKETS) {
        if (memcmp(instance->seen[at], digest, INSTANCE_KEY) == 0) {
            return false;
        }
    }
    memcpy(instance->seen[at], digest, INSTANCE_KEY);
    instance->count++;
    return true;
}
