/* classad/ad.c - the ad: attributes in order, found by a hash index.
 *
 * Up to SMALL attributes are searched by hash alone, in order; beyond that an open-addressing index
 * of entry numbers, at most half full.  Removal keeps the order and rebuilds the index: it is rare
 * beside setting and looking up.
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
#include "classad/ad_private.h"

#define SMALL     8u
#define CHAIN_MAX 16 /* chained parents followed: longer is our mistake or a ring */

struct ad_text {
    struct ad_text *next;
    char text[];
};

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

struct ad *ad_copy(const struct ad *ad)
{
    struct ad *copy = ad_create();
    copy->chain = ad->chain;
    copy->has_special = ad->has_special;
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
        copy->index = mem_dup(ad->index, ((size_t)ad->index_mask + 1) * sizeof(*ad->index));
        copy->index_mask = ad->index_mask;
    }
    return copy;
}

struct ad *ad_copy_public(const struct ad *ad)
{
    struct ad *copy = ad_copy(ad);
    for (uint32_t i = copy->count; i > 0; i--) {
        if (ad_attr_is_private(copy->entries[i - 1].name->text)) {
            ad_remove(copy, copy->entries[i - 1].name->text);
        }
    }
    return copy;
}

size_t ad_count(const struct ad *ad)
{
    return ad->count;
}

bool ad_next(const struct ad *ad, size_t *at, const char **name, const struct ad_expr **expr)
{
    if (*at >= ad->count) {
        return false;
    }
    const struct ad_entry *entry = &ad->entries[(*at)++];
    if (name != NULL) {
        *name = entry->name->text;
    }
    if (expr != NULL) {
        *expr = entry->expr;
    }
    return true;
}

/* ---- the index ---- */

