/* A match is charged like a use until the slot's ad shows the use, or shows that nothing came of
 * the match.
 *
 * LINK: negotiator
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/call_rig.h"
#include "tests/support/unit.h"

#include <stdio.h>
#include <string.h>

#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "negotiator/limit_plan.h"
#include "negotiator/negotiator.h"
#include "wire/secret_list.h"

struct rig {
    struct negotiator negotiator;
    struct pool_slot slot;
    char name[16];
};

static void match_slot(struct rig *rig, const char *slot, const char *claim_id)
{
    const struct shares_match match = {
        .slot = slot, .claim_id = claim_id, .submitter = "ann", .limits = "lic", .weight = 2};
    shares_matched(&rig->negotiator, &match);
}

/* The ad of the slot arrives, with this state and claim id ("": none). */
static void slot_shows(struct rig *rig, const char *state, const char *claim_id, const char *more)
{
    char text[200];
    (void)snprintf(text, sizeof text, "[State = \"%s\"; %s]", state, more);
    struct ad *ad = ad_from_text(text);
    const struct wire_secret id = {.kind = SECRET_CLAIM_ID, .text = claim_id};
    secret_list_unref(rig->slot.ids);
    rig->slot.ids = secret_list_create(&id, claim_id[0] != '\0' ? 1 : 0);
    rig->slot.id_count = secret_list_count(rig->slot.ids);
    shares_slot_changed(&rig->slot, ad);
    ad_destroy(ad);
}

/* A slot whose claim id "x" was given to a job of ann's. */
static void rig_init(struct rig *rig)
{
    memset(rig, 0, sizeof *rig);
    struct negotiator *negotiator = &rig->negotiator;
    assert_int_equal(loop_create(&negotiator->env.loop, NULL), 0);
    negotiator->charges = strmap_create(STRMAP_CASE_SENSITIVE);
    negotiator->limits = limit_plan_create();
    (void)snprintf(rig->name, sizeof rig->name, "slot1@m");
    rig->slot = (struct pool_slot){.negotiator = negotiator, .name = rig->name};
    match_slot(rig, rig->name, "x");
}

static void rig_fini(struct rig *rig)
{
    secret_list_unref(rig->slot.ids);
    shares_fini(&rig->negotiator);
    limit_plan_destroy(rig->negotiator.limits);
    loop_destroy(rig->negotiator.env.loop);
}

static void check_charged(struct rig *rig, bool charged)
{
    assert_int_equal(strmap_count(rig->negotiator.charges), charged ? 1 : 0);
    assert_true((limit_plan_used(rig->negotiator.limits, "lic") > 0.5) == charged);
}

static void a_match_on_its_way_is_charged(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    slot_shows(&rig, "Unclaimed", "x", ""); /* the ad from before */
    check_charged(&rig, true);
    slot_shows(&rig, "Matched", "", "");
    check_charged(&rig, true);
    rig_fini(&rig);
}

static void a_match_that_waits_for_the_running_job_is_charged(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    slot_shows(&rig, "Claimed", "", "PreemptingUser = \"ann\"");
    assert_int_equal(strmap_count(rig.negotiator.charges), 1);
    slot_shows(&rig, "Preempting", "", "");
    check_charged(&rig, true);
    rig_fini(&rig);
}

/* The slot's ad shows the limits of the claim that waits for it, and they count as the slot's. */
static void limits_of_a_claim_that_waits_count_once(void **state)
{
    static const char WAITS[] = "PreemptingUser = \"ann\"; PreemptingConcurrencyLimits = \"lic\"";
    (void)state;
    struct rig rig;
    rig_init(&rig);
    slot_shows(&rig, "Claimed", "", WAITS);
    assert_true(limit_plan_used(rig.negotiator.limits, "lic") < 0.5);
    slot_shows(&rig, "Preempting", "", WAITS);
    assert_true(limit_plan_used(rig.negotiator.limits, "lic") < 0.5);
    slot_shows(&rig, "Preempting", "", "");
    assert_true(limit_plan_used(rig.negotiator.limits, "lic") > 0.5);
    slot_shows(&rig, "Preempting", "", WAITS);
    assert_true(shares_used(&rig.negotiator, rig.name, "ann", "lic"));
    check_charged(&rig, false);
    rig_fini(&rig);
}

static void a_slot_that_is_free_again_ends_the_charge_at_once(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    slot_shows(&rig, "Unclaimed", "y", "");
    check_charged(&rig, false);
    match_slot(&rig, rig.name, "y"); /* the next match of the same user is another one */
    slot_shows(&rig, "Unclaimed", "y", "");
    check_charged(&rig, true);
    rig_fini(&rig);
}

static void a_slot_that_drains_or_stays_with_its_user_ends_the_charge(void **state)
{
    static const char *const STATES[] = {"Drained", "Owner", "Claimed"};
    (void)state;
    for (size_t i = 0; i < sizeof STATES / sizeof STATES[0]; i++) {
        struct rig rig;
        rig_init(&rig);
        slot_shows(&rig, STATES[i], "", "");
        check_charged(&rig, false);
        rig_fini(&rig);
    }
}

static void a_declined_match_is_not_charged(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    shares_declined(&rig.negotiator, rig.name, "other");
    check_charged(&rig, true);
    shares_declined(&rig.negotiator, rig.name, "x");
    check_charged(&rig, false);
    rig_fini(&rig);
}

static void a_used_match_is_charged_once(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    match_slot(&rig, "slot2@m", "z");
    assert_false(shares_used(&rig.negotiator, rig.name, "bob", "lic"));
    assert_true(shares_used(&rig.negotiator, rig.name, "ann", "lic")); /* as usage.c does */
    slot_shows(&rig, "Unclaimed", "y", "");
    check_charged(&rig, true); /* that of the other slot */
    rig_fini(&rig);
}

/* The ad of the piece is on its way when that of the partitionable slot arrives. */
static void a_piece_keeps_its_charge_for_a_moment(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    slot_shows(&rig, "Unclaimed", "y", "PartitionableSlot = true");
    shares_forget(&rig.negotiator);
    check_charged(&rig, true);
    rig_fini(&rig);
}

UNIT_TESTS(UNIT(a_match_on_its_way_is_charged),
           UNIT(a_match_that_waits_for_the_running_job_is_charged),
           UNIT(limits_of_a_claim_that_waits_count_once),
           UNIT(a_slot_that_is_free_again_ends_the_charge_at_once),
           UNIT(a_slot_that_drains_or_stays_with_its_user_ends_the_charge),
           UNIT(a_declined_match_is_not_charged), UNIT(a_used_match_is_charged_once),
           UNIT(a_piece_keeps_its_charge_for_a_moment))
