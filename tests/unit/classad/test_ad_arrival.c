/* tests/unit/classad/test_ad_arrival.c - whatever the ad before was, one that arrives is what was
 * sent, with what the receiver says.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>

#include "base/err.h"
#include "base/random.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "classad/ad_binary.h"
#include "classad/ad_pool.h"
#include "tests/support/unit.h"

#define ATTRIBUTES 150
#define ROUNDS     1500

static void set_value(struct ad *ad, struct rng *rng, unsigned i)
{
    char name[32];
    char text[400];
    (void)snprintf(name, sizeof(name), "Attribute%u", i);
    switch (rng_below(rng, 5)) {
    case 0:
        ad_set_int(ad, name, (int64_t)rng_below(rng, 1000) - 500);
        break;
    case 1:
        (void)ad_set_expr(ad, name, "Load > 1 && TARGET.Size < 10", NULL);
        break;
    case 2:
        memset(text, 'x', sizeof(text)); /* sometimes longer than one byte of length tells */
        text[rng_below(rng, sizeof(text) - 1)] = '\0';
        text[sizeof(text) - 1] = '\0';
        ad_set_string(ad, name, text);
        break;
    case 3:
        ad_set_real(ad, name, 0.5 * (double)rng_below(rng, 3));
        break;
    default:
        (void)ad_set_expr(ad, name, "[ ClaimId = 1; B = 2 ]", NULL);
        break;
    }
}

static struct ad *make(struct rng *rng, bool with_place)
{
    struct ad *ad = ad_create();
    for (unsigned i = 0; i < ATTRIBUTES; i++) {
        if (i == 70 && with_place) {
            ad_set_string(ad, "pLACE", "as the sender says");
        }
        set_value(ad, rng, i);
    }
    return ad;
}

static void bytes_of(const struct ad *ad, struct strbuf *bytes)
{
    strbuf_init(bytes, 0);
    ad_encode(ad, true, bytes);
}

/* What a sender does to his ad between two updates: mostly little. */
static void renew(struct ad *ad, struct rng *rng)
{
    uint64_t count = rng_below(rng, 8) == 0 ? ATTRIBUTES : rng_below(rng, 12);
    for (uint64_t i = 0; i < count; i++) {
        set_value(ad, rng, (unsigned)rng_below(rng, ATTRIBUTES));
    }
}

struct pair {
    struct ad_given *time, *place;
};

static int decode(struct ad_pool *pool, const struct ad *before, const struct pair *pair,
                  const struct strbuf *bytes, struct ad **ret)
{
    const struct ad_given *const given[] = {pair->time, pair->place};
    struct err err;
    return ad_decode_given(pool, before, given, 2, bytes->data, bytes->length, ret, &err);
}

/* Slots of a few kinds come again and again; each time the time is another one. */
static void an_ad_is_what_was_sent_with_what_is_given(void **state)
{
    (void)state;
    enum { SLOTS = 8 };
    struct rng rng;
    struct ad_pool *pool = ad_pool_create();
    struct ad *sent[SLOTS], *kept[SLOTS] = {NULL};
    rng_seed(&rng, 77);
    sent[0] = make(&rng, true);
    sent[SLOTS / 2] = make(&rng, false);
    for (int i = 1; i < SLOTS; i++) {
        if (i != SLOTS / 2) {
            sent[i] = ad_copy(sent[i < SLOTS / 2 ? 0 : SLOTS / 2]);
        }
    }
    for (int round = 0; round < ROUNDS; round++) {
        unsigned slot = (unsigned)rng_below(&rng, SLOTS);
        struct strbuf bytes, again;
        struct ad *ad = NULL, *expected = NULL;
        struct pair pair = {ad_given_create("LastHeardFrom", ad_expr_int(round / 50)),
                            ad_given_create("Place", ad_expr_string("here", 4))};
        renew(sent[slot], &rng);
        bytes_of(sent[slot], &bytes);
        assert_int_equal(decode(pool, kept[slot], &pair, &bytes, &ad), 0);
        assert_int_equal(ad_decode(bytes.data, bytes.length, NULL, &expected, NULL), 0);
        ad_given_set(expected, pair.time);
        ad_given_set(expected, pair.place);
        assert_true(ad_same(ad, expected));
        assert_int_equal(ad_count(ad), ad_count(expected));
        assert_string_equal(ad_string_or(ad, "Place", ""), "here");
        bytes_of(ad, &again);
        assert_int_equal(ad_encoded_bytes(ad), again.length);
        ad_destroy(expected);
        assert_int_equal(ad_decode(again.data, again.length, NULL, &expected, NULL), 0);
        assert_true(ad_same(ad, expected));
        ad_destroy(expected);
        ad_destroy(kept[slot]);
        kept[slot] = ad;
        if (rng_below(&rng, 20) == 0) { /* another slot's, or none, may be foretold */
            unsigned other = (unsigned)rng_below(&rng, SLOTS);
            struct ad *copy = rng_below(&rng, 2) == 0 ? NULL : ad_copy(kept[slot]);
            ad_destroy(kept[other]);
            kept[other] = copy;
        }
        strbuf_fini(&bytes);
        strbuf_fini(&again);
        ad_given_destroy(pair.time);
        ad_given_destroy(pair.place);
    }
    for (int i = 0; i < SLOTS; i++) {
        ad_destroy(sent[i]);
        ad_destroy(kept[i]);
    }
    struct ad_pool_figures figures;
    ad_pool_figures(pool, &figures);
    assert_int_equal(figures.shapes, 0);
    ad_pool_destroy(pool);
}

