/* tests/unit/pilot/test_no_store.c - the store that keeps nothing keeps its promises about
 * callbacks.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include "base/loop.h"
#include "base/loop_run.h"
#include "store/store.h"

struct record {
    int order[8];
    int count;
    bool over;
};

struct commit {
    struct record *record;
    int number;
    struct store *store; /* not NULL: the callback commits the next */
    struct commit *next;
};

static void commit(struct store *store, struct commit *what);

static void durable(void *arg)
{
    struct commit *what = arg;
    what->record->order[what->record->count++] = what->number;
    if (what->store != NULL) {
        commit(what->store, what->next);
    }
    what->record->over = what->record->count == 3;
}

static void commit(struct store *store, struct commit *what)
{
    struct store_txn *txn = store_begin(store);
    store_put(txn, "claims", "key", "value", 5);
    store_delete(txn, "claims", "other");
    store_commit(txn, durable, what);
}

static int refuse(void *arg, const char *key, const void *value, size_t length)
{
    (void)arg;
    (void)key;
    (void)value;
    (void)length;
    return -1;
}

static void commits_are_durable_in_order_and_never_inside_the_call(void **state)
{
    struct loop *loop = NULL;
    struct store *store = NULL;
    struct record record = {0};
    (void)state;
    assert_int_equal(loop_create(&loop, NULL), 0);
    assert_int_equal(store_open(loop, NULL, "/nowhere", NULL, NULL, &store, NULL), 0);
    assert_int_equal(store_load(store, "claims", refuse, NULL, NULL), 0);
    struct commit third = {.record = &record, .number = 3};
    struct commit first = {.record = &record, .number = 1, .store = store, .next = &third};
    struct commit second = {.record = &record, .number = 2};
    commit(store, &first);
    commit(store, &second);
    assert_int_equal(record.count, 0);
    loop_run_until(loop, &record.over);
    assert_int_equal(record.count, 3);
    assert_int_equal(record.order[0], 1);
    assert_int_equal(record.order[1], 2);
    assert_int_equal(record.order[2], 3);
    store_close(store);
    loop_destroy(loop);
}

static void what_is_not_durable_at_the_close_calls_nobody(void **state)
{
    struct loop *loop = NULL;
    struct store *store = NULL;
    struct record record = {0};
    struct commit first = {.record = &record, .number = 1};
    (void)state;
    assert_int_equal(loop_create(&loop, NULL), 0);
    assert_int_equal(store_open(loop, NULL, "/nowhere", NULL, NULL, &store, NULL), 0);
    commit(store, &first);
    store_commit(store_begin(store), NULL, NULL);
    store_close(store);
    store_close(NULL);
    assert_int_equal(record.count, 0);
    loop_destroy(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commits_are_durable_in_order_and_never_inside_the_call),
        cmocka_unit_test(what_is_not_durable_at_the_close_calls_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
