/* drain/drain_plan.c - decisions and estimates of draining: see drain_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "drain/drain_plan.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "classad/ad.h"

/* ---- phases */

static const char *const PHASES[] = {[DRAIN_NONE] = "None",
                                     [DRAIN_OFFERED] = "Offered",
                                     [DRAIN_ACTIVE] = "Draining",
                                     [DRAIN_COMPLETE] = "Drained"};

static const struct {
    enum drain_phase from, to;
} MOVES[] = {
    {DRAIN_NONE, DRAIN_OFFERED},
    {DRAIN_OFFERED, DRAIN_NONE}, /* cancelled, too late, or the requester is gone */
    {DRAIN_OFFERED, DRAIN_ACTIVE},
    {DRAIN_ACTIVE, DRAIN_NONE}, /* cancelled */
    {DRAIN_ACTIVE, DRAIN_COMPLETE},
    {DRAIN_COMPLETE, DRAIN_NONE}, /* cancelled, or resumed */
    {DRAIN_NONE, DRAIN_ACTIVE},   /* found in the store at the start */
};

const char *drain_phase_name(enum drain_phase phase)
{
    CHECK((size_t)phase < ARRAY_COUNT(PHASES));
    return PHASES[phase];
}

bool drain_plan_may_move(enum drain_phase from, enum drain_phase to)
{
    for (size_t i = 0; i < ARRAY_COUNT(MOVES); i++) {
        if (MOVES[i].from == from && MOVES[i].to == to) {
            return true;
        }
    }
    return false;
}

bool drain_plan_still_holds(enum drain_phase phase, enum drain_then then, bool same_boot)
{
    if (phase == DRAIN_ACTIVE) {
        return true; /* a crash, or a reboot: it was not done */
    }
    if (phase != DRAIN_COMPLETE) {
        return false; /* an offer dies with who made it */
    }
    switch (then) {
    case DRAIN_THEN_STAY:
        return true;
    case DRAIN_THEN_SLEEP:
    case DRAIN_THEN_OFF:
        return same_boot; /* another boot: it has slept, and was woken to work */
    case DRAIN_THEN_RESUME:
    case DRAIN_THEN_EXIT:
    case DRAIN_THEN_RESTART:
        break; /* this start is what comes after */
    }
    return false;
}

/* ---- estimates */

static int64_t not_negative(int64_t value)
{
    return value > 0 ? value : 0;
}

static int64_t min_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t max_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Adds numbers from ads: the sum is limited to INT64_MAX and does not overflow. */
static int64_t add_bounded(int64_t a, int64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b;
}

static bool has_job(enum drain_place place)
{
    return place == DRAIN_AT_RUNNING || place == DRAIN_AT_SUSPENDED || place == DRAIN_AT_VACATING ||
           place == DRAIN_AT_KILLING;
}

/* Estimates how long the slot's job will still run under the graceful schedule. */
static int64_t to_come_s(const struct drain_slot *slot, bool evict_suspended)
{
    bool goes_now = slot->place == DRAIN_AT_VACATING || slot->place == DRAIN_AT_KILLING ||
                    (slot->place == DRAIN_AT_SUSPENDED && evict_suspended) || slot->accepted;
    return goes_now ? 0 : not_negative(slot->retirement_s);
}

/* Adds a slot's job to the cost.  kills: the job is killed without being asked to end. */
static void add_cost(struct drain_cost *cost, const struct drain_slot *slot, int64_t more_s,
                     int64_t left_s, int64_t now_s, bool kills)
{
    int64_t more = min_of(more_s, left_s);
    int64_t run_s = add_bounded(not_negative(slot->run_s), more);
    bool keeps = slot->keeps_output && !kills && slot->place != DRAIN_AT_KILLING;
    int64_t saved_s = keeps ? run_s : min_of(not_negative(slot->saved_s), run_s);
    cost->completion_s =
        max_of(cost->completion_s, min_of(add_bounded(now_s, more), DRAIN_ESTIMATE_S));
    cost->badput_s = add_bounded(cost->badput_s, run_s);
    cost->unsaved_s = add_bounded(cost->unsaved_s, run_s - saved_s);
}

