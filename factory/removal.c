/* factory/removal.c - see removal.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "factory/removal.h"

#include <stdbool.h>

#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/vec.h"
#include "factory/factory.h"
#include "factory/shrink_plan.h"
#include "factory/site.h"
#include "factory/site_state.h"
#include "wire/watch.h"

#define MS_PER_S  1000
#define REMOVE_MS 10000 /* between two times when something is removed */

void removal_take(struct site *site, struct vec *ret)
{
    uint64_t now_ms = site_state_now_ms(site);
    size_t share = now_ms >= site->remove_ms ? shrink_plan_share(site_state_count(site)) : 0;
    struct glidein *glidein;
    TAILQ_FOREACH(glidein, &site->glideins, entry)
    {
        if (glidein->removing && glidein->spare_claimed && glidein->claims > 0) {
            glidein->removing = glidein->spare_claimed = false; /* it has got a job meanwhile */
        }
        bool is_free = ret->count < share || glidein->cause == GLIDEIN_TRIAL;
        if (glidein->removing && !glidein->removal_asked && is_free) {
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
    size_t share = shrink_plan_share(waiting);
    struct glidein *glidein;
    TAILQ_FOREACH(glidein, &site->glideins, entry)
    {
        bool waits = glidein->state == GLIDEIN_QUEUED || glidein->state == GLIDEIN_HELD;
        if (waits && glidein->cause == GLIDEIN_FOR_JOBS && !glidein->removing && share > 0) {
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

static void give_up_unjoined(struct glidein *glidein)
{
    struct site *site = glidein->site;
    glidein->removing = true;
    site->ended_unused++;
    site_state_trouble(site,
                       "glidein %s was started and has not joined the pool in %lld s "
                       "(start_timeout): it is removed",
                       glidein->name, (long long)site->settings.start_timeout_s);
    site_state_failure(site);
    site_logs_keep(site, glidein->name);
}

/* Returns whether the site runs a glidein that has left the pool, and the pool itself is heard. */
static bool may_be_zombie(const struct glidein *glidein)
{
    return glidein->state == GLIDEIN_LEFT && glidein->listing == GLIDEIN_LISTED_RUNNING &&
           watch_is_synced(glidein->site->factory->machines);
}

void removal_give_up_late(struct site *site)
{
    uint64_t limit_ms = (uint64_t)site->settings.start_timeout_s * MS_PER_S;
    struct glidein *glidein;
    TAILQ_FOREACH(glidein, &site->glideins, entry)
    {
        glidein->removing = glidein->removing || waits_for_too_long(glidein);
        bool is_late = site_state_now_ms(site) - glidein->since_ms >= limit_ms;
        if (!is_late || glidein->removing) {
            continue;
        }
        if (glidein->state == GLIDEIN_STARTED) {
            give_up_unjoined(glidein);
        } else if (may_be_zombie(glidein)) {
            glidein->removing = true;
            log_warn(site->factory->env.log, "glidein.zombie",
                     "the site runs a glidein that the pool does not hear: it is removed",
                     LOG_TEXT("glidein", glidein->name), LOG_TEXT("site", site->name));
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
    if (glidein->state == GLIDEIN_STARTED || may_be_zombie(glidein)) {
        due_ms = glidein->since_ms + (uint64_t)site->settings.start_timeout_s * MS_PER_S;
    } else if (glidein->state == GLIDEIN_JOINED && now - glidein->since_ms < SITE_YOUNG_MS) {
        due_ms = glidein->since_ms + SITE_YOUNG_MS;
    } else if (site->unwanted_ms != 0 &&
               (glidein->state == GLIDEIN_QUEUED || glidein->state == GLIDEIN_HELD)) {
        due_ms = site->unwanted_ms + (uint64_t)site->settings.shrink_s * MS_PER_S;
    }
    return due_ms;
}

/* Returns how many removals are ordered and not asked for yet. */
static size_t pending_count(const struct site *site)
{
    const struct glidein *glidein;
    size_t count = 0;
    TAILQ_FOREACH(glidein, &site->glideins, entry)
    {
        count += glidein->removing && !glidein->removal_asked ? 1 : 0;
    }
    return count;
}

/* Says when the chosen ones go. */
static void set_times(const struct site *site, size_t pending, struct removal_order *order)
{
    uint64_t now_ms = site_state_now_ms(site);
    size_t total = site_state_count(site), share = shrink_plan_share(total);
    uint64_t wait_ms = site->remove_ms > now_ms ? site->remove_ms - now_ms : 0;
    size_t times = shrink_plan_times(total, pending + order->chosen);
    size_t free_share = wait_ms == 0 && share > pending ? share - pending : 0;
    order->now = order->chosen < free_share ? order->chosen : free_share;
    order->rest_s = (int64_t)((wait_ms + (times > 0 ? times - 1 : 0) * REMOVE_MS) / MS_PER_S);
}

void removal_order(struct site *site, size_t count, bool force, struct removal_order *ret)
{
    size_t n = site_state_count(site), i = 0, pending = pending_count(site);
    struct shrink_item *items = mem_alloc((n + 1) * sizeof(*items));
    struct glidein **glideins = mem_alloc((n + 1) * sizeof(*glideins)), *glidein;
    size_t *chosen = mem_alloc((n + 1) * sizeof(*chosen));
    *ret = (struct removal_order){.chosen = 0};
    TAILQ_FOREACH(glidein, &site->glideins, entry)
    {
        items[i] = (struct shrink_item){.state = glidein->state,
                                        .is_claimed = glidein->claims > 0,
                                        .is_going = glidein->removing};
        ret->claimed += glidein->claims > 0 && !glidein->removing ? 1 : 0;
        glideins[i++] = glidein;
    }
    ret->chosen = shrink_plan_choose(items, n, count, force, chosen);
    for (i = 0; i < ret->chosen; i++) {
        glideins[chosen[i]]->removing = true;
        glideins[chosen[i]]->spare_claimed = !force;
    }
    set_times(site, pending, ret);
    mem_free(items);
    mem_free(glideins);
    mem_free(chosen);
}
