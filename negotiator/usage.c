/* negotiator/usage.c - notes who has which slot since when, and tells the accountant.
 *
 * Each change of a slot's ad charges the use of the slot until then, and a timer charges use that
 * goes on.  So every second is charged once, to whoever had the slot.  A slot that is seen for the
 * first time was used since it entered its state, or since the last accountant_settle(), whichever
 * is later; a slot that had vanished (the collector restarted), since it vanished.  Offline slots
 * are not charged: a hold is not use.
 *
 * Concurrency limits are counted from the same ads, from when a slot is promised to a job.  A match
 * that an earlier negotiator sent in its last moment is in no ad yet, so for a moment after a
 * negotiator became the leader (NEGOTIATOR_LIMIT_SETTLE) requests with limits rest.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/text.h"
#include "classad/ad.h"
#include "negotiator/groups.h"
#include "negotiator/limit_plan.h"
#include "negotiator/negotiator.h"
#include "offline_ads/offline_ads.h"
#include "store/store.h"
#include "wire/watch.h"

#define SIGHT_S 600 /* how long it is remembered when a slot went out of sight */
/* longest time since the collector got the ad of a running machine that is believed */
#define AGE_MAX_S 3600

/* Returns SLOT_WEIGHT as the slot's ad has it. */
static double usage_weight(const struct ad *slot)
{
    double weight = ad_real_or(slot, "SlotWeight", ad_real_or(slot, "Cpus", 1));
    return weight > 0 && weight < 1e9 ? weight : 0;
}

/* Writes the submitter as accounts are named: "physics.bob@domain" for AccountingGroup
 * "physics.bob". */
bool usage_submitter(const struct ad *ad, char *ret, size_t size)
{
    const char *state = ad_string_or(ad, "State", "");
    const char *user = ad_string_or(ad, "RemoteUser", "");
    const char *group = ad_string_or(ad, "AccountingGroup", "");
    const char *domain = strrchr(user, '@');
    bool used = strcmp(state, "Matched") == 0 || strcmp(state, "Claimed") == 0 ||
                strcmp(state, "Preempting") == 0;
    if (!used || user[0] == '\0' || offline_ads_is(ad)) {
        return false;
    }
    int length = group[0] != '\0' && strchr(group, '@') == NULL
                     ? snprintf(ret, size, "%s%s", group, domain != NULL ? domain : "")
                     : snprintf(ret, size, "%s", group[0] != '\0' ? group : user);
    return length > 0 && (size_t)length < size && accountant_name_is_valid(ret);
}

/* Returns the wall time that uses are counted by.  It is loop_wall_ms() but for the corrections of
 * a time service: stamps of ads and times that an earlier process kept are compared with it.  It
 * never jumps against the times that are kept here: when the wall clock was set, they are moved
 * with it, so that nobody is charged for time that did not pass. */
static int64_t usage_now_ms(struct negotiator *negotiator)
{
    int64_t boot_ms = loop_wall_of_ms(negotiator->env.loop, 0);
    int64_t by_ms = boot_ms - negotiator->usage.boot_wall_ms;
    if (by_ms != 0 && negotiator->usage.boot_wall_ms != 0) {
        size_t at = 0;
        void *value;
        while (strmap_next(negotiator->slots, &at, NULL, &value)) {
            ((struct pool_slot *)value)->use.since_ms += by_ms;
        }
        at = 0;
        while (strmap_next(negotiator->unseen, &at, NULL, &value)) {
            *(int64_t *)value += by_ms;
        }
        accountant_clock_set(negotiator->accountant, by_ms);
        if (by_ms / 1000 != 0) { /* else a time service corrects it little by little */
            log_warn(negotiator->env.log, "clock.set",
                     "the wall clock was set; nobody is charged for that",
                     LOG_INT("by_s", by_ms / 1000));
        }
    }
    negotiator->usage.boot_wall_ms = boot_ms;
    return boot_ms + (int64_t)loop_now_ms(negotiator->env.loop);
}

static void charge_use(struct negotiator *negotiator, struct pool_slot *slot, int64_t now_ms)
{
    struct slot_use *use = &slot->use;
    accountant_charge(negotiator->accountant, use->submitter, use->weight,
                      (double)(now_ms - use->since_ms) / 1000);
    use->since_ms = now_ms;
}

static void end_use(struct negotiator *negotiator, struct pool_slot *slot, int64_t now_ms)
{
    struct slot_use *use = &slot->use;
    if (use->submitter != NULL) {
        charge_use(negotiator, slot, now_ms);
        accountant_vacate(negotiator->accountant, use->submitter, use->weight);
        mem_free(use->submitter);
        use->submitter = NULL;
    }
}

/* Returns the wall time, in seconds, at which the slot entered its state.  How long the slot had
 * been in that state when its ad was made is counted by the machine's clock, which may be wrong;
 * the time since then by the clock of the collector. */
