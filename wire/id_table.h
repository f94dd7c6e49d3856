/* wire/id_table.h - a hash table from request number to request, which keeps the requests' order.
 *
 * Intrusive: the node is the first member of the stored struct, so that a request costs one
 * allocation.  A linked list beside the hash table keeps the order of insertion, in which requests
 * are ended when a connection ends.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_ID_TABLE_H
#define WIRE_ID_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash_chains.h"

/* First member of each stored struct; id_table_add() fills it. */
struct id_node {
    struct hash_link link; /* must be the first member; link.hash is the number of the request */
    struct id_node *previous, *next;
};

/* A zeroed struct is a valid empty table. */
struct id_table {
    struct hash_chains chains;
    struct id_node *first, *last;
};

/* Returns the number of a node that is in a table. */
static inline uint64_t id_of(const struct id_node *node)
{
    return node->link.hash;
}

/* Frees the table; the nodes belong to the caller. */
void id_table_fini(struct id_table *table);
/* Returns the node with this number; NULL: not in the table. */
struct id_node *id_table_get(const struct id_table *table, uint64_t id);
/* Adds a node with the number id.  The caller makes sure that the table has no node with this
 * number yet. */
void id_table_add(struct id_table *table, uint64_t id, struct id_node *node);
void id_table_remove(struct id_table *table, struct id_node *node); /* node must be in the table */

#endif
