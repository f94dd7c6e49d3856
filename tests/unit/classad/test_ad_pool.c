/* tests/unit/classad/test_ad_pool.c - ads that share what they have in common.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "classad/ad_identity.h"
#include "classad/ad_private.h"
#include "tests/support/unit.h"

static struct ad *ad_of(const char *text)
{
    struct ad *ad = NULL;
    assert_int_equal(ad_parse(text, strlen(text), &ad, NULL), 0);
    return ad;
}

static void bytes_of(const struct ad *ad, struct strbuf *bytes)
{
    strbuf_init(bytes, 0);
    ad_encode(ad, true, bytes);
    assert_false(bytes->failed);
}

static void a_name_is_found_without_decoding(void **state)
{
    (void)state;
    struct ad_pool *pool = ad_pool_create();
    struct ad *ad = ad_of("[ A = 1; Name = \"slot1@n\"; X = 1 + 1; Empty = \"\" ]");
    struct strbuf bytes;
    bytes_of(ad, &bytes);
    const char *text = NULL;
    size_t length = 0;
    assert_int_equal(ad_peek_string(pool, bytes.data, bytes.length, "nAME", &text, &length, NULL),
                     0);
    assert_int_equal(length, 7);
    assert_memory_equal(text, "slot1@n", 7);
    assert_int_equal(ad_peek_string(pool, bytes.data, bytes.length, "Empty", &text, &length, NULL),
                     0);
    assert_int_equal(length, 0);
    assert_int_equal(ad_peek_string(pool, bytes.data, bytes.length, "X", &text, &length, NULL),
                     -ENOENT);
    assert_int_equal(ad_peek_string(pool, bytes.data, bytes.length, "Y", &text, &length, NULL),
                     -ENOENT);
    assert_int_equal(ad_peek_string(pool, bytes.data, 1, "X", &text, &length, NULL), -EBADMSG);
    strbuf_fini(&bytes);
    ad_destroy(ad);
    ad_pool_destroy(pool);
}

static void changes_make_a_new_ad_and_leave_the_old_one(void **state)
{
    (void)state;
    struct ad_pool *pool = ad_pool_create();
    struct ad *old = ad_of("[ A = 1; B = \"b\"; C = A + 1 ]");
    struct ad *changes = ad_of("[ b = 2; D = \"new\" ]");
    struct ad *expected = ad_of("[ A = 1; B = 2; C = A + 1; D = \"new\" ]");
    struct ad *untouched = ad_copy(old);
    struct ad *changed = ad_change(pool, old, changes);
    assert_true(ad_same(changed, expected));
    assert_true(ad_same(old, untouched));
    ad_destroy(old);
    ad_destroy(changes);
    assert_int_equal(ad_int_or(changed, "C", 0), 2);
    ad_destroy(changed);
    ad_destroy(expected);
    ad_destroy(untouched);
    ad_pool_destroy(pool);
}

static void a_public_copy_has_no_private_attributes(void **state)
{
    (void)state;
    struct ad *ad = ad_of("[ ClaimId = \"s\"; A = 1; TransferKey = 2; Capability = 3 ]");
    struct ad *copy = ad_copy_public(ad);
    assert_int_equal(ad_count(copy), 1);
    assert_int_equal(ad_int_or(copy, "A", 0), 1);
    assert_int_equal(ad_count(ad), 4);
    ad_destroy(ad);
    ad_destroy(copy);
}

/* ---- ads of a pool ---- */

#define SLOTS 100

/* A machine of many attributes; what is particular to a slot comes from its number. */
static struct ad *slot(int number, int load)
{
    struct ad *ad = ad_create();
    char text[64];
    for (int i = 0; i < 150; i++) {
        (void)snprintf(text, sizeof(text), "Attribute%d", i);
        if (i % 3 == 0) {
            ad_set_string(ad, text, "the same everywhere");
        } else if (i % 3 == 1) {
            ad_set_int(ad, text, i * 100000);
        } else {
            assert_int_equal(ad_set_expr(ad, text, "Load > 1 && TARGET.Size < 10", NULL), 0);
        }
    }
    (void)snprintf(text, sizeof(text), "slot%d@node", number);
    ad_set_string(ad, "Name", text);
    ad_set_int(ad, "Load", load);
    return ad;
}

