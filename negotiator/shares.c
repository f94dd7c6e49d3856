/* negotiator/shares.c - collects what share_plan needs: users with what they have, groups,
 * submitting machines.
 *
 * After a match it takes a moment until the slot's ad shows the use, and cycles go on meanwhile.
 * So a match is charged like a use, from when it is sent until one of these is known:
 *
 * - the schedd declined it;
 * - usage.c saw the use begin;
 * - the slot's ad shows that the claim id of the match is void, and that nobody is about to use the
 *   slot: the job was removed, the startd refused, the machine drains.
 *
 * None of them may come (the ad was lost); then the charge ends after CHARGE_MS.  It must end
 * before that wherever something shows that the match came to nothing: a charge that stays makes
 * the user look as if he had his share, and his jobs wait beside free slots.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/config/config.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/plant.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "negotiator/groups.h"
#include "negotiator/limit_plan.h"
#include "negotiator/negotiator.h"
#include "negotiator/share_plan.h"
#include "wire/secret_list.h"

#define CHARGE_MS 30000
#define PIECE_MS  2000 /* after the claim id of a piece was used up: until the piece is seen */

struct charge { /* a match that the slot's ad does not show yet */
    char *claim_id, *submitter;
    char *limits;      /* concurrency limits of the job; "": none */
    bool limits_shown; /* the slot's ad shows them, and they count as the slot's */
    double weight;
    uint64_t until_ms; /* loop_now_ms() when the charge ends at the latest */
};

static void charge_destroy(void *value)
{
    struct charge *charge = value;
    mem_free(charge->claim_id);
    mem_free(charge->submitter);
    mem_free(charge->limits);
    mem_free(charge);
}

static void charges_destroy(void *value)
{
    struct vec *charges = value;
    vec_fini(charges, charge_destroy);
    mem_free(charges);
}

void shares_matched(struct negotiator *negotiator, const struct shares_match *match)
{
    struct vec *charges = strmap_get(negotiator->charges, match->slot);
    if (charges == NULL) {
        charges = mem_zalloc(sizeof *charges);
        (void)strmap_set(negotiator->charges, match->slot, charges); /* was absent */
    }
    struct charge *charge = mem_zalloc(sizeof *charge);
    *charge = (struct charge){.claim_id = mem_strdup(match->claim_id),
                              .submitter = mem_strdup(match->submitter),
                              .limits = mem_strdup(match->limits != NULL ? match->limits : ""),
                              .weight = match->weight,
                              .until_ms = loop_now_ms(negotiator->env.loop) + CHARGE_MS};
    limit_plan_use(negotiator->limits, charge->limits, 1);
    vec_push(charges, charge);
}

/* The limits of a match do not count here while the slot's ad shows them, as those of the claim
 * that waits for the slot: they count as the slot's then. */
static void show_limits(struct negotiator *negotiator, struct charge *charge, bool are_shown)
{
    if (are_shown != charge->limits_shown) {
        limit_plan_use(negotiator->limits, charge->limits, are_shown ? -1 : 1);
        charge->limits_shown = are_shown;
    }
}

static void end_charge(struct negotiator *negotiator, struct vec *charges, size_t index)
{
    struct charge *charge = charges->items[index];
    show_limits(negotiator, charge, true);
    vec_remove_at(charges, index);
    charge_destroy(charge);
}

/* Drops the slot from the table when none of its matches is charged any more. */
static void tidy_charges(struct negotiator *negotiator, const char *slot, struct vec *charges)
{
    if (charges->count == 0) {
        (void)strmap_remove(negotiator->charges, slot);
        charges_destroy(charges);
    }
}

void shares_declined(struct negotiator *negotiator, const char *slot, const char *claim_id)
{
    struct vec *charges = strmap_get(negotiator->charges, slot);
    for (size_t i = 0; charges != NULL && i < charges->count; i++) {
        if (strcmp(((const struct charge *)charges->items[i])->claim_id, claim_id) == 0) {
            end_charge(negotiator, charges, i);
            tidy_charges(negotiator, slot, charges);
            return;
        }
    }
}

