/* classad/ad.c - the ad: attributes in order, found by a hash index.
 *
 * Attributes that were set are entries (name, expression) in order of insertion.  Up to SMALL
 * entries are compared by hash one after another; with more, an index with open addressing, at most
 * half full, gives the number of the entry.  Removing an attribute keeps the order and rebuilds the
 * index, because it is rare compared with setting and looking up.
 *
 * An ad that was decoded has a body (ad_packed.h), which it shares with similar ads and which never
 * changes.  An attribute that is set on such an ad becomes an entry, which hides the attribute of
 * the body and is printed in its place.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classad/ad.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "classad/ad_packed.h"

#define SMALL 8u
/* entries for which space is allocated first when there is a body */
#define FIRST_OVER_BODY 2u
#define ENTRIES_MAX     ((uint64_t)1 << AD_ENTRIES_BITS)

struct ad *ad_create(void)
{
    return mem_zalloc(sizeof(struct ad));
}

static void forget_texts(struct ad *ad)
{
    while (ad->texts != NULL) {
        struct ad_text *next = ad->texts->next;
        mem_free(ad->texts);
        ad->texts = next;
    }
}

void ad_clear(struct ad *ad)
{
    forget_texts(ad);
    for (uint32_t i = 0; i < ad->count; i++) {
        ad_name_destroy(ad->entries[i].name);
        ad_expr_destroy(ad->entries[i].expr);
    }
    ad_body_unref(ad->body);
    mem_free(ad->hidden);
    mem_free(ad->entries);
    mem_free(ad->index);
    *ad = (struct ad){.chain = ad->chain};
}

void ad_destroy(struct ad *ad)
{
    if (ad != NULL) {
        ad_clear(ad);
        mem_free(ad);
    }
}

void ad_destroy_item(void *ad)
{
    ad_destroy(ad);
}

void ad_set_body(struct ad *ad, struct ad_body *body)
{
    ad_clear(ad);
    ad->body = body;
    ad->has_special = body->shape->has_special;
}

static uint32_t body_count(const struct ad *ad)
{
    return ad->body != NULL ? ad->body->shape->count : 0;
}

static size_t hidden_size(const struct ad *ad)
{
    return (body_count(ad) + 63) / 64 * sizeof(*ad->hidden);
}

static void hide_place(struct ad *ad, uint32_t place)
{
    if (ad->hidden == NULL) {
        ad->hidden = mem_zalloc(hidden_size(ad));
    }
    ad->hidden[place / 64] |= (uint64_t)1 << (place % 64);
    ad->hidden_count++;
}

struct ad *ad_copy(const struct ad *ad)
{
    struct ad *copy = ad_create();
    copy->chain = ad->chain;
    copy->has_special = ad->has_special;
    if (ad->body != NULL) {
        copy->body = ad_body_ref(ad->body);
    }
    if (ad->hidden != NULL) {
        copy->hidden = mem_dup(ad->hidden, hidden_size(ad));
        copy->hidden_count = ad->hidden_count;
    }
    if (ad->count == 0) {
        return copy;
    }
    copy->entries = mem_dup(ad->entries, ad->count * sizeof(*ad->entries));
    copy->count = ad->count;
    copy->capacity = ad->count;
    for (uint32_t i = 0; i < ad->count; i++) {
        (void)ad_name_ref(ad->entries[i].name); /* counts; the pointers are copied above */
        (void)ad_expr_ref(ad->entries[i].expr);
    }
    if (ad->index != NULL) {
        copy->index = mem_dup(ad->index, ad_index_size(ad));
        copy->index_bits = ad->index_bits;
    }
    return copy;
}

size_t ad_count(const struct ad *ad)
{
    return (size_t)body_count(ad) - ad->hidden_count + ad->count;
}

/* ---- walking ---- */

const struct ad_expr *ad_spot_expr(const struct ad_spot *spot)
{
    return spot->expr != NULL ? spot->expr : ad_body_expr(spot->body, spot->place);
}