/* The same with nothing in common but names. */
static struct ad *stranger(int number)
{
    struct ad *ad = slot(number, 0);
    for (int i = 0; i < 150; i++) {
        char name[64];
        char text[64];
        (void)snprintf(name, sizeof(name), "Attribute%d", i);
        (void)snprintf(text, sizeof(text), "%d of %d", i, number);
        ad_set_string(ad, name, text);
    }
    return ad;
}

static struct ad *arrive(struct ad_pool *pool, const struct ad *previous, const struct ad *sent)
{
    struct strbuf bytes;
    struct ad *ad = NULL;
    bytes_of(sent, &bytes);
    assert_int_equal(ad_decode_in(pool, previous, bytes.data, bytes.length, NULL, &ad, NULL), 0);
    assert_true(ad_same(ad, sent));
    struct strbuf again;
    bytes_of(ad, &again);
    assert_int_equal(again.length, bytes.length);
    assert_memory_equal(again.data, bytes.data, bytes.length);
    assert_int_equal(ad_encoded_bytes(ad), bytes.length);
    strbuf_fini(&bytes);
    strbuf_fini(&again);
    return ad;
}

static void ads_alike_share_names_and_values(void **state)
{
    (void)state;
    struct ad_pool *pool = ad_pool_create();
    struct ad *ads[SLOTS];
    struct ad_pool_figures figures;
    for (int i = 0; i < SLOTS; i++) {
        struct ad *sent = slot(i, i);
        ads[i] = arrive(pool, NULL, sent);
        ad_destroy(sent);
    }
    ad_pool_figures(pool, &figures);
    assert_int_equal(figures.shapes, 1);
    assert_int_equal(figures.prototypes, 1);
    for (int i = 1; i < SLOTS; i++) {
        assert_in_range(ad_own_bytes(ads[i]), 1, 400);
        assert_int_equal(ad_int_or(ads[i], "LOAD", -1), i);
    }
    /* An expression of the prototype is made once. */
    assert_ptr_equal(ad_lookup(ads[3], "Attribute2"), ad_lookup(ads[50], "attribute2"));
    ad_destroy(ads[0]); /* the one the others build on */
    for (int i = 1; i < SLOTS; i++) {
        assert_string_equal(ad_string_or(ads[i], "Attribute3", ""), "the same everywhere");
        ad_destroy(ads[i]);
    }
    ad_pool_figures(pool, &figures);
    assert_int_equal(figures.shapes, 0);
    assert_int_equal(figures.bytes, 0);
    ad_pool_destroy(pool);
}

/* A queue keeps a million ads of which it asks such questions. */
static void questions_about_an_ad_make_no_expressions_of_its_literals(void **state)
{
    (void)state;
    struct ad_pool *pool = ad_pool_create();
    struct ad *base_sent = ad_of("[ A = \"base\"; B = \"same $$(x)\"; C = 1; D = C + 1 ]");
    struct ad *sent = ad_of("[ A = \"a $$(own)\"; B = \"same $$(x)\"; C = 2; D = C + 1 ]");
    struct ad *base = arrive(pool, NULL, base_sent), *ad = arrive(pool, NULL, sent);
    size_t bytes = ad_own_bytes(ad), at = 0;
    const struct ad_expr *expr = NULL;
    assert_true(ad_has(ad, "a") && ad_has(ad, "C") && !ad_has(ad, "E"));
    assert_true(ad_may_contain(ad, "$$(own)") && ad_may_contain(ad, "$$(x)"));
    assert_false(ad_may_contain(ad, "$$(y)"));
    assert_true(ad_next_computed(ad, &at, &expr));
    assert_ptr_equal(expr, ad_lookup(base, "D")); /* which the two have in common */
    assert_false(ad_next_computed(ad, &at, &expr));
    assert_int_equal(ad_own_bytes(ad), bytes);
    /* What was made for readers is given back. */
    assert_non_null(ad_lookup(ad, "A"));
    assert_true(ad_own_bytes(ad) > bytes);
    ad_pack(pool, NULL, ad);
    assert_int_equal(ad_own_bytes(ad), bytes);
    assert_true(ad_same(ad, sent));
    /* An ad that was changed may contain everything, and its computed values are found, too. */
    ad_set_int(ad, "C", 3);
    assert_true(ad_may_contain(ad, "$$(y)"));
    assert_int_equal(ad_set_expr(ad, "F", "A + 1", NULL), 0);
    at = 0;
    assert_true(ad_next_computed(ad, &at, &expr) && ad_next_computed(ad, &at, &expr));
    assert_false(ad_next_computed(ad, &at, &(const struct ad_expr *){NULL}));
    assert_ptr_equal(expr, ad_lookup(ad, "F"));
    ad_destroy(base_sent);
    ad_destroy(sent);
    ad_destroy(base);
    ad_destroy(ad);
    ad_pool_destroy(pool);
}

