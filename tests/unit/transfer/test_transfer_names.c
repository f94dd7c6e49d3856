/* tests/unit/transfer/test_transfer_names.c - which names may travel, and which links.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include "base/mem.h"
#include "transfer/transfer_names.h"

static void a_path_that_stays_below_is_safe(void **state)
{
    (void)state;
    static const char *const SAFE[] = {"a", "a/b/c", "..a", "a/...", ".hidden/x", "a b/\xff\n"};
    static const char *const HOSTILE[] = {"",   "/",    "/a",   "a/",  "a//b",  ".",
                                          "..", "a/..", "../a", "./a", "a/./b", "a/../../etc"};
    for (size_t i = 0; i < sizeof(SAFE) / sizeof(SAFE[0]); i++) {
        assert_true(transfer_path_is_safe(SAFE[i]));
    }
    for (size_t i = 0; i < sizeof(HOSTILE) / sizeof(HOSTILE[0]); i++) {
        assert_false(transfer_path_is_safe(HOSTILE[i]));
    }
    char name[TRANSFER_NAME_MAX + 2];
    memset(name, 'n', sizeof(name));
    name[TRANSFER_NAME_MAX + 1] = '\0';
    assert_false(transfer_path_is_safe(name));
    assert_false(transfer_name_is_plain(name));
    assert_true(transfer_path_is_safe(name + 1));
    assert_true(transfer_name_is_plain(name + 1));
    assert_false(transfer_name_is_plain("a/b"));
    assert_false(transfer_name_is_plain(".."));
    char deep[2 * TRANSFER_DEPTH_MAX + 2];
    for (size_t i = 0; i <= TRANSFER_DEPTH_MAX; i++) {
        memcpy(deep + 2 * i, "d/", 2);
    }
    deep[2 * TRANSFER_DEPTH_MAX + 1] = '\0';
    assert_false(transfer_path_is_safe(deep));
    assert_true(transfer_path_is_safe(deep + 2));
}

static void a_link_leads_into_its_own_directory_or_does_not_travel(void **state)
{
    (void)state;
    static const char *const SAFE[][2] = {
        {"d/l", "x"},
        {"d/l", "./x/y"},
        {"d/e/l", "../x"},
        {"d/e/f/l", "../../x/y"},
        {"d/l", "me@host.1234"},
    };
    static const char *const HOSTILE[][2] = {
        {"l", "x"},
        {"d/l", "../x"},
        {"d/l", ".."},
        {"d/l", "/d/x"},
        {"d/e/l", "../../x"},
        {"d/e/l", "x/../.."},
        {"d/e/f/l", "../x/.."},
        {"d/l", ""},
        {"d/e/l", ".././../x"},
    };
    for (size_t i = 0; i < sizeof(SAFE) / sizeof(SAFE[0]); i++) {
        assert_true(transfer_link_is_safe(SAFE[i][0], SAFE[i][1]));
    }
    for (size_t i = 0; i < sizeof(HOSTILE) / sizeof(HOSTILE[0]); i++) {
        assert_false(transfer_link_is_safe(HOSTILE[i][0], HOSTILE[i][1]));
    }
}

static void clean_is(const char *path, const char *expected)
{
    char *clean = transfer_path_clean(path);
    if (expected == NULL) {
        assert_null(clean);
    } else {
        assert_string_equal(clean, expected);
    }
    mem_free(clean);
}

static void a_path_is_cleaned_of_what_says_nothing(void **state)
{
    (void)state;
    clean_is("./out//a.dat", "out/a.dat");
    clean_is("dir/", "dir");
    clean_is("a/../b", NULL);
    clean_is("./", NULL);
    clean_is("", NULL);
}

static void what_is_below_is_what_follows(void **state)
{
    (void)state;
    assert_string_equal(transfer_path_below("d/x/y", "d"), "x/y");
    assert_string_equal(transfer_path_below("d", "d"), "");
    assert_null(transfer_path_below("dx/y", "d"));
    assert_null(transfer_path_below("x", "d"));
}

static void lists_and_urls_are_taken_apart(void **state)
{
    (void)state;
    const char *at = " a , b c,,d\t";
    static const char *const ITEMS[] = {"a", "b c", "", "d"};
    for (size_t i = 0; i < 4; i++) {
        char *item = transfer_list_next(&at, ',');
        assert_string_equal(item, ITEMS[i]);
        mem_free(item);
    }
    assert_null(transfer_list_next(&at, ','));
    assert_true(transfer_is_url("http://x/y"));
    assert_true(transfer_is_url("osdf:///ospool/x"));
    assert_false(transfer_is_url("dir/a://b"));
    assert_false(transfer_is_url("://x"));
    assert_false(transfer_is_url("x"));
    assert_string_equal(transfer_last_name("a/b"), "b");
    assert_string_equal(transfer_last_name("b"), "b");
}

UNIT_TESTS(UNIT(a_path_that_stays_below_is_safe),
           UNIT(a_link_leads_into_its_own_directory_or_does_not_travel),
           UNIT(a_path_is_cleaned_of_what_says_nothing), UNIT(what_is_below_is_what_follows),
           UNIT(lists_and_urls_are_taken_apart))
