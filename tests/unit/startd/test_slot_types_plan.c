/* How a machine is divided into slots.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>

#include "base/err.h"
#include "startd/slot/slot_types_plan.h"

#define SLOTS 20

struct division {
    struct resource_kinds kinds;
    struct resources total;
    struct slot_share slots[SLOTS];
    size_t count;
    struct err err;
};

static int divide(struct division *division, const struct slot_type *types, size_t count)
{
    division->err.text[0] = '\0';
    return slot_types_plan_divide(&division->kinds, &division->total, types, count, SLOTS,
                                  division->slots, &division->count, &division->err);
}

static int setup(void **state)
{
    struct division *division = test_calloc(1, sizeof *division);
    carve_plan_kinds_init(&division->kinds);
    division->total.amount[RESOURCE_CPUS] = 16;
    division->total.amount[RESOURCE_MEMORY] = 64000;
    division->total.amount[RESOURCE_DISK] = 1000000;
    assert_int_equal(carve_plan_kinds_add(&division->kinds, "GPUs", "CUDA0,CUDA1,CUDA2,CUDA3",
                                          &division->total, NULL),
                     0);
    *state = division;
    return 0;
}

static int teardown(void **state)
{
    test_free(*state);
    return 0;
}

static void is_slot(const struct division *division, size_t at, int64_t cpus, int64_t memory_mib,
                    int64_t disk_kib, uint64_t gpu_ids)
{
    const struct resources *resources = &division->slots[at].resources;
    assert_int_equal(resources->amount[RESOURCE_CPUS], cpus);
    assert_int_equal(resources->amount[RESOURCE_MEMORY], memory_mib);
    assert_int_equal(resources->amount[RESOURCE_DISK], disk_kib);
    assert_int_equal(resources->ids[RESOURCE_CUSTOM].word[0], gpu_ids);
}

static void without_types_the_slots_are_equal(void **state)
{
    struct division *division = *state;
    const struct slot_type type = {.count = 4};
    assert_int_equal(divide(division, &type, 1), 0);
    assert_int_equal(division->count, 4);
    for (size_t i = 0; i < 4; i++) {
        is_slot(division, i, 4, 16000, 250000, (uint64_t)1 << i);
        assert_false(division->slots[i].partitionable);
        assert_int_equal(division->slots[i].type_id, 0);
    }
}

static void more_slots_than_cpus_have_one_each(void **state)
{
    struct division *division = *state;
    const struct slot_type type = {.count = 20};
    assert_int_equal(divide(division, &type, 1), 0);
    is_slot(division, 19, 1, 3200, 50000, 0);
}

static void a_partitionable_slot_may_be_all_of_the_machine(void **state)
{
    struct division *division = *state;
    const struct slot_type type = {.id = 1, .count = 1, .share = "100%", .partitionable = true};
    assert_int_equal(divide(division, &type, 1), 0);
    assert_int_equal(division->count, 1);
    is_slot(division, 0, 16, 64000, 1000000, 15);
    assert_true(division->slots[0].partitionable);
}

static void types_share_by_number_percentage_fraction_and_what_is_left(void **state)
{
    struct division *division = *state;
    const struct slot_type types[] = {
        {.id = 1, .count = 2, .share = "cpus=2, memory=25%, disk=1/10, GPUs=1"},
        {.id = 3, .count = 1, .share = "Cpus = 25% , RAM=4G; gpus=0", .partitionable = true},
        {.id = 2, .count = 4, .share = "auto"},
    };
    assert_int_equal(divide(division, types, 3), 0);
    assert_int_equal(division->count, 7);
    is_slot(division, 0, 2, 16000, 100000, 1);
    is_slot(division, 1, 2, 16000, 100000, 2);
    is_slot(division, 2, 4, 4096, 160000, 0); /* disk is automatic: a fifth of what is left */
    is_slot(division, 3, 2, 6976, 160000, 0); /* two GPUs for four slots: none each */
    assert_int_equal(division->slots[2].type_id, 3);
    assert_true(division->slots[2].partitionable);
    assert_false(division->slots[3].partitionable);
}

static void a_share_that_rounds_to_no_cpu_is_one(void **state)
{
    struct division *division = *state;
    const struct slot_type type = {.id = 1, .count = 1, .share = "1%"};
    assert_int_equal(divide(division, &type, 1), 0);
    is_slot(division, 0, 1, 640, 10000, 0);
}

static void more_than_there_is_names_the_type_and_the_resource(void **state)
{
    struct division *division = *state;
    const struct slot_type types[] = {{.id = 1, .count = 2, .share = "memory=40%"},
                                      {.id = 2, .count = 1, .share = "memory=30%"}};
    assert_int_equal(divide(division, types, 2), -ENOSPC);
    assert_non_null(strstr(division->err.text, "SLOT_TYPE_2"));
    assert_non_null(strstr(division->err.text, "Memory"));
}

static void shares_that_cannot_be_read_are_refused_with_their_text(void **state)
{
    struct division *division = *state;
    static const char *const BAD[][2] = {
        {"cpus=two", "two"},   {"cpus=101%", "101%"},
        {"cpus=-1", "-1"},     {"memory=3/2", "3/2"},
        {"memory=1/0", "1/0"}, {"cpus=4G", "4G"},
        {"tapes=1", "tapes"},  {"4", "name of the resource is missing"},
        {"memory=", "''"},     {"cpus=%", "%"},
        {"disk=x%", "x%"},     {"memory=/2", "/2"},
    };
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        const struct slot_type type = {.id = 4, .count = 1, .share = BAD[i][0]};
        int rc = divide(division, &type, 1);
        if (rc != -EINVAL || strstr(division->err.text, BAD[i][1]) == NULL ||
            strstr(division->err.text, "SLOT_TYPE_4") == NULL) {
            fail_msg("%s: %d %s", BAD[i][0], rc, division->err.text);
        }
    }
}

static void a_machine_has_slots_and_not_too_many(void **state)
{
    struct division *division = *state;
    const struct slot_type none = {.id = 1, .count = 0}, many = {.id = 2, .count = SLOTS + 1};
    assert_int_equal(divide(division, &none, 1), -ERANGE);
    assert_int_equal(divide(division, &many, 1), -ERANGE);
    assert_non_null(strstr(division->err.text, "NUM_SLOTS_TYPE_2"));
    const struct slot_type halves[] = {{.id = 1, .count = SLOTS}, {.id = 2, .count = 1}};
    assert_int_equal(divide(division, halves, 2), -ERANGE);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_TESTS(CASE(without_types_the_slots_are_equal), CASE(more_slots_than_cpus_have_one_each),
           CASE(a_partitionable_slot_may_be_all_of_the_machine),
           CASE(types_share_by_number_percentage_fraction_and_what_is_left),
           CASE(a_share_that_rounds_to_no_cpu_is_one),
           CASE(more_than_there_is_names_the_type_and_the_resource),
           CASE(shares_that_cannot_be_read_are_refused_with_their_text),
           CASE(a_machine_has_slots_and_not_too_many))