static void an_update_keeps_what_did_not_change(void **state)
{
    (void)state;
    struct ad_pool *pool = ad_pool_create();
    struct ad *first = slot(1, 5);
    struct ad *other = slot(2, 5);
    struct ad *base = arrive(pool, NULL, first);
    struct ad *ad = arrive(pool, NULL, other);
    for (int i = 0; i < 20; i++) {
        ad_set_int(other, "Load", i);
        struct ad *next = arrive(pool, ad, other);
        assert_in_range(ad_own_bytes(next), 1, 400);
        ad_destroy(ad);
        ad = next;
    }
    struct ad *same = arrive(pool, ad, other);
    assert_ptr_equal(ad_string_or(same, "Name", ""), ad_string_or(ad, "Name", ""));
    ad_destroy(same);
    /* The prototype's own ad changes; those that build on it do not. */
    ad_set_int(first, "Load", 77);
    struct ad *changed = arrive(pool, base, first);
    assert_in_range(ad_own_bytes(changed), 1, 400);
    ad_destroy(base);
    assert_int_equal(ad_int_or(ad, "Load", 0), 19);
    assert_int_equal(ad_int_or(changed, "Load", 0), 77);
    ad_destroy(changed);
    ad_destroy(ad);
    ad_destroy(first);
    ad_destroy(other);
    ad_pool_destroy(pool);
}

static void ads_that_differ_in_all_keep_their_own(void **state)
{
    (void)state;
    struct ad_pool *pool = ad_pool_create();
    struct ad *ads[20];
    struct ad_pool_figures figures;
    struct ad *sent = slot(0, 0);
    struct ad *alike = arrive(pool, NULL, sent);
    struct ad *second = arrive(pool, NULL, sent);
    for (int i = 0; i < 20; i++) {
        struct ad *strange = stranger(i);
        ads[i] = arrive(pool, NULL, strange);
        ad_destroy(strange);
    }
    ad_pool_figures(pool, &figures);
    assert_int_equal(figures.shapes, 1);
    assert_int_equal(figures.prototypes, 1);
    /* Strangers push no prototype out that is in use. */
    struct ad *third = arrive(pool, NULL, sent);
    assert_in_range(ad_own_bytes(third), 1, 400);
    /* One that becomes a stranger leaves its prototype. */
    struct ad *strange = stranger(99);
    struct ad *apart = arrive(pool, third, strange);
    assert_in_range(ad_own_bytes(apart), 2000, 5000);
    struct ad *back = arrive(pool, apart, sent);
    assert_string_equal(ad_string_or(back, "Attribute0", ""), "the same everywhere");
    ad_destroy(strange);
    ad_destroy(apart);
    ad_destroy(back);
    ad_destroy(alike);
    ad_destroy(second);
    ad_destroy(third);
    ad_destroy(sent);
    for (int i = 0; i < 20; i++) {
        ad_destroy(ads[i]);
    }
    ad_pool_destroy(pool);
}

