/* classad/ad_shape.c - shapes: the names of ads with their index, and the table that shares them.
 *
 * A shape is one block of memory: entries, index and names follow the struct.  The table finds a
 * shape by a hash of the whole block of names; the shape of the replaced ad is found by comparison.
 * The hash has no seed: an attacker who makes blocks collide only causes his own shapes not to be
 * shared.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "classad/ad_packed.h"

#define SMALL 8u /* most names that are found without an index */

/* ---- the table ---- */

static uint64_t block_hash(const char *names, size_t bytes)
{
    uint64_t hash = bytes * 0x9e3779b97f4a7c15u;
    uint64_t word = 0;
    size_t at = 0;
    for (; at + sizeof(word) <= bytes; at += sizeof(word)) {
        memcpy(&word, names + at, sizeof(word));
        hash = (hash ^ word) * 0x9fb21c651e98df25u;
        hash ^= hash >> 29;
    }
    word = 0;
    memcpy(&word, names + at, bytes - at);
    hash = (hash ^ word) * 0x9fb21c651e98df25u;
    return hash ^ (hash >> 32);
}

static bool ad_shape_is(const struct ad_shape *shape, const char *names, size_t bytes,
                        uint32_t count)
{
    return shape->names_bytes == bytes && shape->count == count &&
           memcmp(shape->names, names, bytes) == 0;
}

static struct ad_shape *find_hashed(struct ad_pool *pool, const char *names, size_t bytes,
                                    uint32_t count, uint64_t hash, uint32_t *passed)
{
    *passed = 0;
    struct hash_link *link = hash_chains_at(&pool->shapes, hash);
    for (; link != NULL; link = link->next) {
        struct ad_shape *shape = (struct ad_shape *)link;
        if (link->hash == hash && ad_shape_is(shape, names, bytes, count)) {
            pool->latest = shape;
            return shape;
        }
        ++*passed;
    }
    return NULL;
}

struct ad_shape *ad_shape_find(struct ad_pool *pool, const char *names, size_t bytes,
                               uint32_t count)
{
    if (pool == NULL) {
        return NULL;
    }
    if (pool->latest != NULL && ad_shape_is(pool->latest, names, bytes, count)) {
        return pool->latest;
    }
    uint32_t passed;
    return find_hashed(pool, names, bytes, count, block_hash(names, bytes), &passed);
}

static void table_add(struct ad_pool *pool, uint64_t hash, struct ad_shape *shape)
{
    hash_chains_add(&pool->shapes, hash, &shape->link);
    shape->pool = pool;
    pool->latest = shape;
}

/* Keeps a small new shape alive in the pool, in place of the one that was kept longest. */
static void keep_shape(struct ad_pool *pool, struct ad_shape *shape)
{
    struct ad_shape **place = &pool->kept[pool->next_kept];
    pool->next_kept = (pool->next_kept + 1) % AD_POOL_KEPT;
    if (*place != NULL) {
        (*place)->is_kept = false;
        ad_shape_unref(*place);
    }
    *place = ad_shape_ref(shape);
    shape->is_kept = true;
}

static void table_remove(struct ad_pool *pool, struct ad_shape *shape)
{
    hash_chains_remove(&pool->shapes, &shape->link);
    if (pool->latest == shape) {
        pool->latest = NULL;
    }
}

/* ---- making ---- */

static size_t aligned_size(size_t size)
{
    return (size + 7) & ~(size_t)7;
}

static uint32_t index_places(uint32_t count)
{
    uint32_t places = 16;
    while (places < count * 2) {
        places *= 2;
    }
    return places;
}

static size_t shape_size(uint32_t count, size_t bytes)
{
    size_t index = count > SMALL ? index_places(count) * sizeof(uint16_t) : 0;
    return sizeof(struct ad_shape) + count * sizeof(struct ad_shape_name) + aligned_size(index) +
           bytes + 8; /* an ad without names has a block all the same */
}

