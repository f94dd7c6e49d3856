/* tests/unit/wire/test_id_table.c - numbers find what waits under them, in order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include "wire/id_table.h"

#define NODES 1000

static void what_is_added_is_found_and_what_is_removed_is_not(void **state)
{
    (void)state;
    static struct id_node nodes[NODES];
    struct id_table table = {0};
    for (uint64_t i = 0; i < NODES; i++) {
        id_table_add(&table, i * 3 + 1, &nodes[i]);
    }
    for (uint64_t i = 1; i < NODES; i += 2) {
        id_table_remove(&table, &nodes[i]);
    }
    assert_int_equal(table.chains.count, NODES / 2);
    for (uint64_t i = 0; i < NODES; i++) {
        assert_ptr_equal(id_table_get(&table, i * 3 + 1), i % 2 == 0 ? &nodes[i] : NULL);
        assert_null(id_table_get(&table, i * 3 + 2));
    }
    id_table_fini(&table);
}

static void the_list_keeps_the_order_of_insertion_through_removals(void **state)
{
    (void)state;
    static struct id_node nodes[20];
    struct id_table table = {0};
    for (uint64_t i = 0; i < 20; i++) {
        id_table_add(&table, 100 - i, &nodes[i]);
    }
    id_table_remove(&table, &nodes[0]);
    id_table_remove(&table, &nodes[19]);
    id_table_remove(&table, &nodes[7]);
    size_t expected = 1;
    for (struct id_node *node = table.first; node != NULL; node = node->next) {
        assert_ptr_equal(node, &nodes[expected]);
        expected += expected == 6 ? 2 : 1;
    }
    assert_int_equal(expected, 19);
    assert_ptr_equal(table.last, &nodes[18]);
    id_table_fini(&table);
}

static void an_empty_table_finds_nothing(void **state)
{
    (void)state;
    struct id_table table = {0};
    assert_null(id_table_get(&table, 1));
    id_table_fini(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_added_is_found_and_what_is_removed_is_not),
        cmocka_unit_test(the_list_keeps_the_order_of_insertion_through_removals),
        cmocka_unit_test(an_empty_table_finds_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
