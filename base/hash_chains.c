/* base/hash_chains.c - a hash table of chains whose links lie inside the caller's structs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/hash_chains.h"

#include "base/check.h"
#include "base/mem.h"

#define HEADS_MIN 8

static struct hash_link **head_of(const struct hash_chains *table, uint64_t hash)
{
    return &table->heads[hash & (table->head_count - 1)];
}

static void put_first(struct hash_link **head, struct hash_link *link)
{
    link->next = *head;
    *head = link;
}

static void double_heads(struct hash_chains *table)
{
    struct hash_chains before = *table;
    table->head_count = before.head_count == 0 ? HEADS_MIN : before.head_count * 2;
    table->heads = mem_zalloc(table->head_count * sizeof(struct hash_link *));
    for (size_t i = 0; i < before.head_count; i++) {
        for (struct hash_link *link = before.heads[i], *next; link != NULL; link = next) {
            next = link->next;
            put_first(head_of(table, link->hash), link);
        }
    }
    mem_free(before.heads);
}

struct hash_link *hash_chains_at(const struct hash_chains *table, uint64_t hash)
{
    return table->count == 0 ? NULL : *head_of(table, hash);
}

void hash_chains_add(struct hash_chains *table, uint64_t hash, struct hash_link *link)
{
    if (table->count >= table->head_count) {
        double_heads(table);
    }
    link->hash = hash;
    put_first(head_of(table, hash), link);
    table->count++;
}

void hash_chains_remove(struct hash_chains *table, struct hash_link *link)
{
    struct hash_link **at = head_of(table, link->hash);
    while (*at != link) {
        CHECK(*at != NULL);
        at = &(*at)->next;
    }
    *at = link->next;
    table->count--;
}

struct hash_link *hash_chains_next(const struct hash_chains *table, const struct hash_link *link)
{
    size_t at = 0;
    if (link != NULL) {
        if (link->next != NULL) {
            return link->next;
        }
        at = (size_t)(link->hash & (table->head_count - 1)) + 1;
    }
    for (; at < table->head_count; at++) {
        if (table->heads[at] != NULL) {
            return table->heads[at];
        }
    }
    return NULL;
}

void hash_chains_fini(struct hash_chains *table)
{
    mem_free(table->heads);
    *table = (struct hash_chains){0};
}
