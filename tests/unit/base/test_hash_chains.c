/* tests/unit/base/test_hash_chains.c - links are found by their hashes, whatever comes and goes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include "base/hash_chains.h"

#define LINKS 1000

static int is_found(const struct hash_chains *table, const struct hash_link *wanted, uint64_t hash)
{
    const struct hash_link *link = hash_chains_at(table, hash);
    while (link != NULL && link != wanted) {
        link = link->next;
    }
    return link != NULL;
}

static void what_is_added_is_found_and_what_is_removed_is_not(void **state)
{
    (void)state;
    static struct hash_link links[LINKS];
    struct hash_chains table = {0};
    for (uint64_t i = 0; i < LINKS; i++) {
        hash_chains_add(&table, i * 5, &links[i]);
    }
    for (uint64_t i = 0; i < LINKS; i += 3) {
        hash_chains_remove(&table, &links[i]);
    }
    assert_int_equal(table.count, LINKS - (LINKS + 2) / 3);
    for (uint64_t i = 0; i < LINKS; i++) {
        assert_int_equal(is_found(&table, &links[i], i * 5), i % 3 != 0);
    }
    hash_chains_fini(&table);
    assert_null(hash_chains_at(&table, 5));
}

static void links_of_one_hash_are_all_found_the_last_added_first(void **state)
{
    (void)state;
    static struct hash_link links[20];
    struct hash_chains table = {0};
    hash_chains_add(&table, 7, &links[0]);
    hash_chains_add(&table, 7, &links[1]);
    assert_ptr_equal(hash_chains_at(&table, 7), &links[1]);
    assert_ptr_equal(links[1].next, &links[0]);
    for (size_t i = 2; i < 20; i++) {
        hash_chains_add(&table, 7, &links[i]);
    }
    for (size_t i = 0; i < 20; i++) {
        assert_true(is_found(&table, &links[i], 7));
    }
    hash_chains_fini(&table);
}

static void a_walk_visits_each_link_once(void **state)
{
    (void)state;
    static struct hash_link links[LINKS];
    static int visits[LINKS];
    struct hash_chains table = {0};
    assert_null(hash_chains_next(&table, NULL));
    for (uint64_t i = 0; i < LINKS; i++) {
        hash_chains_add(&table, i * 64 + i % 2, &links[i]); /* long chains and empty ones */
    }
    for (const struct hash_link *link = NULL; (link = hash_chains_next(&table, link)) != NULL;) {
        visits[link - links]++;
    }
    for (size_t i = 0; i < LINKS; i++) {
        assert_int_equal(visits[i], 1);
    }
    hash_chains_fini(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_added_is_found_and_what_is_removed_is_not),
        cmocka_unit_test(links_of_one_hash_are_all_found_the_last_added_first),
        cmocka_unit_test(a_walk_visits_each_link_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
