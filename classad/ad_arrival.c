/* classad/ad_arrival.c - makes bodies of ads that arrive as bytes: chooses the base of a body, and
 * checks what is new.
 *
 * An ad that arrives is compared with a body of its shape: that of the ad that it replaces, or that
 * body's base, or (for a new ad) one of the bodies that the shape remembers.  Only differences are
 * looked at.  If they are at most half of the ad, the ad is kept as differences; otherwise it keeps
 * all its values and is remembered as a base for others.  So an ad that resembles no other costs
 * its values once, whatever arrives before and after it.
 *
 * If the replaced ad was kept as differences, it guides the comparison: attributes that differed
 * from the base then will probably differ again, and those between them will be the same, which one
 * comparison of bytes shows for many values at once.  Values are looked at one by one only where
 * this fails.
 *
 * The values that the receiver gives (struct ad_given) take the place of values that were sent, or
 * places after all of them: they lie among the bytes as if they had been sent.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "classad/ad_packed.h"
#include "classad/ad_pool.h"

#define COUNT_INLINE 256u /* attributes for which a buffer on the stack suffices */

struct ad_given {
    struct ad_expr *value;
    uint32_t hash;
    uint32_t length; /* length of the name */
    char *name;
    struct strbuf raw; /* the value in binary form, with its length before it */
};

struct gift { /* a value that the receiver gives, with its place in the ad's shape */
    uint32_t place;
    struct ad_bytes raw;
};

