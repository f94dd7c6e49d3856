/* What a startd says of draining: what it would cost, and has cost, in every ad that is sent.
 *
 * LINK: startd collector drain
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include "tests/unit/startd/draining_rig.h"

#include "startd/claim/claim.h"
#include "startd/draining.h"
#include "startd/slot/slots.h"

static void a_check_may_look_at_what_it_would_cost(void **state)
{
    struct rig *rig = *state;
    begin(rig, PATIENT);
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    ask(rig, &admin,
        "[CheckExpr = \"ExpectedMachineGracefulDrainingBadput <= 0\"; EstimateOnly = true]");
    assert_int_equal(admin.code, DRAIN_OK);
    run_job(rig);
    ask(rig, &admin, "[CheckExpr = \"ExpectedMachineGracefulDrainingBadput <= 0\"]");
    assert_int_equal(admin.code, DRAIN_CHECK_FALSE);
    asker_end(&admin);
}

/* The estimates for a job that has run for 300 s under that policy and takes its output home when
 * it is evicted: what is unsaved then. */
static void unsaved(struct rig *rig, const char *policy, int64_t graceful, int64_t quick)
{
    begin(rig, policy);
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    claim_it(rig);
    assert_int_equal(call(rig, VERB_ACTIVATE, 1,
                          "[Owner = \"ann\"; User = \"ann@pool\"; Requirements = true;"
                          " WhenToTransferOutput = \"ON_EXIT_OR_EVICT\"]"),
                     0);
    until(rig, has_pids);
    rig->startd->slots[0]->claim->run.start_ms -= 300000;
    ask(rig, &admin, "[EstimateOnly = true]");
    assert_in_range(ad_int_or(admin.answer, "ExpectedMachineFastDrainingUnsaved", -1), 300, 330);
    int64_t found = ad_int_or(admin.answer, "ExpectedMachineGracefulDrainingUnsaved", -1);
    assert_in_range(found, graceful, graceful + (graceful > 0 ? 30 : 0));
    found = ad_int_or(admin.answer, "ExpectedMachineQuickDrainingUnsaved", -1);
    assert_in_range(found, quick, quick + (quick > 0 ? 30 : 0));
    asker_end(&admin);
}

static void what_goes_back_at_an_eviction_is_not_unsaved(void **state)
{
    unsaved(*state, PATIENT, 0, 0);
}

static void who_is_killed_when_he_has_to_go_saves_nothing(void **state)
{
    unsaved(*state, PATIENT "WANT_VACATE = false\n", 1000, 340);
}

static bool all_is_told(struct rig *rig)
{
    const struct slot *slot = rig->startd->slots[0];
    return !slot->changed && !slot->stale &&
           strcmp(ad_string_or(slot->ad, "Activity", ""), slot_activity_name(slot->activity)) == 0;
}

static void a_check_sees_the_figures_of_now(void **state)
{
    struct rig *rig = *state;
    begin(rig, PATIENT);
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    run_job(rig);
    until(rig, all_is_told);
    struct slot *slot = rig->startd->slots[0];
    slot->owner_load = 7.5; /* measured since the ad was built */
    slot->claim->run.start_ms -= 300000;
    ad_set_int(slot->ad, "Disk", -5);
    rig->startd->division.disk_seen_ms = 0;
    ask(rig, &admin,
        "[CheckExpr = \"Disk >= 0 && (SlotID != 1 || (LoadAvg >= 7.5 && Activity == \\\"Busy\\\" &&"
        " RetirementTimeRemaining <= 700 && ExpectedMachineFastDrainingBadput >= 300))\"; "
        "EstimateOnly = true]");
    assert_string_equal(admin.text, "");
    assert_int_equal(admin.code, DRAIN_OK);
    asker_end(&admin);
}

static void that_a_free_machine_is_drained_is_told_at_once(void **state)
{
    struct rig *rig = *state;
    begin(rig, PATIENT);
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    until(rig, all_is_told);
    uint64_t before = rig->startd->sent.sequence;
    drain_it(rig, &admin, "[]");
    until(rig, all_drained);
    until(rig, all_is_told);
    assert_int_equal(rig->startd->sent.sequence,
                     before + 1); /* Drained/Retiring was not worth it */
    asker_end(&admin);
}

