/* tests/unit/classad/test_ad.c - the ad: setting, getting, walking, chaining.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "tests/support/unit.h"

static void assert_prints(const struct ad *ad, const char *expected)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    ad_print(ad, &text);
    assert_string_equal(strbuf_text(&text), expected);
    strbuf_fini(&text);
}

static void names_are_found_in_any_case_and_keep_the_first_spelling(void **state)
{
    (void)state;
    struct ad *ad = ad_create();
    ad_set_int(ad, "Cpus", 1);
    ad_set_int(ad, "CPUS", 2);
    assert_int_equal(ad_count(ad), 1);
    assert_int_equal(ad_int_or(ad, "cpus", -1), 2);
    size_t at = 0;
    const char *name = NULL;
    assert_true(ad_next(ad, &at, &name, NULL));
    assert_string_equal(name, "Cpus");
    assert_false(ad_next(ad, &at, &name, NULL));
    ad_destroy(ad);
}

static void a_thousand_attributes_are_found_removed_and_walked_in_order(void **state)
{
    (void)state;
    struct ad *ad = ad_create();
    char name[32];
    for (int i = 0; i < 1000; i++) {
        (void)snprintf(name, sizeof(name), "Attr%d", i);
        ad_set_int(ad, name, i);
    }
    for (int i = 0; i < 1000; i += 2) {
        (void)snprintf(name, sizeof(name), "aTTR%d", i);
        ad_remove(ad, name);
    }
    ad_remove(ad, "Never");
    assert_int_equal(ad_count(ad), 500);
    size_t at = 0;
    int expected = 1;
    const char *found;
    const struct ad_expr *expr;
    while (ad_next(ad, &at, &found, &expr)) {
        int64_t value = 0;
        (void)snprintf(name, sizeof(name), "Attr%d", expected);
        assert_string_equal(found, name);
        assert_true(ad_expr_literal_int(expr, &value));
        assert_int_equal(value, expected);
        assert_true(ad_has(ad, name));
        expected += 2;
    }
    assert_int_equal(expected, 1001);
    assert_false(ad_has(ad, "Attr500"));
    ad_destroy(ad);
}

static void getters_tell_absent_from_wrong(void **state)
{
    (void)state;
    struct ad *ad = ad_create();
    ad_set_string(ad, "S", "text");
    ad_set_undefined(ad, "U");
    ad_set_error(ad, "E");
    ad_set_real(ad, "R", 2.75);
    ad_set_bool(ad, "B", true);
    assert_int_equal(ad_set_expr(ad, "Sum", "R + 1", NULL), 0);
    int64_t number = 42;
    double real = 0;
    bool boolean = false;
    const char *text = NULL;
    assert_int_equal(ad_get_int(ad, "Absent", &number), -ENOENT);
    assert_int_equal(ad_get_int(ad, "U", &number), -ENOENT);
    assert_int_equal(ad_get_int(ad, "S", &number), -EINVAL);
    assert_int_equal(ad_get_int(ad, "E", &number), -EINVAL);
    assert_int_equal(number, 42);
    assert_int_equal(ad_get_int(ad, "R", &number), 0);
    assert_int_equal(number, 2);
    assert_int_equal(ad_get_int(ad, "B", &number), 0);
    assert_int_equal(number, 1);
    assert_int_equal(ad_get_real(ad, "sum", &real), 0);
    assert_true(real == 3.75);
    assert_int_equal(ad_get_real(ad, "B", &real), 0);
    assert_true(real == 1.0);
    assert_int_equal(ad_get_bool(ad, "R", &boolean), 0);
    assert_true(boolean);
    assert_int_equal(ad_get_bool(ad, "S", &boolean), -EINVAL);
    assert_int_equal(ad_get_string(ad, "R", &text), -EINVAL);
    assert_null(text);
    assert_string_equal(ad_string_or(ad, "S", "other"), "text");
    assert_string_equal(ad_string_or(ad, "R", "other"), "other");
    assert_int_equal(ad_int_or(ad, "S", 9), 9);
    assert_true(ad_bool_or(ad, "Absent", true));
    assert_true(ad_real_or(ad, "Absent", 0.5) == 0.5);
    ad_destroy(ad);
}

static void a_real_that_no_integer_holds_is_refused(void **state)
{
    (void)state;
    struct ad *ad = ad_create();
    int64_t number = 5;
    ad_set_real(ad, "Big", 1e300);
    assert_int_equal(ad_get_int(ad, "Big", &number), -EINVAL);
    assert_int_equal(number, 5);
    ad_destroy(ad);
}

static void a_computed_string_lives_until_the_ad_changes(void **state)
{
    (void)state;
    struct ad *ad = ad_create();
    const char *first = NULL;
    const char *second = NULL;
    ad_set_string(ad, "Host", "n1");
    assert_int_equal(ad_set_expr(ad, "Name", "strcat(\"slot1@\", Host)", NULL), 0);
    assert_int_equal(ad_set_expr(ad, "Upper", "toUpper(Host)", NULL), 0);
    assert_int_equal(ad_get_string(ad, "Name", &first), 0);
    assert_string_equal(ad_string_or(ad, "Upper", ""), "N1");
    assert_string_equal(first, "slot1@n1");
    assert_int_equal(ad_get_string(ad, "Name", &second), 0);
    assert_ptr_equal(first, second);
    ad_set_string(ad, "Host", "n2");
    assert_string_equal(ad_string_or(ad, "Name", ""), "slot1@n2");
    ad_destroy(ad);
}

static void a_copy_is_independent(void **state)
{
    (void)state;
    struct ad *ad = ad_create();
    for (int i = 0; i < 20; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "A%d", i);
        ad_set_int(ad, name, i);
    }
    struct ad *copy = ad_copy(ad);
    assert_true(ad_same(ad, copy));
    ad_set_int(copy, "A3", 33);
    ad_remove(copy, "A4");
    assert_int_equal(ad_int_or(ad, "A3", -1), 3);
    assert_int_equal(ad_int_or(ad, "A4", -1), 4);
    assert_false(ad_same(ad, copy));
    ad_destroy(ad);
    assert_int_equal(ad_int_or(copy, "A19", -1), 19);
    ad_destroy(copy);
}

static void a_chained_ad_shows_its_parent_below_its_own(void **state)
{
    (void)state;
    struct ad *cluster = ad_create();
    struct ad *job = ad_create();
    ad_set_string(cluster, "Owner", "alice");
    ad_set_int(cluster, "Memory", 1);
    ad_set_int(job, "Memory", 2);
    ad_chain(job, cluster);
    assert_int_equal(ad_set_expr(cluster, "Twice", "Memory * 2", NULL), 0);
    assert_string_equal(ad_string_or(job, "Owner", "none"), "alice");
    assert_int_equal(ad_int_or(job, "Twice", 0), 4); /* evaluated in the child */
    assert_int_equal(ad_count(job), 1);
    ad_remove(job, "Memory");
    assert_int_equal(ad_int_or(job, "Twice", 0), 2);
    struct ad *flat = ad_create();
    ad_merge(flat, cluster);
    ad_merge(flat, job);
    assert_int_equal(ad_count(flat), 3);
    ad_chain(job, NULL);
    assert_false(ad_has(job, "Owner"));
    ad_destroy(flat);
    ad_destroy(job);
    ad_destroy(cluster);
}

