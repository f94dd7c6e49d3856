/* The promise that jobs start in time: what counts as broken, and what is excused.
 *
 * LINK: wire
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wire/start_promise.h"

#include "classad/ad.h"
#include "tests/support/unit.h"

#define PROMISE_MS 5000

static bool note(struct start_watch *watch, struct start_counts *counts, enum start_reason reason,
                 uint64_t now_ms)
{
    return start_watch_note(watch, counts, reason, now_ms, PROMISE_MS);
}

static void what_is_late_without_a_break_is_counted_and_told_once(void **state)
{
    (void)state;
    struct start_watch watch = {0};
    struct start_counts counts = {0};
    assert_false(note(&watch, &counts, START_LATE, 1000));
    assert_false(note(&watch, &counts, START_LATE, 6000));
    assert_true(note(&watch, &counts, START_LATE, 6001));
    assert_false(note(&watch, &counts, START_LATE, 60000));
    assert_int_equal(counts.counted[START_LATE], 1);
    assert_int_equal(counts.late, 1);
    assert_false(note(&watch, &counts, START_KEPT, 60001));
    assert_int_equal(counts.late, 0);
    assert_int_equal(counts.counted[START_LATE], 1);
}

static void a_break_begins_the_time_anew(void **state)
{
    (void)state;
    struct start_watch watch = {0};
    struct start_counts counts = {0};
    assert_false(note(&watch, &counts, START_LATE, 0));
    assert_false(note(&watch, &counts, START_KEPT, 4000));
    assert_false(note(&watch, &counts, START_LATE, 4500));
    assert_false(note(&watch, &counts, START_LATE, 9000));
    assert_true(note(&watch, &counts, START_LATE, 9501));
}

static void an_excuse_is_counted_under_its_name_and_is_not_late(void **state)
{
    (void)state;
    struct start_watch watch = {0};
    struct start_counts counts = {0};
    assert_false(note(&watch, &counts, START_CONCURRENCY_LIMIT, 0));
    assert_false(note(&watch, &counts, START_CONCURRENCY_LIMIT, 5001));
    assert_false(note(&watch, &counts, START_LATE, 6000)); /* the limit is in force no more */
    assert_true(note(&watch, &counts, START_LATE, 11001));
    struct ad *ad = ad_create();
    start_counts_put(&counts, PROMISE_MS, ad);
    assert_int_equal(ad_int_or(ad, "StartExcusedConcurrencyLimit", -1), 1);
    assert_int_equal(ad_int_or(ad, "StartPromisesBroken", -1), 1);
    assert_int_equal(ad_int_or(ad, "StartPromisesLate", -1), 1);
    assert_false(ad_has(ad, "StartExcusedGroupQuota"));
    ad_destroy(ad);
}

static void without_a_promise_nothing_is_broken(void **state)
{
    (void)state;
    struct start_watch watch = {0};
    struct start_counts counts = {0};
    assert_false(note(&watch, &counts, START_LATE, 0));
    assert_true(note(&watch, &counts, START_LATE, 5001));
    assert_false(start_watch_note(&watch, &counts, START_LATE, 5002, 0)); /* by a new setting */
    assert_int_equal(counts.late, 0);
    assert_false(start_watch_note(&watch, &counts, START_LATE, 90000, 0));
    assert_int_equal(counts.counted[START_LATE], 1);
}

UNIT_TESTS(UNIT(what_is_late_without_a_break_is_counted_and_told_once),
           UNIT(a_break_begins_the_time_anew),
           UNIT(an_excuse_is_counted_under_its_name_and_is_not_late),
           UNIT(without_a_promise_nothing_is_broken))
