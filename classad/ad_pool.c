/* classad/ad_pool.c - decodes ads into a pool, changes and packs them.  ad_arrival.c handles the
 * bytes of an ad that arrives.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classad/ad_pool.h"

#include <errno.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "classad/ad_packed.h"
#include "classad/ad_regex.h"

#define COUNT_INLINE 256u /* attributes for which a buffer on the stack suffices */
#define CHANGES_MAX  64u  /* with more changes, each is set on its own */
#define ENTRIES_MAX  16u  /* entries over a body; with more, a changed ad gets a new body */

struct ad_pool *ad_pool_create(void)
{
    return mem_zalloc(sizeof(struct ad_pool));
}

void ad_pool_destroy(struct ad_pool *pool)
{
    if (pool == NULL) {
        return;
    }
    for (uint32_t i = 0; i < AD_POOL_KEPT; i++) {
        ad_shape_unref(pool->kept[i]);
    }
    for (struct hash_link *link = NULL; (link = hash_chains_next(&pool->shapes, link)) != NULL;) {
        ((struct ad_shape *)link)->pool = NULL; /* lives on with its ads */
    }
    ad_regex_cache_destroy(pool->regexes);
    for (uint32_t i = 0; i < AD_POOL_NAMES; i++) {
        ad_name_destroy(pool->names[i]);
    }
    hash_chains_fini(&pool->shapes);
    mem_free(pool);
}

static int decode_body(struct ad_pool *pool, const struct ad *previous,
                       const struct ad_given *const *given, size_t given_count, const void *data,
                       size_t length, size_t *used, struct ad **ret, struct err *err)
{
    struct ad_body *body = NULL;
    size_t taken = 0;
    int rc = ad_body_arrive(pool, previous, given, given_count, data, length, &taken, &body, err);
    if (rc < 0) {
        return rc;
    }
    if (used == NULL && taken != length) {
        ad_body_unref(body);
        return err_set(err, -EBADMSG, "binary ad, byte %zu: extra bytes follow the ad", taken);
    }
    if (used != NULL) {
        *used = taken;
    }
    struct ad *ad = ad_create();
    ad->body = body;
    ad->has_special = body->shape->has_special;
    *ret = ad;
    return 0;
}

int ad_decode_given(struct ad_pool *pool, const struct ad *previous,
                    const struct ad_given *const *given, size_t given_count, const void *data,
                    size_t length, struct ad **ret, struct err *err)
{
    return decode_body(pool, previous, given, given_count, data, length, NULL, ret, err);
}

int ad_decode_in(struct ad_pool *pool, const struct ad *previous, const void *data, size_t length,
                 size_t *used, struct ad **ret, struct err *err)
{
    return decode_body(pool, previous, NULL, 0, data, length, used, ret, err);
}

int ad_decode(const void *data, size_t length, size_t *used, struct ad **ret, struct err *err)
{
    return ad_decode_in(NULL, NULL, data, length, used, ret, err);
}

/* ---- a look before decoding ---- */

/* Returns the place of the attribute with that name; AD_NO_PLACE: none, or the names are
 * malformed. */
static uint32_t peek_place(struct ad_pool *pool, const struct ad_outline *outline, const char *name)
{
    size_t length = strlen(name);
    const struct ad_shape *shape =
        ad_shape_find(pool, outline->names, outline->names_bytes, outline->count);
    if (shape != NULL) {
        return ad_shape_place(shape, name, length, ad_name_hash(name, length));
    }
    return ad_outline_place(outline, name, length);
}

int ad_peek_string(struct ad_pool *pool, const void *data, size_t length, const char *name,
                   const char **text, size_t *text_length, struct err *err)
{
    struct ad_outline outline;
    int rc = ad_outline_read(data, length, &outline, err);
    if (rc < 0) {
        return rc;
    }
    uint32_t place = peek_place(pool, &outline, name);
    if (place == AD_NO_PLACE) {
        return -ENOENT;
    }
    const unsigned char *at = outline.values;
    const unsigned char *begin = at;
    for (uint32_t i = 0; i <= place; i++) {
        begin = at;
        if (!ad_pass_value(&at, outline.end)) {
            return err_set(err, -EBADMSG, "binary ad: a value is cut off");
        }
    }
    struct ad_bytes value = ad_raw_value((struct ad_bytes){begin, (size_t)(at - begin)});
    if (value.data[0] != AD_NODE_STRING || value.length < 2) {
        return -ENOENT;
    }
    *text = (const char *)value.data + 1;
    *text_length = value.length - 2;
    return 0;
}

/* ---- changing ---- */

/* Copies the own values of `old` with the changes over them; all are sorted by place.  Returns how
 * many. */