static struct ad_shape *shape_alloc(const char *names, size_t bytes, uint32_t count)
{
    struct ad_shape *shape = mem_try_alloc(shape_size(count, bytes));
    if (shape == NULL) {
        return NULL;
    }
    *shape = (struct ad_shape){.owner_count = 1,
                               .count = count,
                               .names_bytes = (uint32_t)bytes,
                               .index_mask = 0};
    shape->entries = (struct ad_shape_name *)(void *)(shape + 1);
    char *at = (char *)(shape->entries + count);
    if (count > SMALL) {
        uint32_t places = index_places(count);
        shape->index = (uint16_t *)(void *)at;
        shape->index_mask = places - 1;
        memset(shape->index, 0, places * sizeof(*shape->index));
        at += aligned_size(places * sizeof(*shape->index));
    }
    shape->names = at;
    memcpy(at, names, bytes);
    return shape;
}

static bool entry_is(const struct ad_shape *shape, const struct ad_shape_name *entry,
                     const char *text, size_t length, uint32_t hash)
{
    return entry->hash == hash && entry->length == length &&
           ad_name_is(shape->names + entry->offset, text, length);
}

/* Adds entry `place` to the index; an error says why that is not possible. */
static int add_name(struct ad_shape *shape, uint32_t place, struct err *err)
{
    const struct ad_shape_name *entry = &shape->entries[place];
    const char *text = shape->names + entry->offset;
    if (shape->index == NULL) {
        for (uint32_t i = 0; i < place; i++) {
            if (entry_is(shape, &shape->entries[i], text, entry->length, entry->hash)) {
                return err_set(err, -EBADMSG, "binary ad: the attribute %s appears twice", text);
            }
        }
        return 0;
    }
    uint32_t at = entry->hash & shape->index_mask;
    for (uint32_t passed = 0; shape->index[at] != 0; passed++) {
        if (entry_is(shape, &shape->entries[shape->index[at] - 1], text, entry->length,
                     entry->hash)) {
            return err_set(err, -EBADMSG, "binary ad: the attribute %s appears twice", text);
        }
        if (passed >= AD_COLLISIONS_MAX) {
            return err_set(err, -E2BIG,
                           "binary ad: too many names have the same hash, among them %s", text);
        }
        at = (at + 1) & shape->index_mask;
    }
    shape->index[at] = (uint16_t)(place + 1);
    return 0;
}

static void note_identity(struct ad_shape *shape, uint32_t place, uint16_t bit)
{
    if (bit != 0) {
        shape->identities |= bit;
        shape->identity_places[ad_lowest_bit(bit)] = (uint16_t)place;
    }
}

static int fill_shape(struct ad_shape *shape, struct err *err)
{
    size_t at = 0;
    for (uint32_t i = 0; i < shape->count; i++) {
        const char *text = shape->names + at;
        const char *end = memchr(text, '\0', shape->names_bytes - at);
        if (end == NULL) {
            return err_set(err, -EBADMSG, "binary ad: fewer names than attributes");
        }
        size_t length = (size_t)(end - text);
        if (length > AD_NAME_MAX) {
            return err_set(err, -E2BIG, "binary ad: a name is longer than %d bytes", AD_NAME_MAX);
        }
        shape->entries[i] = (struct ad_shape_name){.hash = ad_name_hash(text, length),
                                                   .offset = (uint32_t)at,
                                                   .length = (uint16_t)length,
                                                   .is_private = ad_name_is_private(text, length)};
        shape->has_private = shape->has_private || shape->entries[i].is_private;
        shape->has_special = shape->has_special || ad_name_special(text, length) != AD_SPECIAL_NONE;
        note_identity(shape, i, ad_name_identity(text, length));
        int rc = add_name(shape, i, err);
        if (rc < 0) {
            return rc;
        }
        at += length + 1;
    }
    return at == shape->names_bytes
               ? 0
               : err_set(err, -EBADMSG, "binary ad: more names than attributes");
}