static void lists_and_nested_ads_are_set_and_read_back(void **state)
{
    (void)state;
    static const char *const NAMES[] = {"a", "b c"};
    struct ad *ad = ad_create();
    struct ad *nested = ad_create();
    const struct ad *found = NULL;
    ad_set_int(nested, "X", 1);
    ad_set_ad(ad, "Inner", nested);
    ad_set_strings(ad, "List", NAMES, 2);
    ad_set_strings(ad, "None", NULL, 0);
    assert_prints(ad, "[ List = { \"a\",\"b c\" }; None = {  }; Inner = [ X = 1 ] ]");
    assert_int_equal(ad_get_ad(ad, "inner", &found), 0);
    assert_int_equal(ad_int_or(found, "x", 0), 1);
    assert_int_equal(ad_get_ad(ad, "List", &found), -EINVAL);
    assert_int_equal(ad_get_ad(ad, "Nothing", &found), -ENOENT);
    ad_destroy(ad);
}

static void a_bad_expression_leaves_the_ad_as_it_was(void **state)
{
    (void)state;
    struct ad *ad = ad_create();
    struct err err;
    ad_set_int(ad, "A", 1);
    assert_int_equal(ad_set_expr(ad, "A", "1 +", &err), -EINVAL);
    assert_string_equal(err.text, "A: at byte 3: expression expected, the text ends");
    assert_int_equal(ad_int_or(ad, "A", 0), 1);
    assert_int_equal(ad_set_expr_old(ad, "P", "\"C:\\dir\\\"", &err), 0);
    assert_string_equal(ad_string_or(ad, "P", ""), "C:\\dir\\");
    ad_destroy(ad);
}

