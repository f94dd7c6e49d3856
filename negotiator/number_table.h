/* negotiator/number_table.h - a hash table that finds the number (index) of an item.
 *
 * The items are in an array of the caller, who compares them.  Open addressing; O(1).  A zeroed
 * struct is an empty table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NEGOTIATOR_NUMBER_TABLE_H
#define NEGOTIATOR_NUMBER_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NUMBER_NONE UINT32_MAX

struct number_place {
    uint64_t hash;
    /* the number that follows the number of this place's item (that number + 1); 0: the place is
     * free */
    uint32_t next;
};

struct number_table {
    struct number_place *places;
    size_t mask; /* number of places - 1 */
    size_t count;
};

/* Returns whether item number id is the item that number_table_find() searches for.  arg: the
 * argument arg of number_table_find(). */
typedef bool (*number_same_f)(const void *arg, uint32_t id);

/* Returns the number with that hash for which same(arg, number) returns true; NUMBER_NONE: the
 * table has no such number. */
uint32_t number_table_find(const struct number_table *table, uint64_t hash, number_same_f same,
                           const void *arg);
void number_table_add(struct number_table *table, uint64_t hash, uint32_t id);
/* Removes the number, which must be in the table with that hash. */
void number_table_remove(struct number_table *table, uint64_t hash, uint32_t id);
void number_table_fini(struct number_table *table);

/* Returns a new hash, made from hash and value. */
static inline uint64_t number_mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
    return hash ^ (hash >> 29);
}

#endif
