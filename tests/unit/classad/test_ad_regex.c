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
    assert_int_equal(ad_regex_match(regex, "zzaab", 5, 0, AD_REGEX_ANYWHERE, &steps), 1);
    assert_int_equal(ad_regex_group_count(regex), 3);
    assert_true(ad_regex_group(regex, 0, &start, &end));
    assert_int_equal(start, 2);
    assert_int_equal(end, 5);
    assert_true(ad_regex_group(regex, 1, &start, &end));
    assert_int_equal(end, 4);
    assert_false(ad_regex_group(regex, 2, &start, &end));
    assert_false(ad_regex_group(regex, 3, &start, &end));
    assert_int_equal(ad_regex_match(regex, "zzaab", 5, 4, AD_REGEX_ANYWHERE, &steps), 0);
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
        (void)ad_regex_match(regex, text, length, 0, AD_REGEX_ANYWHERE,
                             &steps); /* whatever it finds, it ends */
        steps = AD_EVAL_STEPS_MAX;
        (void)ad_regex_match(regex, text + length - 60, 60, 0, AD_REGEX_ANYWHERE, &steps);
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

static void a_pattern_that_was_given_back_is_taken_again(void **state)
{
    (void)state;
    struct ad_regex_cache *cache = ad_regex_cache_create();
    struct ad_regex *one = ad_regex_take(cache, "a+", 2, "i");
    struct ad_regex *two = ad_regex_take(cache, "a+", 2, "i"); /* while one is in use */
    assert_non_null(one);
    assert_non_null(two);
    assert_ptr_not_equal(one, two);
    ad_regex_give_back(cache, one);
    struct ad_regex *other = ad_regex_take(cache, "a+", 2, "");
    assert_ptr_not_equal(other, one);
    uint32_t steps = 100;
    assert_int_equal(ad_regex_match(other, "A", 1, 0, AD_REGEX_ANYWHERE, &steps), 0);
    struct ad_regex *again = ad_regex_take(cache, "a+", 2, "ig"); /* g is not its business */
    assert_ptr_equal(again, one);
    assert_int_equal(ad_regex_match(again, "A", 1, 0, AD_REGEX_ANYWHERE, &steps), 1);
    assert_null(ad_regex_take(cache, "(", 1, ""));
    ad_regex_give_back(cache, two);
    ad_regex_give_back(cache, again); /* in the place of two */
    ad_regex_give_back(cache, other);
    ad_regex_give_back(NULL, ad_regex_take(NULL, "b", 1, ""));
    for (int i = 0; i < 1000; i++) {
        char text[16];
        (void)snprintf(text, sizeof(text), "p%d", i);
        ad_regex_give_back(cache, ad_regex_take(cache, text, strlen(text), ""));
    }
    ad_regex_cache_destroy(cache);
    ad_regex_cache_destroy(NULL);
}

static void patterns_within_patterns_do_not_disturb_one_another(void **state)
{
    (void)state;
    struct ad_pool *pool = ad_pool_create();
    struct ad *ad = ad_create();
    assert_int_equal(ad_set_expr(ad, "Inner", "regexps(\"(a)(b)?\", \"xa\", \"\\\\1\")", NULL), 0);
    assert_int_equal(ad_set_expr(ad, "Outer",
                                 "regexpMember(\"(a)(b)?\", {strcat(Inner, \"z\"), \"q\"})", NULL),
                     0);
    ad_pack(pool, NULL, ad);
    for (int i = 0; i < 3; i++) {
        const char *text = NULL;
        assert_int_equal(ad_get_string(ad, "Inner", &text), 0);
        assert_string_equal(text, "a");
        assert_int_equal(ad_eval_bool(ad_lookup(ad, "Outer"), ad, NULL, NULL), AD_TRUE);
    }
    ad_pool_destroy(pool); /* with what it keeps */
    assert_int_equal(ad_eval_bool(ad_lookup(ad, "Outer"), ad, NULL, NULL), AD_TRUE);
    ad_destroy(ad);
}

UNIT_TESTS(UNIT(a_pattern_that_was_given_back_is_taken_again),
           UNIT(patterns_within_patterns_do_not_disturb_one_another),
           UNIT(groups_tell_what_they_matched), UNIT(wrong_and_dangerous_patterns_are_refused),
           UNIT(a_search_ends_when_its_steps_do),
           UNIT(an_evaluation_that_ran_out_of_steps_in_a_search_is_error))