static void what_arrives_wrong_is_refused_whatever_was_before(void **state)
{
    (void)state;
    struct ad_pool *pool = ad_pool_create();
    struct ad *sent = slot(1, 5);
    struct ad *base = arrive(pool, NULL, sent);
    ad_set_bool(sent, "Load", true);
    struct ad *ad = arrive(pool, NULL, sent);
    struct strbuf bytes;
    bytes_of(sent, &bytes);
    struct ad *ret = NULL;
    const struct ad *before[] = {NULL, base, ad};
    bytes.data[bytes.length - 1] = 2; /* the boolean, the last of all */
    for (size_t i = 0; i < 3; i++) {
        struct err err;
        assert_int_equal(ad_decode_in(pool, before[i], bytes.data, bytes.length, NULL, &ret, &err),
                         -EBADMSG);
        assert_non_null(strstr(err.text, "Load"));
        for (size_t length = 0; length < bytes.length; length += 7) {
            assert_int_equal(ad_decode_in(pool, before[i], bytes.data, length, NULL, &ret, NULL),
                             -EBADMSG);
        }
    }
    assert_null(ret);
    strbuf_fini(&bytes);
    ad_destroy(sent);
    ad_destroy(base);
    ad_destroy(ad);
    ad_pool_destroy(pool);
}

static void setting_and_removing_over_a_decoded_ad(void **state)
{
    (void)state;
    struct ad_pool *pool = ad_pool_create();
    struct ad *sent = ad_of("[ A = 1; B = \"b\"; C = A + 1; D = {1,2}; ClaimId = \"s\" ]");
    struct ad *ad = arrive(pool, NULL, sent);
    struct ad *copy = ad_copy(ad);
    ad_set_int(ad, "b", 2);
    ad_set_string(ad, "New", "n");
    ad_remove(ad, "C");
    ad_remove(ad, "C");
    ad_remove(ad, "Absent");
    assert_int_equal(ad_count(ad), 5);
    assert_int_equal(ad_int_or(ad, "B", 0), 2);
    assert_false(ad_has(ad, "C"));
    ad_set_int(ad, "C", 7); /* comes back at the end */
    const char *const ORDER[] = {"A", "B", "D", "ClaimId", "New", "C"};
    size_t at = 0;
    const char *name;
    for (size_t i = 0; i < 6; i++) {
        assert_true(ad_next(ad, &at, &name, NULL));
        assert_int_equal(ad_name_compare(name, ORDER[i]), 0);
    }
    assert_false(ad_next(ad, &at, &name, NULL));
    struct strbuf text;
    strbuf_init(&text, 0);
    ad_print(ad, &text);
    assert_string_equal(strbuf_text(&text), "[ A = 1; B = 2; C = 7; D = { 1,2 }; New = \"n\"; "
                                            "ClaimId = \"s\" ]");
    strbuf_fini(&text);
    struct ad *again = arrive(pool, ad, ad);
    ad_destroy(again);
    ad_remove(ad, "B"); /* that stood over one of the body */
    assert_false(ad_has(ad, "B"));
    assert_int_equal(ad_count(ad), 5);
    assert_true(ad_same(copy, sent));
    struct ad *public = ad_copy_public(copy);
    assert_int_equal(ad_count(public), 4);
    assert_false(ad_has(public, "ClaimId"));
    struct ad *packed = ad_copy(ad);
    ad_pack(pool, NULL, packed);
    assert_true(ad_same(packed, ad));
    assert_int_equal(ad_encoded_bytes(packed), ad_encoded_bytes(ad));
    ad_clear(copy);
    assert_int_equal(ad_count(copy), 0);
    assert_false(ad_has(copy, "A"));
    ad_destroy(packed);
    ad_destroy(public);
    ad_destroy(copy);
    ad_destroy(ad);
    ad_destroy(sent);
    ad_pool_destroy(pool);
}

