/* tests/unit/classad/test_ad_match.c - Requirements of both sides.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/strmap.h"
#include "classad/ad.h"
#include "tests/support/unit.h"

static struct ad *ad_of(const char *text)
{
    struct ad *ad = NULL;
    assert_int_equal(ad_parse(text, strlen(text), &ad, NULL), 0);
    return ad;
}

static void a_match_needs_both_sides(void **state)
{
    (void)state;
    struct ad *job = ad_of("[Requirements = TARGET.Memory >= RequestMemory; RequestMemory = 100]");
    struct ad *slot = ad_of("[Requirements = TARGET.Owner =!= \"mallory\"; Memory = 200]");
    assert_true(ad_match(job, slot, NULL));
    assert_true(ad_match(slot, job, NULL));
    ad_set_string(job, "Owner", "mallory");
    assert_false(ad_match(job, slot, NULL));
    assert_true(ad_match_half(job, slot, NULL));
    assert_false(ad_match_half(slot, job, NULL));
    ad_set_string(job, "Owner", "alice");
    ad_set_int(slot, "Memory", 50);
    assert_false(ad_match(job, slot, NULL));
    ad_destroy(job);
    ad_destroy(slot);
}

static void without_requirements_nothing_matches(void **state)
{
    (void)state;
    struct ad *job = ad_of("[Requirements = true]");
    struct ad *slot = ad_of("[Memory = 200]");
    assert_false(ad_match(job, slot, NULL));
    ad_destroy(job);
    ad_destroy(slot);
}

static void requirements_may_ask_the_time(void **state)
{
    (void)state;
    struct ad *job = ad_of("[Requirements = time() > 1000]");
    struct ad *slot = ad_of("[Requirements = true]");
    struct ad_context late = {.now_s = 2000};
    struct ad_context early = {.now_s = 500};
    assert_true(ad_match(job, slot, &late));
    assert_false(ad_match(job, slot, &early));
    assert_false(ad_match(job, slot, NULL));
    ad_destroy(job);
    ad_destroy(slot);
}

static void assert_refs(const char *text, const struct ad *my, const char *const *external,
                        size_t count, const char *const *internal, size_t internal_count)
{
    struct ad_expr *expr = NULL;
    struct strmap *outside = strmap_create(STRMAP_CASE_IGNORED);
    struct strmap *inside = strmap_create(STRMAP_CASE_IGNORED);
    assert_int_equal(ad_expr_parse(text, strlen(text), AD_OLD, &expr, NULL), 0);
    ad_refs(expr, my, outside, inside);
    assert_int_equal(strmap_count(outside), count);
    for (size_t i = 0; i < count; i++) {
        assert_non_null(strmap_get(outside, external[i]));
    }
    assert_int_equal(strmap_count(inside), internal_count);
    for (size_t i = 0; i < internal_count; i++) {
        assert_non_null(strmap_get(inside, internal[i]));
    }
    strmap_destroy(outside, NULL);
    outside = strmap_create(STRMAP_CASE_IGNORED);
    ad_refs(expr, my, outside, NULL); /* the same without being asked for the inner names */
    assert_int_equal(strmap_count(outside), count);
    strmap_destroy(outside, NULL);
    strmap_destroy(inside, NULL);
    ad_expr_destroy(expr);
}

static void references_to_the_other_side_are_found_through_own_attributes(void **state)
{
    (void)state;
    struct ad *job = ad_of("[Mem = Base * 2; Base = TARGET.Offset + 1; Loop = Loop; Inner = [q = "
                           "Deep; w = q]; Rank = 5]");
    static const char *const MEMORY[] = {"Memory", "offset", "Arch"};
    static const char *const OWN[] = {"Mem", "Base"};
    assert_refs("Memory > Mem && TARGET.Arch == \"x\" && memory > MY.Mem", job, MEMORY, 3, OWN, 2);
    static const char *const OFFSET[] = {"Offset"};
    assert_refs("MY.Mem", job, OFFSET, 1, OWN, 2);
    static const char *const LOOP[] = {"Loop"};
    assert_refs("Loop", job, NULL, 0, LOOP, 1);
    static const char *const RANK[] = {"Rank"};
    assert_refs("TARGET.Rank", job, RANK, 1, NULL, 0);
    static const char *const DEEP[] = {"Deep"};
    static const char *const INNER[] = {"Inner"};
    assert_refs("Inner.w", job, DEEP, 1, INNER, 1);
    assert_refs("MY.Absent + 1", job, NULL, 0, NULL, 0);
    static const char *const LIST[] = {"a", "b", "c"};
    assert_refs("{a, f(b)}[c]", NULL, LIST, 3, NULL, 0);
    ad_destroy(job);
}

UNIT_TESTS(UNIT(a_match_needs_both_sides), UNIT(without_requirements_nothing_matches),
           UNIT(requirements_may_ask_the_time),
           UNIT(references_to_the_other_side_are_found_through_own_attributes))
