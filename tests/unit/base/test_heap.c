/* tests/unit/base/test_heap.c - the first of many, whatever comes and goes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/heap.h"

#include "base/random.h"
#include "tests/support/unit.h"

enum { MANY = 1000 };

struct thing {
    uint64_t rank;
    struct heap_place place;
};

static const struct thing *thing_of(const struct heap_place *place)
{
    return (const struct thing *)(const void *)((const char *)place -
                                                offsetof(struct thing, place));
}

static bool is_lower(const struct heap_place *a, const struct heap_place *b)
{
    return thing_of(a)->rank < thing_of(b)->rank;
}

static void things_come_out_in_order(void **state)
{
    (void)state;
    static struct thing things[MANY];
    struct heap heap;
    struct rng rng;
    rng_seed(&rng, 7);
    heap_init(&heap, is_lower);
    assert_null(heap_first(&heap));
    for (size_t i = 0; i < MANY; i++) {
        things[i].rank = rng_below(&rng, MANY); /* with some that are equal */
        heap_add(&heap, &things[i].place);
    }
    uint64_t last = 0;
    for (size_t i = 0; i < MANY; i++) {
        struct heap_place *first = heap_first(&heap);
        assert_in_range(thing_of(first)->rank, last, MANY);
        last = thing_of(first)->rank;
        heap_remove(first);
        assert_null(first->heap);
    }
    assert_null(heap_first(&heap));
    heap_fini(&heap);
}

static void what_is_taken_out_of_the_middle_does_not_come(void **state)
{
    (void)state;
    static struct thing things[MANY];
    struct heap heap;
    struct rng rng;
    rng_seed(&rng, 8);
    heap_init(&heap, is_lower);
    for (size_t i = 0; i < MANY; i++) {
        things[i].rank = rng_next(&rng);
        heap_add(&heap, &things[i].place);
    }
    for (size_t i = 0; i < MANY; i += 3) {
        heap_remove(&things[i].place);
        heap_remove(&things[i].place); /* does nothing */
    }
    uint64_t last = 0;
    size_t count = 0;
    for (struct heap_place *first; (first = heap_first(&heap)) != NULL; count++) {
        size_t index = (size_t)(thing_of(first) - things);
        assert_int_not_equal(index % 3, 0);
        assert_true(thing_of(first)->rank >= last);
        last = thing_of(first)->rank;
        heap_remove(first);
    }
    assert_int_equal(count, MANY - (MANY + 2) / 3);
    heap_fini(&heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(things_come_out_in_order),
        cmocka_unit_test(what_is_taken_out_of_the_middle_does_not_come),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