int ad_shape_get(struct ad_pool *pool, const char *names, size_t bytes, uint32_t count,
                 struct ad_shape **ret, struct err *err)
{
    uint32_t passed = 0;
    uint64_t hash = 0;
    if (pool != NULL) {
        struct ad_shape *shape = pool->latest;
        if (shape == NULL || !ad_shape_is(shape, names, bytes, count)) {
            hash = block_hash(names, bytes);
            shape = find_hashed(pool, names, bytes, count, hash, &passed);
        }
        if (shape != NULL) {
            *ret = ad_shape_ref(shape);
            return 0;
        }
    }
    struct ad_shape *shape = shape_alloc(names, bytes, count);
    if (shape == NULL) {
        return err_set(err, -E2BIG, "binary ad: out of memory");
    }
    int rc = fill_shape(shape, err);
    if (rc < 0) {
        mem_free(shape);
        return rc;
    }
    if (pool != NULL && passed < AD_CHAIN_MAX) {
        table_add(pool, hash, shape);
        if (count <= AD_KEPT_COUNT) {
            keep_shape(pool, shape);
        }
    }
    *ret = shape;
    return 0;
}

struct ad_shape *ad_shape_ref(struct ad_shape *shape)
{
    CHECK(shape->owner_count > 0 && shape->owner_count < UINT32_MAX);
    shape->owner_count++;
    return shape;
}

void ad_shape_unref(struct ad_shape *shape)
{
    if (shape == NULL || --shape->owner_count > 0) {
        return;
    }
    if (shape->pool != NULL) {
        table_remove(shape->pool, shape);
    }
    mem_free(shape->order);
    mem_free(shape);
}

uint32_t ad_shape_place(const struct ad_shape *shape, const char *text, size_t length,
                        uint32_t hash)
{
    if (shape->index == NULL) {
        for (uint32_t i = 0; i < shape->count; i++) {
            if (entry_is(shape, &shape->entries[i], text, length, hash)) {
                return i;
            }
        }
        return AD_NO_PLACE;
    }
    for (uint32_t at = hash & shape->index_mask; shape->index[at] != 0;
         at = (at + 1) & shape->index_mask) {
        uint32_t place = shape->index[at] - 1u;
        if (entry_is(shape, &shape->entries[place], text, length, hash)) {
            return place;
        }
    }
    return AD_NO_PLACE;
}

size_t ad_shape_bytes(const struct ad_shape *shape)
{
    return shape_size(shape->count, shape->names_bytes) +
           (shape->order != NULL ? shape->count * sizeof(*shape->order) : 0);
}

/* ---- order of printing ---- */

static int name_order(const struct ad_shape *shape, uint16_t a, uint16_t b)
{
    const struct ad_shape_name *x = &shape->entries[a];
    const struct ad_shape_name *y = &shape->entries[b];
    if (x->length != y->length) {
        return x->length < y->length ? -1 : 1;
    }
    return ad_name_compare(shape->names + x->offset, shape->names + y->offset);
}

/* Merges the sorted runs in `from` into runs of twice the length in `to`. */
static void merge_runs(const struct ad_shape *shape, const uint16_t *from, uint16_t *to,
                       uint32_t run)
{
    for (uint32_t begin = 0; begin < shape->count; begin += 2 * run) {
        uint32_t left = begin;
        uint32_t middle = begin + run < shape->count ? begin + run : shape->count;
        uint32_t right = middle;
        uint32_t end = middle + run < shape->count ? middle + run : shape->count;
        for (uint32_t i = begin; i < end; i++) {
            bool take_left =
                left < middle && (right == end || name_order(shape, from[left], from[right]) <= 0);
            to[i] = take_left ? from[left++] : from[right++];
        }
    }
}

const uint16_t *ad_shape_order(struct ad_shape *shape)
{
    if (shape->order != NULL || shape->count == 0) {
        return shape->order;
    }
    uint16_t *order = mem_alloc(shape->count * sizeof(*order));
    uint16_t *spare = mem_alloc(shape->count * sizeof(*spare));
    for (uint32_t i = 0; i < shape->count; i++) {
        order[i] = (uint16_t)i;
        shape->entries[i].is_word =
            ad_name_is_word(ad_shape_name(shape, i), shape->entries[i].length);
    }
    for (uint32_t run = 1; run < shape->count; run *= 2) {
        merge_runs(shape, order, spare, run);
        uint16_t *swapped = order;
        order = spare;
        spare = swapped;
    }
    mem_free(spare);
    shape->order = order;
    return order;
}
