/* tests/unit/classad/test_ad_regex.c - patterns of strangers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <time.h>

#include "base/mem.h"
#include "classad/ad.h"
#include "classad/ad_regex.h"
#include "tests/support/unit.h"

static void groups_tell_what_they_matched(void **state)
{
    (void)state;
    struct ad_regex *regex = ad_regex_create("(a+)(x)?b", 9, "");
    uint32_t steps = 1000;
    size_t start = 0;
    size_t end = 0;
    assert_non_null(regex);
    assert_int_equal(ad_regex_match(regex, "zzaab", 5, 0, &steps), 1);
    assert_int_equal(ad_regex_group_count(regex), 3);
    assert_true(ad_regex_group(regex, 0, &start, &end));
    assert_int_equal(start, 2);
    assert_int_equal(end, 5);
    assert_true(ad_regex_group(regex, 1, &start, &end));
    assert_int_equal(end, 4);
    assert_false(ad_regex_group(regex, 2, &start, &end));
    assert_false(ad_regex_group(regex, 3, &start, &end));
    assert_int_equal(ad_regex_match(regex, "zzaab", 5, 4, &steps), 0);
    assert_true(steps < 1000);
    ad_regex_destroy(regex);
    ad_regex_destroy(NULL);
}

static void wrong_and_dangerous_patterns_are_refused(void **state)
{
    (void)state;
    char *longest = mem_alloc(AD_REGEX_PATTERN_MAX + 1);
    memset(longest, 'a', AD_REGEX_PATTERN_MAX + 1);
    assert_null(ad_regex_create("(", 1, ""));
    assert_null(ad_regex_create("a\\Cb", 4, ""));
    assert_null(ad_regex_create(longest, AD_REGEX_PATTERN_MAX + 1, ""));
    mem_free(longest);
}

static void a_search_ends_when_its_steps_do(void **state)
{
    (void)state;
    static const char *const PATTERNS[] = {"(a+)+$", "(a|aa)+$", "(.*)*x", "[a-z]*\\d",
                                           "(?:a?){30}a{30}!"};
    size_t length = 500000;
    char *text = mem_alloc(length + 1);
    memset(text, 'a', length);
    text[length - 1] = '!';
    text[length] = '\0';
    clock_t before = clock();
    for (size_t i = 0; i < sizeof(PATTERNS) / sizeof(PATTERNS[0]); i++) {
        struct ad_regex *regex = ad_regex_create(PATTERNS[i], strlen(PATTERNS[i]), "");
        uint32_t steps = AD_EVAL_STEPS_MAX;
        assert_non_null(regex);
        (void)ad_regex_match(regex, text, length, 0, &steps); /* whatever it finds, it ends */
        steps = AD_EVAL_STEPS_MAX;
        (void)ad_regex_match(regex, text + length - 60, 60, 0, &steps);
        ad_regex_destroy(regex);
    }
    assert_true((double)(clock() - before) / CLOCKS_PER_SEC <
                10.0); /* generous: instrumented builds */
    mem_free(text);
}

static void an_evaluation_that_ran_out_of_steps_in_a_search_is_error(void **state)
{
    (void)state;
    struct ad *ad = ad_create();
    char text[200];
    memset(text, 'a', sizeof(text) - 2);
    text[sizeof(text) - 2] = '!';
    text[sizeof(text) - 1] = '\0';
    ad_set_string(ad, "Text", text);
    assert_int_equal(ad_set_expr(ad, "Hostile", "regexp(\"(a|aa)+$\", Text)", NULL), 0);
    assert_int_equal(ad_set_expr(ad, "Hidden", "isError(Hostile) || true", NULL), 0);
    assert_int_equal(ad_set_expr(ad, "Harmless", "regexp(\"^a+!$\", Text)", NULL), 0);
    assert_int_equal(ad_eval_bool(ad_lookup(ad, "Hostile"), ad, NULL, NULL), AD_ERROR);
    assert_int_equal(ad_eval_bool(ad_lookup(ad, "Hidden"), ad, NULL, NULL), AD_ERROR);
    assert_int_equal(ad_eval_bool(ad_lookup(ad, "Harmless"), ad, NULL, NULL), AD_TRUE);
    ad_destroy(ad);
}

UNIT_TESTS(UNIT(groups_tell_what_they_matched), UNIT(wrong_and_dangerous_patterns_are_refused),
           UNIT(a_search_ends_when_its_steps_do),
           UNIT(an_evaluation_that_ran_out_of_steps_in_a_search_is_error))
