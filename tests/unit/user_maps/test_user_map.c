/* tests/unit/user_maps/test_user_map.c - see user_map.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "tests/support/unit.h"
#include "classad/ad_limits.h"
#include "user_maps/user_map.h"

static struct user_map *map_of(const char *text)
{
    struct user_map *map = user_map_create();
    user_map_add(map, text, strlen(text), NULL);
    return map;
}

/* What a map says of a user, "-" for nothing. */
static void says(const char *text, const char *method, const char *user, const char *expected)
{
    struct user_map *map = map_of(text);
    struct strbuf out;
    strbuf_init(&out, 0);
    uint32_t steps = AD_EVAL_STEPS_MAX;
    if (!user_map_find(map, method, user, &out, &steps)) {
        strbuf_puts(&out, "-");
    }
    assert_string_equal(strbuf_text(&out), expected);
    strbuf_fini(&out);
    user_map_destroy(map);
}

static void users_are_found_by_method_and_name(void **state)
{
    (void)state;
    static const char TEXT[] = "# groups\n\n* alice physics,chem\r\n * bob\tbio\nother alice x\n";
    says(TEXT, "*", "alice", "physics,chem");
    says(TEXT, "*", "bob", "bio");
    says(TEXT, "other", "alice", "x");
    says(TEXT, "*", "Alice", "-");
    says(TEXT, "other", "bob", "-");
    says(TEXT, "none", "bob", "-");
    says("", "*", "bob", "-");
}

static void fields_may_be_in_quotes(void **state)
{
    (void)state;
    says("* \"a b\" \"x y, z\"", "*", "a b", "x y, z");
    says("* \"a\\\"b\" \"\\\\x\\y\"", "*", "a\"b", "\\x\\y");
    says("\"my method\" a \"open", "my method", "a", "open");
    says("* /a b/ c", "*", "x a b", "c");
}

static void the_first_line_that_fits_counts(void **state)
{
    (void)state;
    static const char TEXT[] = "* /^a/ pattern\n* alice one\n* alice two\n* bob three\n* /b/ four\n"
                               "* bert five\n";
    says(TEXT, "*", "alice", "pattern");
    says(TEXT, "*", "bob", "three");
    says(TEXT, "*", "bert", "four");
    says(TEXT, "*", "eve", "-");
    says("* alice one\n* alice two\n", "*", "alice", "one");
}

static void groups_stand_in_for_numbers(void **state)
{
    (void)state;
    static const char TEXT[] =
        "* /^(\\w+)@(cs|ee)\\.(x)?/ \\2_\\1,\\0:\\3:\\9:\\a\n* bob \\0,\\1\n";
    says(TEXT, "*", "ann@cs.x", "cs_ann,ann@cs.x:x:\\9:\\a");
    says(TEXT, "*", "bob", "bob,\\1");
}

static void patterns_have_options(void **state)
{
    (void)state;
    says("* /ABC/ x", "*", "abc", "-");
    says("* /ABC/i x", "*", "abc", "x");
    says("* /(a+)(a*)/ \\1", "*", "aaa", "aaa");
    says("* /(a+)(a*)/U \\1", "*", "aaa", "a");
    says("* /(A+)(a*)/Ui \\1", "*", "aaa", "a");
    says("* /a\\/b/ x", "*", "a/b", "x");
    says("* /a\\.b/ x", "*", "axb", "-");
}

static void complain(void *arg, unsigned line, const char *reason)
{
    (void)reason;
    strbuf_printf(arg, "%u ", line);
}

static bool include(void *arg, const char *path, struct strbuf *out)
{
    (void)arg;
    if (strcmp(path, "more") == 0) {
        strbuf_puts(out, "* carl included\n@include more\n");
        return true;
    }
    return false;
}

static void bad_lines_are_passed_over_and_told(void **state)
{
    (void)state;
    static const char TEXT[] = "* a\n* b x\n* /(/ y\n*\n@include nothing\n@include more\n* d z\n";
    struct strbuf lines;
    struct strbuf out;
    uint32_t steps = AD_EVAL_STEPS_MAX;
    struct user_map *map = user_map_create();
    strbuf_init(&lines, 0);
    strbuf_init(&out, 0);
    const struct user_map_reader reader = {.include = include, .complain = complain, .arg = &lines};
    user_map_add(map, TEXT, strlen(TEXT), &reader);
    assert_string_equal(strbuf_text(&lines), "1 3 4 5 2 ");
    assert_true(user_map_find(map, "*", "b", &out, &steps));
    assert_true(user_map_find(map, "*", "carl", &out, &steps));
    assert_true(user_map_find(map, "*", "d", &out, &steps));
    assert_string_equal(strbuf_text(&out), "xincludedz");
    strbuf_fini(&lines);
    strbuf_fini(&out);
    user_map_destroy(map);
}

static void a_pattern_that_takes_too_long_is_no_match(void **state)
{
    (void)state;
    char user[200];
    memset(user, 'a', sizeof(user) - 1);
    user[sizeof(user) - 1] = '\0';
    says("* /^(a+)+[b-d]$/ x\n* /a/ y\n", "*", user, "-");
}

UNIT_TESTS(UNIT(users_are_found_by_method_and_name), UNIT(fields_may_be_in_quotes),
           UNIT(the_first_line_that_fits_counts), UNIT(groups_stand_in_for_numbers),
           UNIT(patterns_have_options), UNIT(bad_lines_are_passed_over_and_told),
           UNIT(a_pattern_that_takes_too_long_is_no_match))
