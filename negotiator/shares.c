/* negotiator/shares.c - collects what share_plan needs: users with what they have, groups,
 * submitting machines.
 *
 * After a match it takes a moment until the slot's ad shows the use, and cycles go on meanwhile.
 * So a match counts as in use from when it is sent until usage.c sees the use begin, the schedd
 * declines, or PENDING_MS have passed.  A match that takes a slot over waits for the running job to
 * end.  If it is cancelled meanwhile (its job was removed), the startd offers the slot to others
 * with a new claim id, and the match ends, too.
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
#include "base/strbuf.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "negotiator/groups.h"
#include "negotiator/limit_plan.h"
#include "negotiator/negotiator.h"
#include "negotiator/share_plan.h"

#define PENDING_MS 30000

struct pending { /* matches of one slot for one submitter's jobs with these limits */
    char *submitter, *limits;
    double weight; /* weight of each match */
    int64_t count;
    uint64_t until_ms;
};

static void pending_destroy(void *value)
{
    struct pending *pending = value;
    mem_free(pending->submitter);
    mem_free(pending->limits);
    mem_free(pending);
}

static char *pending_key(const char *slot, const char *submitter, const char *limits)
{
    struct strbuf key;
    strbuf_init(&key, 0);
    strbuf_printf(&key, "%s %s %s", slot, submitter, limits != NULL ? limits : "");
    return strbuf_take(&key);
}

void shares_matched(struct negotiator *negotiator, const char *slot, const char *submitter,
                    const char *limits, double weight)
{
    char *key = pending_key(slot, submitter, limits);
    struct pending *pending = strmap_get(negotiator->pending, key);
    if (pending == NULL) {
        pending = mem_zalloc(sizeof *pending);
        pending->submitter = mem_strdup(submitter);
        pending->limits = mem_strdup(limits != NULL ? limits : "");
        (void)strmap_set(negotiator->pending, key, pending); /* was absent */
    }
    limit_plan_use(negotiator->limits, limits, 1);
    pending->weight = weight;
    pending->count++;
    pending->until_ms = loop_now_ms(negotiator->env.loop) + PENDING_MS;
    mem_free(key);
}

bool shares_unmatched(struct negotiator *negotiator, const char *slot, const char *submitter,
                      const char *limits)
{
    char *key = pending_key(slot, submitter, limits);
    struct pending *pending = strmap_get(negotiator->pending, key);
    if (pending != NULL) {
        limit_plan_use(negotiator->limits, pending->limits, -1);
        pending->count--;
    }
    if (pending != NULL && pending->count == 0) {
        pending_destroy(strmap_remove(negotiator->pending, key));
    }
    mem_free(key);
    return pending != NULL;
}

void shares_takes_over(struct pool_slot *slot, const char *submitter, const char *limits)
{
    char *by = mem_strdup(submitter), *used = limits != NULL ? mem_strdup(limits) : NULL;
    mem_free(slot->taken_by);
    mem_free(slot->taken_limits);
    slot->taken_by = by;
    slot->taken_limits = used;
}

void shares_slot_changed(struct pool_slot *slot)
{
    bool offered = slot->facts.use == PLAN_USE_FREE ||
                   (slot->facts.use == PLAN_USE_TAKEN && slot->claim_id[0] != '\0' &&
                    !given_is(slot->negotiator, slot->claim_id));
    if (slot->taken_by == NULL || !offered) {
        return;
    }
    (void)shares_unmatched(slot->negotiator, slot->name, slot->taken_by,
                           slot->taken_limits); /* or it was used: usage_slot() saw that */
    mem_free(slot->taken_by);
    mem_free(slot->taken_limits);
    slot->taken_by = slot->taken_limits = NULL;
}

void shares_forget(struct negotiator *negotiator)
{
    size_t at = 0;
    const char *key;
    void *value;
    while (strmap_next(negotiator->pending, &at, &key, &value)) {
        struct pending *pending = value;
        if (loop_now_ms(negotiator->env.loop) < pending->until_ms) {
            continue;
        }
        for (; pending->count > 0; pending->count--) {
            limit_plan_use(negotiator->limits, pending->limits, -1);
        }
        pending_destroy(strmap_remove(negotiator->pending, key));
    }
}

void shares_fini(struct negotiator *negotiator)
{
    strmap_destroy(negotiator->pending, pending_destroy);
}

/* ---- the input */

/* Adds matches under way to what users have. */
static void add_pending(const struct negotiator *negotiator, struct share_user *users, size_t count)
{
    uint64_t now_ms = loop_now_ms(negotiator->env.loop);
    if (strmap_count(negotiator->pending) == 0) {
        return;
    }
    struct strmap *index = strmap_create(STRMAP_CASE_SENSITIVE);
    for (size_t i = 0; i < count; i++) {
        (void)strmap_set(index, users[i].name, &users[i]); /* names are unique */
    }
    size_t at = 0;
    void *value;
    while (strmap_next(negotiator->pending, &at, NULL, &value)) {
        const struct pending *pending = value;
        struct share_user *user = strmap_get(index, pending->submitter);
        if (user != NULL && now_ms < pending->until_ms) {
            user->in_use += pending->weight * (double)pending->count;
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
    add_pending(negotiator, users, count);
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
        groups->count > 1 ? groups->entries[group].quota : view->negotiator->weight_total;
    double limit = share * whole;
    ad_set_real(ad, "SubmitterShare", share);
    ad_set_real(ad, "SubmitterLimit",
                facts->ceiling >= 0 && limit > facts->ceiling ? facts->ceiling : limit);
}
