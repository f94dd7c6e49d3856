/* A simulated day is decided by its seed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include "sim/pool.h"

static void day(uint64_t seed, struct pool_result *ret)
{
    struct pool_options options = {.seed = seed, .nodes = 5, .jobs = 20, .chaos = true};
    pool_run(&options, ret);
}

static void one_seed_is_one_day(void **state)
{
    (void)state;
    static struct pool_result first, again, other;
    day(11, &first);
    day(11, &again);
    day(12, &other);
    assert_int_equal(first.hash, again.hash);
    assert_int_equal(first.end_us, again.end_us);
    assert_memory_equal(first.counts, again.counts, sizeof(first.counts));
    assert_int_not_equal(first.hash, other.hash);
}

UNIT_TESTS(UNIT(one_seed_is_one_day))
