/* tests/unit/base/test_server_role.c - the URI that says which server of which pool a certificate
 * is of.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/server_role.h"
#include "base/strbuf.h"

static int print(const char *pool, const char *role, const char *name, char *ret, size_t size)
{
    struct strbuf out;
    strbuf_init(&out, 0);
    int code = server_role_print(pool, role, name, &out, NULL);
    (void)snprintf(ret, size, "%s", strbuf_text(&out));
    strbuf_fini(&out);
    return code;
}

static int parse(const char *uri, struct server_role *ret)
{
    return server_role_parse(uri, strlen(uri), ret, NULL);
}

static void a_uri_says_pool_role_and_name(void **state)
{
    static const struct {
        const char *pool, *role, *name, *uri;
    } CASES[] = {
        {"lab", "collector", "head", "roost://lab/collector/head"},
        {"lab.example", "schedd", "alice@submit-1.lab_x~",
         "roost://lab.example/schedd/"
         "alice@submit-1.lab_x~"},
        {"a/b", "collector", "Roost pool of h", "roost://a%2Fb/collector/Roost%20pool%20of%20h"},
        {"100%", "schedd", "J\xc3\xbcrgen", "roost://100%25/schedd/J%C3%BCrgen"},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_COUNT(CASES); i++) {
        char uri[256];
        struct server_role role;
        assert_int_equal(print(CASES[i].pool, CASES[i].role, CASES[i].name, uri, sizeof(uri)), 0);
        assert_string_equal(uri, CASES[i].uri);
        assert_int_equal(parse(uri, &role), 0);
        assert_string_equal(role.pool, CASES[i].pool);
        assert_string_equal(role.role, CASES[i].role);
        assert_string_equal(role.name, CASES[i].name);
    }
}

static void every_byte_comes_back_or_is_refused(void **state)
{
    (void)state;
    for (int c = 1; c < 256; c++) {
        const char name[] = {'a', (char)c, 'b', '\0'};
        char uri[64];
        struct server_role role;
        int code = print("p", "schedd", name, uri, sizeof(uri));
        assert_int_equal(code, c < 0x20 || c == 0x7f ? -EINVAL : 0);
        if (code == 0) {
            assert_int_equal(parse(uri, &role), 0);
            assert_string_equal(role.name, name);
        }
    }
}

static void no_uri_is_made_of_a_bad_part(void **state)
{
    char longest[SERVER_ROLE_NAME_MAX + 2], uri[1024];
    (void)state;
    memset(longest, 'n', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    assert_int_equal(print("p", "schedd", longest, uri, sizeof(uri)), -EINVAL);
    assert_int_equal(print("p", "schedd", longest + 1, uri, sizeof(uri)), 0);
    assert_int_equal(print(longest, "schedd", "n", uri, sizeof(uri)), -EINVAL);
    assert_int_equal(print("", "schedd", "n", uri, sizeof(uri)), -EINVAL);
    assert_int_equal(print("p", "schedd", "", uri, sizeof(uri)), -EINVAL);
    assert_int_equal(print("p", "startd", "n", uri, sizeof(uri)), -EINVAL);
    assert_int_equal(print("p", "Schedd", "n", uri, sizeof(uri)), -EINVAL);
    assert_int_equal(print("p", "", "n", uri, sizeof(uri)), -EINVAL);
}

static void there_is_one_way_to_write_a_uri(void **state)
{
    static const char *const BAD[] = {
        "",
        "roost:",
        "roost://",
        "roost:///",
        "roost:////",
        "roost://p/schedd",
        "roost://p/schedd/",
        "roost://p//n",
        "roost:///schedd/n",
        "roost://p/schedd/n/",
        "roost://p/schedd/n/m",
        "roost://p/schedd/n?",
        "roost://p/schedd/n#",
        "roost://p/schedd/n ",
        " roost://p/schedd/n",
        "Roost://p/schedd/n",
        "ROOST://p/schedd/n",
        "roost:/p/schedd/n",
        "roost:p/schedd/n",
        "http://p/schedd/n",
        "roost://p:1/schedd/n",
        "roost://p/schedd/a b",
        "roost://p/schedd/a+b",
        "roost://p/schedd/%6E",   /* 'n' stands for itself */
        "roost://p/schedd/a%2fb", /* not upper case */
        "roost://p/schedd/a%2",
        "roost://p/schedd/a%",
        "roost://p/schedd/a%%",
        "roost://p/schedd/a%2G",
        "roost://p/schedd/a%00",
        "roost://p/schedd/a%0A",
        "roost://p/schedd/a%7F",
        "roost://p/schedd/J\xc3\xbcrgen",
        "roost://p/schedd%2Fn/n2/n3",
        "roost://p/sixteen_letters_/n",
    };
    (void)state;
    struct server_role role;
    for (size_t i = 0; i < ARRAY_COUNT(BAD); i++) {
        if (parse(BAD[i], &role) != -EINVAL) {
            fail_msg("'%s' is taken", BAD[i]);
        }
    }
    assert_int_equal(server_role_parse("roost://p/schedd/n\0x", 20, &role, NULL), -EINVAL);
    assert_int_equal(server_role_parse("roost://p/schedd/n\0", 19, &role, NULL), -EINVAL);
    assert_int_equal(server_role_parse("roost://p/schedd/n2", 18, &role, NULL), 0);
    assert_string_equal(role.name, "n"); /* not a byte behind its end */
    char text[1200] = "roost://p/schedd/";
    memset(text + strlen(text), 'n', SERVER_ROLE_NAME_MAX);
    assert_int_equal(parse(text, &role), 0);
    text[strlen(text)] = 'n';
    assert_int_equal(parse(text, &role), -EINVAL);
}

