/* classad/ad_pool.c - ads into and out of a pool: which base a body gets, and what is checked.
 *
 * An ad that arrives is compared value by value with a body of its shape: that of the ad it
 * replaces, or the base of that, or (for a new ad) one of those that the shape remembers.  Only
 * what differs is looked at.  It is kept as differences when those are at most half; otherwise it
 * keeps all its values and is remembered as a base for others.  An ad that is like no other thus
 * costs its values once, whatever arrives before and after it.
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

#define COUNT_INLINE 256u /* attributes for which the stack has room */
#define CHANGES_MAX  64u  /* more at once are set one by one */
#define ENTRIES_MAX  16u  /* over a body, before a changed ad gets a body of all its attributes */

struct ad_pool *ad_pool_create(void)
{
    return mem_zalloc(sizeof(struct ad_pool));
}

void ad_pool_destroy(struct ad_pool *pool)
{
    if (pool == NULL) {
        return;
    }
    for (size_t i = 0; i < pool->chain_count; i++) {
        for (struct ad_shape *shape = pool->chains[i]; shape != NULL; shape = shape->next) {
            shape->pool = NULL; /* lives on with its ads */
        }
    }
    ad_regex_cache_destroy(pool->regexes);
    for (uint32_t i = 0; i < AD_POOL_NAMES; i++) {
        ad_name_destroy(pool->names[i]);
    }
    mem_free(pool->chains);
    mem_free(pool);
}

/* ---- an ad arrives ---- */

struct arrival {
    struct ad_pool *pool;
    const struct ad_body *before; /* of the previous ad, of the same shape; NULL: none */
    struct ad_shape *shape;
    const unsigned char *values;
    const unsigned char *end; /* of what there is */
    size_t bytes;             /* of the values, when all were gone over */
    struct ad_own *own;       /* values that differ from the base under trial */
    uint32_t own_count;
    size_t own_bytes;
    struct err *err;
    void *heap; /* own, when there are many */
    struct ad_own own_inline[COUNT_INLINE];
};

static int arrival_room(struct arrival *arrival, uint32_t count)
{
    arrival->heap = NULL;
    arrival->own = arrival->own_inline;
    if (count > COUNT_INLINE) {
        arrival->heap = mem_try_alloc(count * sizeof(*arrival->own));
        arrival->own = arrival->heap;
    }
    return arrival->own != NULL ? 0 : err_set(arrival->err, -E2BIG, "binary ad: out of memory");
}

/* Goes over one value; false: its length is not in its shortest form, zero, or more than is left.
 */
static bool pass_value(const unsigned char **at, const unsigned char *end)
{
    const unsigned char *next = *at;
    size_t length = next < end ? *next++ : 0;
    if (length >= 0x80) {
        length &= 0x7f;
        unsigned char byte = 0x80;
        for (unsigned shift = 7; byte >= 0x80 && shift <= 28 && next < end; shift += 7) {
            byte = *next++;
            length |= (size_t)(byte & 0x7f) << shift;
        }
        if (byte >= 0x80 || byte == 0) {
            return false;
        }
    }
    if (length == 0 || length > (size_t)(end - next)) {
        return false;
    }
    *at = next + length;
    return true;
}

/* Adds the value at *at, which is that of place, to own. */
static int add_own(struct arrival *arrival, uint32_t place, const unsigned char **at)
{
    const unsigned char *raw = *at;
    if (!pass_value(at, arrival->end)) {
        return err_set(arrival->err, -EBADMSG,
                       "binary ad, byte %zu of the values: the length of %s is wrong",
                       (size_t)(raw - arrival->values), ad_shape_name(arrival->shape, place));
    }
    size_t length = (size_t)(*at - raw);
    arrival->own[arrival->own_count++] = (struct ad_own){place, {raw, length}};
    arrival->own_bytes += length;
    return 0;
}

/* How many bytes are the same from the beginning on. */
static size_t same_bytes(const unsigned char *a, const unsigned char *b, size_t length)
{
    size_t at = 0;
    for (; length - at >= 32; at += 32) {
        uint64_t x[4];
        uint64_t y[4];
        memcpy(x, a + at, sizeof(x));
        memcpy(y, b + at, sizeof(y));
        if (((x[0] ^ y[0]) | (x[1] ^ y[1]) | (x[2] ^ y[2]) | (x[3] ^ y[3])) != 0) {
            break;
        }
    }
    for (; length - at >= 8; at += 8) {
        uint64_t x;
        uint64_t y;
        memcpy(&x, a + at, sizeof(x));
        memcpy(&y, b + at, sizeof(y));
        if (x != y) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
            return at + (size_t)__builtin_ctzll(x ^ y) / 8;
#else
            break;
#endif
        }
    }
    while (at < length && a[at] == b[at]) {
        at++;
    }
    return at;
}

