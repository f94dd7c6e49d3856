/* A match that takes a slot over counts as in use until it is used, or cancelled.
 *
 * LINK: negotiator
 *
 * SPDX-License-Identifier: Apache-2.0
 */
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

struct rig {
    struct negotiator negotiator;
    struct pool_slot slot;
    char name[16];
};

/* A slot in use that ann's match takes over, by the claim id "x". */
static void rig_init(struct rig *rig)
{
    memset(rig, 0, sizeof *rig);
    struct negotiator *negotiator = &rig->negotiator;
    assert_int_equal(loop_create(&negotiator->env.loop, NULL), 0);
    negotiator->given = strmap_create(STRMAP_CASE_SENSITIVE);
    negotiator->slots = strmap_create(STRMAP_CASE_IGNORED);
    negotiator->pending = strmap_create(STRMAP_CASE_SENSITIVE);
    negotiator->limits = limit_plan_create();
    (void)snprintf(rig->name, sizeof rig->name, "slot1@m");
    rig->slot = (struct pool_slot){.negotiator = negotiator,
                                   .name = rig->name,
                                   .claim_id = "x",
                                   .facts = {.use = PLAN_USE_TAKEN}};
    (void)strmap_set(negotiator->given, "x", mem_zalloc(64)); /* only presence counts */
    shares_matched(negotiator, rig->name, "ann", "lic", 2);
    shares_takes_over(&rig->slot, "ann", "lic");
    shares_slot_changed(&rig->slot); /* the ad from before still comes: nothing is over */
    assert_int_equal(strmap_count(negotiator->pending), 1);
}

static void rig_fini(struct rig *rig)
{
    struct negotiator *negotiator = &rig->negotiator;
    mem_free(rig->slot.taken_by);
    mem_free(rig->slot.taken_limits);
    strmap_destroy(negotiator->given, mem_free);
    strmap_destroy(negotiator->slots, NULL);
    shares_fini(negotiator);
    limit_plan_destroy(negotiator->limits);
    loop_destroy(negotiator->env.loop);
}

static void while_it_waits_it_counts(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    rig.slot.claim_id = ""; /* nobody else can have it */
    shares_slot_changed(&rig.slot);
    rig.slot.facts.use = PLAN_USE_BUSY; /* Preempting */
    rig.slot.claim_id = "y";
    shares_slot_changed(&rig.slot);
    assert_int_equal(strmap_count(rig.negotiator.pending), 1);
    assert_true(limit_plan_used(rig.negotiator.limits, "lic") > 0.5);
    rig_fini(&rig);
}

static void cancelled_it_is_over_at_once(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    rig.slot.claim_id = "y"; /* offered once more */
    shares_slot_changed(&rig.slot);
    assert_int_equal(strmap_count(rig.negotiator.pending), 0);
    assert_true(limit_plan_used(rig.negotiator.limits, "lic") < 0.5);
    /* The next match of the same user is another. */
    shares_matched(&rig.negotiator, rig.name, "ann", "lic", 2);
    shares_slot_changed(&rig.slot);
    assert_int_equal(strmap_count(rig.negotiator.pending), 1);
    rig_fini(&rig);
}

static void a_slot_that_came_free_is_offered(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    rig.slot.claim_id = "y";
    rig.slot.facts = (struct plan_slot){.use = PLAN_USE_FREE};
    shares_slot_changed(&rig.slot);
    assert_int_equal(strmap_count(rig.negotiator.pending), 0);
    rig_fini(&rig);
}

static void it_ends_once_when_it_was_used(void **state)
{
    (void)state;
    struct rig rig;
    rig_init(&rig);
    shares_matched(&rig.negotiator, "slot2@m", "ann", "lic", 2);
    assert_true(shares_unmatched(&rig.negotiator, rig.name, "ann", "lic")); /* as usage.c does */
    rig.slot.claim_id = "y";
    shares_slot_changed(&rig.slot);
    assert_int_equal(strmap_count(rig.negotiator.pending), 1); /* that of the other slot */
    rig_fini(&rig);
}

UNIT_TESTS(UNIT(while_it_waits_it_counts), UNIT(cancelled_it_is_over_at_once),
           UNIT(a_slot_that_came_free_is_offered), UNIT(it_ends_once_when_it_was_used))