static void attributes_are_copied_between_ads(void **state)
{
    (void)state;
    struct ad *from = ad_create();
    struct ad *to = ad_create();
    assert_int_equal(ad_set_expr(from, "Rank", "TARGET.Mips", NULL), 0);
    assert_int_equal(ad_copy_attr(to, "MyRank", from, "rank"), 0);
    assert_int_equal(ad_copy_attr(to, "Other", from, "absent"), -ENOENT);
    ad_destroy(from);
    assert_prints(to, "[ MyRank = TARGET.Mips ]");
    ad_destroy(to);
}

static void secrets_are_known_by_name(void **state)
{
    (void)state;
    assert_true(ad_attr_is_private("ClaimId"));
    assert_true(ad_attr_is_private("claimid"));
    assert_true(ad_attr_is_private("CAPABILITY"));
    assert_true(ad_attr_is_private("ClaimIds"));
    assert_true(ad_attr_is_private("ClaimIdList"));
    assert_true(ad_attr_is_private("ChildClaimIds"));
    assert_true(ad_attr_is_private("PairedClaimId"));
    assert_true(ad_attr_is_private("TransferKey"));
    assert_false(ad_attr_is_private("PublicClaimId"));
    assert_false(ad_attr_is_private("ClaimIdX"));
    assert_false(ad_attr_is_private("_roost_privX"));
    assert_false(ad_attr_is_private(""));
}

static void names_are_checked_for_callers_who_take_them_from_outside(void **state)
{
    (void)state;
    char longest[AD_NAME_MAX + 2];
    memset(longest, 'a', sizeof(longest));
    longest[AD_NAME_MAX] = '\0';
    assert_true(ad_name_is_valid(longest));
    longest[AD_NAME_MAX] = 'a';
    longest[AD_NAME_MAX + 1] = '\0';
    assert_false(ad_name_is_valid(longest));
    assert_true(ad_name_is_valid("_a1"));
    assert_false(ad_name_is_valid(""));
    assert_false(ad_name_is_valid("1a"));
    assert_false(ad_name_is_valid("a.b"));
    assert_false(ad_name_is_valid("a b"));
    assert_false(ad_name_is_valid("True"));
    assert_false(ad_name_is_valid("isnt"));
    assert_true(ad_name_is_valid("My"));
}

static void names_compare_by_ascii_alone(void **state)
{
    (void)state;
    assert_int_equal(ad_name_compare("aBc", "AbC"), 0);
    assert_true(ad_name_compare("a", "b") < 0);
    assert_true(ad_name_compare("b", "A") > 0);
    assert_true(ad_name_compare("a", "ab") < 0);
    assert_true(ad_name_compare("\xc3\x89", "\xc3\xa9") != 0);
}

UNIT_TESTS(UNIT(names_are_found_in_any_case_and_keep_the_first_spelling),
           UNIT(a_thousand_attributes_are_found_removed_and_walked_in_order),
           UNIT(getters_tell_absent_from_wrong), UNIT(a_real_that_no_integer_holds_is_refused),
           UNIT(a_computed_string_lives_until_the_ad_changes), UNIT(a_copy_is_independent),
           UNIT(a_chained_ad_shows_its_parent_below_its_own),
           UNIT(lists_and_nested_ads_are_set_and_read_back),
           UNIT(a_bad_expression_leaves_the_ad_as_it_was), UNIT(attributes_are_copied_between_ads),
           UNIT(secrets_are_known_by_name),
           UNIT(names_are_checked_for_callers_who_take_them_from_outside),
           UNIT(names_compare_by_ascii_alone))
