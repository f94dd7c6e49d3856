/* wire/id_table.h - from request number to what waits under it, and all of them in order.
 *
 * Intrusive: the node is the first member of what is kept, so that a request costs one allocation.
 * The list beside the hash table keeps the order of insertion, in
 * which everything is told when a connection ends.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_ID_TABLE_H
#define WIRE_ID_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash_chains.h"

struct id_node {
    struct hash_link link; /* first; its hash is the number */
    struct id_node *previous, *next;
};

struct id_table {
    struct hash_chains chains;
    struct id_node *first, *last;
};

/* The number of a node that is in a table. */
static inline uint64_t id_of(const struct id_node *node)
{
    return node->link.hash;
}

void id_table_fini(
    struct id_table *table); /* the nodes are the caller's; zeroed is a valid table */
struct id_node *id_table_get(const struct id_table *table, uint64_t id);      /* NULL when absent */
void id_table_add(struct id_table *table, uint64_t id, struct id_node *node); /* id not there yet */
void id_table_remove(struct id_table *table, struct id_node *node);           /* is there */

#endif
