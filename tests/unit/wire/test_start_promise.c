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
#define SILENCE_MS 10000

static void note(struct start_watch *watch, struct start_counts *counts, enum start_reason reason,
                 uint64_t now_ms)
{
    start_watch_note(watch, counts, reason, now_ms, PROMISE_MS);
}

static uint64_t judge(struct start_watch *watch, struct start_counts *counts,
                      enum start_peers peers, uint64_t now_ms)
{
    return start_watch_judge(watch, counts, peers, now_ms, SILENCE_MS);
}

static void what_is_late_without_a_break_is_counted_and_told_once(void **state)
{
    (void)state;
    struct start_watch watch = {0};
    struct start_counts counts = {0};
    note(&watch, &counts, START_LATE, 1000);
    note(&watch, &counts, START_LATE, 6000);
    assert_int_equal(counts.unjudged, 0);
    note(&watch, &counts, START_LATE, 6001);
    assert_int_equal(counts.unjudged, 1);
    assert_int_equal(judge(&watch, &counts, START_PEERS_HEARD, 16000), 0);
    note(&watch, &counts, START_LATE, 16001);
    assert_int_equal(judge(&watch, &counts, START_PEERS_HEARD, 16001), 15001);
    note(&watch, &counts, START_LATE, 60000);
    assert_int_equal(judge(&watch, &counts, START_PEERS_HEARD, 90000), 0);
    assert_int_equal(counts.counted[START_LATE], 1);
    assert_int_equal(counts.late, 1);
    assert_int_equal(counts.unjudged, 0);
    note(&watch, &counts, START_KEPT, 90001);
    assert_int_equal(counts.late, 0);
    assert_int_equal(counts.counted[START_LATE], 1);
}

static void what_has_ended_before_it_is_judged_is_broken_all_the_same(void **state)
{
    (void)state;
    struct start_watch watch = {0};
    struct start_counts counts = {0};
    note(&watch, &counts, START_LATE, 1000);
    note(&watch, &counts, START_LATE, 6500);
    note(&watch, &counts, START_LATE, 7000);
    note(&watch, &counts, START_KEPT, 7500);
    note(&watch, &counts, START_LATE, 8000);
    note(&watch, &counts, START_LATE, 14000); /* and again: judged together */
    assert_int_equal(judge(&watch, &counts, START_PEERS_HEARD, 16500), 6000);
    assert_int_equal(counts.counted[START_LATE], 1);
    assert_int_equal(counts.late, 1);
    note(&watch, &counts, START_KEPT, 17000);
    assert_int_equal(counts.late, 0);
}

static void a_peer_that_was_silent_excuses_it(void **state)
{
    (void)state;
    struct start_watch watch = {0};
    struct start_counts counts = {0};
    note(&watch, &counts, START_LATE, 1000);
    note(&watch, &counts, START_LATE, 6001);
    assert_int_equal(judge(&watch, &counts, START_PEERS_HEARD, 9000), 0);
    assert_int_equal(judge(&watch, &counts, START_PEERS_SILENT, 10000), 0);
    assert_int_equal(judge(&watch, &counts, START_PEERS_HEARD, 30000), 0);
    assert_int_equal(counts.counted[START_LATE], 0);
    assert_int_equal(counts.counted[START_MACHINE_SILENT], 1);
    assert_int_equal(counts.late, 0);
    assert_int_equal(counts.unjudged, 0);
    note(&watch, &counts, START_KEPT, 30001);
    note(&watch, &counts, START_LATE, 30002);
    note(&watch, &counts, START_LATE, 35003); /* another one */
    assert_int_equal(judge(&watch, &counts, START_PEERS_HEARD, 45003), 5001);
}

static void who_cannot_know_judges_when_silence_would_be_known_again(void **state)
{
    (void)state;
    struct start_watch watch = {0};
    struct start_counts counts = {0};
    note(&watch, &counts, START_LATE, 1000);
    note(&watch, &counts, START_LATE, 6001);
    assert_int_equal(judge(&watch, &counts, START_PEERS_UNKNOWN, 20000), 0);
    assert_int_equal(judge(&watch, &counts, START_PEERS_HEARD, 29999), 0);
    assert_int_equal(judge(&watch, &counts, START_PEERS_HEARD, 30000), 5001);
}

static void a_break_begins_the_time_anew(void **state)
{
    (void)state;
    struct start_watch watch = {0};
    struct start_counts counts = {0};
    note(&watch, &counts, START_LATE, 0);
    note(&watch, &counts, START_KEPT, 4000);
    note(&watch, &counts, START_LATE, 4500);
    note(&watch, &counts, START_LATE, 9000);
    assert_int_equal(counts.unjudged, 0);
    note(&watch, &counts, START_LATE, 9501);
    assert_int_equal(counts.unjudged, 1);
}

static void an_excuse_is_counted_under_its_name_and_is_not_late(void **state)
{
    (void)state;
    struct start_watch watch = {0};
    struct start_counts counts = {0};
    note(&watch, &counts, START_CONCURRENCY_LIMIT, 0);
    note(&watch, &counts, START_CONCURRENCY_LIMIT, 5001);
    note(&watch, &counts, START_LATE, 6000); /* the limit is in force no more */
    note(&watch, &counts, START_LATE, 11001);
    assert_int_equal(judge(&watch, &counts, START_PEERS_HEARD, 21001), 5001);
    struct ad *ad = ad_create();
    start_counts_put(&counts, PROMISE_MS, ad);
    assert_int_equal(ad_int_or(ad, "StartExcusedConcurrencyLimit", -1), 1);
    assert_int_equal(ad_int_or(ad, "StartPromisesBroken", -1), 1);
    assert_int_equal(ad_int_or(ad, "StartPromisesLate", -1), 1);
    assert_false(ad_has(ad, "StartExcusedGroupQuota"));
    assert_false(ad_has(ad, "StartExcusedMachineSilent"));
    ad_destroy(ad);
}

static void without_a_promise_nothing_is_broken(void **state)
{
    (void)state;
    struct start_watch watch = {0};
    struct start_counts counts = {0};
    note(&watch, &counts, START_LATE, 0);
    note(&watch, &counts, START_LATE, 5001);
    assert_int_equal(judge(&watch, &counts, START_PEERS_HEARD, 20000), 5001);
    start_watch_note(&watch, &counts, START_LATE, 20002, 0); /* by a new setting */
    assert_int_equal(counts.late, 0);
    start_watch_note(&watch, &counts, START_LATE, 90000, 0);
    assert_int_equal(judge(&watch, &counts, START_PEERS_HEARD, 200000), 0);
    assert_int_equal(counts.counted[START_LATE], 1);
}

UNIT_TESTS(UNIT(what_is_late_without_a_break_is_counted_and_told_once),
           UNIT(what_has_ended_before_it_is_judged_is_broken_all_the_same),
           UNIT(a_peer_that_was_silent_excuses_it),
           UNIT(who_cannot_know_judges_when_silence_would_be_known_again),
           UNIT(a_break_begins_the_time_anew),
           UNIT(an_excuse_is_counted_under_its_name_and_is_not_late),
           UNIT(without_a_promise_nothing_is_broken))