bool shares_used(struct negotiator *negotiator, const char *slot, const char *submitter,
                 const char *limits)
{
    struct vec *charges = strmap_get(negotiator->charges, slot);
    for (size_t i = 0; charges != NULL && i < charges->count; i++) {
        const struct charge *charge = charges->items[i];
        if (strcmp(charge->submitter, submitter) == 0 && strcmp(charge->limits, limits) == 0) {
            end_charge(negotiator, charges, i);
            tidy_charges(negotiator, slot, charges);
            return true;
        }
    }
    return false;
}

static bool has_id(const struct pool_slot *slot, const char *claim_id)
{
    for (size_t i = 0; i < slot->id_count; i++) {
        if (strcmp(secret_list_items(slot->ids)[i].text, claim_id) == 0) {
            return true;
        }
    }
    return false;
}

void shares_slot_changed(struct pool_slot *slot, const struct ad *ad)
{
    struct negotiator *negotiator = slot->negotiator;
    struct vec *charges = strmap_get(negotiator->charges, slot->name);
    const char *state = ad_string_or(ad, "State", "");
    bool partitionable = ad_bool_or(ad, "PartitionableSlot", false);
    bool is_taken = strcmp(state, "Matched") == 0 || strcmp(state, "Preempting") == 0 ||
                    ad_has(ad, "PreemptingUser");
    uint64_t soon_ms = loop_now_ms(negotiator->env.loop) + PIECE_MS;
    for (size_t i = charges != NULL ? charges->count : 0; i > 0; i--) {
        struct charge *charge = charges->items[i - 1];
        if (PLANTED(charge_kept) || has_id(slot, charge->claim_id)) {
            continue; /* the startd has not been asked yet */
        }
        show_limits(negotiator, charge, !partitionable && ad_has(ad, "PreemptingUser"));
        if (partitionable) { /* the ad of the piece, if one was made, is on its way */
            charge->until_ms = charge->until_ms < soon_ms ? charge->until_ms : soon_ms;
        } else if (!is_taken) {
            end_charge(negotiator, charges, i - 1);
        }
    }
    if (charges != NULL) {
        tidy_charges(negotiator, slot->name, charges);
    }
}

void shares_forget(struct negotiator *negotiator)
{
    size_t at = 0;
    const char *slot;
    void *value;
    uint64_t now_ms = loop_now_ms(negotiator->env.loop);
    while (strmap_next(negotiator->charges, &at, &slot, &value)) {
        struct vec *charges = value;
        for (size_t i = charges->count; i > 0; i--) {
            if (now_ms >= ((const struct charge *)charges->items[i - 1])->until_ms) {
                end_charge(negotiator, charges, i - 1);
            }
        }
        tidy_charges(negotiator, slot, charges); /* strmap_next() goes on after a removal */
    }
}

void shares_fini(struct negotiator *negotiator)
{
    strmap_destroy(negotiator->charges, charges_destroy);
}

/* ---- the input */

/* Adds matches under way to what users have. */
static void add_charges(const struct negotiator *negotiator, struct share_user *users, size_t count)
{
    if (strmap_count(negotiator->charges) == 0) {
        return;
    }
    struct strmap *index = strmap_create(STRMAP_CASE_SENSITIVE);
    for (size_t i = 0; i < count; i++) {
        (void)strmap_set(index, users[i].name, &users[i]); /* names are unique */
    }
    size_t at = 0;
    void *value;
    while (strmap_next(negotiator->charges, &at, NULL, &value)) {
        const struct vec *charges = value;
        for (size_t i = 0; i < charges->count; i++) {
            const struct charge *charge = charges->items[i];
            struct share_user *user = strmap_get(index, charge->submitter);
            if (user != NULL) {
                user->in_use += charge->weight;
            }
        }
    }
    strmap_destroy(index, NULL);
}

static void set_groups(struct negotiator *negotiator, double total, const struct share_user *users,
                       size_t count)
{
    struct groups *groups = negotiator->groups;
    const struct ad_context context = negotiator_context(negotiator);
    for (size_t i = 0; i < groups->count; i++) {
        struct group_entry *entry = &groups->entries[i];
        const struct account *account = accountant_find(negotiator->accountant, entry->name);
        struct account_facts facts = {.ceiling = -1};
        if (account != NULL) {
            accountant_facts(negotiator->accountant, account, &facts);
        }
        entry->ceiling = facts.ceiling;
        entry->in_use = 0;
    }
    for (size_t i = 0; i < count; i++) {
        groups->entries[users[i].group].in_use += users[i].in_use;
    }
    groups_begin(groups, total, &context);
}

