/* tests/unit/rooster/test_clock.c - the rooster's stamps while the wall clock is set.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/log.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "rooster/clock.h"
#include "rooster/nodes.h"
#include "rooster/rooster.h"
#include "tests/support/clock_shift.h"
#include "tests/support/loop_rig.h"

#define DEADLINE_S 60 /* a machine that stands still meanwhile fails no test */

static void times_since_a_stamp_stay_what_they_are(void **state)
{
    (void)state;
    struct rooster rooster = {0};
    struct node node = {0};
    struct strbuf text;
    strbuf_init(&text, 0);
    assert_int_equal(loop_create(&rooster.env.loop, NULL), 0);
    rooster.env.log = loop_rig_log(rooster.env.loop, LOG_LEVEL_INFO, &text);
    rooster.nodes = strmap_create(STRMAP_CASE_SENSITIVE);
    (void)strmap_set(rooster.nodes, "node", &node); /* was absent */
    int64_t now_s = rooster_now_s(&rooster);
    int64_t *const stamps[] = {&node.since_s, &node.wake.began_s, &node.sleep.began_s,
                               &node.guard.slept_s, &node.history.last.up_s};
    for (size_t i = 0; i < sizeof stamps / sizeof *stamps; i++) {
        *stamps[i] = now_s - 100;
    }
    wake_day_add(&node.history.day, now_s - 100);
    static const int64_t SHIFTS_S[] = {TEN_YEARS_S, -TEN_YEARS_S, 0};
    for (size_t k = 0; k < sizeof SHIFTS_S / sizeof *SHIFTS_S; k++) {
        clock_shift_s = SHIFTS_S[k];
        for (size_t i = 0; i < sizeof stamps / sizeof *stamps; i++) {
            assert_in_range(rooster_since_s(&rooster, stamps[i]), 99, 100 + DEADLINE_S);
        }
        assert_int_equal(node.history.nap_s, 0); /* never stays never */
        assert_int_equal(wake_day_count(&node.history.day, rooster_now_s(&rooster)), 1);
    }
    assert_non_null(strstr(strbuf_text(&text), "clock.set"));
    strmap_destroy(rooster.nodes, NULL);
    log_destroy(rooster.env.log);
    loop_destroy(rooster.env.loop);
    strbuf_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_since_a_stamp_stay_what_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
