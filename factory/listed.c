/* factory/listed.c - see listed.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "factory/listed.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/loop.h"
#include "base/strmap.h"
#include "factory/factory.h"
#include "factory/journal.h"
#include "factory/site.h"
#include "factory/site_link.h"
#include "factory/site_state.h"
#include "wire/watch.h"

#define MISSES 2 /* looks that must not show a glidein before it is gone */

bool listed_is_ours(const struct site *site, const char *name)
{
    size_t factory = strlen(site->factory->name), length = strlen(site->name);
    return strlen(name) < GLIDEIN_NAME_MAX && strncmp(name, site->factory->name, factory) == 0 &&
           name[factory] == '-' && strncmp(name + factory + 1, site->name, length) == 0 &&
           name[factory + 1 + length] == '-' && strchr(name + factory + 2 + length, '-') == NULL;
}

/* A glidein that the site has and the journal does not: nobody waits for it. */
static void adopt_orphan(struct site *site, const struct site_glidein *listed)
{
    struct glidein orphan = {.state = GLIDEIN_QUEUED,
                             .submitted_s = loop_wall_s(site->factory->env.loop),
                             .removing = true};
    if (listed->state == SITE_LISTS_ENDED || !listed_is_ours(site, listed->name)) {
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
    if (site_state_now_ms(site) < glidein->asked_ms + settle_ms || glidein->ads > 0) {
        return;
    }
    glidein->hidden = true;
    if (!is_complete || !watch_is_synced(site->factory->machines)) {
        return;
    }
    if (++glidein->missed >= MISSES) {
        site_state_gone(glidein, "the site does not have it");
    }
}

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
    site->looked_ms =
        site_state_now_ms(site); /* what a part of it did not tell is in the journal */
}
