/* tests/unit/base/test_hostlist.c - the promises of base/hostlist.h.
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

#include "base/err.h"
#include "base/hostlist.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"

static int machines_of(void *arg, const char *name, const char **ret, struct err *err)
{
    (void)arg;
    *ret = strcmp(name, "rack1") == 0   ? "wn[1-2]"
           : strcmp(name, "racks") == 0 ? "@rack1 @rack2,wn2"
           : strcmp(name, "rack2") == 0 ? "gpu1"
           : strcmp(name, "snake") == 0 ? "a @snake"
           : strcmp(name, "bad") == 0   ? "b["
           : strcmp(name, "none") == 0  ? ""
                                        : NULL;
    return *ret != NULL ? 0 : err_set(err, -ENOENT, "'%s' is no group", name);
}
static const struct hostlist_groups GROUPS = {.machines_of = machines_of};

/* What text expands to, joined by blanks. */
static void expect_expanded(const char *text, const char *expected)
{
    struct vec names = {0};
    struct strbuf out;
    struct err err = {""};
    strbuf_init(&out, 0);
    if (hostlist_expand(text, &GROUPS, &names, &err) != 0) {
        fail_msg("%s", err.text);
    }
    for (size_t i = 0; i < names.count; i++) {
        strbuf_printf(&out, "%s%s", i > 0 ? " " : "", (const char *)names.items[i]);
    }
    assert_string_equal(strbuf_text(&out), expected);
    strbuf_fini(&out);
    vec_fini(&names, mem_free);
}

static void expect_refused(const char *text, int status, const char *why)
{
    struct vec names = {0};
    struct err err = {""};
    vec_push(&names, mem_strdup("before"));
    assert_int_equal(hostlist_expand(text, &GROUPS, &names, &err), status);
    assert_string_equal(err.text, why);
    assert_int_equal(names.count, 1); /* as it was */
    vec_fini(&names, mem_free);
}

static void expect_folded(const char *text, const char *expected)
{
    struct vec names = {0};
    struct strbuf out;
    strbuf_init(&out, 0);
    assert_int_equal(hostlist_expand(text, &GROUPS, &names, NULL), 0);
    hostlist_fold((const char *const *)names.items, names.count, &out);
    assert_string_equal(strbuf_text(&out), expected);
    strbuf_fini(&out);
    vec_fini(&names, mem_free);
}

static void ranges_and_numbers_become_names(void **state)
{
    (void)state;
    expect_expanded("wn01", "wn01");
    expect_expanded("lab[01-03,20]", "lab01 lab02 lab03 lab20");
    expect_expanded("a,b c\td", "a b c d");
    expect_expanded("  a, b,,", "a b");
    expect_expanded("n[1-2].example.org", "n1.example.org n2.example.org");
    expect_expanded("slot1@wn[1,2]", "slot1@wn1 slot1@wn2");
}

static void a_range_is_padded_to_its_first_number(void **state)
{
    (void)state;
    expect_expanded("w[8-11]", "w8 w9 w10 w11");
    expect_expanded("w[08-11]", "w08 w09 w10 w11");
    expect_expanded("w[098-101]", "w098 w099 w100 w101");
    expect_expanded("w[99-101]", "w99 w100 w101");
}

static void several_brackets_are_a_product(void **state)
{
    (void)state;
    expect_expanded("r[1-2]n[1-2]", "r1n1 r1n2 r2n1 r2n2");
}

static void a_name_is_there_once_whatever_its_case(void **state)
{
    (void)state;
    expect_expanded("b,a,B,a[1-2],a2", "b a a1 a2");
    struct vec names = {0};
    assert_int_equal(hostlist_expand("a", NULL, &names, NULL), 0);
    assert_int_equal(hostlist_expand("b,A", NULL, &names, NULL), 0);
    assert_int_equal(names.count, 2);
    vec_fini(&names, mem_free);
}

static void a_group_stands_for_its_machines(void **state)
{
    (void)state;
    expect_expanded("@rack1", "wn1 wn2");
    expect_expanded("x,@racks y", "x wn1 wn2 gpu1 y");
    expect_refused("wn1,@rack9", -ENOENT, "'rack9' is no group");
    expect_refused("@", -ENOENT, "'' is no group");
    expect_refused("@snake", -EINVAL, "'@snake': the group contains itself");
    expect_refused("@bad", -EINVAL, "'b[': [ without ]");
    expect_refused("@none", -EINVAL, "no host names in ''");
    struct vec names = {0};
    struct err err = {""};
    assert_int_equal(hostlist_expand("@rack1", NULL, &names, &err), -EINVAL);
    assert_string_equal(err.text, "'@rack1': not a host name");
    vec_fini(&names, NULL);
}

