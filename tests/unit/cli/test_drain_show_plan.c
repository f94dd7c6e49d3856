/* What `roost drain` prints.
 *
 * LINK: cli
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/cli/ads.h"

#include "classad/ad_eval.h"
#include "cli/drain_show_plan.h"

static const struct ad_context CONTEXT = {.now_s = 1795166147}; /* 11/20/26 09:15:47 UTC */

static void expect_results(enum drain_verb verb, struct vec *ads, size_t failed, const char *said,
                           const char *complained)
{
    struct strbuf out, failures;
    strbuf_init(&out, 0);
    strbuf_init(&failures, 0);
    assert_int_equal(drain_show_results(verb, ads_list(ads), ads->count, &CONTEXT, &out, &failures),
                     failed);
    vec_fini(ads, ads_destroy_one);
    ads_expect(&out, said);
    ads_expect(&failures, complained);
}

#define GRACEFUL(end, badput)                              \
    "ExpectedMachineGracefulDrainingCompletion = " end ";" \
    "ExpectedMachineGracefulDrainingBadput = " badput ";"
#define QUICK(end, badput)                              \
    "ExpectedMachineQuickDrainingCompletion = " end ";" \
    "ExpectedMachineQuickDrainingBadput = " badput ";"
#define FAST(end, badput)                              \
    "ExpectedMachineFastDrainingCompletion = " end ";" \
    "ExpectedMachineFastDrainingBadput = " badput ";"

#define BUSY  GRACEFUL("1795166747", "900") QUICK("1795166177", "330") FAST("1795166147", "300")
#define EMPTY GRACEFUL("1795166147", "0") QUICK("1795166147", "0") FAST("1795166147", "0")

static void one_machine_is_said_with_its_request(void **state)
{
    (void)state;
    struct vec ads = {0};
    ads_add(&ads, "[Machine = \"wn01\"; ErrorCode = 0; DrainingRequestId = \"ab\";"
                  " DrainingSchedule = \"graceful\"; OnCompletion = \"stay\";" BUSY "]");
    expect_results(DRAIN_VERB_START, &ads, 0,
                   "wn01: draining gracefully, the last job ends by 11/20 09:25, badput "
                   "0+00:15:00 at most (request ab)\n",
                   "");
}

static void many_machines_are_folded_and_summed(void **state)
{
    (void)state;
    struct vec ads = {0};
    ads_add(&ads, "[Machine = \"wn02\"; DrainingRequestId = \"ab\"; DrainingSchedule = \"quick\";"
                  " OnCompletion = \"sleep\";" BUSY "]");
    ads_add(&ads, "[Machine = \"wn01\"; DrainingRequestId = \"cd\"; DrainingSchedule = \"quick\";"
                  " OnCompletion = \"sleep\";" BUSY "]");
    ads_add(&ads, "[Machine = \"wn03\"; DrainingRequestId = \"ef\"; DrainingSchedule = \"quick\";"
                  " OnCompletion = \"sleep\";" EMPTY "]");
    expect_results(DRAIN_VERB_START, &ads, 0,
                   "wn[01-03]: draining quickly, the last job ends by 11/20 09:16, badput "
                   "0+00:11:00 at most, then it sleeps\n",
                   "");
}

static void jobs_that_are_killed_go_now(void **state)
{
    (void)state;
    struct vec ads = {0};
    ads_add(&ads,
            "[Machine = \"wn01\"; DrainingSchedule = \"fast\"; OnCompletion = \"resume\";" BUSY
            "]");
    expect_results(
        DRAIN_VERB_START, &ads, 0,
        "wn01: draining fast, the jobs are ending now, badput 0+00:05:00, then the drain is over\n",
        "");
    /* It has just begun: nothing is lost, but it is there. */
    ads_add(&ads, "[Machine = \"wn01\"; DrainingSchedule = \"fast\";" QUICK("1795166177", "30")
                      FAST("1795166147", "0") "]");
    expect_results(DRAIN_VERB_START, &ads, 0,
                   "wn01: draining fast, the jobs are ending now, badput 0+00:00:00\n", "");
    ads_add(&ads,
            "[Machine = \"wn01\"; DrainingSchedule = \"fast\"; OnCompletion = \"exit\";" EMPTY "]");
    expect_results(DRAIN_VERB_START, &ads, 0,
                   "wn01: draining fast, no jobs are running, then its startd ends\n", "");
}