static void changes_of_an_ad_of_the_pool_touch_only_what_they_name(void **state)
{
    (void)state;
    struct ad_pool *pool = ad_pool_create();
    struct ad *sent = slot(1, 1);
    struct ad *base = arrive(pool, NULL, sent);
    struct ad *old = slot(2, 2);
    struct ad *ad = arrive(pool, NULL, old);
    struct ad *more = ad_of("[ load = 3; Attribute100 = 5; Attribute3 = A + 1; Stamp = 9 ]");
    struct ad *changes = arrive(pool, NULL, more);
    ad_set_int(ad, "LastHeardFrom", 4);
    ad_set_int(old, "LastHeardFrom", 4);
    const struct ad *const BEFORE[] = {ad, base};
    const struct ad *const OVER[] = {changes, more};
    for (int i = 0; i < 4; i++) {
        struct ad *expected = ad_copy(BEFORE[i / 2]);
        ad_merge(expected, more);
        struct ad *changed = ad_change(pool, BEFORE[i / 2], OVER[i % 2]);
        assert_true(ad_same(changed, expected));
        assert_in_range(ad_own_bytes(changed), 1, i < 2 ? 900 : 4000);
        struct ad *again = arrive(pool, changed, changed);
        ad_destroy(again);
        ad_destroy(expected);
        ad_destroy(changed);
    }
    assert_true(ad_same(ad, old));
    /* Changed back, it builds on its base alone again. */
    struct ad *undo = ad_of("[ Load = 1; Name = \"slot1@node\" ]");
    struct ad *undone = ad_change(pool, ad, undo);
    ad_remove(undone, "LastHeardFrom");
    assert_true(ad_same(undone, base));
    ad_destroy(undo);
    ad_destroy(undone);
    ad_destroy(sent);
    ad_destroy(base);
    ad_destroy(old);
    ad_destroy(ad);
    ad_destroy(more);
    ad_destroy(changes);
    ad_pool_destroy(pool);
}

static void many_changes_fold_into_the_body(void **state)
{
    (void)state;
    struct ad_pool *pool = ad_pool_create();
    struct ad *sent = slot(1, 1);
    struct ad *ad = arrive(pool, NULL, sent);
    for (int i = 0; i < 100; i++) {
        char name[32];
        struct ad *changes = ad_create();
        (void)snprintf(name, sizeof(name), "New%d", i);
        ad_set_int(changes, name, i);
        struct ad *next = ad_change(pool, ad, changes);
        assert_in_range(ad_own_bytes(next), 1, 6000); /* before expressions are made of it */
        ad_merge(sent, changes);
        assert_true(ad_same(next, sent));
        ad_destroy(changes);
        ad_destroy(ad);
        ad = next;
    }
    ad_destroy(ad);
    ad_destroy(sent);
    ad_pool_destroy(pool);
}

static void an_ad_outlives_its_pool(void **state)
{
    (void)state;
    struct ad_pool *pool = ad_pool_create();
    struct ad *sent = slot(1, 1);
    struct ad *one = arrive(pool, NULL, sent);
    struct ad *two = arrive(pool, NULL, sent);
    ad_pool_destroy(pool);
    ad_destroy(one);
    assert_true(ad_same(two, sent));
    struct ad *three = arrive(NULL, two, sent);
    ad_destroy(two);
    assert_true(ad_same(three, sent));
    ad_destroy(three);
    ad_destroy(sent);
    ad_pool_destroy(NULL);
}

static void private_attributes_of_decoded_ads_stay_at_every_depth(void **state)
{
    (void)state;
    struct ad_pool *pool = ad_pool_create();
    struct ad *sent = ad_of("[ A = 1; N = [ B = 2; ClaimId = 3 ]; L = { [ ClaimId = 4 ] } ]");
    struct ad *expected = ad_of("[ A = 1; N = [ B = 2 ]; L = { [] } ]");
    struct ad *ad = arrive(pool, NULL, sent);
    struct ad *twin = arrive(pool, NULL, sent); /* the ads are in its base */
    ad_set_int(sent, "A", 2);
    struct ad *next = arrive(pool, twin, sent);
    const struct ad *const ALL[] = {ad, twin, next};
    for (int i = 0; i < 3; i++) {
        struct strbuf bytes;
        struct ad *back = NULL;
        strbuf_init(&bytes, 0);
        ad_encode(ALL[i], false, &bytes);
        assert_int_equal(ad_decode(bytes.data, bytes.length, NULL, &back, NULL), 0);
        ad_set_int(expected, "A", i < 2 ? 1 : 2);
        assert_true(ad_same(back, expected));
        ad_destroy(back);
        strbuf_fini(&bytes);
    }
    ad_destroy(ad);
    ad_destroy(twin);
    ad_destroy(next);
    ad_destroy(sent);
    ad_destroy(expected);
    ad_pool_destroy(pool);
}