/* Sets own to what differs from base, in one walk over both.  1; 0 when the differences are more
 * than bytes_max (own is not complete then); -EBADMSG. */
static int compare(struct arrival *arrival, const struct ad_body *base, size_t bytes_max)
{
    const unsigned char *at = arrival->values;
    uint32_t count = arrival->shape->count;
    uint32_t i = 0;
    arrival->own_count = 0;
    arrival->own_bytes = 0;
    while (i < count) {
        uint32_t begin = ad_body_offset(base, i);
        size_t left = (size_t)(arrival->end - at);
        size_t theirs = base->bytes - begin;
        size_t same = same_bytes(at, base->data + begin, left < theirs ? left : theirs);
        uint32_t next;
        /* A value begins with its length: where all its bytes are the same, so is its end. */
        while (i < count && (next = ad_body_offset(base, i + 1)) - begin <= same) {
            i++;
        }
        at += ad_body_offset(base, i) - begin;
        if (i < count) {
            int rc = add_own(arrival, i, &at);
            if (rc < 0) {
                return rc;
            }
            if (arrival->own_bytes > bytes_max) {
                return 0;
            }
            i++;
        }
    }
    arrival->bytes = (size_t)(at - arrival->values);
    return 1;
}

static int all_own(struct arrival *arrival)
{
    const unsigned char *at = arrival->values;
    arrival->own_count = 0;
    arrival->own_bytes = 0;
    for (uint32_t i = 0; i < arrival->shape->count; i++) {
        int rc = add_own(arrival, i, &at);
        if (rc < 0) {
            return rc;
        }
    }
    arrival->bytes = arrival->own_bytes;
    return 1;
}

/* The remembered body that differs least, at most by half; own is set for it, or to all when *ret
 * is NULL.  1 or -EBADMSG. */
static int best_base(struct arrival *arrival, struct ad_body **ret)
{
    struct ad_body *best = NULL;
    size_t bytes_max = 0;
    for (uint32_t i = 0; i < AD_SHAPE_BODIES; i++) {
        struct ad_body *body = arrival->shape->bodies[i];
        if (body == NULL) {
            continue;
        }
        int rc = compare(arrival, body, best == NULL ? body->bytes / 2 : bytes_max);
        if (rc < 0) {
            return rc;
        }
        if (rc > 0) {
            best = body;
            if (arrival->own_bytes == 0) {
                break;
            }
            bytes_max = arrival->own_bytes - 1;
        }
    }
    *ret = best;
    return best != NULL ? compare(arrival, best, SIZE_MAX) : all_own(arrival);
}

/* Checks the values in own; those which the previous ad had as well were checked then: *known of
 * them. */
static int check_own(const struct arrival *arrival, uint32_t *known, bool *has_ads)
{
    const struct ad_body *before = arrival->before;
    size_t nodes = 0;
    *known = 0;
    for (uint32_t i = 0; i < arrival->own_count; i++) {
        const struct ad_own *own = &arrival->own[i];
        if (before != NULL && before->base != NULL) {
            struct ad_bytes old = ad_body_raw(before, own->place);
            if (old.length == own->raw.length && memcmp(old.data, own->raw.data, old.length) == 0) {
                *has_ads = *has_ads || ad_body_holds_ads(before);
                ++*known;
                continue;
            }
        }
        int rc = ad_value_check(ad_raw_value(own->raw), &nodes, has_ads, arrival->err);
        if (rc < 0) {
            return err_prefix(arrival->err, rc, "%s", ad_shape_name(arrival->shape, own->place));
        }
    }
    return 0;
}

/* What the values are kept as. */
struct choice {
    struct ad_body *base;        /* differences from this one, or */
    const struct ad_body *patch; /* all of this one, with the differences in it, or all of own */
};

/* Compares with what there is.  1 or -EBADMSG. */
static int choose(struct arrival *arrival, struct choice *choice)
{
    const struct ad_body *before = arrival->before;
    *choice = (struct choice){NULL, NULL};
    if (before != NULL && before->base == NULL) {
        int rc = compare(arrival, before, SIZE_MAX);
        bool is_like = arrival->own_bytes <= before->bytes / 2;
        if (before->user_count > 0 && is_like) {
            choice->base = (struct ad_body *)(uintptr_t)before; /* gets one more user */
        } else {
            choice->patch = before;
        }
        return rc;
    }
    if (before != NULL) {
        int rc = compare(arrival, before->base, before->base->bytes / 2);
        choice->base = before->base;
        if (rc != 0) {
            return rc;
        }
    }
    return best_base(arrival, &choice->base);
}