/* Returns how many places were taken before a free one was found. */
static uint32_t index_add(struct ad *ad, uint32_t entry)
{
    uint32_t passed = 0;
    uint32_t place = ad->entries[entry].hash & ad->index_mask;
    while (ad->index[place] != 0) {
        place = (place + 1) & ad->index_mask;
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
    ad->index_mask = places - 1;
    for (uint32_t i = 0; i < ad->count; i++) {
        (void)index_add(ad, i); /* collisions were judged when the name was put */
    }
}

static bool entry_is(const struct ad_entry *entry, const char *text, size_t length, uint32_t hash)
{
    return entry->hash == hash && entry->name->length == length &&
           ad_name_equal(entry->name->text, text, length);
}

const struct ad_entry *ad_find_own(const struct ad *ad, const char *text, size_t length,
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
    for (uint32_t place = hash & ad->index_mask; ad->index[place] != 0;
         place = (place + 1) & ad->index_mask) {
        const struct ad_entry *entry = &ad->entries[ad->index[place] - 1];
        if (entry_is(entry, text, length, hash)) {
            return entry;
        }
    }
    return NULL;
}

const struct ad_expr *ad_find(const struct ad *ad, const char *text, size_t length, uint32_t hash)
{
    for (int i = 0; ad != NULL && i < CHAIN_MAX; ad = ad->chain, i++) {
        const struct ad_entry *entry = ad_find_own(ad, text, length, hash);
        if (entry != NULL) {
            return entry->expr;
        }
    }
    return NULL;
}

bool ad_may_have_special(const struct ad *ad)
{
    for (int i = 0; ad != NULL && i < CHAIN_MAX; ad = ad->chain, i++) {
        if (ad->has_special) {
            return true;
        }
    }
    return false;
}

const struct ad_expr *ad_lookup(const struct ad *ad, const char *name)
{
    size_t length = strlen(name);
    return ad_find(ad, name, length, ad_name_hash(name, length));
}

bool ad_has(const struct ad *ad, const char *name)
{
    return ad_lookup(ad, name) != NULL;
}

void ad_chain(struct ad *ad, const struct ad *parent)
{
    CHECK(ad != parent);
    forget_texts(ad);
    ad->chain = parent;
}

/* ---- setting ---- */

/* expr and name are taken when 0 is returned. */
static int put(struct ad *ad, const char *text, size_t length, uint32_t hash,
               struct ad_name *shared, struct ad_expr *expr, bool untrusted)
{
    forget_texts(ad);
    struct ad_entry *entry = (struct ad_entry *)(uintptr_t)ad_find_own(ad, text, length, hash);
    if (entry != NULL) {
        ad_expr_destroy(entry->expr);
        entry->expr = expr;
        return 0;
    }
    if (untrusted && ad->count >= AD_ATTRS_MAX) {
        return -E2BIG;
    }
    bool grown = ad->count == ad->capacity;
    if (grown) {
        ad->capacity = ad->capacity == 0 ? SMALL : ad->capacity * 2;
        ad->entries = mem_realloc(ad->entries, ad->capacity * sizeof(*ad->entries));
    }
    ad->entries[ad->count] = (struct ad_entry){.expr = expr, .hash = hash};
    if (ad->index != NULL && !grown) {
        /* A probe before the entry counts, so that a refusal leaves nothing behind. */
        uint32_t passed = 0;
        for (uint32_t place = hash & ad->index_mask; ad->index[place] != 0;
             place = (place + 1) & ad->index_mask) {
            passed++;
        }
        if (untrusted && passed > AD_COLLISIONS_MAX) {
            return -E2BIG;
        }
        (void)index_add(ad, ad->count);
    }
    ad->entries[ad->count].name =
        shared != NULL ? ad_name_ref(shared) : ad_name_create(text, length);
    ad->count++;
    ad->has_special = ad->has_special || ad_name_special(text, length) != AD_SPECIAL_NONE;
    if (grown) {
        index_build(ad);
    }
    return 0;
}

int ad_put(struct ad *ad, const char *name, size_t length, struct ad_expr *expr, bool untrusted)
{
    return put(ad, name, length, ad_name_hash(name, length), NULL, expr, untrusted);
}

void ad_set(struct ad *ad, const char *name, struct ad_expr *expr)
{
    CHECK(name[0] != '\0');
    int rc = ad_put(ad, name, strlen(name), expr, false);
    CHECK(rc == 0);
}

void ad_remove(struct ad *ad, const char *name)
{
    size_t length = strlen(name);
    const struct ad_entry *entry = ad_find_own(ad, name, length, ad_name_hash(name, length));
    if (entry == NULL) {
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

static int set_text(struct ad *ad, const char *name, const char *text, enum ad_syntax syntax,
                    struct err *err)
{
    struct ad_expr *expr = NULL;
    int rc = ad_expr_parse(text, strlen(text), syntax, &expr, err);
    if (rc < 0) {
        return err_prefix(err, rc, "%s", name);
    }
    ad_set(ad, name, expr);
    return 0;
}

int ad_set_expr(struct ad *ad, const char *name, const char *text, struct err *err)
{
    return set_text(ad, name, text, AD_NEW, err);
}

int ad_set_expr_old(struct ad *ad, const char *name, const char *text, struct err *err)
{
    return set_text(ad, name, text, AD_OLD, err);
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
    for (uint32_t i = 0; i < from->count; i++) {
        const struct ad_entry *entry = &from->entries[i];
        int rc = put(into, entry->name->text, entry->name->length, entry->hash, entry->name,
                     ad_expr_ref(entry->expr), false);
        CHECK(rc == 0);
    }
}

/* ---- getting ---- */

/* The value of a literal without evaluation, of anything else with. */
static int get_value(const struct ad *ad, const char *name, struct ad_value *value)
{
    const struct ad_expr *expr = ad_lookup(ad, name);
    if (expr == NULL) {
        return -ENOENT;
    }
    ad_eval(expr, ad, NULL, NULL, value);
    return value->type == AD_TYPE_UNDEFINED ? -ENOENT : 0;
}

/* The same for the three kinds of numbers; nothing is left to release. */
static int get_number(const struct ad *ad, const char *name, struct ad_value *value)
{
    int rc = get_value(ad, name, value);
    if (rc < 0) {
        return rc;
    }
    if (value->type != AD_TYPE_INT && value->type != AD_TYPE_REAL && value->type != AD_TYPE_BOOL) {
        ad_value_fini(value);
        return -EINVAL;
    }
    return 0;
}

int ad_get_int(const struct ad *ad, const char *name, int64_t *ret)
{
    struct ad_value value;
    int rc = get_number(ad, name, &value);
    if (rc < 0) {
        return rc;
    }
    if (value.type == AD_TYPE_REAL) {
        if (!(value.real > -9.2e18 && value.real < 9.2e18)) {
            return -EINVAL;
        }
        *ret = (int64_t)value.real;
    } else {
        *ret = value.type == AD_TYPE_INT ? value.integer : value.boolean;
    }
    return 0;
}

int ad_get_real(const struct ad *ad, const char *name, double *ret)
{
    struct ad_value value;
    int rc = get_number(ad, name, &value);
    if (rc < 0) {
        return rc;
    }
    if (value.type == AD_TYPE_REAL) {
        *ret = value.real;
    } else {
        *ret = value.type == AD_TYPE_INT ? (double)value.integer : (double)value.boolean;
    }
    return 0;
}

int ad_get_bool(const struct ad *ad, const char *name, bool *ret)
{
    struct ad_value value;
    int rc = get_number(ad, name, &value);
    if (rc < 0) {
        return rc;
    }
    if (value.type == AD_TYPE_REAL) {
        *ret = value.real != 0.0;
    } else {
        *ret = value.type == AD_TYPE_INT ? value.integer != 0 : value.boolean;
    }
    return 0;
}

static const char *keep_text(const struct ad *ad, const struct ad_value *value)
{
    for (struct ad_text *text = ad->texts; text != NULL; text = text->next) {
        if (strcmp(text->text, value->string.text) == 0) {
            return text->text;
        }
    }
    struct ad_text *text = mem_alloc(sizeof(*text) + value->string.length + 1);
    memcpy(text->text, value->string.text, value->string.length + 1);
    /* A cache that callers cannot see: the ad counts as unchanged. */
    struct ad *cache = (struct ad *)(uintptr_t)ad;
    text->next = cache->texts;
    cache->texts = text;
    return text->text;
}

int ad_get_string(const struct ad *ad, const char *name, const char **ret)
{
    const struct ad_expr *expr = ad_lookup(ad, name);
    if (expr != NULL && ad_expr_literal_string(expr, ret, NULL)) {
        return 0;
    }
    struct ad_value value;
    int rc = get_value(ad, name, &value);
    if (rc < 0) {
        return rc;
    }
    if (value.type == AD_TYPE_STRING) {
        *ret = value.memory != NULL ? keep_text(ad, &value) : value.string.text;
    } else {
        rc = -EINVAL;
    }
    ad_value_fini(&value);
    return rc;
}

int ad_get_ad(const struct ad *ad, const char *name, const struct ad **ret)
{
    const struct ad_expr *expr = ad_lookup(ad, name);
    if (expr == NULL || expr->root.kind == AD_NODE_UNDEFINED) {
        return -ENOENT;
    }
    if (expr->root.kind != AD_NODE_AD) {
        return -EINVAL;
    }
    *ret = expr->root.nested;
    return 0;
}

int64_t ad_int_or(const struct ad *ad, const char *name, int64_t otherwise)
{
    (void)ad_get_int(ad, name, &otherwise); /* every failure leaves the default */
    return otherwise;
}

double ad_real_or(const struct ad *ad, const char *name, double otherwise)
{
    (void)ad_get_real(ad, name, &otherwise);
    return otherwise;
}

bool ad_bool_or(const struct ad *ad, const char *name, bool otherwise)
{
    (void)ad_get_bool(ad, name, &otherwise);
    return otherwise;
}

const char *ad_string_or(const struct ad *ad, const char *name, const char *otherwise)
{
    (void)ad_get_string(ad, name, &otherwise);
    return otherwise;
}

bool ad_same(const struct ad *a, const struct ad *b)
{
    if (a->count != b->count) {
        return false;
    }
    for (uint32_t i = 0; i < a->count; i++) {
        const struct ad_entry *x = &a->entries[i];
        const struct ad_entry *y = ad_find_own(b, x->name->text, x->name->length, x->hash);
        if (y == NULL || !ad_expr_same(x->expr, y->expr)) {
            return false;
        }
    }
    return true;
}

/* ---- order of printing ---- */

static int entry_order(const struct ad_entry *a, const struct ad_entry *b)
{
    if (a->name->length != b->name->length) {
        return a->name->length < b->name->length ? -1 : 1;
    }
    return ad_name_compare(a->name->text, b->name->text);
}

static void merge_sort(const struct ad_entry *entries, uint32_t *order, uint32_t *spare,
                       uint32_t count)
{
    if (count < 2) {
        return;
    }
    uint32_t half = count / 2;
    merge_sort(entries, order, spare, half);
    merge_sort(entries, order + half, spare, count - half);
    memcpy(spare, order, half * sizeof(*order));
    uint32_t left = 0;
    uint32_t right = half;
    for (uint32_t to = 0; left < half; to++) {
        if (right < count && entry_order(&entries[order[right]], &entries[spare[left]]) < 0) {
            order[to] = order[right++];
        } else {
            order[to] = spare[left++];
        }
    }
}

uint32_t *ad_sorted(const struct ad *ad)
{
    if (ad->count == 0) {
        return NULL;
    }
    uint32_t *order = mem_alloc(2 * (size_t)ad->count * sizeof(*order));
    for (uint32_t i = 0; i < ad->count; i++) {
        order[i] = i;
    }
    merge_sort(ad->entries, order, order + ad->count, ad->count);
    return order;
}
