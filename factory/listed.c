/* factory/listed.c - see listed.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "factory/listed.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/plant.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "factory/compare_plan.h"
#include "factory/factory.h"
#include "factory/journal.h"
#include "factory/site.h"
#include "factory/site_link.h"
#include "factory/site_state.h"
#include "wire/watch.h"

#define MS_PER_S 1000
#define MISSES   2 /* looks that must not show a glidein before it is gone */

bool listed_is_ours(const struct site *site, const char *name)
{
    size_t factory = strlen(site->factory->name), length = strlen(site->name);
    return strlen(name) < GLIDEIN_NAME_MAX && strncmp(name, site->factory->name, factory) == 0 &&
           name[factory] == '-' && strncmp(name + factory + 1, site->name, length) == 0 &&
           name[factory + 1 + length] == '-' && strchr(name + factory + 2 + length, '-') == NULL;
}

/* Returns whether this pool's factory has submitted it: those of other pools may have the same
 * names of factory and site in one account. */
static bool is_of_this_pool(const struct site *site, const char *name)
{
    const struct factory *factory = site->factory;
    const char *tag = name + strlen(factory->name) + 1 + strlen(site->name) + 1;
    return strncmp(tag, factory->tag, strlen(factory->tag)) == 0;
}

/* Says once that another pool has glideins here, whose names begin like ours. */
static void note_others(struct site *site, const char *name)
{
    if (!site->shares_names) {
        site->shares_names = true;
        log_warn(site->factory->env.log, "site.others",
                 "another pool has glideins here whose names begin alike; they are left alone; set "
                 "FACTORY_NAME to tell them apart",
                 LOG_TEXT("glidein", name), LOG_TEXT("site", site->name));
    }
}

/* A glidein that the site has and the journal does not: nobody waits for it. */
static void adopt_orphan(struct site *site, const struct site_glidein *listed)
{
    struct glidein orphan = {.state = GLIDEIN_QUEUED,
                             .cause = GLIDEIN_ORPHAN,
                             .listing = GLIDEIN_LISTED,
                             .submitted_s = loop_wall_s(site->factory->env.loop),
                             .removing = true};
    if (listed->state == SITE_LISTS_ENDED || !listed_is_ours(site, listed->name)) {
        return;
    }
    if (!is_of_this_pool(site, listed->name)) {
        note_others(site, listed->name);
        return;
    }
    (void)snprintf(orphan.name, sizeof(orphan.name), "%s", listed->name);
    struct glidein *glidein = site_state_add(site, &orphan);
    log_warn(site->factory->env.log, "glidein.orphan",
             "the site has a glidein that is not in the journal: it is removed",
             LOG_TEXT("glidein", glidein->name), LOG_TEXT("site", site->name));
    journal_put(site->factory->journal, &glidein, 1, NULL, NULL);
}

static void take_listed(struct glidein *glidein, const struct site_glidein *listed)
{
    static const enum glidein_state STATES[] = {[SITE_LISTS_QUEUED] = GLIDEIN_QUEUED,
                                                [SITE_LISTS_HELD] = GLIDEIN_HELD,
                                                [SITE_LISTS_RUNNING] = GLIDEIN_STARTED};
    (void)snprintf(glidein->site_id, sizeof(glidein->site_id), "%s", listed->id);
    (void)snprintf(glidein->reason, sizeof(glidein->reason), "%s", listed->reason);
    glidein->listing =
        listed->state == SITE_LISTS_RUNNING ? GLIDEIN_LISTED_RUNNING : GLIDEIN_LISTED;
    glidein->missed = 0;
    glidein->hidden = false;
    glidein->removal_asked = false; /* it is still there */
    if (listed->state == SITE_LISTS_ENDED) {
        site_state_gone(glidein, listed->reason[0] != '\0' ? listed->reason : "it has ended");
    } else if (glidein->state < GLIDEIN_JOINED) {
        site_state_move(glidein, STATES[listed->state]); /* the pool knows better of the others */
    }
}

/* The look did not show it.  What the pool hears is there, whatever the site says; and while the
 * pool itself is not heard, nothing is gone. */
static void miss_glidein(struct glidein *glidein, uint64_t settle_ms, bool is_complete)
{
    struct site *site = glidein->site;
    settle_ms = PLANTED(settle_ignored) ? 0 : settle_ms;
    glidein->listing = is_complete ? GLIDEIN_NOT_LISTED : glidein->listing;
    if (site_state_now_ms(site) < glidein->asked_ms + settle_ms || glidein->ads > 0) {
        return;
    }
    glidein->hidden = true;
    if (!is_complete || !watch_is_synced(site->factory->machines)) {
        return;
    }
    if (++glidein->missed >= (PLANTED(settle_ignored) ? 1 : MISSES)) {
        site_state_gone(glidein, "the site does not have it");
    }
}