static bool is_unchanged(const struct arrival *arrival, const struct choice *choice, uint32_t known)
{
    const struct ad_body *before = arrival->before;
    if (before == NULL) {
        return false;
    }
    return before->base == NULL ? arrival->own_count == 0
                                : choice->base == before->base && known == arrival->own_count &&
                                      known == before->own_count;
}

static int make_body(struct arrival *arrival, struct ad_body **ret)
{
    struct choice choice;
    uint32_t known;
    bool has_ads = false;
    int rc = choose(arrival, &choice);
    if (rc >= 0) {
        rc = check_own(arrival, &known, &has_ads);
    }
    if (rc < 0) {
        return rc;
    }
    if (is_unchanged(arrival, &choice, known)) {
        *ret = ad_body_ref(arrival->before);
        return 0;
    }
    struct ad_body *body;
    if (choice.patch != NULL) {
        body = ad_body_patch(choice.patch, arrival->own, arrival->own_count);
        has_ads = has_ads || choice.patch->has_ads;
    } else {
        body = ad_body_build(arrival->shape, choice.base, arrival->own, arrival->own_count,
                             arrival->bytes);
    }
    if (body == NULL) {
        return err_set(arrival->err, -E2BIG, "binary ad: out of memory");
    }
    body->has_ads = has_ads;
    if (body->base == NULL && arrival->pool != NULL) {
        ad_body_remember(body);
    }
    *ret = body;
    return 0;
}

static int arrival_shape(struct arrival *arrival, const struct ad *previous,
                         const struct ad_outline *outline)
{
    const struct ad_body *before = previous != NULL ? previous->body : NULL;
    if (before != NULL &&
        ad_shape_is(before->shape, outline->names, outline->names_bytes, outline->count)) {
        arrival->before = before;
        arrival->shape = ad_shape_ref(before->shape);
        return 0;
    }
    return ad_shape_get(arrival->pool, outline->names, outline->names_bytes, outline->count,
                        &arrival->shape, arrival->err);
}

/* *used: bytes of the ad. */
static int decode_body(struct ad_pool *pool, const struct ad *previous, const void *data,
                       size_t length, size_t *used, struct ad_body **ret, struct err *err)
{
    struct arrival arrival;
    arrival.pool = pool;
    arrival.before = NULL;
    arrival.err = err;
    struct ad_outline outline;
    int rc = ad_outline_read(data, length, &outline, err);
    if (rc == 0) {
        rc = arrival_shape(&arrival, previous, &outline);
    }
    if (rc < 0) {
        return rc;
    }
    struct ad_body *body = NULL;
    arrival.values = outline.values;
    arrival.end = outline.end;
    rc = arrival_room(&arrival, outline.count);
    if (rc == 0) {
        rc = make_body(&arrival, &body);
    }
    if (rc == 0) {
        *used = (size_t)(outline.values - (const unsigned char *)data) + body->total_bytes;
    }
    mem_free(arrival.heap);
    ad_shape_unref(arrival.shape); /* the body has it */
    *ret = body;
    return rc;
}

static bool is_first_version(const void *data, size_t length)
{
    return length > 0 && *(const unsigned char *)data == AD_BINARY_FIRST;
}

int ad_decode_in(struct ad_pool *pool, const struct ad *previous, const void *data, size_t length,
                 size_t *used, struct ad **ret, struct err *err)
{
    if (is_first_version(data, length)) {
        struct ad *ad = NULL;
        int rc = ad_decode_first(data, length, used, &ad, err);
        if (rc == 0) {
            if (pool != NULL) {
                ad_pack(pool, previous, ad);
            }
            *ret = ad;
        }
        return rc;
    }
    struct ad_body *body = NULL;
    size_t taken = 0;
    int rc = decode_body(pool, previous, data, length, &taken, &body, err);
    if (rc < 0) {
        return rc;
    }
    if (used == NULL && taken != length) {
        ad_body_unref(body);
        return err_set(err, -EBADMSG, "binary ad, byte %zu: more follows than belongs to it",
                       taken);
    }
    if (used != NULL) {
        *used = taken;
    }
    struct ad *ad = ad_create();
    ad_set_body(ad, body);
    *ret = ad;
    return 0;
}

