/* wire/id_table.c - from request number to what waits under it.
 *
 * Numbers of one side rise, so that their low bits alone spread them well.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wire/id_table.h"

#include "base/check.h"
#include "base/mem.h"

#define BUCKETS_MIN 8

static struct id_node **bucket_of(const struct id_table *table, uint64_t id)
{
    return &table->buckets[id & (table->bucket_count - 1)];
}

void id_table_fini(struct id_table *table)
{
    mem_free(table->buckets);
    *table = (struct id_table){0};
}

struct id_node *id_table_get(const struct id_table *table, uint64_t id)
{
    struct id_node *node = table->buckets == NULL ? NULL : *bucket_of(table, id);
    while (node != NULL && node->id != id) {
        node = node->chain;
    }
    return node;
}

static void chain_add(struct id_table *table, struct id_node *node)
{
    struct id_node **bucket = bucket_of(table, node->id);
    node->chain = *bucket;
    *bucket = node;
}

static void grow(struct id_table *table)
{
    mem_free(table->buckets);
    table->bucket_count = table->bucket_count == 0 ? BUCKETS_MIN : table->bucket_count * 2;
    table->buckets = mem_zalloc(table->bucket_count * sizeof(table->buckets[0]));
    for (struct id_node *node = table->first; node != NULL; node = node->next) {
        chain_add(table, node);
    }
}

void id_table_add(struct id_table *table, uint64_t id, struct id_node *node)
{
    CHECK(id_table_get(table, id) == NULL);
    if (table->count >= table->bucket_count) {
        grow(table);
    }
    node->id = id;
    node->next = NULL;
    node->previous = table->last;
    if (table->last != NULL) {
        table->last->next = node;
    } else {
        table->first = node;
    }
    table->last = node;
    chain_add(table, node);
    table->count++;
}

void id_table_remove(struct id_table *table, struct id_node *node)
{
    struct id_node **link = bucket_of(table, node->id);
    while (*link != node) {
        CHECK(*link != NULL);
        link = &(*link)->chain;
    }
    *link = node->chain;
    if (node->previous != NULL) {
        node->previous->next = node->next;
    } else {
        table->first = node->next;
    }
    if (node->next != NULL) {
        node->next->previous = node->previous;
    } else {
        table->last = node->previous;
    }
    table->count--;
}