/* ---- names made to collide ---- */

#define COLLIDING 700

/* The next name after *number whose hash has low bits of zero: all on one place of an index. */
static void colliding_name(unsigned *number, char *name, size_t size)
{
    do {
        (void)snprintf(name, size, "x%u", ++*number);
    } while ((ad_name_hash(name, strlen(name)) & 0x7ff) != 0);
}

static void colliding_names_are_refused_by_decoders_and_left_out_by_setters(void **state)
{
    (void)state;
    struct strbuf names;
    struct strbuf bytes;
    struct ad_pool *pool = ad_pool_create();
    struct ad *ad = ad_create();
    struct ad *changed = ad_create();
    struct ad *ret = NULL;
    unsigned number = 0;
    bool refused = false;
    strbuf_init(&names, 0);
    strbuf_init(&bytes, 0);
    ad_pack(pool, NULL, changed);
    for (int i = 0; i < COLLIDING; i++) {
        char name[32];
        colliding_name(&number, name, sizeof(name));
        strbuf_append(&names, name, strlen(name) + 1);
        ad_set_int(ad, name, i);
        struct ad *changes = ad_create();
        ad_set_int(changes, name, i);
        struct ad *next = ad_change(NULL, changed, changes);
        refused = refused || next == NULL;
        if (next != NULL) {
            ad_destroy(changed);
            changed = next;
        }
        ad_destroy(changes);
    }
    assert_true(refused);
    assert_in_range(ad_count(ad), AD_COLLISIONS_MAX, AD_COLLISIONS_MAX + 2);
    assert_in_range(ad_count(changed), AD_COLLISIONS_MAX, AD_COLLISIONS_MAX + 2);
    static const char HEAD[] = {2, (char)(0x80 | (COLLIDING & 0x7f)), COLLIDING >> 7};
    strbuf_append(&bytes, HEAD, sizeof(HEAD));
    const char size[] = {(char)(0x80 | (names.length & 0x7f)), (char)(names.length >> 7)};
    assert_in_range(names.length, 128, 16383);
    strbuf_append(&bytes, size, sizeof(size));
    strbuf_append(&bytes, names.data, names.length);
    for (int i = 0; i < COLLIDING; i++) {
        strbuf_append(&bytes, "\1\0", 2);
    }
    struct err err;
    assert_int_equal(ad_decode_in(pool, NULL, bytes.data, bytes.length, NULL, &ret, &err), -E2BIG);
    assert_non_null(strstr(err.text, "the same hash"));
    ad_destroy(ad);
    ad_destroy(changed);
    strbuf_fini(&names);
    strbuf_fini(&bytes);
    ad_pool_destroy(pool);
}

static void many_shapes_come_and_go(void **state)
{
    (void)state;
    struct ad_pool *pool = ad_pool_create();
    struct ad *ads[SLOTS];
    struct ad_pool_figures figures;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < SLOTS; i++) {
            char name[32];
            struct ad *sent = ad_create();
            (void)snprintf(name, sizeof(name), "Of%d", i);
            ad_set_int(sent, name, i);
            ads[i] = arrive(pool, i > 0 ? ads[i - 1] : NULL, sent);
            ad_destroy(sent);
        }
        ad_pool_figures(pool, &figures);
        assert_int_equal(figures.shapes, SLOTS);
        for (int i = 0; i < SLOTS; i++) {
            ad_destroy(ads[i]);
        }
        ad_pool_figures(pool, &figures);
        assert_int_equal(figures.shapes, 0);
    }
    ad_pool_destroy(pool);
}

