/* factory/removal.c - see removal.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "factory/removal.h"

#include <stdbool.h>

#include "base/loop.h"
#include "base/vec.h"
#include "factory/factory.h"
#include "factory/site.h"
#include "factory/site_state.h"

#define MS_PER_S     1000
#define REMOVE_SHARE 4     /* at most a fourth is removed at a time */
#define REMOVE_MS    10000 /* between two such times */

/* Returns how many of these may be removed at a time. */
static size_t share_of(size_t count)
{
    return (count + REMOVE_SHARE - 1) / REMOVE_SHARE;
}

void removal_take(struct site *site, struct vec *ret)
{
    uint64_t now_ms = site_state_now_ms(site);
    size_t share = now_ms >= site->remove_ms ? share_of(site_state_count(site)) : 0;
    struct glidein *glidein;
    TAILQ_FOREACH(glidein, &site->glideins, entry)
    {
        if (glidein->removing && !glidein->removal_asked && ret->count < share) {
            vec_push(ret, glidein->name);
            glidein->removal_asked = true;
        }
    }
    site->remove_ms = ret->count > 0 ? now_ms + REMOVE_MS : site->remove_ms;
}

void removal_shrink(struct site *site)
{
    uint64_t shrink_ms = (uint64_t)site->settings.shrink_s * MS_PER_S;
    if (site->unwanted_ms == 0 || site_state_now_ms(site) < site->unwanted_ms + shrink_ms) {
        return;
    }
    size_t waiting = site->states[GLIDEIN_QUEUED] + site->states[GLIDEIN_HELD];
    size_t share = share_of(waiting);
    struct glidein *glidein;
    TAILQ_FOREACH(glidein, &site->glideins, entry)
    {
        bool waits = glidein->state == GLIDEIN_QUEUED || glidein->state == GLIDEIN_HELD;
        if (waits && !glidein->removing && share > 0) {
            glidein->removing = true;
            share--;
        }
    }
    site->unwanted_ms = site_state_now_ms(site) + REMOVE_MS - shrink_ms;
}

/* A ticket ends when the site may not start the glidein any more. */
static bool waits_for_too_long(const struct glidein *glidein)
{
    const struct site *site = glidein->site;
    return (glidein->state == GLIDEIN_QUEUED || glidein->state == GLIDEIN_HELD) &&
           loop_wall_s(site->factory->env.loop) >=
               glidein->submitted_s + site->settings.queue_timeout_s;
}

void removal_give_up_late(struct site *site)
{
    uint64_t limit_ms = (uint64_t)site->settings.start_timeout_s * MS_PER_S;
    struct glidein *glidein;
    TAILQ_FOREACH(glidein, &site->glideins, entry)
    {
        glidein->removing = glidein->removing || waits_for_too_long(glidein);
        if (glidein->state == GLIDEIN_STARTED && !glidein->removing &&
            site_state_now_ms(site) - glidein->since_ms >= limit_ms) {
            glidein->removing = true;
            site->ended_unused++;
            site_state_trouble(site,
                               "glidein %s was started and has not joined the pool in %lld s "
                               "(start_timeout): it is removed",
                               glidein->name, (long long)site->settings.start_timeout_s);
            site_state_failure(site);
        }
    }
}

uint64_t removal_due_ms(const struct glidein *glidein)
{
    const struct site *site = glidein->site;
    uint64_t now = site_state_now_ms(site), due_ms = UINT64_MAX;
    if (glidein->removing) {
        return glidein->removal_asked || site->paused != NULL ? UINT64_MAX : site->remove_ms;
    }
    if (glidein->state == GLIDEIN_STARTED) {
        due_ms = glidein->since_ms + (uint64_t)site->settings.start_timeout_s * MS_PER_S;
    } else if (glidein->state == GLIDEIN_JOINED && now - glidein->since_ms < SITE_YOUNG_MS) {
        due_ms = glidein->since_ms + SITE_YOUNG_MS;
    } else if (site->unwanted_ms != 0 &&
               (glidein->state == GLIDEIN_QUEUED || glidein->state == GLIDEIN_HELD)) {
        due_ms = site->unwanted_ms + (uint64_t)site->settings.shrink_s * MS_PER_S;
    }
    return due_ms;
}