struct arrival {
    struct ad_pool *pool;
    /* body of the replaced ad, which has the same shape; NULL: none */
    const struct ad_body *before;
    struct ad_shape *shape;
    uint32_t sent_count;  /* values that were sent; they have the first places of the shape */
    uint32_t gift_count;  /* the gifts are sorted by place */
    uint32_t known_count; /* own values that the replaced ad had, too */
    const unsigned char *values;
    const unsigned char *end; /* end of the received bytes */
    size_t sent_bytes;        /* bytes of the sent values, known after all were compared */
    size_t bytes;             /* the same including the gifts */
    struct ad_own *own;       /* values that differ from the base under comparison */
    uint32_t own_count;
    bool has_ads;
    size_t own_bytes;
    size_t nodes;
    struct err *err;
    void *heap; /* memory of own when it does not fit on the stack */
    struct gift gifts[AD_GIVEN_MAX];
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

/* ---- values that the receiver gives ---- */

struct ad_given *ad_given_create(const char *name, struct ad_expr *value)
{
    struct ad_given *given = mem_alloc(sizeof(*given));
    size_t length = strlen(name);
    *given = (struct ad_given){.value = value,
                               .hash = ad_name_hash(name, length),
                               .length = (uint32_t)length,
                               .name = mem_strdup(name)};
    strbuf_init(&given->raw, AD_STRING_MAX + 16);
    ad_value_put(&value->root, true, &given->raw);
    CHECK(!given->raw.failed);
    return given;
}

void ad_given_destroy(struct ad_given *given)
{
    if (given != NULL) {
        ad_expr_destroy(given->value);
        strbuf_fini(&given->raw);
        mem_free(given->name);
        mem_free(given);
    }
}

void ad_given_set(struct ad *ad, const struct ad_given *given)
{
    ad_set(ad, given->name, ad_expr_ref(given->value));
}

static bool same_raw(struct ad_bytes a, struct ad_bytes b)
{
    return a.length == b.length && memcmp(a.data, b.data, a.length) == 0;
}

/* ---- shapes ---- */

uint32_t ad_outline_place(const struct ad_outline *outline, const char *name, size_t length)
{
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

/* Returns whether the shape consists of the names that were sent, followed by the given names that
 * were not sent.  If so, fills the gifts. */
static bool shape_fits(struct arrival *arrival, const struct ad_shape *shape,
                       const struct ad_outline *outline, const struct ad_given *const *given,
                       uint32_t given_count)
{
    if (shape->count < outline->count || shape->names_bytes < outline->names_bytes ||
        memcmp(shape->names, outline->names, outline->names_bytes) != 0) {
        return false;
    }
    uint32_t more = 0;
    arrival->gift_count = 0;
    for (uint32_t i = 0; i < given_count; i++) {
        const struct ad_given *each = given[i];
        uint32_t place = ad_shape_place(shape, each->name, each->length, each->hash);
        if (place == AD_NO_PLACE) {
            return false;
        }
        more += place >= outline->count;
        uint32_t at = arrival->gift_count++;
        for (; at > 0 && arrival->gifts[at - 1].place > place; at--) {
            arrival->gifts[at] = arrival->gifts[at - 1];
        }
        arrival->gifts[at] =
            (struct gift){place, {(const unsigned char *)each->raw.data, each->raw.length}};
    }
    return shape->count - outline->count == more &&
           (more > 0 ? shape->entries[outline->count].offset : shape->names_bytes) ==
               outline->names_bytes;
}

/* Finds or makes the shape of the sent names followed by the given names that were not sent. */
static int extended_shape(struct arrival *arrival, const struct ad_outline *outline,
                          const struct ad_given *const *given, uint32_t given_count)
{
    struct strbuf names;
    uint32_t count = outline->count;
    strbuf_init(&names, 0);
    strbuf_append(&names, outline->names, outline->names_bytes);
    for (uint32_t i = 0; i < given_count; i++) {
        if (ad_outline_place(outline, given[i]->name, given[i]->length) == AD_NO_PLACE) {
            strbuf_append(&names, given[i]->name, (size_t)given[i]->length + 1);
            count++;
        }
    }
    int rc =
        ad_shape_get(arrival->pool, names.data, names.length, count, &arrival->shape, arrival->err);
    strbuf_fini(&names);
    if (rc == 0 && !shape_fits(arrival, arrival->shape, outline, given, given_count)) {
        ad_shape_unref(arrival->shape);
        return err_set(arrival->err, -EBADMSG,
                       "binary ad: the ad has more or fewer names than its header says");
    }
    return rc;
}

static int arrival_shape(struct arrival *arrival, const struct ad *previous,
                         const struct ad_outline *outline, const struct ad_given *const *given,
                         uint32_t given_count)
{
    const struct ad_body *before = previous != NULL ? previous->body : NULL;
    arrival->sent_count = outline->count;
    if (before != NULL && shape_fits(arrival, before->shape, outline, given, given_count)) {
        arrival->before = before;
        arrival->shape = ad_shape_ref(before->shape);
        return 0;
    }
    arrival->gift_count = 0;
    return given_count > 0 ? extended_shape(arrival, outline, given, given_count)
                           : ad_shape_get(arrival->pool, outline->names, outline->names_bytes,
                                          outline->count, &arrival->shape, arrival->err);
}

/* ---- comparing value by value ---- */

bool ad_pass_long_value(const unsigned char **at, const unsigned char *end)
{
    const unsigned char *next = *at;
    size_t length = 0;
    unsigned char byte = 0x80;
    for (unsigned shift = 0; byte >= 0x80 && shift <= 28 && next < end; shift += 7) {
        byte = *next++;
        length |= (size_t)(byte & 0x7f) << shift;
    }
    if (byte >= 0x80 || byte == 0 || length > (size_t)(end - next)) {
        return false;
    }
    *at = next + length;
    return true;
}

static int wrong_length(const struct arrival *arrival, uint32_t place, const unsigned char *at)
{
    return err_set(arrival->err, -EBADMSG, "binary ad, byte %zu of the values: bad length of %s",
                   (size_t)(at - arrival->values), ad_shape_name(arrival->shape, place));
}

/* Adds the value at *at, which belongs to place, to own, and moves *at behind it. */
static int add_own(struct arrival *arrival, uint32_t place, const unsigned char **at)
{
    const unsigned char *raw = *at;
    if (!ad_pass_value(at, arrival->end)) {
        return wrong_length(arrival, place, raw);
    }
    size_t length = (size_t)(*at - raw);
    arrival->own[arrival->own_count++] = (struct ad_own){place, {raw, length}};
    arrival->own_bytes += length;
    return 0;
}

/* Returns how many bytes are equal at the beginning. */
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

/* Compares the sent values of the places [from, to) with base in one walk over both, and adds those
 * that differ to own.  Returns 1; 0 when they have more than bytes_max bytes (own is then
 * incomplete); -EBADMSG. */
static int compare_run(struct arrival *arrival, const struct ad_body *base, uint32_t from,
                       uint32_t to, const unsigned char **at, size_t bytes_max)
{
    uint32_t i = from;
    while (i < to) {
        uint32_t begin = ad_body_offset(base, i);
        size_t left = (size_t)(arrival->end - *at);
        size_t theirs = base->bytes - begin;
        size_t same = same_bytes(*at, base->data + begin, left < theirs ? left : theirs);
        uint32_t next;
        /* A value begins with its length: where all its bytes are the same, so is its end. */
        while (i < to && (next = ad_body_offset(base, i + 1)) - begin <= same) {
            i++;
        }
        *at += ad_body_offset(base, i) - begin;
        if (i < to) {
            int rc = add_own(arrival, i, at);
            if (rc < 0) {
                return rc;
            }
            if (arrival->own_bytes > bytes_max) {
                return 0;
            }
            i++;
        }
    }
    return 1;
}

static void arrival_begin(struct arrival *arrival)
{
    arrival->own_count = 0;
    arrival->own_bytes = 0;
    arrival->known_count = 0;
    arrival->has_ads = false;
    arrival->nodes = 0;
}

static void arrival_end(struct arrival *arrival, const unsigned char *at)
{
    arrival->sent_bytes = (size_t)(at - arrival->values);
    arrival->bytes = arrival->sent_bytes;
}

/* Sets own to the sent values that differ from base.  Returns as compare_run() does. */
static int compare_values(struct arrival *arrival, const struct ad_body *base, size_t bytes_max)
{
    const unsigned char *at = arrival->values;
    arrival_begin(arrival);
    int rc = compare_run(arrival, base, 0, arrival->sent_count, &at, bytes_max);
    arrival_end(arrival, at);
    return rc;
}

static int all_own(struct arrival *arrival)
{
    const unsigned char *at = arrival->values;
    arrival_begin(arrival);
    for (uint32_t i = 0; i < arrival->sent_count; i++) {
        int rc = add_own(arrival, i, &at);
        if (rc < 0) {
            return rc;
        }
    }
    arrival_end(arrival, at);
    return 1;
}

/* Inserts the gifts into own, which has the sent values that differ from base (NULL: all sent
 * values). */
static void lay_gifts(struct arrival *arrival, const struct ad_body *base)
{
    for (uint32_t i = 0; i < arrival->gift_count; i++) {
        const struct gift *gift = &arrival->gifts[i];
        uint32_t at = arrival->own_count;
        while (at > 0 && arrival->own[at - 1].place >= gift->place) {
            at--;
        }
        struct ad_own *own = &arrival->own[at];
        size_t behind = (arrival->own_count - at) * sizeof(*own);
        bool is_there = behind > 0 && own->place == gift->place;
        if (gift->place < arrival->sent_count) {
            arrival->bytes -= is_there ? own->raw.length : ad_body_raw(base, gift->place).length;
        }
        arrival->bytes += gift->raw.length;
        if (base != NULL && same_raw(ad_body_raw(base, gift->place), gift->raw)) {
            if (is_there) {
                memmove(own, own + 1, behind - sizeof(*own));
                arrival->own_count--;
            }
            continue;
        }
        if (!is_there) {
            memmove(own + 1, own, behind);
            arrival->own_count++;
        }
        *own = (struct ad_own){gift->place, gift->raw};
    }
}

/* Finds the remembered body that differs least, and at most by half.  Sets own for this body; if
 * there is none (*ret NULL), to all values.  Returns 1 or -EBADMSG. */
static int best_base(struct arrival *arrival, struct ad_body **ret)
{
    struct ad_body *best = NULL;
    size_t bytes_max = 0;
    for (uint32_t i = 0; i < AD_SHAPE_BODIES; i++) {
        struct ad_body *body = arrival->shape->bodies[i];
        if (body == NULL) {
            continue;
        }
        int rc = compare_values(arrival, body, best == NULL ? body->bytes / 2 : bytes_max);
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
    int rc = best != NULL ? compare_values(arrival, best, SIZE_MAX) : all_own(arrival);
    if (rc > 0) {
        lay_gifts(arrival, best);
    }
    return rc;
}

/* Checks the own values from `first` on.  Values that the replaced ad had, too, were checked when
 * that ad arrived. */
static int check_own(struct arrival *arrival, uint32_t first)
{
    const struct ad_body *before = arrival->before;
    for (uint32_t i = first; i < arrival->own_count; i++) {
        const struct ad_own *own = &arrival->own[i];
        if (before != NULL && before->base != NULL &&
            same_raw(ad_body_raw(before, own->place), own->raw)) {
            arrival->has_ads = arrival->has_ads || ad_body_holds_ads(before);
            arrival->known_count++;
            continue;
        }
        int rc = ad_value_check(ad_raw_value(own->raw), &arrival->nodes, &arrival->has_ads,
                                arrival->err);
        if (rc < 0) {
            return err_prefix(arrival->err, rc, "%s", ad_shape_name(arrival->shape, own->place));
        }
    }
    return 0;
}

/* ---- comparing with the replaced ad as a guide ---- */

/* Handles the sent places [from, to), in which the replaced ad equalled its base; adds to own what
 * differs.  Returns as compare_run() does, or an error of check_own(). */
static int pass_run(struct arrival *arrival, uint32_t from, uint32_t to, const unsigned char **at,
                    size_t bytes_max)
{
    const struct ad_body *base = arrival->before->base;
    if (from >= to) {
        return 1;
    }
    uint32_t begins = ad_body_offset(base, from);
    size_t length = ad_body_offset(base, to) - begins;
    if (length <= (size_t)(arrival->end - *at) &&
        memcmp(*at, base->data + begins, length) == 0) { /* and so are the ends of values */
        *at += length;
        return 1;
    }
    uint32_t first = arrival->own_count;
    int rc = compare_run(arrival, base, from, to, at, bytes_max);
    if (rc > 0) {
        int code = check_own(arrival, first);
        rc = code < 0 ? code : rc;
    }
    return rc;
}

/* Handles a value where the replaced ad had an own value, `old`, or, with old.data NULL, the value
 * of its base: adds it to own if it differs from the base. */
static int take_own(struct arrival *arrival, uint32_t place, struct ad_bytes raw,
                    struct ad_bytes old)
{
    const struct ad_body *before = arrival->before;
    bool is_known = old.data != NULL && same_raw(raw, old);
    if (is_known) {
        arrival->has_ads = arrival->has_ads || ad_body_holds_ads(before);
        arrival->known_count++;
    } else if (same_raw(raw, ad_body_raw(before->base, place))) {
        return 1;
    }
    arrival->own[arrival->own_count++] = (struct ad_own){place, raw};
    arrival->own_bytes += raw.length;
    if (is_known) {
        return 1;
    }
    int rc = ad_value_check(ad_raw_value(raw), &arrival->nodes, &arrival->has_ads, arrival->err);
    return rc < 0 ? err_prefix(arrival->err, rc, "%s", ad_shape_name(arrival->shape, place)) : 1;
}

/* Returns the bits of a word of the mask whose places must be looked at one by one. */
static uint64_t places_of_word(const struct arrival *arrival, uint32_t word)
{
    uint64_t bits = arrival->before->mask[word];
    for (uint32_t i = 0; i < arrival->gift_count; i++) {
        uint32_t place = arrival->gifts[i].place;
        bits |= place / 64 == word ? (uint64_t)1 << (place % 64) : 0;
    }
    return bits;
}

/* Sets own to the checked differences from the base of the replaced ad, with the gifts.  Returns 1;
 * 0 when they have more than bytes_max bytes; -EBADMSG or -E2BIG. */
static int compare_guided(struct arrival *arrival, size_t bytes_max)
{
    const struct ad_body *before = arrival->before;
    const unsigned char *at = arrival->values;
    uint32_t words = (arrival->shape->count + 63) / 64;
    uint32_t sent = arrival->sent_count;
    uint32_t done = 0; /* places */
    uint32_t old_own = 0;
    uint32_t gift = 0;
    size_t given_bytes = 0;
    size_t replaced_bytes = 0;
    arrival_begin(arrival);
    for (uint32_t i = 0; i < words; i++) {
        for (uint64_t bits = places_of_word(arrival, i); bits != 0; bits &= bits - 1) {
            uint64_t bit = bits & (0 - bits);
            uint32_t place = i * 64 + ad_lowest_bit(bits);
            int rc = pass_run(arrival, done, place < sent ? place : sent, &at, bytes_max);
            if (rc <= 0) {
                return rc;
            }
            done = place + 1;
            const unsigned char *raw_at = at;
            if (place < sent && !ad_pass_value(&at, arrival->end)) {
                return wrong_length(arrival, place, at);
            }
            struct ad_bytes raw = {raw_at, (size_t)(at - raw_at)};
            if (gift < arrival->gift_count && arrival->gifts[gift].place == place) {
                replaced_bytes += raw.length;
                raw = arrival->gifts[gift++].raw;
                given_bytes += raw.length;
            }
            struct ad_bytes old = {NULL, 0};
            if ((before->mask[i] & bit) != 0) {
                uint32_t offset = ad_body_offset(before, old_own++);
                old = (struct ad_bytes){before->data + offset,
                                        ad_body_offset(before, old_own) - offset};
            }
            rc = take_own(arrival, place, raw, old);
            if (rc < 0 || arrival->own_bytes > bytes_max) {
                return rc < 0 ? rc : 0;
            }
        }
    }
    int rc = pass_run(arrival, done, sent, &at, bytes_max);
    arrival_end(arrival, at);
    arrival->bytes += given_bytes;
    arrival->bytes -= replaced_bytes;
    return rc;
}

/* ---- the body ---- */

/* How the values will be kept. */
struct choice {
    struct ad_body *base; /* keep the differences from this body; NULL: no base */
    /* keep a whole copy of this body with the differences in it; NULL: all of own */
    const struct ad_body *patch;
};

/* Compares the values with the possible bases, chooses one, and checks what is new.  Returns 1,
 * -EBADMSG or -E2BIG. */
static int choose_base(struct arrival *arrival, struct choice *choice)
{
    const struct ad_body *before = arrival->before;
    int rc;
    *choice = (struct choice){NULL, NULL};
    if (before != NULL && before->base == NULL) {
        rc = compare_values(arrival, before, SIZE_MAX);
        bool is_like = arrival->own_bytes <= before->bytes / 2;
        if (rc > 0) {
            lay_gifts(arrival, before);
        }
        if (before->user_count > 0 && is_like) {
            choice->base = (struct ad_body *)(uintptr_t)before; /* gets one more user */
        } else {
            choice->patch = before;
        }
    } else {
        rc = before != NULL ? compare_guided(arrival, before->base->bytes / 2) : 0;
        if (rc != 0) {
            choice->base = before->base;
            return rc;
        }
        rc = best_base(arrival, &choice->base);
    }
    if (rc > 0) {
        int code = check_own(arrival, 0);
        rc = code < 0 ? code : rc;
    }
    return rc;
}

static bool is_unchanged(const struct arrival *arrival, const struct choice *choice)
{
    const struct ad_body *before = arrival->before;
    if (before == NULL) {
        return false;
    }
    return before->base == NULL
               ? arrival->own_count == 0
               : choice->base == before->base && arrival->known_count == arrival->own_count &&
                     arrival->known_count == before->own_count;
}

static int make_body(struct arrival *arrival, struct ad_body **ret)
{
    struct choice choice;
    int rc = choose_base(arrival, &choice);
    if (rc < 0) {
        return rc;
    }
    if (is_unchanged(arrival, &choice)) {
        *ret = ad_body_ref(arrival->before);
        return 0;
    }
    struct ad_body *body;
    if (choice.patch != NULL) {
        body = ad_body_patch(choice.patch, arrival->own, arrival->own_count);
        arrival->has_ads = arrival->has_ads || choice.patch->has_ads;
    } else {
        body = ad_body_build(arrival->shape, choice.base, arrival->own, arrival->own_count,
                             arrival->bytes);
    }
    if (body == NULL) {
        return err_set(arrival->err, -E2BIG, "binary ad: out of memory");
    }
    body->has_ads = arrival->has_ads;
    if (body->base == NULL && arrival->pool != NULL) {
        ad_body_remember(body);
    }
    *ret = body;
    return 0;
}

int ad_body_arrive(struct ad_pool *pool, const struct ad *previous,
                   const struct ad_given *const *given, size_t given_count, const void *data,
                   size_t length, size_t *used, struct ad_body **ret, struct err *err)
{
    struct arrival arrival;
    arrival.pool = pool;
    arrival.before = NULL;
    arrival.err = err;
    CHECK(given_count <= AD_GIVEN_MAX);
    struct ad_outline outline;
    int rc = ad_outline_read(data, length, &outline, err);
    if (rc == 0) {
        rc = arrival_shape(&arrival, previous, &outline, given, (uint32_t)given_count);
    }
    if (rc < 0) {
        return rc;
    }
    struct ad_body *body = NULL;
    arrival.values = outline.values;
    arrival.end = outline.end;
    rc = arrival_room(&arrival, arrival.shape->count);
    if (rc == 0) {
        rc = make_body(&arrival, &body);
    }
    if (rc == 0) {
        *used = (size_t)(outline.values - (const unsigned char *)data) + arrival.sent_bytes;
    }
    mem_free(arrival.heap);
    ad_shape_unref(arrival.shape); /* the body has it */
    *ret = body;
    return rc;
}