const struct ad_node *ad_spot_node(const struct ad_spot *spot, struct ad_node *literal)
{
    if (spot->expr == NULL && ad_bytes_literal(ad_body_value(spot->body, spot->place), literal)) {
        return literal;
    }
    return &ad_spot_expr(spot)->root;
}

static void entry_item(const struct ad_entry *entry, struct ad_item *ret)
{
    *ret = (struct ad_item){.name = entry->name->text,
                            .length = entry->name->length,
                            .hash = entry->hash,
                            .spot = {.expr = entry->expr}};
}

bool ad_item_in_body(const struct ad *ad, uint32_t place, struct ad_item *ret)
{
    const struct ad_shape *shape = ad->body->shape;
    const struct ad_shape_name *name = &shape->entries[place];
    if (ad_is_hidden(ad, place)) {
        const struct ad_entry *entry =
            ad_find_entry(ad, shape->names + name->offset, name->length, name->hash);
        if (entry == NULL || entry->place != place) {
            return false;
        }
        entry_item(entry, ret);
        return true;
    }
    *ret = (struct ad_item){.name = shape->names + name->offset,
                            .length = name->length,
                            .hash = name->hash,
                            .is_word = name->is_word,
                            .spot = {.body = ad->body, .place = place}};
    return true;
}

/* Positions count the places of the body first, then the entries. */
void ad_item_at(const struct ad *ad, uint32_t position, struct ad_item *ret)
{
    uint32_t in_body = body_count(ad);
    if (position < in_body) {
        bool found = ad_item_in_body(ad, position, ret);
        CHECK(found);
    } else {
        entry_item(&ad->entries[position - in_body], ret);
    }
}

bool ad_walk(const struct ad *ad, size_t *at, struct ad_item *ret)
{
    uint32_t in_body = body_count(ad);
    while (*at < in_body) {
        if (ad_item_in_body(ad, (uint32_t)(*at)++, ret)) {
            return true;
        }
    }
    while (*at - in_body < ad->count) {
        const struct ad_entry *entry = &ad->entries[(*at)++ - in_body];
        if (entry->place == AD_NO_PLACE) {
            entry_item(entry, ret);
            return true;
        }
    }
    return false;
}

bool ad_next(const struct ad *ad, size_t *at, const char **name, const struct ad_expr **expr)
{
    struct ad_item item;
    if (!ad_walk(ad, at, &item)) {
        return false;
    }
    if (name != NULL) {
        *name = item.name;
    }
    if (expr != NULL) {
        *expr = ad_spot_expr(&item.spot);
    }
    return true;
}

/* Moves *at over literals of the body, which are most of an ad. */
static void skip_literals(const struct ad *ad, size_t *at)
{
    uint32_t in_body = body_count(ad);
    while (*at < in_body && !ad_is_hidden(ad, (uint32_t)*at) &&
           ad_bytes_is_literal(ad_body_value(ad->body, (uint32_t)*at))) {
        ++*at;
    }
}

bool ad_next_computed(const struct ad *ad, size_t *at, const struct ad_expr **expr)
{
    struct ad_item item;
    skip_literals(ad, at);
    while (ad_walk(ad, at, &item)) {
        *expr = ad_spot_expr(&item.spot);
        if (!ad_expr_is_literal(*expr)) {
            return true;
        }
        skip_literals(ad, at);
    }
    return false;
}

/* Calls each(arg, name) for each private attribute until it returns false. */
static void each_private(const struct ad *ad, bool (*each)(void *arg, const char *name), void *arg)
{
    const struct ad_shape *shape = ad->body != NULL ? ad->body->shape : NULL;
    if (shape != NULL && shape->has_private) {
        for (uint32_t place = 0; place < shape->count; place++) {
            if (shape->entries[place].is_private && !ad_is_hidden(ad, place) &&
                !each(arg, ad_shape_name(shape, place))) {
                return;
            }
        }
    }
    for (uint32_t i = 0; i < ad->count; i++) {
        const char *name = ad->entries[i].name->text;
        if (ad_attr_is_private(name) && !each(arg, name)) {
            return;
        }
    }
}