static uint32_t lay_over(const struct ad_body *old, const struct ad_own *changes, uint32_t count,
                         struct ad_own *ret)
{
    uint32_t made = 0;
    uint32_t next = 0; /* of changes */
    const struct ad_body *base = old->base;
    uint32_t words = base != NULL ? (old->shape->count + 63) / 64 : 0;
    uint32_t own = 0;
    for (uint32_t i = 0; i < words; i++) {
        for (uint64_t word = old->mask[i]; word != 0; word &= word - 1) {
            uint32_t place = i * 64 + ad_lowest_bit(word);
            while (next < count && changes[next].place < place) {
                ret[made++] = changes[next++];
            }
            uint32_t begin = ad_body_offset(old, own);
            if (next < count && changes[next].place == place) {
                ret[made++] = changes[next++];
            } else {
                ret[made++] =
                    (struct ad_own){place,
                                    {old->data + begin, ad_body_offset(old, own + 1) - begin}};
            }
            own++;
        }
    }
    while (next < count) {
        ret[made++] = changes[next++];
    }
    return made;
}

static void whole_own(const struct ad_body *old, const struct ad_own *changes, uint32_t count,
                      struct ad_own *ret)
{
    for (uint32_t i = 0; i < old->shape->count; i++) {
        ret[i] = (struct ad_own){i, ad_body_raw(old, i)};
    }
    for (uint32_t i = 0; i < count; i++) {
        ret[changes[i].place] = changes[i];
    }
}

static size_t own_bytes(const struct ad_own *own, uint32_t count)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        bytes += own[i].raw.length;
    }
    return bytes;
}

/* Returns a body like old with the changes, which are sorted by place; NULL: out of memory. */
static struct ad_body *change_body(const struct ad_body *old, const struct ad_own *changes,
                                   uint32_t count, bool has_ads)
{
    struct ad_body *base = old->base;
    if (base == NULL && old->user_count > 0) {
        base = (struct ad_body *)(uintptr_t)old; /* gets one more user */
    }
    struct ad_body *body;
    if (base == NULL) {
        body = ad_body_patch(old, changes, count);
    } else {
        uint32_t room = old->shape->count;
        struct ad_own own_inline[COUNT_INLINE];
        struct ad_own *own = room <= COUNT_INLINE ? own_inline : mem_alloc(room * sizeof(*own));
        uint32_t own_count = lay_over(old, changes, count, own);
        if (own_bytes(own, own_count) > base->bytes / 2) {
            whole_own(old, changes, count, own);
            own_count = room;
            has_ads = has_ads || base->has_ads;
            base = NULL;
        }
        size_t total = old->total_bytes;
        for (uint32_t i = 0; i < count; i++) {
            total += changes[i].raw.length;
            total -= ad_body_raw(old, changes[i].place).length;
        }
        body = ad_body_build(old->shape, base, own, own_count, total);
        if (own != own_inline) {
            mem_free(own);
        }
    }
    if (body != NULL) {
        body->has_ads = has_ads || old->has_ads;
        if (base == NULL && old->is_remembered) {
            ad_body_remember(body);
        }
    }
    return body;
}

static void insert_in_order(struct ad_own *own, uint32_t count, struct ad_own add)
{
    for (; count > 0 && own[count - 1].place > add.place; count--) {
        own[count] = own[count - 1];
    }
    own[count] = add;
}

struct changes {
    /* changes of attributes in the old ad's body, sorted by place */
    struct ad_own own[CHANGES_MAX];
    uint32_t count;
    bool has_ads;
    struct strbuf scratch;       /* bytes of values that were expressions */
    size_t offsets[CHANGES_MAX]; /* where in scratch the values begin that are there */
};

/* Notes a change of an attribute in the old ad's body.  If its bytes are in scratch, their address
 * is filled in by order_changes(). */
static void note_change(struct changes *changes, uint32_t place, const struct ad_spot *spot)
{
    struct ad_own own = {place, {NULL, 0}};
    if (spot->expr == NULL) {
        own.raw = ad_body_raw(spot->body, spot->place);
        changes->has_ads = changes->has_ads || ad_body_holds_ads(spot->body);
    } else {
        changes->offsets[changes->count] = changes->scratch.length;
        ad_value_put(&spot->expr->root, true, &changes->scratch);
        own.raw.length = changes->scratch.length - changes->offsets[changes->count];
        changes->has_ads = changes->has_ads || spot->expr->has_ads;
    }
    changes->own[changes->count++] = own;
}

/* Sorts the changes by place, when scratch does not move any more. */
static void order_changes(struct changes *changes)
{
    for (uint32_t i = 0; i < changes->count; i++) {
        struct ad_own add = changes->own[i];
        if (add.raw.data == NULL) {
            add.raw.data = (const unsigned char *)changes->scratch.data + changes->offsets[i];
        }
        insert_in_order(changes->own, i, add);
    }
}

/* Sets an attribute that is not in the body. */
static int put_item(struct ad *ad, const struct ad_item *item)
{
    struct ad_expr *expr = ad_expr_ref(ad_spot_expr(&item->spot));
    int rc = ad_put(ad, item->name, item->length, expr, true);
    if (rc < 0) {
        ad_expr_destroy(expr);
    }
    return rc;
}

