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

/* Finds an attribute without hashing, by a cached name, if it is unchanged in the body or certainly
 * absent.  False: look it up. */
static bool find_again(const struct ad *ad, const char *name, struct ad_spot *ret, bool *found)
{
    const struct ad_asked *asked = find_asked(ad->body->shape, name);
    if (asked == NULL) {
        return false;
    }
    uint32_t place = asked->place;
    *found = place != AD_NO_PLACE;
    *ret = (struct ad_spot){.body = ad->body, .place = place};
    return *found ? ad->hidden == NULL || (ad->hidden[place / 64] >> (place % 64) & 1) == 0
                  : ad->count == 0 && ad->chain == NULL;
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

bool ad_find_value(const struct ad *ad, const char *name, struct ad_spot *ret)
{
    bool found;
    if (ad != NULL && ad->body != NULL && find_again(ad, name, ret, &found)) {
        return found;
    }
    size_t length = strlen(name);
    uint32_t hash = ad_name_hash(name, length);
    if (ad != NULL && ad->body != NULL) {
        (void)asked_place(ad->body->shape, name, length, hash);
    }
    return ad_find_spot(ad, name, length, hash, ret);
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
