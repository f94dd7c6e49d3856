/* negotiator/wake_rules.c - finds out which sleeping machines are not to be woken now, as their
 * UNHIBERNATE says: "at night only if the queue is long".
 *
 * The rooster evaluates UNHIBERNATE before it wakes a machine, and a job that is held for a machine
 * that is not woken waits.  So the plan holds such machines last (plan_slot.unwilling), and holds
 * leave them when another machine can be held.  Only slots whose UNHIBERNATE reads the clock or the
 * queue are looked at, as long as there are idle jobs, each POOL_FIGURES_AGAIN_MS.  What is not
 * known yet counts as willing: then the rooster decides alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/check.h"
#include "base/loop.h"
#include "base/os/os.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "negotiator/negotiator.h"
#include "wire/pool_figures.h"

#define SLICE     500 /* machines in one turn of the loop */
#define SOON_MS   1000
#define STEPS_MAX 2000 /* as the rooster */

static bool reads_clock(const struct ad_expr *rule, const struct ad *ad)
{
    static const char *const NAMES[] = {"ClockMin", "ClockDay", "ClockDate"};
    struct strmap *external = strmap_create(STRMAP_CASE_IGNORED);
    struct strmap *internal = strmap_create(STRMAP_CASE_IGNORED);
    bool reads = false;
    ad_refs(rule, ad, external, internal);
    for (size_t i = 0; i < ARRAY_COUNT(NAMES); i++) {
        reads = reads || strmap_get(external, NAMES[i]) != NULL ||
                strmap_get(internal, NAMES[i]) != NULL;
    }
    strmap_destroy(external, NULL);
    strmap_destroy(internal, NULL);
    return reads;
}

void wake_rules_read(struct pool_slot *slot)
{
    const struct plan_slot *facts = &slot->facts;
    const struct ad_expr *rule = facts->offline ? ad_lookup(facts->ad, "Unhibernate") : NULL;
    slot->has_rule =
        rule != NULL && (pool_figures_are_read(rule, facts->ad) || reads_clock(rule, facts->ad));
    slot->unwilling = slot->has_rule && slot->unwilling;
    if (slot->has_rule && !loop_timer_is_set(slot->negotiator->cycle.rules_timer)) {
        loop_timer_set(slot->negotiator->cycle.rules_timer, SOON_MS);
    }
}

static bool is_unwilling(struct negotiator *negotiator, const struct pool_slot *slot,
                         const struct plan_queue *all, const struct plan_queue *mine)
{
    struct ad_context context = negotiator_context(negotiator);
    struct ad_work work = {.steps_max = STEPS_MAX};
    int64_t now_s = loop_wall_s(negotiator->env.loop);
    struct pool_figures figures = {.jobs = all->jobs,
                                   .wait_s = plan_queue_wait_s(all, now_s),
                                   .has_matching = mine->jobs >= 0,
                                   .matching = mine->jobs,
                                   .matching_wait_s = plan_queue_wait_s(mine, now_s)};
    struct ad *now = ad_create();
    context.work = &work;
    ad_chain(now, slot->facts.ad);
    ad_set_int(now, "MachineLastMatchTime", now_s);
    pool_figures_put_clock(now_s + os_zone_offset_s(negotiator->env.os, now_s), now);
    pool_figures_put(&figures, now);
    bool is_true =
        ad_eval_bool(ad_lookup(slot->facts.ad, "Unhibernate"), now, NULL, &context) == AD_TRUE;
    ad_destroy(now);
    return !is_true;
}

/* Collects the next slots with a rule.  Returns how many; negotiator->cycle.rules_at is then after
 * them, or 0 at the end. */
static size_t next_slots(struct negotiator *negotiator, struct pool_slot **slots)
{
    const struct vec *items = &negotiator->slot_numbers.items;
    size_t count = 0, at = negotiator->cycle.rules_at;
    for (; at < items->count && count < SLICE; at++) {
        struct pool_slot *slot = items->items[at];
        if (slot != NULL && slot->has_rule) {
            slots[count++] = slot;
        }
    }
    negotiator->cycle.rules_at = at < items->count ? at : 0;
    return count;
}

void wake_rules_look(void *arg)
{
    struct negotiator *negotiator = arg;
    struct pool_slot *slots[SLICE];
    const char *machines[SLICE];
    struct plan_queue all, each[SLICE];
    bool is_first = negotiator->cycle.rules_at == 0;
    size_t count = next_slots(negotiator, slots);
    if (count == 0 && is_first && negotiator->cycle.rules_at == 0) {
        return; /* wake_rules_read() begins again */
    }
    negotiator_plan_queue(negotiator->plan, &all);
    if (negotiator->lease.leads && all.jobs > 0) {
        for (size_t i = 0; i < count; i++) {
            machines[i] = slots[i]->facts.machine;
        }
        negotiator_plan_matching(negotiator->plan, machines, count, each);
        for (size_t i = 0; i < count; i++) {
            bool unwilling = is_unwilling(negotiator, slots[i], &all, &each[i]);
            if (unwilling != slots[i]->unwilling) {
                slots[i]->unwilling = unwilling;
                negotiator_slot_touched(slots[i]);
                negotiator_cycle_soon(negotiator);
            }
        }
    }
    loop_timer_set(negotiator->cycle.rules_timer,
                   negotiator->cycle.rules_at > 0 ? 0 : POOL_FIGURES_AGAIN_MS);
}