static void a_peaceful_drain_promises_no_end_but_the_deadline(void **state)
{
    (void)state;
    struct vec ads = {0};
    ads_add(&ads, "[Machine = \"wn01\"; DrainingSchedule = \"peaceful\";" BUSY "]");
    expect_results(DRAIN_VERB_START, &ads, 0,
                   "wn01: draining peacefully, the jobs run to their end\n", "");
    ads_add(&ads, "[Machine = \"wn01\"; DrainingSchedule = \"peaceful\";"
                  " DrainingDeadline = 1795166747;" BUSY "]");
    expect_results(DRAIN_VERB_START, &ads, 0,
                   "wn01: draining peacefully, the jobs run to their end, at most until "
                   "11/20 09:25\n",
                   "");
    ads_add(&ads, "[Machine = \"wn01\"; DrainingSchedule = \"peaceful\";"
                  " DrainingDeadline = 1795166747;" EMPTY "]");
    expect_results(DRAIN_VERB_START, &ads, 0, "wn01: draining peacefully, no jobs are running\n",
                   "");
}

static void graceful_without_retirement_time_is_warned_of(void **state)
{
    (void)state;
    struct vec ads = {0};
    ads_add(&ads,
            "[Machine = \"wn01\"; DrainingSchedule = \"graceful\";" GRACEFUL("1795166147", "300")
                QUICK("1795166177", "330") FAST("1795166147", "300") "]");
    expect_results(
        DRAIN_VERB_START, &ads, 0,
        "wn01: draining gracefully, the jobs are ending now, badput 0+00:05:00\n"
        "Warning: no running job has retirement time (MAXJOBRETIREMENTTIME), so the jobs "
        "are asked to end now; --peaceful waits until jobs have ended.\n",
        "");
}

static void failures_are_folded_by_their_reason(void **state)
{
    (void)state;
    struct vec ads = {0};
    ads_add(&ads, "[Machine = \"wn03\"; ErrorCode = 10107; ErrorString = \"asleep\"]");
    ads_add(&ads, "[Machine = \"wn01\"; ErrorCode = 10106; ErrorString = \"too weak\"]");
    ads_add(&ads, "[Machine = \"wn02\"; ErrorCode = 10107; ErrorString = \"asleep\"]");
    ads_add(&ads, "[Machine = \"wn04\"; ErrorCode = 0; DrainingSchedule = \"graceful\";" EMPTY "]");
    expect_results(DRAIN_VERB_START, &ads, 3, "wn04: draining gracefully, no jobs are running\n",
                   "wn[02,03]: asleep\nwn01: too weak\n");
}

static void nothing_of_an_ad_moves_the_cursor(void **state)
{
    (void)state;
    struct vec ads = {0};
    ads_add(&ads, "[Machine = \"wn\\0331\"; ErrorCode = 1; ErrorString = \"a\\nb\"]");
    expect_results(DRAIN_VERB_START, &ads, 1, "", "wn?1: a?b\n");
}

static void a_cancelled_machine_has_no_request(void **state)
{
    (void)state;
    struct vec ads = {0};
    ads_add(&ads, "[Machine = \"wn01\"; ErrorCode = 0]");
    ads_add(&ads, "[Machine = \"wn02\"; ErrorCode = 10002; ErrorString = \"no such request\"]");
    expect_results(DRAIN_VERB_CANCEL, &ads, 1, "wn01: the drain requests have ended\n",
                   "wn02: no such request\n");
}

static void estimates_are_a_table(void **state)
{
    (void)state;
    struct vec ads = {0};
    ads_add(&ads,
            "[Machine = \"wn01\"; ErrorCode = 0; ExpectedMachineFastDrainingUnsaved = 60;" BUSY
            "]");
    ads_add(&ads, "[Machine = \"wn02\"; ErrorCode = 10107; ErrorString = \"asleep\"]");
    expect_results(
        DRAIN_VERB_ESTIMATE, &ads, 1,
        "Machine               GracefulIn      Badput     QuickIn      Badput  FastBadput     "
        "Unsaved\n"
        "\n"
        "wn01                  0+00:10:00  0+00:15:00  0+00:00:30  0+00:05:30  0+00:05:00  "
        "0+00:01:00\n",
        "wn02: asleep\n");
}

