/* base/stream/stream_strangers_event.c - the strangers among the streams of a loop:
 * base/stream/strangers.h with the loop it belongs to.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/stream/stream_event.h"

#include <stdio.h>

#include "base/loop_event.h"

static void strangers_end(void *value)
{
    strangers_destroy(value);
}

struct strangers *stream_strangers_of(struct loop *loop)
{
    struct strangers *table = loop_slot_get(loop, LOOP_SLOT_STRANGERS);
    if (table == NULL) {
        table = strangers_create(STRANGERS_MAX);
        loop_slot_set(loop, LOOP_SLOT_STRANGERS, table, strangers_end);
    }
    return table;
}

void stream_get_strangers(struct loop *loop, struct stream_strangers *ret)
{
    const struct strangers *table = stream_strangers_of(loop);
    *ret = (struct stream_strangers){.now = (uint32_t)strangers_count(table),
                                     .sent_away = strangers_sent_away(table)};
    (void)snprintf(ret->last_host, sizeof(ret->last_host), "%s", strangers_last_host(table));
}

void stream_set_strangers_max(struct loop *loop, uint32_t max)
{
    strangers_set_max(stream_strangers_of(loop), max);
}
