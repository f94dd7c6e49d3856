/* tests/unit/classad/test_ad_project.c - some attributes of many ads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include "base/err.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "classad/ad_pool.h"
#include "classad/ad_project.h"

static struct ad *parsed(const char *text)
{
    struct ad *ad = NULL;
    struct err err = {""};
    if (ad_parse(text, strlen(text), &ad, &err) != 0) {
        fail_msg("%s: %s", text, err.text);
    }
    return ad;
}

/* What comes out, in new syntax; "none" when nothing does. */
static const char *projected(struct ad_projection *projection, const struct ad *ad,
                             bool with_private, bool literals_only)
{
    static char text[1024];
    struct strbuf out, printed;
    struct ad *back = NULL;
    struct err err = {""};
    strbuf_init(&out, 0);
    strbuf_init(&printed, 0);
    strbuf_puts(&out, "before");
    if (ad_project(projection, ad, with_private, literals_only, &out)) {
        if (ad_decode(out.data + 6, out.length - 6, NULL, &back, &err) != 0) {
            fail_msg("%s", err.text);
        }
        ad_print(back, &printed);
    } else {
        assert_int_equal(out.length, 6);
        strbuf_puts(&printed, "none");
    }
    (void)snprintf(text, sizeof(text), "%s", strbuf_text(&printed));
    ad_destroy(back);
    strbuf_fini(&out);
    strbuf_fini(&printed);
    return text;
}

static void what_is_wanted_comes_and_nothing_else(void **state)
{
    (void)state;
    const char *const names[] = {"b", "C", "nosuch", "B"};
    struct ad_projection *projection = ad_projection_create(names, 4);
    struct ad *ad = parsed("[ A = 1; B = \"two\"; C = A + 1; D = 4 ]");
    struct ad *less = parsed("[ D = 4 ]");
    for (int i = 0; i < 2; i++) {
        assert_string_equal(projected(projection, ad, true, false), "[ b = \"two\"; C = A + 1 ]");
        assert_string_equal(projected(projection, less, true, false), "[  ]");
        assert_string_equal(projected(projection, ad, true, true), "none");
        assert_string_equal(projected(projection, less, true, true), "[  ]");
    }
    ad_destroy(ad);
    ad_destroy(less);
    ad_projection_destroy(projection);
}

static void ads_of_a_pool_are_projected_like_any(void **state)
{
    (void)state;
    const char *const names[] = {"Name", "Load", "More", "List"};
    struct ad_pool *pool = ad_pool_create();
    struct ad_projection *projection = ad_projection_create(names, 4);
    struct ad *before = NULL;
    char expected[256];
    for (int i = 0; i < 50; i++) {
        char text[256];
        (void)
            snprintf(text, sizeof(text),
                     "[ Name = \"slot%d\"; Same = 1; Load = \"l%d\"; Other = \"x\"; List = {%d} ]",
                     i, i, i % 3);
        struct ad *ad = parsed(text);
        ad_pack(pool, before, ad);
        (void)snprintf(expected, sizeof(expected),
                       "[ List = { %d }; Load = \"l%d\"; Name = \"slot%d\" ]", i % 3, i, i);
        assert_string_equal(projected(projection, ad, false, false), expected);
        ad_set_int(ad, "Load", i); /* stands in the place of the body's */
        ad_set_int(ad, "More", 1);
        ad_remove(ad, "List");
        (void)snprintf(expected, sizeof(expected), "[ Load = %d; More = 1; Name = \"slot%d\" ]", i,
                       i);
        assert_string_equal(projected(projection, ad, false, true), expected);
        ad_destroy(before);
        before = ad;
    }
    ad_destroy(before);
    ad_projection_destroy(projection);
    ad_pool_destroy(pool);
}

static void what_is_private_within_a_value_stays(void **state)
{
    (void)state;
    const char *const names[] = {"A"};
    struct ad_pool *pool = ad_pool_create();
    struct ad_projection *projection = ad_projection_create(names, 1);
    struct ad *ad = parsed("[ A = [ x = 1; ClaimId = \"secret\" ] ]");
    for (int i = 0; i < 2; i++) {
        assert_string_equal(projected(projection, ad, false, false), "[ A = [ x = 1 ] ]");
        assert_non_null(strstr(projected(projection, ad, true, false), "secret"));
        ad_pack(pool, NULL, ad);
    }
    ad_destroy(ad);
    ad_projection_destroy(projection);
    ad_pool_destroy(pool);
}

UNIT_TESTS(UNIT(what_is_wanted_comes_and_nothing_else), UNIT(ads_of_a_pool_are_projected_like_any),
           UNIT(what_is_private_within_a_value_stays))