static void a_machine_is_counted_from_its_slots(void **state)
{
    (void)state;
    struct vec slots = {0}, machines = {0};
    ads_add(&slots, "[Machine = \"wn02\"; Draining = true; DrainingRequestId = \"b\";"
                    " State = \"Drained\"; Activity = \"Idle\"]");
    ads_add(&slots, "[Machine = \"wn01\"; Draining = true; DrainingRequestId = \"a\";"
                    " DrainingSchedule = \"graceful\"; DrainingRequester = \"root@pool\";"
                    " DrainReason = \"disks\"; LastDrainStartTime = 1795166087;"
                    " State = \"Claimed\"; Activity = \"Retiring\";" BUSY "]");
    ads_add(&slots, "[Machine = \"wn01\"; Draining = true; DrainingRequestId = \"a\";"
                    " State = \"Preempting\"; Activity = \"Killing\"]");
    ads_add(&slots, "[Machine = \"wn01\"; Draining = true; DrainingRequestId = \"a\";"
                    " State = \"Drained\"; Activity = \"Retiring\"]");
    ads_add(&slots, "[Machine = \"wn01\"; Draining = true; DrainingRequestId = \"a\";"
                    " State = \"Claimed\"; Activity = \"Idle\"]");
    ads_add(&slots, "[Machine = \"wn01\"; State = \"Claimed\"; Activity = \"Busy\"]");
    ads_add(&slots, "[Machine = \"wn03\"; Draining = true; DrainingRequestId = \"c\";"
                    " State = \"Drained\"; Activity = \"Retiring\"]");
    drain_show_machines(ads_list(&slots), slots.count, &machines);
    assert_int_equal(machines.count, 3);
    const struct ad *first = machines.items[0];
    assert_int_equal(ad_int_or(first, "DrainingSlots", 0), 4);
    assert_int_equal(ad_int_or(first, "DrainedSlots", 0), 1);
    assert_int_equal(ad_int_or(first, "DrainingJobs", 0), 2);
    assert_string_equal(ad_string_or(machines.items[1], "DrainingState", ""), "Drained");
    assert_string_equal(ad_string_or(machines.items[2], "DrainingState", ""), "Draining");
    struct strbuf out;
    strbuf_init(&out, 0);
    drain_show_status(ads_list(&machines), 2, &CONTEXT, &out);
    vec_fini(&slots, ads_destroy_one);
    vec_fini(&machines, ads_destroy_one);
    ads_expect(
        &out, "Machine              State    HowFast  Since       Drained Jobs Until       Request "
              "         Requester Reason\n"
              "\n"
              "wn01                 Draining graceful 11/20 09:14     1/4    2 11/20 09:25 a       "
              "         root@pool disks\n"
              "wn02                 Drained                           1/1    0             b       "
              "                   \n");
}

static void a_machine_that_sleeps_with_its_request_is_drained(void **state)
{
    (void)state;
    struct vec slots = {0}, machines = {0};
    ads_add(&slots, "[Machine = \"wn01\"; Draining = true; DrainingRequestId = \"a\";"
                    " Offline = true; State = \"Unclaimed\"; Activity = \"Idle\"]");
    drain_show_machines(ads_list(&slots), slots.count, &machines);
    assert_int_equal(machines.count, 1);
    assert_string_equal(ad_string_or(machines.items[0], "DrainingState", ""), "Drained");
    assert_int_equal(ad_int_or(machines.items[0], "DrainedSlots", 0), 1);
    vec_fini(&slots, ads_destroy_one);
    vec_fini(&machines, ads_destroy_one);
}

static void nothing_prints_nothing(void **state)
{
    (void)state;
    struct vec ads = {0};
    struct strbuf out;
    expect_results(DRAIN_VERB_START, &ads, 0, "", "");
    expect_results(DRAIN_VERB_ESTIMATE, &ads, 0, "", "");
    strbuf_init(&out, 0);
    drain_show_status(NULL, 0, &CONTEXT, &out);
    drain_show_names(NULL, 0, "x", &out);
    ads_expect(&out, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_machine_is_said_with_its_request),
        cmocka_unit_test(many_machines_are_folded_and_summed),
        cmocka_unit_test(jobs_that_are_killed_go_now),
        cmocka_unit_test(a_peaceful_drain_promises_no_end_but_the_deadline),
        cmocka_unit_test(graceful_without_retirement_time_is_warned_of),
        cmocka_unit_test(failures_are_folded_by_their_reason),
        cmocka_unit_test(nothing_of_an_ad_moves_the_cursor),
        cmocka_unit_test(a_cancelled_machine_has_no_request),
        cmocka_unit_test(estimates_are_a_table),
        cmocka_unit_test(a_machine_is_counted_from_its_slots),
        cmocka_unit_test(a_machine_that_sleeps_with_its_request_is_drained),
        cmocka_unit_test(nothing_prints_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
