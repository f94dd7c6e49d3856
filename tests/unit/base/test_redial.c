/* tests/unit/base/test_redial.c - how long to wait before a connection is tried again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/random.h"
#include "base/redial.h"

/* The least and the most of many draws. */
static void draw(unsigned failures, uint64_t *least, uint64_t *most)
{
    struct rng rng;
    rng_seed(&rng, 7);
    *least = UINT64_MAX;
    *most = 0;
    for (int i = 0; i < 20000; i++) {
        uint64_t delay_ms = redial_delay_ms(&rng, failures);
        *least = delay_ms < *least ? delay_ms : *least;
        *most = delay_ms > *most ? delay_ms : *most;
    }
}

static void the_span_doubles_from_50_ms_to_5_s_and_all_of_it_is_used(void **state)
{
    (void)state;
    static const uint64_t SPANS[] = {50, 100, 200, 400, 800, 1600, 3200, 5000, 5000};
    for (unsigned failures = 0; failures < 9; failures++) {
        uint64_t least, most;
        draw(failures, &least, &most);
        assert_true(least >= 1 && least <= 1 + SPANS[failures] / 50);
        assert_true(most <= SPANS[failures] && most >= SPANS[failures] - SPANS[failures] / 50);
    }
    uint64_t least, most;
    draw(UINT32_MAX, &least, &most);
    assert_true(most <= REDIAL_MAX_MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_span_doubles_from_50_ms_to_5_s_and_all_of_it_is_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
