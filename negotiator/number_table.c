/* negotiator/number_table.c - see number_table.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "negotiator/number_table.h"

#include "base/check.h"
#include "base/mem.h"

#define PLACES_MIN 16

uint32_t number_table_find(const struct number_table *table, uint64_t hash, number_same_f same,
                           const void *arg)
{
    if (table->count == 0) {
        return NUMBER_NONE;
    }
    for (size_t at = hash & table->mask; table->places[at].next != 0; at = (at + 1) & table->mask) {
        const struct number_place *place = &table->places[at];
        if (place->hash == hash && same(arg, place->next - 1)) {
            return place->next - 1;
        }
    }
    return NUMBER_NONE;
}

static void put_place(struct number_table *table, uint64_t hash, uint32_t next)
{
    size_t at = hash & table->mask;
    while (table->places[at].next != 0) {
        at = (at + 1) & table->mask;
    }
    table->places[at] = (struct number_place){.hash = hash, .next = next};
}

void number_table_add(struct number_table *table, uint64_t hash, uint32_t id)
{
    size_t places = table->places != NULL ? table->mask + 1 : 0;
    if (2 * (table->count + 1) > places) {
        struct number_table grown = {.mask = (places > 0 ? 2 * places : PLACES_MIN) - 1};
        grown.places = mem_zalloc((grown.mask + 1) * sizeof *grown.places);
        for (size_t i = 0; i < places; i++) {
            if (table->places[i].next != 0) {
                put_place(&grown, table->places[i].hash, table->places[i].next);
            }
        }
        mem_free(table->places);
        table->places = grown.places;
        table->mask = grown.mask;
    }
    put_place(table, hash, id + 1);
    table->count++;
}

void number_table_remove(struct number_table *table, uint64_t hash, uint32_t id)
{
    CHECK(table->count > 0);
    size_t at = hash & table->mask;
    while (table->places[at].next != id + 1) {
        CHECK(table->places[at].next != 0);
        at = (at + 1) & table->mask;
    }
    for (size_t next = at;
         ;) { /* what came behind it moves up, so that every search still finds it */
        next = (next + 1) & table->mask;
        const struct number_place *place = &table->places[next];
        if (place->next == 0) {
            break;
        }
        size_t home = place->hash & table->mask;
        if (((next - home) & table->mask) >= ((next - at) & table->mask)) {
            table->places[at] = *place;
            at = next;
        }
    }
    table->places[at] = (struct number_place){0};
    table->count--;
}

void number_table_fini(struct number_table *table)
{
    mem_free(table->places);
    *table = (struct number_table){0};
}
