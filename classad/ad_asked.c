/* classad/ad_asked.c - finds attributes by name, and questions that need no expressions.
 *
 * Names that are asked for again and again, by the same literal in the code, are found without
 * hashing: each shape remembers their places.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "classad/ad.h"
#include "classad/ad_packed.h"

/* A name may be in any of so many places of the cache, so that names that are asked for alternately
 * do not displace each other. */
#define WAYS 4u

static struct ad_asked *asked_at(struct ad_shape *shape, const char *name)
{
    /* Literals lie close together: the product spreads their addresses over its upper bits. */
    uint64_t spread = (uint64_t)(uintptr_t)name * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    return &shape->asked[spread % (AD_SHAPE_ASKED / WAYS) * WAYS];
}

/* Finds a name in the shape's cache.  NULL: it was not asked for, or its address has another text
 * now. */
static const struct ad_asked *find_asked(struct ad_shape *shape, const char *name)
{
    const struct ad_asked *asked = asked_at(shape, name);
    for (unsigned way = 0; way < WAYS; way++, asked++) {
        if (asked->name == name) {
            return strcmp(asked->text, name) == 0 ? asked : NULL;
        }
    }
    return NULL;
}

/* Looks the name up and remembers its place.  The shape seems constant to callers. */
static uint32_t asked_place(struct ad_shape *shape, const char *name, size_t length, uint32_t hash)
{
    uint32_t place = ad_shape_place(shape, name, length, hash);
    if (length < AD_ASKED_BYTES) {
        struct ad_asked *asked = asked_at(shape, name);
        unsigned way = 0;
        while (way + 1 < WAYS && asked[way].name != name) {
            way++;
        }
        memmove(asked + 1, asked, way * sizeof(*asked)); /* the latest first, the oldest goes */
        asked->name = name;
        asked->place = place;
        asked->hash = hash;
        asked->length = (uint8_t)length;
        memcpy(asked->text, name, length + 1);
    }
    return place;
}

uint32_t ad_asked_place(struct ad_shape *shape, const char *name)
{
    const struct ad_asked *asked = find_asked(shape, name);
    if (asked != NULL) {
        return asked->place;
    }
    size_t length = strlen(name);
    return asked_place(shape, name, length, ad_name_hash(name, length));
}

struct hashed_name {
    const char *text;
    size_t length;
    uint32_t hash;
    bool is_hashed; /* length and hash are set */
};

static void hash_once(struct hashed_name *name)
{
    if (!name->is_hashed) {
        name->length = strlen(name->text);
        name->hash = ad_name_hash(name->text, name->length);
        name->is_hashed = true;
    }
}

/* Returns the place of the name in the body; AD_NO_PLACE: none. */
static uint32_t place_in_body(const struct ad_body *body, struct hashed_name *name)
{
    if (body->shape->index == NULL) { /* a few names: no cache is faster than they are */
        hash_once(name);
        return ad_shape_place(body->shape, name->text, name->length, name->hash);
    }
    const struct ad_asked *asked = find_asked(body->shape, name->text);
    if (asked == NULL) {
        hash_once(name);
        return asked_place(body->shape, name->text, name->length, name->hash);
    }
    name->length = asked->length;
    name->hash = asked->hash;
    name->is_hashed = true;
    return asked->place;
}

bool ad_find_value(const struct ad *ad, const char *name, struct ad_spot *ret)
{
    struct hashed_name hashed = {.text = name};
    for (int i = 0; ad != NULL && i < AD_CHAINED_MAX; ad = ad->chain, i++) {
        if (ad->body != NULL) {
            uint32_t place = place_in_body(ad->body, &hashed);
            if (place != AD_NO_PLACE && !ad_is_hidden(ad, place)) {
                *ret = (struct ad_spot){.body = ad->body, .place = place};
                return true;
            }
        }
        if (ad->count > 0) {
            hash_once(&hashed);
            const struct ad_entry *entry =
                ad_find_entry(ad, hashed.text, hashed.length, hashed.hash);
            if (entry != NULL) {
                *ret = (struct ad_spot){.expr = entry->expr};
                return true;
            }
        }
    }
    return false;
}

const struct ad_expr *ad_lookup(const struct ad *ad, const char *name)
{
    struct ad_spot spot;
    return ad_find_value(ad, name, &spot) ? ad_spot_expr(&spot) : NULL;
}

bool ad_has(const struct ad *ad, const char *name)
{
    struct ad_spot spot;
    return ad_find_value(ad, name, &spot);
}

bool ad_may_contain(const struct ad *ad, const char *text)
{
    const struct ad_body *body = ad->body;
    size_t length = strlen(text);
    return ad->count > 0 ||
           (body != NULL && memmem(body->data, body->bytes, text, length) != NULL) ||
           (body != NULL && body->base != NULL &&
            memmem(body->base->data, body->base->bytes, text, length) != NULL);
}
