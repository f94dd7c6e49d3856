/* Tests of base/strmap.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/strmap.h"

#include <stdbool.h>

#include "base/random.h"
#include "tests/support/unit.h"

static int values[1000];

static void count_free(void *value)
{
    ++*(int *)value;
}

static void what_is_set_is_found_and_what_is_removed_is_not(void **state)
{
    (void)state;
    struct strmap *map = strmap_create(STRMAP_CASE_SENSITIVE);
    assert_null(strmap_get(map, "a"));
    assert_null(strmap_remove(map, "a"));
    char key[] = "a";
    assert_null(strmap_set(map, key, &values[0]));
    key[0] = 'b'; /* keys are copied */
    assert_ptr_equal(strmap_get(map, "a"), &values[0]);
    assert_null(strmap_get(map, "A"));
    assert_ptr_equal(strmap_set(map, "a", &values[1]), &values[0]);
    assert_int_equal(strmap_count(map), 1);
    assert_ptr_equal(strmap_remove(map, "a"), &values[1]);
    assert_null(strmap_get(map, "a"));
    assert_int_equal(strmap_count(map), 0);
    strmap_destroy(map, NULL);
    strmap_destroy(NULL, NULL);
}

static void case_can_be_ignored_and_the_first_spelling_stays(void **state)
{
    (void)state;
    struct strmap *map = strmap_create(STRMAP_CASE_IGNORED);
    (void)strmap_set(map, "RequestMemory", &values[0]);
    assert_ptr_equal(strmap_set(map, "REQUESTmemory", &values[1]), &values[0]);
    assert_ptr_equal(strmap_get(map, "requestmemory"), &values[1]);
    assert_null(strmap_get(map, "requestmemor"));
    assert_null(strmap_get(map, "requestmemory_"));
    size_t at = 0;
    const char *key = NULL;
    void *value = NULL;
    assert_true(strmap_next(map, &at, &key, &value));
    assert_string_equal(key, "RequestMemory");
    assert_false(strmap_next(map, &at, &key, &value));
    strmap_destroy(map, NULL);
}

static void a_walk_is_in_order_of_insertion_and_survives_removal(void **state)
{
    (void)state;
    struct strmap *map = strmap_create(STRMAP_CASE_SENSITIVE);
    char name[16];
    for (int i = 0; i < 500; i++) {
        (void)snprintf(name, sizeof(name), "key%d", (i * 7919) % 500);
        (void)strmap_set(map, name, &values[(i * 7919) % 500]);
    }
    size_t at = 0;
    const char *key = NULL;
    void *value = NULL;
    for (int i = 0; i < 500; i++) {
        (void)snprintf(name, sizeof(name), "key%d", (i * 7919) % 500);
        assert_true(strmap_next(map, &at, &key, &value));
        assert_string_equal(key, name);
        assert_ptr_equal(value, &values[(i * 7919) % 500]);
        if (i % 3 != 0) {
            assert_ptr_equal(strmap_remove(map, name), value);
        }
    }
    assert_false(strmap_next(map, &at, &key, &value));
    assert_int_equal(strmap_count(map), 167);
    at = 0;
    for (int i = 0; i < 500; i += 3) {
        (void)snprintf(name, sizeof(name), "key%d", (i * 7919) % 500);
        assert_true(strmap_next(map, &at, &key, &value));
        assert_string_equal(key, name);
    }
    strmap_destroy(map, NULL);
}

static void random_changes_agree_with_a_plain_table(void **state)
{
    (void)state;
    enum { KEYS = 300 };
    int *model[KEYS] = {0};
    size_t count = 0;
    struct rng rng;
    rng_seed(&rng, 1);
    struct strmap *map = strmap_create(STRMAP_CASE_IGNORED);
    for (int step = 0; step < 200000; step++) {
        size_t number = rng_below(&rng, step % 20000 < 10000 ? KEYS : 20);
        char name[16];
        (void)snprintf(name, sizeof(name), "%c%zu", rng_below(&rng, 2) ? 'k' : 'K', number);
        if (rng_below(&rng, 2)) {
            int *value = &values[rng_below(&rng, 1000)];
            assert_ptr_equal(strmap_set(map, name, value), model[number]);
            count += model[number] ? 0 : 1;
            model[number] = value;
        } else {
            assert_ptr_equal(strmap_remove(map, name), model[number]);
            count -= model[number] ? 1 : 0;
            model[number] = NULL;
        }
        assert_int_equal(strmap_count(map), count);
        size_t other = rng_below(&rng, KEYS);
        (void)snprintf(name, sizeof(name), "k%zu", other);
        assert_ptr_equal(strmap_get(map, name), model[other]);
    }
    strmap_destroy(map, NULL);
}

static void destroy_frees_each_value_that_is_still_there_once(void **state)
{
    (void)state;
    struct strmap *map = strmap_create(STRMAP_CASE_SENSITIVE);
    memset(values, 0, sizeof(values));
    (void)strmap_set(map, "a", &values[0]);
    (void)strmap_set(map, "b", &values[1]);
    (void)strmap_set(map, "c", &values[2]);
    (void)strmap_remove(map, "b");
    strmap_destroy(map, count_free);
    assert_int_equal(values[0], 1);
    assert_int_equal(values[1], 0);
    assert_int_equal(values[2], 1);
}

UNIT_TESTS(UNIT(what_is_set_is_found_and_what_is_removed_is_not),
           UNIT(case_can_be_ignored_and_the_first_spelling_stays),
           UNIT(a_walk_is_in_order_of_insertion_and_survives_removal),
           UNIT(random_changes_agree_with_a_plain_table),
           UNIT(destroy_frees_each_value_that_is_still_there_once))