static bool found_private(void *arg, const char *name)
{
    (void)name;
    *(bool *)arg = true;
    return false;
}

bool ad_has_private(const struct ad *ad)
{
    bool found = false;
    each_private(ad, found_private, &found);
    return found;
}

static bool remove_private(void *arg, const char *name)
{
    ad_remove(arg, name);
    return true;
}

struct ad *ad_copy_public(const struct ad *ad)
{
    struct ad *copy = ad_copy(ad);
    each_private(ad, remove_private, copy);
    return copy;
}

/* ---- the index ---- */

static uint32_t index_mask(const struct ad *ad)
{
    return ((uint32_t)1 << ad->index_bits) - 1;
}

/* Adds an entry to the index; returns how many occupied places it passed. */
static uint32_t index_add(struct ad *ad, uint32_t entry)
{
    uint32_t passed = 0;
    uint32_t place = ad->entries[entry].hash & index_mask(ad);
    while (ad->index[place] != 0) {
        place = (place + 1) & index_mask(ad);
        passed++;
    }
    ad->index[place] = entry + 1;
    return passed;
}

static void index_build(struct ad *ad)
{
    mem_free(ad->index);
    ad->index = NULL;
    if (ad->count <= SMALL) {
        return;
    }
    uint32_t places = 32;
    while (places < ad->capacity * 2) {
        places *= 2;
    }
    ad->index = mem_zalloc(places * sizeof(*ad->index));
    ad->index_bits = (uint32_t)__builtin_ctz(places) & 31u;
    for (uint32_t i = 0; i < ad->count; i++) {
        (void)index_add(ad, i); /* collisions were judged when the name was put */
    }
}

static bool entry_is(const struct ad_entry *entry, const char *text, size_t length, uint32_t hash)
{
    return entry->hash == hash && entry->name->length == length &&
           ad_name_is(entry->name->text, text, length);
}

const struct ad_entry *ad_find_entry(const struct ad *ad, const char *text, size_t length,
                                     uint32_t hash)
{
    if (ad->index == NULL) {
        for (uint32_t i = 0; i < ad->count; i++) {
            if (entry_is(&ad->entries[i], text, length, hash)) {
                return &ad->entries[i];
            }
        }
        return NULL;
    }
    const uint32_t mask = index_mask(ad);
    for (uint32_t place = hash & mask; ad->index[place] != 0; place = (place + 1) & mask) {
        const struct ad_entry *entry = &ad->entries[ad->index[place] - 1];
        if (entry_is(entry, text, length, hash)) {
            return entry;
        }
    }
    return NULL;
}

/* Returns the attribute's place in the body, hidden or not; AD_NO_PLACE: none. */
static uint32_t find_place(const struct ad *ad, const char *text, size_t length, uint32_t hash)
{
    return ad->body != NULL ? ad_shape_place(ad->body->shape, text, length, hash) : AD_NO_PLACE;
}

bool ad_find_own(const struct ad *ad, const char *text, size_t length, uint32_t hash,
                 struct ad_spot *ret)
{
    if (ad->count > 0) {
        const struct ad_entry *entry = ad_find_entry(ad, text, length, hash);
        if (entry != NULL) {
            *ret = (struct ad_spot){.expr = entry->expr};
            return true;
        }
    }
    uint32_t place = find_place(ad, text, length, hash);
    if (place == AD_NO_PLACE || ad_is_hidden(ad, place)) {
        return false;
    }
    *ret = (struct ad_spot){.body = ad->body, .place = place};
    return true;
}

