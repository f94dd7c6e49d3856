/* wire/id_table.c - the table of requests: see id_table.h.
 *
 * Numbers of one side rise, so their low bits alone are a good hash.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wire/id_table.h"

#include "base/check.h"

void id_table_fini(struct id_table *table)
{
    hash_chains_fini(&table->chains);
    *table = (struct id_table){0};
}

struct id_node *id_table_get(const struct id_table *table, uint64_t id)
{
    struct hash_link *link = hash_chains_at(&table->chains, id);
    while (link != NULL && link->hash != id) {
        link = link->next;
    }
    return (struct id_node *)link;
}

void id_table_add(struct id_table *table, uint64_t id, struct id_node *node)
{
    CHECK(id_table_get(table, id) == NULL);
    node->next = NULL;
    node->previous = table->last;
    if (table->last != NULL) {
        table->last->next = node;
    } else {
        table->first = node;
    }
    table->last = node;
    hash_chains_add(&table->chains, id, &node->link);
}

void id_table_remove(struct id_table *table, struct id_node *node)
{
    hash_chains_remove(&table->chains, &node->link);
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
}