static int64_t entered_wall_s(const struct ad *ad, int64_t now_s)
{
    int64_t heard_s = ad_int_or(ad, "LastHeardFrom", now_s);
    if (heard_s > now_s || heard_s < now_s - AGE_MAX_S) {
        heard_s = now_s; /* the wall clock was set meanwhile */
    }
    int64_t made_s = ad_int_or(ad, "MyCurrentTime", heard_s);
    int64_t entered_s = ad_int_or(ad, "EnteredCurrentState", 0);
    int64_t in_state_s = entered_s >= 0 && entered_s <= made_s ? made_s - entered_s : 0;
    return in_state_s < heard_s ? heard_s - in_state_s : 0;
}

/* Returns when the use of a newly seen slot began, wall time. */
static int64_t begin_of(struct negotiator *negotiator, const struct pool_slot *slot,
                        const struct ad *ad, int64_t now_ms)
{
    int64_t settled_ms = accountant_settled_ms(negotiator->accountant);
    const int64_t *unseen_ms = strmap_get(negotiator->unseen, slot->name);
    /* Whole seconds; what was settled is not charged again. */
    int64_t entered_s = entered_wall_s(ad, loop_wall_s(negotiator->env.loop));
    int64_t least_ms = unseen_ms != NULL ? *unseen_ms : settled_ms != 0 ? settled_ms : now_ms;
    int64_t begin_ms = entered_s * 1000 > least_ms ? entered_s * 1000 : least_ms;
    return begin_ms < now_ms ? begin_ms : now_ms;
}

static void set_weight(struct negotiator *negotiator, struct pool_slot *slot, double weight,
                       double asleep)
{
    negotiator->weights.live += weight - slot->weight;
    negotiator->weights.asleep += asleep - slot->asleep;
    slot->weight = weight;
    slot->asleep = asleep;
}

/* Returns the weight that the offline slot adds to the pool when it is needed. */
static double weight_asleep(const struct ad *ad)
{
    int64_t copies = ad_int_or(ad, "OfflineMultiplicity", 1);
    return offline_ads_is_barred(ad) || copies < 1 ? 0 : usage_weight(ad) * (double)copies;
}

static void count_limits(struct negotiator *negotiator, struct pool_slot *slot, const struct ad *ad)
{
    const char *own = ad != NULL ? ad_string_or(ad, "ConcurrencyLimits", "") : "";
    const char *next = ad != NULL ? ad_string_or(ad, "PreemptingConcurrencyLimits", "") : "";
    struct strbuf text;
    strbuf_init(&text, 0);
    limit_plan_either(own, next, &text); /* the job that waits begins when the other has ended */
    if (strcmp(strbuf_text(&text), slot->limits != NULL ? slot->limits : "") != 0) {
        limit_plan_use(negotiator->limits, strbuf_text(&text), 1);
        limit_plan_use(negotiator->limits, slot->limits, -1);
        mem_free(slot->limits);
        slot->limits = text.length > 0 ? mem_strdup(strbuf_text(&text)) : NULL;
    }
    strbuf_fini(&text);
}

/* Ends the match that this use results from: of the slot itself if it preempted, or of the slot
 * that it is a piece of. */
static void match_shown(struct negotiator *negotiator, const struct ad *ad, const char *slot,
                        const char *submitter)
{
    const char *limits = ad_string_or(ad, "ConcurrencyLimits", "");
    const char *parent = ad_string_or(ad, "ParentSlotName", "");
    if (!shares_used(negotiator, slot, submitter, limits) && parent[0] != '\0') {
        (void)shares_used(negotiator, parent, submitter, limits); /* long ago: forgotten */
    }
}

void usage_slot(struct negotiator *negotiator, struct pool_slot *slot, const struct ad *ad,
                bool is_new)
{
    int64_t now_ms = usage_now_ms(negotiator);
    struct slot_use *use = &slot->use;
    bool offline = offline_ads_is(ad);
    set_weight(negotiator, slot, offline ? 0 : usage_weight(ad), offline ? weight_asleep(ad) : 0);
    char submitter[ACCOUNTANT_NAME_MAX + 1];
    bool used = usage_submitter(ad, submitter, sizeof submitter);
    count_limits(negotiator, slot, offline ? NULL : ad);
    double weight = used ? slot->weight : 0;
    int64_t entered_s = ad_int_or(ad, "EnteredCurrentState", 0);
    if (used && use->submitter != NULL && strcmp(submitter, use->submitter) == 0 &&
        !(weight < use->weight) && !(weight > use->weight)) {
        if (entered_s != use->entered_s) { /* a user may preempt a job of his own, by Rank */
            match_shown(negotiator, ad, slot->name, submitter);
        }
        use->entered_s = entered_s;
        return; /* goes on */
    }
    int64_t begin_ms = is_new ? begin_of(negotiator, slot, ad, now_ms) : now_ms;
    end_use(negotiator, slot, now_ms);
    if (used) {
        *use = (struct slot_use){.submitter = mem_strdup(submitter),
                                 .weight = weight,
                                 .since_ms = begin_ms,
                                 .entered_s = entered_s};
        accountant_occupy(negotiator->accountant, submitter, weight);
        match_shown(negotiator, ad, slot->name, submitter);
    }
}