bool ad_find_spot(const struct ad *ad, const char *text, size_t length, uint32_t hash,
                  struct ad_spot *ret)
{
    for (int i = 0; ad != NULL && i < AD_CHAINED_MAX; ad = ad->chain, i++) {
        if (ad_find_own(ad, text, length, hash, ret)) {
            return true;
        }
    }
    return false;
}

const struct ad_expr *ad_find(const struct ad *ad, const char *text, size_t length, uint32_t hash)
{
    struct ad_spot spot;
    return ad_find_spot(ad, text, length, hash, &spot) ? ad_spot_expr(&spot) : NULL;
}

bool ad_may_have_special(const struct ad *ad)
{
    for (int i = 0; ad != NULL && i < AD_CHAINED_MAX; ad = ad->chain, i++) {
        if (ad->has_special) {
            return true;
        }
    }
    return false;
}

void ad_chain(struct ad *ad, const struct ad *parent)
{
    CHECK(ad != parent);
    forget_texts(ad);
    ad->chain = parent;
}

/* ---- setting ---- */

/* Returns a reference to a name for an entry; the pool of the body keeps some names for reuse. */
static struct ad_name *take_name(const struct ad *ad, const char *text, size_t length,
                                 uint32_t hash)
{
    struct ad_pool *pool = ad->body != NULL ? ad->body->shape->pool : NULL;
    struct ad_name **kept = pool != NULL ? &pool->names[hash % AD_POOL_NAMES] : NULL;
    if (kept == NULL || length > AD_NAME_MAX) {
        return ad_name_create(text, length);
    }
    if (*kept == NULL || (*kept)->length != length || memcmp((*kept)->text, text, length) != 0) {
        ad_name_destroy(*kept);
        *kept = ad_name_create(text, length);
    }
    return ad_name_ref(*kept);
}

/* Appends an entry to the array. -E2BIG: the ad is unchanged. */
static int append_entry(struct ad *ad, const char *text, size_t length, uint32_t hash,
                        struct ad_entry **ret)
{
    bool grown = ad->count == ad->capacity;
    if (ad->index != NULL) {
        /* A probe before the entry counts, so that a refusal leaves nothing behind. */
        uint32_t passed = 0;
        for (uint32_t place = hash & index_mask(ad); ad->index[place] != 0;
             place = (place + 1) & index_mask(ad)) {
            passed++;
        }
        if (passed > AD_COLLISIONS_MAX) {
            return -E2BIG;
        }
    }
    if (grown) {
        uint32_t first = ad->body != NULL ? FIRST_OVER_BODY : SMALL;
        uint64_t capacity = ad->capacity == 0 ? first : (uint64_t)ad->capacity * 2;
        CHECK(capacity < ENTRIES_MAX);
        ad->capacity = capacity & (ENTRIES_MAX - 1);
        ad->entries = mem_realloc(ad->entries, ad->capacity * sizeof(*ad->entries));
    }
    struct ad_entry *entry = &ad->entries[ad->count];
    *entry = (struct ad_entry){.name = take_name(ad, text, length, hash),
                               .hash = hash,
                               .place = AD_NO_PLACE};
    if (ad->index != NULL && !grown) {
        (void)index_add(ad, ad->count); /* judged above */
    }
    ad->count++;
    ad->has_special = ad->has_special || ad_name_special(text, length) != AD_SPECIAL_NONE;
    if (grown) {
        index_build(ad);
    }
    *ret = entry;
    return 0;
}