void drain_plan_estimate(const struct drain_slot *slots, size_t count, bool evict_suspended,
                         int64_t deadline_s, int64_t now_s, struct drain_estimates *ret)
{
    const struct drain_cost nothing = {.completion_s = now_s};
    int64_t left_s = deadline_s > 0 ? not_negative(deadline_s - now_s) : INT64_MAX;
    *ret = (struct drain_estimates){nothing, nothing, nothing};
    for (size_t i = 0; i < count; i++) {
        const struct drain_slot *slot = &slots[i];
        if (!slot->requested || !has_job(slot->place)) {
            continue;
        }
        add_cost(&ret->graceful, slot, to_come_s(slot, evict_suspended), left_s, now_s, false);
        add_cost(&ret->quick, slot, not_negative(slot->vacate_s), left_s, now_s, false);
        add_cost(&ret->fast, slot, 0, left_s, now_s, true);
    }
}

/* ---- steps */

/* Returns whether the slot has a job from before draining, or was promised to one: while there is
 * any, StartExpr counts. */
static bool is_of_before(const struct drain_slot *slot)
{
    return slot->requested && !slot->accepted &&
           (has_job(slot->place) || slot->place == DRAIN_AT_CLAIMED_IDLE ||
            slot->place == DRAIN_AT_MATCHED);
}

static bool is_drained(enum drain_place place)
{
    return place == DRAIN_AT_DRAINED_RETIRING || place == DRAIN_AT_DRAINED_IDLE;
}

/* Returns when the job must be asked to end, so that it is gone by the deadline. */
static int64_t latest_s(const struct drain_orders *orders, const struct drain_slot *slot)
{
    return orders->deadline_s > 0 ? orders->deadline_s - not_negative(slot->vacate_s) : INT64_MAX;
}

static void look_again(struct drain_look *look, int64_t at_s, int64_t now_s)
{
    if (at_s > now_s) {
        look->next_s = min_of(look->next_s, at_s);
    }
}

static enum drain_step step_of_job(const struct drain_orders *orders, const struct drain_slot *slot,
                                   int64_t now_s, struct drain_look *look)
{
    bool at_deadline = orders->deadline_s > 0 && now_s >= orders->deadline_s;
    int64_t latest = latest_s(orders, slot);
    if (orders->deadline_s > 0) {
        look_again(look, latest, now_s);
        look_again(look, orders->deadline_s, now_s);
    }
    if (slot->place == DRAIN_AT_KILLING) {
        return DRAIN_STEP_NONE;
    }
    if (orders->schedule == DRAIN_FAST || at_deadline) {
        return DRAIN_STEP_KILL;
    }
    if (slot->place == DRAIN_AT_VACATING) {
        return DRAIN_STEP_NONE; /* it has its time */
    }
    if (now_s >= latest || orders->schedule == DRAIN_QUICK) {
        return DRAIN_STEP_VACATE;
    }
    if (orders->schedule == DRAIN_PEACEFUL) {
        return DRAIN_STEP_RETIRE; /* the startd does not bound its retirement */
    }
    if (slot->accepted) {
        return look->last ? DRAIN_STEP_VACATE : DRAIN_STEP_RETIRE;
    }
    if (slot->retirement_s <= 0) {
        return DRAIN_STEP_VACATE;
    }
    if (slot->place == DRAIN_AT_SUSPENDED) { /* its retirement does not pass meanwhile */
        return orders->evict_suspended ? DRAIN_STEP_VACATE : DRAIN_STEP_RETIRE;
    }
    look_again(look, add_bounded(now_s, slot->retirement_s), now_s);
    return DRAIN_STEP_RETIRE;
}

static enum drain_step step_of(const struct drain_orders *orders, const struct drain_slot *slot,
                               bool all_drained, int64_t now_s, struct drain_look *look)
{
    switch (slot->place) {
    case DRAIN_AT_OWNER:
    case DRAIN_AT_UNCLAIMED:
        return look->last ? DRAIN_STEP_DRAINED_RETIRING : DRAIN_STEP_NONE;
    case DRAIN_AT_MATCHED:
    case DRAIN_AT_CLAIMED_IDLE:
        return slot->accepted && !look->last ? DRAIN_STEP_NONE : DRAIN_STEP_RELEASE;
    case DRAIN_AT_DRAINED_RETIRING:
        return all_drained ? DRAIN_STEP_DRAINED_IDLE : DRAIN_STEP_NONE;
    case DRAIN_AT_DRAINED_IDLE:
        return DRAIN_STEP_NONE;
    case DRAIN_AT_RUNNING:
    case DRAIN_AT_SUSPENDED:
    case DRAIN_AT_VACATING:
    case DRAIN_AT_KILLING:
        break;
    }
    return step_of_job(orders, slot, now_s, look);
}