int ad_decode(const void *data, size_t length, size_t *used, struct ad **ret, struct err *err)
{
    return ad_decode_in(NULL, NULL, data, length, used, ret, err);
}

/* ---- a look before decoding ---- */

static int peek_first(const void *data, size_t length, const char *name, const char **text,
                      size_t *text_length, struct err *err)
{
    struct ad *ad = NULL;
    size_t used;
    int rc = ad_decode_first(data, length, &used, &ad, err);
    if (rc < 0) {
        return rc;
    }
    const struct ad_expr *expr = ad_lookup(ad, name);
    const char *found = NULL;
    size_t found_length = 0;
    rc = -ENOENT;
    if (expr != NULL && ad_expr_literal_string(expr, &found, &found_length)) {
        *text = found_length > 0 ? memmem(data, length, found, found_length) : data;
        *text_length = found_length;
        CHECK(*text != NULL); /* it was read from there */
        rc = 0;
    }
    ad_destroy(ad);
    return rc;
}

/* Which attribute has that name; AD_NO_PLACE: none, or the names are malformed. */
static uint32_t peek_place(struct ad_pool *pool, const struct ad_outline *outline, const char *name)
{
    size_t length = strlen(name);
    const struct ad_shape *shape =
        ad_shape_find(pool, outline->names, outline->names_bytes, outline->count);
    if (shape != NULL) {
        return ad_shape_place(shape, name, length, ad_name_hash(name, length));
    }
    const char *at = outline->names;
    const char *end = at + outline->names_bytes;
    for (uint32_t i = 0; i < outline->count && at < end; i++) {
        const char *zero = memchr(at, '\0', (size_t)(end - at));
        if (zero == NULL) {
            break;
        }
        if ((size_t)(zero - at) == length && ad_name_equal(at, name, length)) {
            return i;
        }
        at = zero + 1;
    }
    return AD_NO_PLACE;
}

int ad_peek_string(struct ad_pool *pool, const void *data, size_t length, const char *name,
                   const char **text, size_t *text_length, struct err *err)
{
    if (is_first_version(data, length)) {
        return peek_first(data, length, name, text, text_length, err);
    }
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
        if (!pass_value(&at, outline.end)) {
            return err_set(err, -EBADMSG, "binary ad: a value is cut short");
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

/* Copies own values of `old` and puts changes over them, both in order of place. */
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
            uint32_t place = i * 64 + ad_bits((word & (0 - word)) - 1);
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

/* old with the changes, which are in order of place.  NULL: out of memory. */
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
    struct ad_own own[CHANGES_MAX]; /* of the body of the old ad, in order of place */
    uint32_t count;
    bool has_ads;
    struct strbuf scratch;       /* values that were no bytes yet */
    size_t offsets[CHANGES_MAX]; /* where in scratch, for those that lie there */
};

/* A change of the body of the old ad; where its bytes lie in scratch is filled in at the end. */
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

/* Sorts by place, once the scratch moves no more. */
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

/* What is no attribute of the body: set on ad one by one. */
static int put_item(struct ad *ad, const struct ad_item *item)
{
    struct ad_expr *expr = ad_expr_ref(ad_spot_expr(&item->spot));
    int rc = ad_put(ad, item->name, item->length, expr, true);
    if (rc < 0) {
        ad_expr_destroy(expr);
    }
    return rc;
}

/* Changes the copy of old, whose body it still has. */
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
        return;
    }
    struct strbuf bytes;
    strbuf_init(&bytes, AD_TEXT_MAX);
    ad_encode(ad, true, &bytes);
    struct ad_body *body = NULL;
    size_t used;
    /* What is beyond a limit of the binary form stays as it is. */
    if (!bytes.failed &&
        decode_body(pool, previous, bytes.data, bytes.length, &used, &body, NULL) == 0) {
        ad_set_body(ad, body);
    }
    strbuf_fini(&bytes);
}

/* ---- figures ---- */

void ad_pool_figures(const struct ad_pool *pool, struct ad_pool_figures *ret)
{
    *ret = (struct ad_pool_figures){0};
    for (size_t i = 0; i < pool->chain_count; i++) {
        for (const struct ad_shape *shape = pool->chains[i]; shape != NULL; shape = shape->next) {
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
    bytes += ad->index != NULL ? ((size_t)ad->index_mask + 1) * sizeof(*ad->index) : 0;
    return bytes;
}