int shares_input(struct negotiator *negotiator, double total, struct arena *arena,
                 struct share_input *ret)
{
    const struct groups *groups = negotiator->groups;
    size_t max = accountant_count(negotiator->accountant), count = 0, at = 0;
    struct share_user *users = arena_alloc(arena, (max + 1) * sizeof *users);
    const struct account *account;
    if (users == NULL) {
        return -ENOMEM;
    }
    while ((account = accountant_next(negotiator->accountant, &at)) != NULL) {
        struct account_facts facts;
        accountant_facts(negotiator->accountant, account, &facts);
        size_t group = groups->count > 1 ? groups_find(groups, facts.group) : 0;
        if (!facts.is_group) {
            users[count++] = (struct share_user){.name = facts.name,
                                                 .priority = facts.real * facts.factor,
                                                 .in_use = facts.weight,
                                                 .ceiling = facts.ceiling,
                                                 .floor = facts.floor,
                                                 .group = group < groups->count ? group : 0};
        }
    }
    add_charges(negotiator, users, count);
    set_groups(negotiator, total, users, count);
    size_t machine_count;
    const struct share_machine *machines = update_prio_machines(negotiator, arena, &machine_count);
    *ret = (struct share_input){.users = users,
                                .user_count = count,
                                .groups = groups->entries,
                                .group_count = groups->count,
                                .round_robin = groups->round_robin,
                                .total = total,
                                .machines = machines,
                                .machine_count = machine_count};
    return 0;
}

/* ---- what accounting ads show */

/* Returns the names of those who use or ask for something now. */
static struct strmap *find_competing(const struct negotiator *negotiator)
{
    struct strmap *competing = strmap_create(STRMAP_CASE_SENSITIVE);
    size_t at = 0;
    void *value;
    while (strmap_next(negotiator->requests, &at, NULL, &value)) {
        const struct plan_request *facts = &((const struct pool_request *)value)->facts;
        if (facts->user != NULL && facts->count > 0) {
            (void)strmap_set(competing, facts->user, competing); /* only presence counts */
        }
    }
    return competing;
}

static bool is_competing(const struct strmap *competing, const struct account_facts *facts)
{
    return !facts->is_group && (facts->slots > 0 || strmap_get(competing, facts->name) != NULL);
}

struct shares_view {
    const struct negotiator *negotiator;
    struct strmap *competing;
    double *sums; /* by group: of 1/priority */
};

struct shares_view *shares_view_create(const struct negotiator *negotiator)
{
    struct shares_view *view = mem_alloc(sizeof *view);
    const struct account *account;
    size_t at = 0;
    *view = (struct shares_view){.negotiator = negotiator, .competing = find_competing(negotiator)};
    view->sums = mem_zalloc((negotiator->groups->count + 1) * sizeof *view->sums);
    while ((account = accountant_next(negotiator->accountant, &at)) != NULL) {
        struct account_facts facts;
        accountant_facts(negotiator->accountant, account, &facts);
        if (is_competing(view->competing, &facts)) {
            view->sums[groups_find(negotiator->groups, facts.group)] +=
                1 / (facts.real * facts.factor);
        }
    }
    return view;
}

void shares_view_destroy(struct shares_view *view)
{
    strmap_destroy(view->competing, NULL);
    mem_free(view->sums);
    mem_free(view);
}

void shares_view_show(const struct shares_view *view, const struct account_facts *facts,
                      struct ad *ad)
{
    const struct groups *groups = view->negotiator->groups;
    size_t group = groups_find(groups, facts->group);
    if (group == groups->count || !is_competing(view->competing, facts)) {
        return;
    }
    double share = 1 / (facts->real * facts->factor) / view->sums[group];
    double whole =
        groups->count > 1 ? groups->entries[group].quota : view->negotiator->weights.live;
    double limit = share * whole;
    ad_set_real(ad, "SubmitterShare", share);
    ad_set_real(ad, "SubmitterLimit",
                facts->ceiling >= 0 && limit > facts->ceiling ? facts->ceiling : limit);
}
