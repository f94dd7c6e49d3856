/* base/hash_chains.h - a hash table of chains whose links lie inside the caller's structs.
 *
 * For things that are kept by a number or by several keys at a time, where base/strmap.h, which
 * copies a text key and allocates, would cost too much.  A struct has one struct hash_link for each
 * table that it is in.  The table knows only hashes: the caller computes them, compares the keys of
 * what it finds, and keeps the structs alive while they are linked.
 *
 *     struct hash_link *link = hash_chains_at(&table, hash);
 *     while (link != NULL && !(link->hash == hash && is_wanted(link))) link = link->next;
 *
 * Adding and looking up are O(1) if the low bits of the hashes differ.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_HASH_CHAINS_H
#define BASE_HASH_CHAINS_H

#include <stddef.h>
#include <stdint.h>

struct hash_link {
    struct hash_link *next; /* next link of the same chain, perhaps with another hash; NULL: none */
    uint64_t hash;          /* the hash given to hash_chains_add() */
};

/* The table.  When all its bytes are zero it is empty. */
struct hash_chains {
    struct hash_link **heads; /* NULL until the first link is added */
    size_t head_count;        /* number of chains: a power of two, or 0 */
    size_t count;             /* number of links in the table */
};

/* Returns the first link of the chain that holds all links with this hash, and perhaps links with
 * other hashes; the link added last comes first.  NULL: the chain is empty. */
struct hash_link *hash_chains_at(const struct hash_chains *table, uint64_t hash);
/* Adds a link that is in no table.  If the table has as many links as chains, the number of chains
 * is doubled first. */
void hash_chains_add(struct hash_chains *table, uint64_t hash, struct hash_link *link);
/* Removes a link, which must be in this table. */
void hash_chains_remove(struct hash_chains *table, struct hash_link *link);
/* Walks over all links, in no useful order: `link` NULL gives the first link, the last link
 * gives NULL.  A caller that frees links must ask for the next link before it frees one. */
struct hash_link *hash_chains_next(const struct hash_chains *table, const struct hash_link *link);
/* Frees the table, not the links, and leaves it empty. */
void hash_chains_fini(struct hash_chains *table);

#endif
