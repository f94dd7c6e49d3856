/* classad/ad_project.c - see ad_project.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classad/ad_project.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "classad/ad_packed.h"

struct wanted {
    char *name;
    size_t length;
    uint32_t hash;
    uint32_t place; /* its place in `shape` of the projection */
    bool was_there; /* the last ad had it */
    struct ad_spot spot;
};

struct ad_projection {
    struct ad_shape *shape; /* shape of the last ad; owned */
    struct strbuf head;     /* encoded text of the last ad before the values; empty: none yet */
    size_t count;
    struct wanted wanted[];
};

struct ad_projection *ad_projection_create(const char *const *names, size_t count)
{
    struct ad_projection *projection =
        mem_zalloc(sizeof(*projection) + count * sizeof(projection->wanted[0]));
    strbuf_init(&projection->head, 0);
    for (size_t i = 0; i < count; i++) {
        bool twice = false;
        for (size_t k = 0; k < projection->count && !twice; k++) {
            twice = ad_name_compare(projection->wanted[k].name, names[i]) == 0;
        }
        size_t length = strlen(names[i]);
        if (!twice && length > 0 && length <= AD_NAME_MAX) {
            projection->wanted[projection->count++] =
                (struct wanted){.name = mem_strdup(names[i]),
                                .length = length,
                                .hash = ad_name_hash(names[i], length)};
        }
    }
    return projection;
}

void ad_projection_destroy(struct ad_projection *projection)
{
    if (projection == NULL) {
        return;
    }
    for (size_t i = 0; i < projection->count; i++) {
        mem_free(projection->wanted[i].name);
    }
    if (projection->shape != NULL) {
        ad_shape_unref(projection->shape);
    }
    strbuf_fini(&projection->head);
    mem_free(projection);
}

static void learn_shape(struct ad_projection *projection, struct ad_shape *shape)
{
    if (projection->shape == shape) {
        return;
    }
    if (projection->shape != NULL) {
        ad_shape_unref(projection->shape);
    }
    projection->shape = ad_shape_ref(shape); /* its address means it as long as it is ours */
    for (size_t i = 0; i < projection->count; i++) {
        struct wanted *wanted = &projection->wanted[i];
        wanted->place = ad_shape_place(shape, wanted->name, wanted->length, wanted->hash);
    }
}

/* Finds the attribute in the unchanged body, or anywhere else in the ad. */
static bool find_wanted(const struct ad *ad, const struct wanted *wanted, struct ad_spot *ret)
{
    if (ad->body != NULL && wanted->place != AD_NO_PLACE &&
        (ad->hidden == NULL || (ad->hidden[wanted->place / 64] >> (wanted->place % 64) & 1) == 0)) {
        *ret = (struct ad_spot){.body = ad->body, .place = wanted->place};
        return true;
    }
    return ad->count > 0 && ad_find_own(ad, wanted->name, wanted->length, wanted->hash, ret);
}

static bool is_literal(const struct ad_spot *spot)
{
    return spot->expr != NULL ? ad_expr_is_literal(spot->expr)
                              : ad_body_value(spot->body, spot->place).data[0] <= AD_NODE_RELTIME;
}

static void remember_head(struct ad_projection *projection)
{
    size_t count = 0, bytes = 0;
    for (size_t i = 0; i < projection->count; i++) {
        count += projection->wanted[i].was_there;
        bytes += projection->wanted[i].was_there ? projection->wanted[i].length + 1 : 0;
    }
    strbuf_clear(&projection->head);
    ad_put_head(count, bytes, &projection->head);
    for (size_t i = 0; i < projection->count; i++) {
        const struct wanted *wanted = &projection->wanted[i];
        if (wanted->was_there) {
            strbuf_append(&projection->head, wanted->name, wanted->length + 1);
        }
    }
}

bool ad_project(struct ad_projection *projection, const struct ad *ad, bool with_private,
                bool literals_only, struct strbuf *out)
{
    bool same = projection->head.length > 0;
    if (ad->body != NULL) {
        learn_shape(projection, ad->body->shape);
    }
    for (size_t i = 0; i < projection->count; i++) {
        struct wanted *wanted = &projection->wanted[i];
        bool is_there = find_wanted(ad, wanted, &wanted->spot);
        if (is_there && literals_only && !is_literal(&wanted->spot)) {
            strbuf_clear(&projection->head); /* was_there is of no ad now */
            return false;
        }
        same = same && is_there == wanted->was_there;
        wanted->was_there = is_there;
    }
    if (!same) {
        remember_head(projection);
    }
    strbuf_append(out, projection->head.data, projection->head.length);
    for (size_t i = 0; i < projection->count; i++) {
        const struct wanted *wanted = &projection->wanted[i];
        if (!wanted->was_there) {
            continue;
        }
        struct ad_node literal;
        if (wanted->spot.expr != NULL || (!with_private && !is_literal(&wanted->spot))) {
            ad_value_put(ad_spot_node(&wanted->spot, &literal), with_private, out);
        } else {
            struct ad_bytes raw = ad_body_raw(wanted->spot.body, wanted->spot.place);
            strbuf_append(out, raw.data, raw.length);
        }
    }
    return true;
}
