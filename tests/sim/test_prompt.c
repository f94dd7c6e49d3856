/* tests/sim/test_prompt.c - an idle job and a free slot that match come together within seconds,
 * also while a hasty user holds and releases his jobs, and an administrator drains machines and
 * lets them go on (the promise of sim/witness.h).
 *
 * TIMEOUT: 300
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include "sim/pool.h"

#define JOBS  60
#define SEEDS 4

static void no_slot_waits_for_a_job_that_matches_it(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        const struct pool_options options = {.seed = seed, .nodes = 4, .jobs = JOBS, .hasty = true};
        struct pool_result result;
        pool_run(&options, &result);
        if (result.verdict[0] != '\0' || result.completed != JOBS) {
            fail_msg("seed %llu: %u of %d jobs completed; %s", (unsigned long long)seed,
                     result.completed, JOBS, result.verdict);
        }
        assert_true(result.prompt > 0);
    }
}

UNIT_TESTS(UNIT(no_slot_waits_for_a_job_that_matches_it))