/* Sets an attribute; takes expr when it returns 0. */
static int put_attr(struct ad *ad, const char *text, size_t length, uint32_t hash,
                    struct ad_expr *expr, bool untrusted)
{
    forget_texts(ad);
    struct ad_entry *entry = (struct ad_entry *)(uintptr_t)ad_find_entry(ad, text, length, hash);
    if (entry != NULL) {
        ad_expr_destroy(entry->expr);
        entry->expr = expr;
        return 0;
    }
    uint32_t place = find_place(ad, text, length, hash);
    if (place != AD_NO_PLACE && ad_is_hidden(ad, place)) {
        place = AD_NO_PLACE; /* was removed: comes back at the end */
    }
    if (place != AD_NO_PLACE) {
        text = ad_shape_name(ad->body->shape, place);
    } else if (untrusted && ad_count(ad) >= AD_ATTRS_MAX) {
        return -E2BIG;
    }
    int rc = append_entry(ad, text, length, hash, &entry);
    if (rc < 0) {
        return rc;
    }
    entry->expr = expr;
    entry->place = place;
    if (place != AD_NO_PLACE) {
        hide_place(ad, place);
    }
    return 0;
}

int ad_put(struct ad *ad, const char *name, size_t length, struct ad_expr *expr, bool untrusted)
{
    return put_attr(ad, name, length, ad_name_hash(name, length), expr, untrusted);
}

void ad_set(struct ad *ad, const char *name, struct ad_expr *expr)
{
    CHECK(name[0] != '\0');
    if (ad_put(ad, name, strlen(name), expr, false) < 0) {
        ad_expr_destroy(expr); /* its name was made to collide */
    }
}

void ad_remove(struct ad *ad, const char *name)
{
    size_t length = strlen(name);
    uint32_t hash = ad_name_hash(name, length);
    const struct ad_entry *entry = ad_find_entry(ad, name, length, hash);
    if (entry == NULL) {
        uint32_t body_place = find_place(ad, name, length, hash);
        if (body_place != AD_NO_PLACE && !ad_is_hidden(ad, body_place)) {
            forget_texts(ad);
            hide_place(ad, body_place);
        }
        return;
    }
    forget_texts(ad);
    struct ad_entry gone = *entry; /* name may be its own text */
    size_t place = (size_t)(entry - ad->entries);
    ad->count--;
    memmove(&ad->entries[place], &ad->entries[place + 1],
            (ad->count - place) * sizeof(*ad->entries));
    index_build(ad);
    ad_name_destroy(gone.name);
    ad_expr_destroy(gone.expr);
}

void ad_set_int(struct ad *ad, const char *name, int64_t value)
{
    ad_set(ad, name, ad_expr_int(value));
}

void ad_set_real(struct ad *ad, const char *name, double value)
{
    ad_set(ad, name, ad_expr_real(value));
}

void ad_set_bool(struct ad *ad, const char *name, bool value)
{
    ad_set(ad, name, ad_expr_bool(value));
}

void ad_set_string(struct ad *ad, const char *name, const char *text)
{
    ad_set(ad, name, ad_expr_string(text, AD_STRING_MAX + 1));
}

void ad_set_undefined(struct ad *ad, const char *name)
{
    ad_set(ad, name, ad_expr_undefined());
}

void ad_set_error(struct ad *ad, const char *name)
{
    ad_set(ad, name, ad_expr_error());
}

void ad_set_ad(struct ad *ad, const char *name, struct ad *nested)
{
    ad_set(ad, name, ad_expr_nested(nested));
}

void ad_set_strings(struct ad *ad, const char *name, const char *const *list, size_t count)
{
    ad_set(ad, name, ad_expr_strings(list, count));
}

int ad_copy_attr(struct ad *to, const char *to_name, const struct ad *from, const char *name)
{
    const struct ad_expr *expr = ad_lookup(from, name);
    if (expr == NULL) {
        return -ENOENT;
    }
    ad_set(to, to_name, ad_expr_ref(expr));
    return 0;
}

void ad_merge(struct ad *into, const struct ad *from)
{
    CHECK(into != from);
    size_t at = 0;
    struct ad_item item;
    while (ad_walk(from, &at, &item)) {
        int rc = put_attr(into, item.name, item.length, item.hash,
                          ad_expr_ref(ad_spot_expr(&item.spot)), false);
        CHECK(rc == 0);
    }
}
