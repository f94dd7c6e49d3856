/* tests/unit/classad/test_ad_lister.c - many ads as lines of text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include "base/err.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "classad/ad_lister.h"
#include "classad/ad_pool.h"

static struct ad *parsed(const char *text)
{
    struct ad *ad = NULL;
    struct err err = {""};
    if (ad_parse(text, strlen(text), &ad, &err) != 0) {
        fail_msg("%s: %s", text, err.text);
    }
    return ad;
}

static void expect(struct ad_lister *lister, const struct ad *ad, const char *lines)
{
    struct strbuf out;
    strbuf_init(&out, 0);
    ad_lister_print(lister, ad, &out);
    assert_string_equal(strbuf_text(&out), lines);
    strbuf_fini(&out);
}

static void lines_come_in_order_of_the_alphabet_without_what_is_private(void **state)
{
    (void)state;
    struct ad_lister *lister = ad_lister_create(AD_LISTER_LONG, NULL, 0);
    struct ad_pool *pool = ad_pool_create();
    struct ad *ad =
        parsed("[ name = \"a\\\"b\"; Load = 0.5; ClaimId = \"secret\"; B = x + 1; a = -3 ]");
    for (int i = 0; i < 3; i++) {
        expect(lister, ad, "a = -3\nB = x + 1\nLoad = 0.5\nname = \"a\\\"b\"\n");
        ad_pack(pool, NULL, ad);
    }
    ad_destroy(ad);
    ad_pool_destroy(pool);
    ad_lister_destroy(lister);
}

static void only_what_is_wanted_is_printed(void **state)
{
    (void)state;
    const char *const wanted[] = {"C", "A", "nosuch", "ClaimId"};
    struct ad_lister *lister = ad_lister_create(AD_LISTER_LONG, wanted, 4);
    struct ad_pool *pool = ad_pool_create();
    struct ad *ad = parsed("[ a = 1; b = 2; c = 3; ClaimId = \"secret\" ]");
    for (int i = 0; i < 3; i++) {
        expect(lister, ad, "a = 1\nc = 3\n");
        ad_pack(pool, NULL, ad);
    }
    ad_destroy(ad);
    ad_pool_destroy(pool);
    ad_lister_destroy(lister);
}

static void json_is_an_object_of_lines(void **state)
{
    (void)state;
    const char *const wanted[] = {"nosuch"};
    struct ad_lister *lister = ad_lister_create(AD_LISTER_JSON, NULL, 0);
    struct ad_lister *nothing = ad_lister_create(AD_LISTER_JSON, wanted, 1);
    struct ad_pool *pool = ad_pool_create();
    struct ad *ad =
        parsed("[ name = \"a\\\"b\"; Load = 0.5; ClaimId = \"secret\"; B = x + 1; a = -3;"
               " 'odd \"one' = undefined; l = { true, [ q = 1; ClaimId = \"s\" ] } ]");
    for (int i = 0; i < 3; i++) {
        expect(lister, ad,
               "{\n  \"a\": -3,\n  \"B\": \"\\/Expr(x + 1)\\/\",\n  \"l\": [true,{\"q\":1}],\n"
               "  \"Load\": 0.5,\n  \"name\": \"a\\\"b\",\n  \"odd \\\"one\": null\n}\n");
        expect(nothing, ad, "{\n}\n");
        ad_pack(pool, NULL, ad);
    }
    ad_set_int(ad, "B", 7); /* over the body */
    ad_remove(ad, "l");
    ad_remove(ad, "a");
    expect(
        lister, ad,
        "{\n  \"B\": 7,\n  \"Load\": 0.5,\n  \"name\": \"a\\\"b\",\n  \"odd \\\"one\": null\n}\n");
    ad_destroy(ad);
    ad_pool_destroy(pool);
    ad_lister_destroy(nothing);
    ad_lister_destroy(lister);
}

/* What one ad left behind is not shown of another, whatever changes between them. */
static void ads_alike_are_printed_as_they_are(void **state)
{
    (void)state;
    struct ad_lister *lister = ad_lister_create(AD_LISTER_LONG, NULL, 0);
    struct ad_pool *pool = ad_pool_create();
    struct ad *before = NULL;
    for (int i = 0; i < 300; i++) {
        char text[300], lines[300];
        int shape = i % 23; /* more than are remembered */
        (void)snprintf(text, sizeof(text),
                       "[ Same = \"s\"; Name = \"%.*s%d\"; X%d = %d; E = Same + %d ]", i % 40,
                       "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", i, shape, i / 7, i / 50);
        (void)snprintf(lines, sizeof(lines),
                       "E = Same + %d\nName = \"%.*s%d\"\nSame = \"s\"\nX%d = %d\n", i / 50, i % 40,
                       "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", i, shape, i / 7);
        struct ad *ad = parsed(text);
        ad_pack(pool, before, ad);
        expect(lister, ad, lines);
        if (i % 3 == 0) { /* something stands over the body */
            ad_set_int(ad, "Same", i);
            ad_remove(ad, "E");
            ad_remove(ad, "Name");
            (void)snprintf(lines, sizeof(lines), "Same = %d\nX%d = %d\n", i, shape, i / 7);
            expect(lister, ad, lines);
        }
        ad_destroy(before);
        before = ad;
    }
    ad_destroy(before);
    ad_pool_destroy(pool);
    ad_lister_destroy(lister);
}

UNIT_TESTS(UNIT(lines_come_in_order_of_the_alphabet_without_what_is_private),
           UNIT(only_what_is_wanted_is_printed), UNIT(json_is_an_object_of_lines),
           UNIT(ads_alike_are_printed_as_they_are))