void usage_slot_gone(struct negotiator *negotiator, struct pool_slot *slot)
{
    const int64_t now_ms = usage_now_ms(negotiator);
    if (slot->use.submitter != NULL) {
        mem_free(strmap_set(negotiator->unseen, slot->name, mem_dup(&now_ms, sizeof now_ms)));
    }
    end_use(negotiator, slot, now_ms);
    set_weight(negotiator, slot, 0, 0);
    count_limits(negotiator, slot, NULL);
}

void usage_leads(struct negotiator *negotiator)
{
    negotiator->limits_from_ms =
        loop_now_ms(negotiator->env.loop) +
        (uint64_t)config_duration_ms(negotiator->env.config, "NEGOTIATOR_LIMIT_SETTLE");
}

/* Called when the use that was settled last is durable. */
static void say_settled(void *arg)
{
    struct negotiator *negotiator = arg;
    negotiator->usage.settling = false;
    log_debug(negotiator->env.log, "usage.settled", "all use until then is charged and durable",
              LOG_INT("ago_ms", (int64_t)loop_now_ms(negotiator->env.loop) -
                                    negotiator->usage.settled_at_ms));
}

void usage_settle(struct negotiator *negotiator)
{
    if (!negotiator->lease.leads || !watch_is_synced(negotiator->watches.slots)) {
        return; /* another settles, or it is not known who has what */
    }
    int64_t now_ms = usage_now_ms(negotiator);
    size_t at = 0;
    const char *name;
    void *value;
    negotiator->weights.live = negotiator->weights.asleep =
        0; /* anew: sums of parts are not exact */
    while (strmap_next(negotiator->slots, &at, NULL, &value)) {
        struct pool_slot *slot = value;
        negotiator->weights.live += slot->weight;
        negotiator->weights.asleep += slot->asleep;
        if (slot->use.submitter != NULL) {
            charge_use(negotiator, slot, now_ms);
        }
    }
    at = 0;
    while (strmap_next(negotiator->unseen, &at, &name, &value)) {
        if (*(const int64_t *)value + SIGHT_S * 1000 < now_ms) {
            mem_free(strmap_remove(negotiator->unseen, name));
        }
    }
    shares_forget(negotiator);
    accountant_settle(negotiator->accountant, now_ms);
    if (!negotiator->usage.settling) {
        negotiator->usage.settling = true;
        negotiator->usage.settled_at_ms = (int64_t)loop_now_ms(negotiator->env.loop);
        store_commit(store_begin(negotiator->store), say_settled, negotiator);
    }
}

/* ---- what is configured */

static const char *group_of(void *arg, const char *submitter)
{
    const struct negotiator *negotiator = arg;
    return groups_name_of(negotiator->groups, submitter);
}

static double group_factor(void *arg, const char *group)
{
    const struct groups *groups = ((const struct negotiator *)arg)->groups;
    size_t index = groups_find(groups, group);
    return index < groups->count ? groups->prio_factors[index] : 0;
}

/* Returns the maximum of a concurrency limit: its own, else its prefix's, else the default. */
static double limit_of(void *arg, const char *name)
{
    const struct config *config = ((const struct negotiator *)arg)->env.config;
    const char *dot = strchr(name, '.');
    char knob[LIMIT_NAME_MAX + 64];
    double value;
    (void)snprintf(knob, sizeof knob, "%s_LIMIT", name);
    const char *text = config_text(config, knob);
    if (text == NULL && dot != NULL) {
        (void)snprintf(knob, sizeof knob, "CONCURRENCY_LIMIT_DEFAULT_%.*s", (int)(dot - name),
                       name);
        text = config_text(config, knob);
    }
    if (text != NULL && text_parse_double(text, &value, NULL) == 0) {
        return value;
    }
    double otherwise = config_real(config, "CONCURRENCY_LIMIT_DEFAULT");
    return text != NULL ? 0 : otherwise; /* a limit that cannot be read lets nobody through */
}

void usage_configure(struct negotiator *negotiator)
{
    const struct config *config = negotiator->env.config;
    limit_plan_configure(negotiator->limits, limit_of, negotiator);
    groups_destroy(negotiator->groups);
    negotiator->groups = groups_create(config, negotiator->env.log);
    const struct accountant_policy policy = {
        .halflife_s = config_duration_s(config, "PRIORITY_HALFLIFE"),
        .default_factor = config_real(config, "DEFAULT_PRIO_FACTOR"),
        .remote_factor = config_real(config, "REMOTE_PRIO_FACTOR"),
        .nice_factor = config_real(config, "NICE_USER_PRIO_FACTOR"),
        .local_domain = config_string(config, "ACCOUNTANT_LOCAL_DOMAIN"),
        .hours = config_int(config, "USAGE_HISTORY_HOURS"),
        .days = config_int(config, "USAGE_HISTORY_DAYS"),
        .group_of = group_of,
        .group_factor = group_factor,
        .arg = negotiator,
    };
    accountant_set_policy(negotiator->accountant, &policy);
    for (size_t i = 0; i < negotiator->groups->count; i++) { /* shown before they use anything */
        accountant_know(negotiator->accountant, negotiator->groups->entries[i].name);
    }
}
