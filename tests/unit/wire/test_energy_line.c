/* Lines of counters of energy in ads.
 *
 * LINK: wire
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include "base/mem.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "wire/energy_line.h"

static void a_line_comes_back_as_it_was_written(void **state)
{
    (void)state;
    struct vec lines = {0};
    struct energy_line again;
    const struct energy_line line = {.since_s = 1795223169,
                                     .joules = 12.5,
                                     .core_s = 0.25,
                                     .name = "a b@pool"};
    energy_line_add(&lines, &line);
    assert_string_equal(lines.items[0], "1795223169 12.500000 0.250 a b@pool");
    assert_true(energy_line_read(lines.items[0], &again));
    assert_int_equal(again.since_s, 1795223169);
    assert_true(again.joules == 12.5 && again.core_s == 0.25);
    assert_string_equal(again.name, "a b@pool");
    vec_fini(&lines, mem_free);
}

static void what_is_no_line_is_left_out(void **state)
{
    (void)state;
    static const char *const BAD[] = {"",           "5",           "5 1 1",       "5 1 1 ",
                                      "x 1 1 ann",  "5 x 1 ann",   "5 1 ann",     "5 -1 1 ann",
                                      "-5 1 1 ann", "5 nan 1 ann", "5 1 inf ann", "1e300 1 1 ann"};
    struct energy_line line = {.since_s = 7};
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        if (energy_line_read(BAD[i], &line)) {
            fail_msg("'%s' is read", BAD[i]);
        }
    }
    assert_int_equal(line.since_s, 7);
}

static void count(void *arg, const struct energy_line *line)
{
    *(double *)arg += line->joules;
}

static void good_lines_of_a_list_are_told(void **state)
{
    (void)state;
    struct ad *ad = ad_create();
    double sum = 0;
    assert_int_equal(ad_set_expr(ad, "L", "{\"5 1 1 ann\", 7, \"rubbish\", \"5 2 1 bob\"}", NULL),
                     0);
    ad_set_string(ad, "S", "5 1 1 ann");
    energy_line_each(ad, "L", count, &sum);
    energy_line_each(ad, "S", count, &sum);
    energy_line_each(ad, "Absent", count, &sum);
    assert_true(sum == 3);
    ad_destroy(ad);
}

UNIT_TESTS(UNIT(a_line_comes_back_as_it_was_written), UNIT(what_is_no_line_is_left_out),
           UNIT(good_lines_of_a_list_are_told))