/* Changes ad, a copy of old that still has old's body. */
static int change_copy(struct ad *ad, const struct ad *old, const struct ad *changes)
{
    struct changes of_body = {.count = 0};
    strbuf_init(&of_body.scratch, 0);
    size_t at = 0;
    struct ad_item item;
    int rc = 0;
    bool by_bytes = old->body != NULL && ad_count(changes) <= CHANGES_MAX;
    while (rc == 0 && ad_walk(changes, &at, &item)) {
        struct ad_spot spot;
        if (by_bytes && ad_find_own(old, item.name, item.length, item.hash, &spot) &&
            spot.expr == NULL) {
            note_change(&of_body, spot.place, &item.spot);
        } else {
            rc = put_item(ad, &item);
        }
    }
    if (of_body.scratch.failed) {
        rc = -E2BIG;
    }
    if (rc == 0 && of_body.count > 0) {
        order_changes(&of_body);
        struct ad_body *body = change_body(old->body, of_body.own, of_body.count, of_body.has_ads);
        if (body != NULL) {
            ad_body_unref(ad->body);
            ad->body = body;
        } else {
            rc = -ENOMEM;
        }
    }
    strbuf_fini(&of_body.scratch);
    return rc;
}

struct ad *ad_change(struct ad_pool *pool, const struct ad *old, const struct ad *changes)
{
    struct ad *ad = ad_copy(old);
    if (change_copy(ad, old, changes) < 0) {
        ad_destroy(ad);
        return NULL;
    }
    if (pool != NULL && ad->count > ENTRIES_MAX) {
        ad_pack(pool, old, ad);
    }
    return ad;
}

/* ---- packing ---- */

void ad_pack(struct ad_pool *pool, const struct ad *previous, struct ad *ad)
{
    if (ad->body != NULL && ad->count == 0 && ad->hidden == NULL) {
        ad_body_forget(ad->body);
        return;
    }
    struct strbuf bytes;
    strbuf_init(&bytes, AD_TEXT_MAX);
    ad_encode(ad, true, &bytes);
    struct ad_body *body = NULL;
    size_t used;
    /* What is beyond a limit of the binary form stays as it is. */
    if (!bytes.failed && ad_body_arrive(pool, previous, NULL, 0, bytes.data, bytes.length, &used,
                                        &body, NULL) == 0) {
        ad_set_body(ad, body);
    }
    strbuf_fini(&bytes);
}

/* ---- comparison ---- */

bool ad_same_literal(const struct ad *a, const struct ad *b, const char *name)
{
    const struct ad_body *x = a->body;
    const struct ad_body *y = b->body;
    if (x == NULL || y == NULL || x->shape != y->shape || a->count > 0 || b->count > 0 ||
        a->hidden != NULL || b->hidden != NULL || a->chain != NULL || b->chain != NULL) {
        return false;
    }
    uint32_t place = ad_asked_place(x->shape, name);
    if (place == AD_NO_PLACE) {
        return true;
    }
    struct ad_bytes u = ad_body_raw(x, place);
    struct ad_bytes v = ad_body_raw(y, place);
    return ad_raw_value(u).data[0] < AD_NODE_LIST &&
           (u.data == v.data || (u.length == v.length && memcmp(u.data, v.data, u.length) == 0));
}

void ad_prefetch(const struct ad *ad)
{
    enum { LINE = 64, LINES = 12 };
    if (ad != NULL && ad->body != NULL) {
        const char *at = (const char *)ad->body;
        for (unsigned i = 0; i < LINES; i++) {
            __builtin_prefetch(at + (size_t)i * LINE);
        }
    }
}

/* ---- figures ---- */

void ad_pool_figures(const struct ad_pool *pool, struct ad_pool_figures *ret)
{
    *ret = (struct ad_pool_figures){0};
    const struct hash_link *link = NULL;
    while ((link = hash_chains_next(&pool->shapes, link)) != NULL) {
        const struct ad_shape *shape = (const struct ad_shape *)link;
        if (shape->is_kept && shape->owner_count == 1) {
            continue; /* no ad has it */
        }
        ret->shapes++;
        ret->bytes += ad_shape_bytes(shape);
        for (uint32_t j = 0; j < AD_SHAPE_BODIES; j++) {
            const struct ad_body *body = shape->bodies[j];
            if (body != NULL && body->user_count > 0) {
                ret->prototypes++;
                ret->bytes += ad_body_heap(body);
            }
        }
    }
}

size_t ad_own_bytes(const struct ad *ad)
{
    size_t bytes = sizeof(*ad) + ad->capacity * sizeof(*ad->entries);
    if (ad->body != NULL) {
        bool is_shared = ad->body->owner_count > 1;
        bytes += is_shared ? 0 : ad_body_heap(ad->body);
        bytes += ad->hidden != NULL ? (ad->body->shape->count + 63) / 64 * sizeof(uint64_t) : 0;
    }
    for (uint32_t i = 0; i < ad->count; i++) {
        bytes += ad_expr_bytes(ad->entries[i].expr);
        bytes += sizeof(struct ad_name) + ad->entries[i].name->length + 1;
    }
    bytes += ad_index_size(ad);
    return bytes;
}