/* The collector's ad of the first slot has that ChildState. */
static void until_children_are(struct rig *rig, const char *states)
{
    char args[200];
    bool found = false;
    (void)snprintf(args, sizeof args,
                   "[ Type = \"Machine\"; Constraint = \"ChildState[0] == \\\"%s\\\"\" ]", states);
    for (int i = 0; i < 100000 && !found; i++) {
        struct answer answer;
        assert_int_equal(client_call(rig->caller, VERB_QUERY, args, NULL, &answer), 0);
        found = answer.ads.count == 1;
        answer_fini(&answer);
    }
    assert_true(found);
}

static void a_piece_alone_is_drained_and_its_slot_tells(void **state)
{
    struct rig *rig = *state;
    begin(rig, "SLOT_TYPE_1 = \"100%\"\nSLOT_TYPE_1_PARTITIONABLE = true\nNUM_SLOTS_TYPE_1 = 1\n"
               "MAXJOBRETIREMENTTIME = 1000\n");
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    (void)snprintf(rig->claim_id, sizeof rig->claim_id, "%s",
                   secret_list_find(rig->startd->slots[0]->offered, SECRET_CLAIM_ID));
    assert_int_equal(dial_me(rig, "[Owner = \"ann\"; User = \"ann@pool\"; RequestCpus = 1;"
                                  " RequestMemory = 16; RequestDisk = 16; Requirements = true]"),
                     0);
    until(rig, piece_is_claimed);
    until_children_are(rig, "Claimed");
    drain_it(rig, &admin, "[Slots = {\"slot1_1\"}]");
    until_children_are(rig, "Drained");
    assert_true(is_unclaimed(rig)); /* what is left of the slot takes jobs */
    asker_end(&admin);
}

/* The collector's ad of the first slot, in that activity, says it. */
static void until_told(struct rig *rig, const char *activity)
{
    bool told = false;
    for (int i = 0; i < 100000 && !told; i++) {
        struct answer answer;
        assert_int_equal(client_call(rig->caller, VERB_QUERY,
                                     "[ Type = \"Machine\"; Constraint = \"SlotID == 1\" ]", NULL,
                                     &answer),
                         0);
        assert_int_equal(answer.ads.count, 1);
        const struct ad *ad = answer.ads.items[0];
        told = strcmp(ad_string_or(ad, "Activity", ""), activity) == 0;
        assert_true(ad_has(ad, "ExpectedMachineGracefulDrainingCompletion"));
        assert_true(ad_has(ad, "ExpectedMachineFastDrainingBadput"));
        assert_true(ad_has(ad, "TotalDrainingUnclaimedTime"));
        assert_true(ad_has(ad, "TotalDrainingBadputTime"));
        answer_fini(&answer);
    }
    assert_true(told);
}

static void every_ad_that_is_sent_says_what_draining_would_cost(void **state)
{
    struct rig *rig = *state;
    begin(rig, PATIENT);
    until_told(rig, "Idle");
    run_job(rig);
    until_told(rig, "Busy");
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    drain_it(rig, &admin, "[]");
    until_told(rig, "Retiring");
    asker_end(&admin);
}

static void time_that_is_unclaimed_or_drained_counts_for_each_slot(void **state)
{
    struct rig *rig = *state;
    begin(rig, TWO_SLOTS);
    struct asker admin = asker_as(rig, SCOPE_ADMINISTRATOR);
    drain_it(rig, &admin, "[]");
    until(rig, all_drained);
    rig->startd->draining.totals.counted_s -= 100; /* a while ago */
    slots_refresh(rig->startd);
    draining_publish(rig->startd, false);
    assert_in_range(ad_int_or(rig->startd->slots[0]->ad, "TotalDrainingUnclaimedTime", -1), 200,
                    230);
    assert_int_equal(cancel(rig, &admin, NULL), DRAIN_OK);
    assert_in_range(rig->startd->draining.totals.unclaimed_s, 200, 230);
    assert_int_equal(rig->startd->draining.totals.counting, 0);
    asker_end(&admin);
}

#define STARTD(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_TESTS(STARTD(a_check_may_look_at_what_it_would_cost),
           STARTD(what_goes_back_at_an_eviction_is_not_unsaved),
           STARTD(who_is_killed_when_he_has_to_go_saves_nothing),
           STARTD(a_check_sees_the_figures_of_now),
           STARTD(that_a_free_machine_is_drained_is_told_at_once),
           STARTD(a_piece_alone_is_drained_and_its_slot_tells),
           STARTD(every_ad_that_is_sent_says_what_draining_would_cost),
           STARTD(time_that_is_unclaimed_or_drained_counts_for_each_slot))