/* The ad within stays known to hold something private when its ad leaves the base it lay in. */
static void private_attributes_stay_when_an_ad_leaves_its_base(void **state)
{
    (void)state;
    struct ad_pool *pool = ad_pool_create();
    struct ad *sent =
        ad_of("[ N = [ B = 2; ClaimId = 3 ]; Long = \"some text that is the same\" ]");
    struct ad *base = arrive(pool, NULL, sent);
    struct ad *ad = arrive(pool, NULL, sent);
    ad_set_string(sent, "Long", "another text, so long that it is more than half of the whole ad");
    struct ad *apart = arrive(pool, ad, sent);
    struct ad *changes =
        ad_of("[ Long = \"a third text, again longer than half of the whole ad\" ]");
    struct ad *changed = ad_change(pool, ad, changes);
    const struct ad *const ALL[] = {apart, changed};
    for (int i = 0; i < 2; i++) {
        struct strbuf bytes;
        struct ad *back = NULL;
        const struct ad *nested = NULL;
        strbuf_init(&bytes, 0);
        ad_encode(ALL[i], false, &bytes);
        assert_int_equal(ad_decode(bytes.data, bytes.length, NULL, &back, NULL), 0);
        assert_int_equal(ad_get_ad(back, "N", &nested), 0);
        assert_false(ad_has(nested, "ClaimId"));
        assert_true(ad_has(nested, "B"));
        ad_destroy(back);
        strbuf_fini(&bytes);
    }
    ad_destroy(changed);
    ad_destroy(changes);
    ad_destroy(apart);
    ad_destroy(ad);
    ad_destroy(base);
    ad_destroy(sent);
    ad_pool_destroy(pool);
}

/* What is remembered about names that were asked for belongs to the text, not to where it stands.
 */
static void names_are_found_however_often_others_are_asked_for_between(void **state)
{
    (void)state;
    enum { NAMES = 300 };
    struct ad_pool *pool = ad_pool_create();
    struct ad *ad = ad_create();
    static char texts[2 * NAMES][24];
    for (int i = 0; i < 2 * NAMES; i++) {
        (void)snprintf(texts[i], sizeof texts[i], "Name%d", i);
        if (i < NAMES) {
            ad_set_int(ad, texts[i], i);
        }
    }
    ad_pack(pool, NULL, ad);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 2 * NAMES; i++) {
            char moved[24];
            assert_int_equal(ad_int_or(ad, texts[i], -1), i < NAMES ? i : -1);
            assert_int_equal(ad_int_or(ad, texts[i / 2], -1), i / 2);
            (void)snprintf(moved, sizeof moved, "nAME%d", i * 7 % (2 * NAMES));
            assert_int_equal(ad_int_or(ad, moved, -1),
                             i * 7 % (2 * NAMES) < NAMES ? i * 7 % (2 * NAMES) : -1);
        }
    }
    ad_destroy(ad);
    ad_pool_destroy(pool);
}

/* The ads that are searched one after the other are small and large, packed and not, and changed
 * after they were packed. */
static void a_name_is_found_at_its_nearest_place_in_a_chain(void **state)
{
    (void)state;
    struct ad_pool *pool = ad_pool_create();
    struct ad *job = ad_create(), *cluster = ad_create(), *top = ad_create();
    for (int i = 0; i < 20; i++) {
        char name[24];
        (void)snprintf(name, sizeof name, "Shared%d", i);
        ad_set_int(cluster, name, i);
    }
    ad_set_int(job, "Own", 1);
    ad_set_int(job, "Shared3", 103);
    ad_set_int(top, "Top", 7);
    ad_pack(pool, NULL, job);
    ad_pack(pool, NULL, cluster);
    ad_chain(cluster, top);
    ad_chain(job, cluster);
    for (int round = 0; round < 3; round++) {
        assert_int_equal(ad_int_or(job, "Own", -1), 1);
        assert_int_equal(ad_int_or(job, "Shared3", -1), 103);
        assert_int_equal(ad_int_or(job, "Shared4", -1), 4);
        assert_int_equal(ad_int_or(job, "Shared5", -1), round == 0 ? 5 : round == 1 ? 205 : -1);
        assert_int_equal(ad_int_or(job, "Late", -1), round == 0 ? -1 : 9);
        assert_int_equal(ad_int_or(job, "Top", -1), 7);
        assert_false(ad_has(job, "Nowhere"));
        if (round == 0) {
            ad_set_int(cluster, "Shared5", 205);
            ad_set_int(cluster, "Late", 9);
        } else {
            (void)ad_remove(cluster, "Shared5");
        }
    }
    (void)ad_remove(job, "Shared3");
    assert_int_equal(ad_int_or(job, "Shared3", -1), 3);
    ad_destroy(job);
    ad_destroy(cluster);
    ad_destroy(top);
    ad_pool_destroy(pool);
}