void drain_plan_look(const struct drain_orders *orders, const struct drain_slot *slots,
                     size_t count, int64_t now_s, enum drain_step *steps, struct drain_look *ret)
{
    bool all_drained = true, all_idle = true, any_of_before = false;
    for (size_t i = 0; i < count; i++) {
        if (slots[i].requested) {
            all_drained = all_drained && is_drained(slots[i].place);
            all_idle = all_idle && slots[i].place == DRAIN_AT_DRAINED_IDLE;
            any_of_before = any_of_before || is_of_before(&slots[i]);
        }
    }
    bool at_deadline = orders->deadline_s > 0 && now_s >= orders->deadline_s;
    *ret = (struct drain_look){.last = !orders->has_start || !any_of_before || at_deadline,
                               .complete = all_idle,
                               .next_s = INT64_MAX};
    for (size_t i = 0; i < count; i++) {
        steps[i] = slots[i].requested ? step_of(orders, &slots[i], all_drained, now_s, ret)
                                      : DRAIN_STEP_NONE;
    }
}

enum drain_code drain_plan_check(const char *check, const struct ad *const *ads, size_t count,
                                 const struct ad_context *context, struct err *err)
{
    enum drain_code code = DRAIN_OK;
    struct ad_expr *expr = NULL;
    struct err why;
    if (check == NULL) {
        return DRAIN_OK;
    }
    if (ad_expr_parse(check, strlen(check), AD_OLD, &expr, &why) != 0) {
        (void)err_set(err, -EINVAL, "CheckExpr: %s", why.text);
        return DRAIN_BAD_REQUEST;
    }
    for (size_t i = 0; i < count && code == DRAIN_OK; i++) {
        if (ad_eval_bool(expr, ads[i], NULL, context) != AD_TRUE) {
            (void)err_set(err, -EPERM, "CheckExpr is not true on %s: %s",
                          ad_string_or(ads[i], "Name", "a slot"), check);
            code = DRAIN_CHECK_FALSE;
        }
    }
    ad_expr_destroy(expr);
    return code;
}

/* ---- totals */

int64_t drain_plan_counting(const struct drain_slot *slots, size_t count, enum drain_phase phase)
{
    int64_t counting = 0;
    bool draining = phase == DRAIN_ACTIVE || phase == DRAIN_COMPLETE;
    for (size_t i = 0; i < count; i++) {
        bool unclaimed = slots[i].place == DRAIN_AT_UNCLAIMED && slots[i].requested && draining;
        counting += unclaimed || is_drained(slots[i].place) ? 1 : 0;
    }
    return counting;
}

int64_t drain_totals_unclaimed_s(const struct drain_totals *totals, int64_t now_s)
{
    int64_t passed_s = totals->counting > 0 ? not_negative(now_s - totals->counted_s) : 0;
    return add_bounded(totals->unclaimed_s, passed_s * totals->counting);
}

void drain_totals_count(struct drain_totals *totals, int64_t counting, int64_t now_s)
{
    totals->unclaimed_s = drain_totals_unclaimed_s(totals, now_s);
    totals->counted_s = now_s;
    totals->counting = counting;
}

void drain_totals_evicted(struct drain_totals *totals, int64_t run_s)
{
    totals->badput_s = add_bounded(totals->badput_s, not_negative(run_s));
}

/* ---- attributes */

void drain_plan_put_estimates(const struct drain_estimates *estimates, struct ad *ad)
{
    ad_set_int(ad, "ExpectedMachineGracefulDrainingCompletion", estimates->graceful.completion_s);
    ad_set_int(ad, "ExpectedMachineGracefulDrainingBadput", estimates->graceful.badput_s);
    ad_set_int(ad, "ExpectedMachineGracefulDrainingUnsaved", estimates->graceful.unsaved_s);
    ad_set_int(ad, "ExpectedMachineQuickDrainingCompletion", estimates->quick.completion_s);
    ad_set_int(ad, "ExpectedMachineQuickDrainingBadput", estimates->quick.badput_s);
    ad_set_int(ad, "ExpectedMachineQuickDrainingUnsaved", estimates->quick.unsaved_s);
    ad_set_int(ad, "ExpectedMachineFastDrainingCompletion", estimates->fast.completion_s);
    ad_set_int(ad, "ExpectedMachineFastDrainingBadput", estimates->fast.badput_s);
    ad_set_int(ad, "ExpectedMachineFastDrainingUnsaved", estimates->fast.unsaved_s);
}

void drain_plan_put_totals(const struct drain_totals *totals, int64_t now_s, struct ad *ad)
{
    ad_set_int(ad, "TotalDrainingUnclaimedTime", drain_totals_unclaimed_s(totals, now_s));
    ad_set_int(ad, "TotalDrainingBadputTime", totals->badput_s);
}