static void what_is_no_list_is_refused_by_its_word(void **state)
{
    (void)state;
    expect_refused("", -EINVAL, "no host names in ''");
    expect_refused(" , ", -EINVAL, "no host names in ' , '");
    expect_refused("a,w[1-2", -EINVAL, "'w[1-2': [ without ]");
    expect_refused("w1]", -EINVAL, "'w1]': unexpected bracket");
    expect_refused("w[[1]]", -EINVAL, "'w[[1]]': unexpected bracket");
    expect_refused("w[]", -EINVAL,
                   "'w[]': expected numbers and ranges between [ and ], as in [01-16,20]");
    expect_refused("w[1,]", -EINVAL,
                   "'w[1,]': expected numbers and ranges between [ and ], as in [01-16,20]");
    expect_refused("w[1x]", -EINVAL,
                   "'w[1x]': expected numbers and ranges between [ and ], as in [01-16,20]");
    expect_refused("w[1-]", -EINVAL, "'w[1-]': a range needs a last number, as in [01-16]");
    expect_refused("w[3-1]", -EINVAL,
                   "'w[3-1]': the first number of a range must be the smaller one");
    expect_refused("a\"b", -EINVAL, "'a\"b': not a host name");
}

static void too_many_and_too_long_are_refused(void **state)
{
    (void)state;
    char name[HOSTLIST_NAME_MAX + 2];
    struct vec names = {0};
    struct err err;
    expect_refused("w[1-100001]", -E2BIG, "'w[1-100001]': more than 100000 names");
    expect_refused("w[1-1000]x[1-1000]", -E2BIG, "'w[1-1000]x[1-1000]': more than 100000 names");
    expect_refused("w[1-999999999999999999]", -E2BIG,
                   "'w[1-999999999999999999]': more than 100000 names");
    expect_refused("w[1]x[1]x[1]x[1]x[1]x[1]x[1]x[1]x[1]", -EINVAL,
                   "'w[1]x[1]x[1]x[1]x[1]x[1]x[1]x[1]x[1]': too many brackets");
    expect_refused("w[1-60000,1-60000]", -E2BIG, "'w[1-60000,1-60000]': more than 100000 names");
    memset(name, 'a', sizeof name);
    name[sizeof name - 1] = '\0';
    assert_int_equal(hostlist_expand(name, NULL, &names, &err), -EINVAL);
    name[sizeof name - 2] = '\0';
    assert_int_equal(hostlist_expand(name, NULL, &names, &err), 0);
    vec_fini(&names, mem_free);
}

static void names_are_folded_at_their_last_number(void **state)
{
    (void)state;
    expect_folded("lab[01-16,20]", "lab[01-16,20]");
    expect_folded("wn03,wn01,wn02", "wn[01-03]");
    expect_folded("wn1,wn2", "wn[1,2]");
    expect_folded("wn7", "wn7");
    expect_folded("r1n[1-3],r2n[1-3]", "r1n[1-3],r2n[1-3]");
    expect_folded("n[1-3].a2.org,n4.b.org", "n[1-3].a2.org,n4.b.org");
    expect_folded("10.0.0.1,head", "10.0.0.1,head");
    expect_folded("w[1-3]-ib", "w[1-3]-ib");
}

static void folded_ranges_expand_to_what_they_were(void **state)
{
    (void)state;
    expect_folded("w[8-11]", "w[8-11]");
    expect_folded("w[08-11]", "w[08-11]");
    expect_folded("w8,w9,w010,w011", "w[8,9,010,011]");
    expect_folded("w01,w1,w2,w02", "w[1,01,2,02]");
    expect_folded("w[098-101]", "w[098-101]");
    expect_folded("w099,w0100", "w[099,0100]");
}

static void names_of_no_such_form_are_written_as_they_are(void **state)
{
    (void)state;
    const char *const names[] = {"a[1", "b", "a2", "a1"};
    struct strbuf out;
    strbuf_init(&out, 0);
    hostlist_fold(names, 4, &out);
    assert_string_equal(strbuf_text(&out), "a[1,2],a[1,b");
    strbuf_clear(&out);
    hostlist_fold(NULL, 0, &out);
    assert_string_equal(strbuf_text(&out), "");
    strbuf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_and_numbers_become_names),
        cmocka_unit_test(a_range_is_padded_to_its_first_number),
        cmocka_unit_test(several_brackets_are_a_product),
        cmocka_unit_test(a_name_is_there_once_whatever_its_case),
        cmocka_unit_test(a_group_stands_for_its_machines),
        cmocka_unit_test(what_is_no_list_is_refused_by_its_word),
        cmocka_unit_test(too_many_and_too_long_are_refused),
        cmocka_unit_test(names_are_folded_at_their_last_number),
        cmocka_unit_test(folded_ranges_expand_to_what_they_were),
        cmocka_unit_test(names_of_no_such_form_are_written_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
