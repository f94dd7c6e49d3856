/* tests/unit/base/test_args.c - the promises of base/args.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/args.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"

static void assert_words(const struct vec *words, const char *const *expected, size_t count)
{
    assert_int_equal(words->count, count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(words->items[i], expected[i]);
    }
}

static void v1_splits_at_blanks_and_knows_no_quotes(void **state)
{
    (void)state;
    struct vec words = {0};
    assert_int_equal(args_parse_v1("  -a 'b\tc'  d ", &words, NULL), 0);
    assert_words(&words, (const char *const[]){"-a", "'b", "c'", "d"}, 4);
    vec_fini(&words, mem_free);
}

static void v2_keeps_blanks_in_quotes_and_reads_a_doubled_quote_as_one(void **state)
{
    (void)state;
    struct vec words = {0};
    assert_int_equal(args_parse_v2("one 'two three' it''s 'it''s' '' x'y z'w", &words, NULL), 0);
    assert_words(&words, (const char *const[]){"one", "two three", "its", "it's", "", "xy zw"}, 6);
    vec_fini(&words, mem_free);
}

static void v2_names_the_quote_that_is_not_closed(void **state)
{
    (void)state;
    struct vec words = {0};
    struct err err;
    assert_int_equal(args_parse_v2("a 'b c", &words, &err), -EINVAL);
    assert_non_null(strstr(err.text, "byte 2"));
    vec_fini(&words, mem_free);
}

static void what_append_v2_writes_parse_v2_reads(void **state)
{
    (void)state;
    const char *const words[] = {"plain", "with blank", "quo'te", "", "'", "a\tb", "$x;\"y\""};
    struct strbuf text;
    strbuf_init(&text, 0);
    for (size_t i = 0; i < 7; i++) {
        args_append_v2(&text, words[i]);
    }
    struct vec read = {0};
    assert_int_equal(args_parse_v2(strbuf_text(&text), &read, NULL), 0);
    assert_words(&read, words, 7);
    vec_fini(&read, mem_free);
    strbuf_fini(&text);
}

static void environment_of_both_forms_is_split_and_checked(void **state)
{
    (void)state;
    struct vec entries = {0};
    struct err err;
    assert_int_equal(env_parse_v1("A=1; B=two words;;C=", &entries, NULL), 0);
    assert_words(&entries, (const char *const[]){"A=1", "B=two words", "C="}, 3);
    assert_int_equal(env_parse_v2("D='x y' E=2", &entries, NULL), 0);
    assert_string_equal(entries.items[3], "D=x y");
    assert_string_equal(entries.items[4], "E=2");
    assert_int_equal(env_parse_v2("novalue", &entries, &err), -EINVAL);
    assert_non_null(strstr(err.text, "novalue"));
    assert_int_equal(env_parse_v1("=3", &entries, &err), -EINVAL);
    vec_fini(&entries, mem_free);
}

static void more_words_than_the_limit_are_refused(void **state)
{
    (void)state;
    struct strbuf text;
    strbuf_init(&text, 0);
    for (int i = 0; i <= ARGS_COUNT_MAX; i++) {
        strbuf_puts(&text, "a ");
    }
    struct vec words = {0};
    assert_int_equal(args_parse_v1(strbuf_text(&text), &words, NULL), -E2BIG);
    assert_int_equal(words.count, ARGS_COUNT_MAX);
    vec_fini(&words, mem_free);
    strbuf_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(v1_splits_at_blanks_and_knows_no_quotes),
        cmocka_unit_test(v2_keeps_blanks_in_quotes_and_reads_a_doubled_quote_as_one),
        cmocka_unit_test(v2_names_the_quote_that_is_not_closed),
        cmocka_unit_test(what_append_v2_writes_parse_v2_reads),
        cmocka_unit_test(environment_of_both_forms_is_split_and_checked),
        cmocka_unit_test(more_words_than_the_limit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