static void only_the_server_that_was_meant_is_good(void **state)
{
    struct server_role shown;
    (void)state;
    assert_int_equal(parse("roost://lab/schedd/alpha", &shown), 0);
    assert_int_equal(server_role_judge(&shown, "lab", "schedd", "alpha", NULL), 0);
    assert_int_equal(server_role_judge(&shown, "lab", "schedd", NULL, NULL), 0);
    assert_int_equal(server_role_judge(&shown, NULL, "schedd", "alpha", NULL), 0);
    static const struct {
        const char *pool, *role, *name;
    } WRONG[] = {
        {"lab", "collector", NULL},  {"lab", "collector", "alpha"}, {"lab", "schedd", "beta"},
        {"lab", "schedd", "Alpha"},  {"lab", "schedd", ""},         {"lab", "schedd", "alph"},
        {"lab", "schedd", "alpha2"}, {"Lab", "schedd", "alpha"},    {"la", "schedd", "alpha"},
        {"", "schedd", "alpha"},     {NULL, "collector", NULL},
    };
    for (size_t i = 0; i < ARRAY_COUNT(WRONG); i++) {
        assert_int_equal(server_role_judge(&shown, WRONG[i].pool, WRONG[i].role, WRONG[i].name,
                                           NULL),
                         -EKEYREJECTED);
    }
}

static void a_refusal_says_who_answered_and_who_was_meant(void **state)
{
    struct server_role shown;
    struct err err;
    (void)state;
    assert_int_equal(parse("roost://lab/schedd/alpha", &shown), 0);
    assert_int_equal(server_role_judge(&shown, "lab", "collector", NULL, &err), -EKEYREJECTED);
    assert_string_equal(err.text,
                        "the server shows the certificate of schedd 'alpha' of pool 'lab', "
                        "expected a collector of pool 'lab'");
    assert_int_equal(server_role_judge(&shown, NULL, "schedd", "beta", &err), -EKEYREJECTED);
    assert_string_equal(err.text,
                        "the server shows the certificate of schedd 'alpha' of pool 'lab', "
                        "expected schedd 'beta'");
    /* Both ends of the sentence are still there when the names are long. */
    memset(shown.name, 'x', sizeof(shown.name) - 1);
    memset(shown.pool, 'y', sizeof(shown.pool) - 1);
    assert_int_equal(server_role_judge(&shown, shown.name, "collector", shown.pool, &err),
                     -EKEYREJECTED);
    assert_non_null(strstr(err.text, "the server shows the certificate of schedd 'xxx"));
    assert_non_null(strstr(err.text, ", expected collector 'yyy"));
    assert_string_equal(err.text + strlen(err.text) - 4, "xxx'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_uri_says_pool_role_and_name),
        cmocka_unit_test(every_byte_comes_back_or_is_refused),
        cmocka_unit_test(no_uri_is_made_of_a_bad_part),
        cmocka_unit_test(there_is_one_way_to_write_a_uri),
        cmocka_unit_test(only_the_server_that_was_meant_is_good),
        cmocka_unit_test(a_refusal_says_who_answered_and_who_was_meant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