static const char *not_literal(const struct ad *ad)
{
    struct ad_identity_texts texts;
    return ad_identity_read(ad, &texts);
}

static const char *identity_text(const struct ad *ad, enum ad_identity which)
{
    struct ad_identity_texts texts;
    (void)ad_identity_read(ad, &texts);
    return texts.text[which];
}

static const char *first_not_literal(struct ad_pool *pool, const char *text, bool packed)
{
    struct ad *ad = ad_of(text);
    if (packed) {
        ad_pack(pool, NULL, ad);
    }
    const char *name = not_literal(ad);
    ad_destroy(ad);
    return name;
}

static void who_one_is_is_a_literal_wherever_an_ad_keeps_it(void **state)
{
    (void)state;
    struct ad_pool *pool = ad_pool_create();
    for (int packed = 0; packed < 2; packed++) {
        assert_null(first_not_literal(pool, "[ Name = \"a\"; MACHINE = \"m\"; X = y ]", packed));
        assert_string_equal(first_not_literal(pool, "[ Name = \"a\"; mAcHINE = \"m\" + x ]",
                                              packed),
                            "Machine");
        assert_string_equal(first_not_literal(pool, "[ A = 1; authenticatedidentity = 7 ]", packed),
                            "AuthenticatedIdentity");
        assert_string_equal(first_not_literal(pool, "[ user = o ]", packed), "User");
    }
    /* Beside a body, over it, hidden in it, and in a parent. */
    struct ad *ad = ad_of("[ Owner = \"o\"; UidDomain = x; A = 1 ]"), *child = ad_create();
    ad_pack(pool, NULL, ad);
    assert_string_equal(not_literal(ad), "UidDomain");
    assert_string_equal(identity_text(ad, AD_IDENTITY_UID_DOMAIN), "");
    assert_string_equal(identity_text(ad, AD_IDENTITY_OWNER), "o");
    ad_set_string(ad, "Machine", "m");
    assert_string_equal(identity_text(ad, AD_IDENTITY_MACHINE), "m");
    assert_string_equal(identity_text(ad, AD_IDENTITY_OWNER), "o");
    ad_chain(child, ad);
    assert_string_equal(not_literal(child), "UidDomain");
    assert_string_equal(identity_text(child, AD_IDENTITY_OWNER), "o");
    ad_destroy(child);
    (void)ad_remove(ad, "UidDomain");
    assert_null(not_literal(ad));
    ad_set_int(ad, "ScheddName", 1);
    assert_string_equal(not_literal(ad), "ScheddName");
    assert_string_equal(identity_text(ad, AD_IDENTITY_NAME), "");
    ad_destroy(ad);
    ad_pool_destroy(pool);
}

UNIT_TESTS(UNIT(who_one_is_is_a_literal_wherever_an_ad_keeps_it),
           UNIT(names_are_found_however_often_others_are_asked_for_between),
           UNIT(a_name_is_found_at_its_nearest_place_in_a_chain),
           UNIT(private_attributes_stay_when_an_ad_leaves_its_base),
           UNIT(colliding_names_are_refused_by_decoders_and_left_out_by_setters),
           UNIT(many_shapes_come_and_go), UNIT(ads_alike_share_names_and_values),
           UNIT(questions_about_an_ad_make_no_expressions_of_its_literals),
           UNIT(an_update_keeps_what_did_not_change), UNIT(ads_that_differ_in_all_keep_their_own),
           UNIT(what_arrives_wrong_is_refused_whatever_was_before),
           UNIT(setting_and_removing_over_a_decoded_ad),
           UNIT(changes_of_an_ad_of_the_pool_touch_only_what_they_name),
           UNIT(many_changes_fold_into_the_body), UNIT(an_ad_outlives_its_pool),
           UNIT(private_attributes_of_decoded_ads_stay_at_every_depth),
           UNIT(a_name_is_found_without_decoding),
           UNIT(changes_make_a_new_ad_and_leave_the_old_one),
           UNIT(a_public_copy_has_no_private_attributes))