/* The guide says where values are expected; what does not keep to it is refused as ever. */
static void bytes_that_are_wrong_are_refused_whatever_the_guide(void **state)
{
    (void)state;
    struct rng rng;
    struct ad_pool *pool = ad_pool_create();
    struct pair pair = {ad_given_create("LastHeardFrom", ad_expr_int(1)),
                        ad_given_create("Place", ad_expr_string("here", 4))};
    struct strbuf bytes;
    rng_seed(&rng, 78);
    struct ad *first = make(&rng, true), *base = NULL, *before = NULL, *ret = NULL;
    bytes_of(first, &bytes);
    assert_int_equal(decode(pool, NULL, &pair, &bytes, &base), 0);
    ad_set_int(first, "Attribute3", 333);
    ad_set_string(first, "Attribute100", "its own");
    strbuf_fini(&bytes);
    bytes_of(first, &bytes);
    assert_int_equal(decode(pool, NULL, &pair, &bytes, &before), 0);
    for (size_t length = 0; length < bytes.length; length++) {
        struct strbuf cut;
        strbuf_init(&cut, 0);
        strbuf_append(&cut, bytes.data, length);
        assert_int_not_equal(decode(pool, before, &pair, &cut, &ret), 0);
        strbuf_fini(&cut);
    }
    for (size_t at = 1; at < bytes.length; at++) { /* taken or refused: as without a guide */
        struct ad *plain = NULL;
        bytes.data[at] = (char)(bytes.data[at] ^ 0x81);
        int rc = decode(pool, before, &pair, &bytes, &ret);
        assert_int_equal(decode(NULL, NULL, &pair, &bytes, &plain), rc);
        if (rc == 0) {
            assert_true(ad_same(plain, ret));
            ad_destroy(plain);
            ad_destroy(ret);
        }
        bytes.data[at] = (char)(bytes.data[at] ^ 0x81);
    }
    strbuf_fini(&bytes);
    ad_destroy(first);
    ad_destroy(base);
    ad_destroy(before);
    ad_given_destroy(pair.time);
    ad_given_destroy(pair.place);
    ad_pool_destroy(pool);
}

static struct ad *taken(struct ad_pool *pool, const struct ad *before, const char *text)
{
    struct ad *ad = NULL, *ret = NULL;
    struct strbuf bytes;
    assert_int_equal(ad_parse(text, strlen(text), &ad, NULL), 0);
    bytes_of(ad, &bytes);
    assert_int_equal(ad_decode_in(pool, before, bytes.data, bytes.length, NULL, &ret, NULL), 0);
    strbuf_fini(&bytes);
    ad_destroy(ad);
    return ret;
}

static void what_stayed_the_same_is_known_only_of_literals(void **state)
{
    (void)state;
    struct ad_pool *pool = ad_pool_create();
    struct ad *a = taken(pool, NULL, "[ A = 1; B = \"x\"; C = A; D = 5 ]");
    struct ad *b = taken(pool, a, "[ A = 2; B = \"x\"; C = A; D = 5 ]");
    struct ad *c = taken(pool, a, "[ A = 1; B = \"x\"; C = A ]");
    assert_false(ad_same_literal(a, b, "A"));
    assert_true(ad_same_literal(a, b, "B"));
    assert_false(ad_same_literal(a, b, "C")); /* evaluates to another value in each */
    assert_true(ad_same_literal(a, b, "d"));
    assert_true(ad_same_literal(a, b, "NoSuch"));
    assert_false(ad_same_literal(a, c, "B")); /* other names: nothing is told */
    ad_set_string(b, "B", "y");
    assert_false(ad_same_literal(a, b, "B"));
    ad_destroy(a);
    ad_destroy(b);
    ad_destroy(c);
    ad_pool_destroy(pool);
}

UNIT_TESTS(UNIT(an_ad_is_what_was_sent_with_what_is_given),
           UNIT(bytes_that_are_wrong_are_refused_whatever_the_guide),
           UNIT(what_stayed_the_same_is_known_only_of_literals))
