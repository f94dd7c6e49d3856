/* base/strmap.c - insertion-ordered hash map with open addressing.
 *
 * Design note: entries stand in an array in the order of their insertion; a second array of entry
 * numbers, a power of two long and at most half full, is probed linearly.  Removing leaves a hole
 * in the entries and a tombstone in the table, so that a walk can go on; both are swept when the
 * entries need to grow and a quarter of them are holes.  Chains of nodes were rejected for one heap
 * block per entry.  The hash is FNV-1a of the lower-cased key: keys are names from ads and files
 * with limits on their number, and a seed would make runs differ, which the simulator cannot have.
 * Each entry keeps its hash, so that growing does not read the keys.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/strmap.h"

#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/text.h"

#define ENTRIES_MIN    8
#define SLOT_EMPTY     UINT32_MAX
#define SLOT_TOMBSTONE (UINT32_MAX - 1)

struct entry {
    char *key; /* NULL: removed */
    void *value;
    uint32_t hash;
};

struct strmap {
    struct entry *entries;
    uint32_t entry_count; /* holes included */
    uint32_t capacity;    /* of entries; the table has twice as many slots */
    uint32_t live;
    uint32_t *slots;
    enum strmap_case key_case;
};

/* text_lower() without a call: each byte of each key passes here. */
static inline unsigned char lower_byte(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static uint32_t hash_key(const struct strmap *map, const char *key)
{
    uint32_t hash = 2166136261u;
    const bool folds = map->key_case == STRMAP_CASE_IGNORED;
    for (; *key; key++) {
        hash = (hash ^ (folds ? lower_byte(*key) : (unsigned char)*key)) * 16777619u;
    }
    return hash ^ (hash >> 15); /* the low bits of FNV alone are weak */
}

static bool same_key(const struct strmap *map, const char *a, const char *b)
{
    return map->key_case == STRMAP_CASE_IGNORED ? text_equal_nocase(a, b) : strcmp(a, b) == 0;
}

static uint32_t slot_mask(const struct strmap *map)
{
    return map->capacity * 2 - 1;
}

struct strmap *strmap_create(enum strmap_case key_case)
{
    struct strmap *map = mem_zalloc(sizeof(*map));
    map->key_case = key_case;
    return map;
}

void strmap_destroy(struct strmap *map, void (*free_value)(void *value))
{
    if (!map) {
        return;
    }
    for (uint32_t i = 0; i < map->entry_count; i++) {
        if (map->entries[i].key) {
            mem_free(map->entries[i].key);
            if (free_value) {
                free_value(map->entries[i].value);
            }
        }
    }
    mem_free(map->entries);
    mem_free(map->slots);
    mem_free(map);
}

size_t strmap_count(const struct strmap *map)
{
    return map->live;
}

/* Returns the slot that holds the key, or SLOT_EMPTY. */
static uint32_t find_slot(const struct strmap *map, const char *key, uint32_t hash)
{
    if (map->capacity == 0) {
        return SLOT_EMPTY;
    }
    /* Ends: at least half of the slots were never used since the last rebuild. */
    for (uint32_t at = hash & slot_mask(map);; at = (at + 1) & slot_mask(map)) {
        uint32_t number = map->slots[at];
        if (number == SLOT_EMPTY) {
            return SLOT_EMPTY;
        }
        if (number != SLOT_TOMBSTONE && map->entries[number].hash == hash &&
            same_key(map, map->entries[number].key, key)) {
            return at;
        }
    }
}

static void fill_slot(struct strmap *map, uint32_t hash, uint32_t number)
{
    uint32_t at = hash & slot_mask(map);
    while (map->slots[at] != SLOT_EMPTY) {
        at = (at + 1) & slot_mask(map);
    }
    map->slots[at] = number;
}

/* Removes holes, grows if there were few, and builds the table again. */
static void rebuild_table(struct strmap *map)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < map->entry_count; i++) {
        if (map->entries[i].key) {
            map->entries[kept++] = map->entries[i];
        }
    }
    map->entry_count = kept;
    uint32_t capacity = map->capacity;
    if (capacity == 0) {
        capacity = ENTRIES_MIN;
    } else if (kept > capacity - capacity / 4) {
        CHECK(capacity <= UINT32_MAX / 8);
        capacity *= 2;
    }
    if (capacity != map->capacity) {
        map->entries = mem_realloc(map->entries, capacity * sizeof(*map->entries));
        mem_free(map->slots);
        map->slots = mem_alloc((size_t)capacity * 2 * sizeof(*map->slots));
        map->capacity = capacity;
    }
    memset(map->slots, 0xff, (size_t)map->capacity * 2 * sizeof(*map->slots));
    for (uint32_t i = 0; i < map->entry_count; i++) {
        fill_slot(map, map->entries[i].hash, i);
    }
}

void *strmap_get(const struct strmap *map, const char *key)
{
    uint32_t slot = find_slot(map, key, hash_key(map, key));
    return slot == SLOT_EMPTY ? NULL : map->entries[map->slots[slot]].value;
}

void *strmap_set(struct strmap *map, const char *key, void *value)
{
    CHECK(value);
    uint32_t hash = hash_key(map, key);
    uint32_t slot = find_slot(map, key, hash);
    if (slot != SLOT_EMPTY) {
        struct entry *entry = &map->entries[map->slots[slot]];
        void *old = entry->value;
        entry->value = value;
        return old;
    }
    if (map->entry_count == map->capacity) {
        rebuild_table(map);
    }
    map->entries[map->entry_count] =
        (struct entry){.key = mem_strdup(key), .value = value, .hash = hash};
    fill_slot(map, hash, map->entry_count);
    map->entry_count++;
    map->live++;
    return NULL;
}

void *strmap_remove(struct strmap *map, const char *key)
{
    uint32_t slot = find_slot(map, key, hash_key(map, key));
    if (slot == SLOT_EMPTY) {
        return NULL;
    }
    struct entry *entry = &map->entries[map->slots[slot]];
    void *value = entry->value;
    mem_free(entry->key);
    *entry = (struct entry){0};
    map->slots[slot] = SLOT_TOMBSTONE;
    map->live--;
    return value;
}

bool strmap_next(const struct strmap *map, size_t *at, const char **key, void **value)
{
    for (; *at < map->entry_count; ++*at) {
        const struct entry *entry = &map->entries[*at];
        if (entry->key) {
            if (key) {
                *key = entry->key;
            }
            if (value) {
                *value = entry->value;
            }
            ++*at;
            return true;
        }
    }
    return false;
}