/* ---- comparison -------------------------------------------------------------------------------
 */

static struct compare_facts facts_of(const struct glidein *glidein)
{
    const struct site *site = glidein->site;
    uint64_t settled_ms = glidein->asked_ms + site_link_settle_ms(site->link);
    bool is_heard = glidein->ads > 0;
    return (struct compare_facts){.is_recorded = glidein->cause != GLIDEIN_ORPHAN,
                                  .is_listed = glidein->listing != GLIDEIN_NOT_LISTED,
                                  .is_running = glidein->listing == GLIDEIN_LISTED_RUNNING,
                                  .is_settled =
                                      site->looks.is_complete && site->looks.done_ms >= settled_ms,
                                  .is_heard = is_heard,
                                  .unheard_ms = !is_heard && glidein->state >= GLIDEIN_STARTED
                                                    ? site_state_now_ms(site) - glidein->since_ms
                                                    : 0};
}

static void add_verdict(struct site_compared *ret, struct vec *names, enum compare_verdict verdict,
                        const char *name)
{
    ret->counts[verdict]++;
    if (names != NULL && names[verdict].count < LISTED_NAMES_MAX) {
        vec_push(&names[verdict], mem_strdup(name));
    }
}

/* Glideins that only the pool has. */
static void compare_pool(const struct site *site, struct site_compared *ret, struct vec *names)
{
    const struct factory *factory = site->factory;
    struct strmap *seen = strmap_create(STRMAP_CASE_SENSITIVE);
    const struct ad *ad;
    const char *key;
    size_t at = 0;
    while (watch_next(factory->machines, &at, &key, &ad)) {
        const char *machine = ad_string_or(ad, "Machine", "");
        if (strcmp(ad_string_or(ad, "GLIDEIN_Site", ""), site->name) == 0 &&
            strcmp(ad_string_or(ad, "GLIDEIN_Factory", ""), factory->name) == 0 &&
            !ad_bool_or(ad, "Offline", false) && strmap_get(factory->glideins, machine) == NULL &&
            strmap_set(seen, machine, seen) == NULL) {
            add_verdict(ret, names, COMPARE_GHOST, machine);
        }
    }
    strmap_destroy(seen, NULL);
}

void listed_compare(const struct site *site, struct site_compared *ret, struct vec *names)
{
    uint64_t start_ms = (uint64_t)site->settings.start_timeout_s * MS_PER_S;
    const struct glidein *glidein;
    *ret = (struct site_compared){.claimed = 0};
    TAILQ_FOREACH(glidein, &site->glideins, entry)
    {
        const struct compare_facts facts = facts_of(glidein);
        enum compare_verdict verdict = compare_plan(&facts, start_ms);
        add_verdict(ret, names, verdict, glidein->name);
        ret->claimed += verdict == COMPARE_AGREES && glidein->claims > 0 ? 1 : 0;
    }
    compare_pool(site, ret, names);
}

/* ---- looks ------------------------------------------------------------------------------------
 */

void listed_take(struct site *site, const struct site_answer *answer)
{
    uint64_t settle_ms = site_link_settle_ms(site->link);
    struct strmap *seen = strmap_create(STRMAP_CASE_SENSITIVE);
    for (size_t i = 0; i < answer->glideins.count; i++) {
        const struct site_glidein *listed = answer->glideins.items[i];
        struct glidein *glidein = strmap_get(site->factory->glideins, listed->name);
        (void)strmap_set(seen, listed->name, site);
        if (glidein == NULL) {
            adopt_orphan(site, listed);
        } else if (glidein->site == site) {
            take_listed(glidein, listed);
        }
    }
    struct glidein *glidein, *next;
    for (glidein = TAILQ_FIRST(&site->glideins); glidein != NULL; glidein = next) {
        next = TAILQ_NEXT(glidein, entry);
        if (strmap_get(seen, glidein->name) == NULL) {
            miss_glidein(glidein, settle_ms, answer->complete);
        }
    }
    strmap_destroy(seen, NULL);
    site->looks.done_ms = site->looks.asked_ms;
    site->looks.is_complete = answer->complete;
    listed_compare(site, &site->compared, NULL);
    site->looked_ms =
        site_state_now_ms(site); /* what a part of it did not tell is in the journal */
}
