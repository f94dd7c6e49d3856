/* factory/site_state.c - see site_state.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "factory/site_state.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/config/config.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "factory/factory.h"
#include "factory/journal.h"
#include "factory/pause.h"
#include "factory/site.h"

uint64_t site_state_now_ms(const struct site *site)
{
    return loop_now_ms(site->factory->env.loop);
}

static struct breaker_times times_of(const struct site *site)
{
    const struct config *config = site->factory->env.config;
    return (struct breaker_times){.first_ms =
                                      (uint64_t)config_duration_ms(config, "FACTORY_BACKOFF"),
                                  .most_ms =
                                      (uint64_t)config_duration_ms(config, "FACTORY_BACKOFF_MAX")};
}

void site_state_failure(struct site *site)
{
    const struct breaker_times times = times_of(site);
    breaker_plan_failure(&site->breaker, &times, site_state_now_ms(site));
}

void site_state_refusal(struct site *site)
{
    const struct breaker_times times = times_of(site);
    breaker_plan_refusal(&site->breaker, &times, site_state_now_ms(site));
}

void site_state_trouble(struct site *site, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(site->trouble, sizeof(site->trouble), format, args);
    va_end(args);
    site->trouble_s = loop_wall_s(site->factory->env.loop);
    log_warn(site->factory->env.log, "site.trouble", site->trouble, LOG_TEXT("site", site->name));
}

void site_state_look_within(struct site *site, uint64_t ms)
{
    uint64_t at_ms = site_state_now_ms(site) + ms;
    site->look_ms = at_ms < site->look_ms ? at_ms : site->look_ms;
}

/* ---- glideins ---------------------------------------------------------------------------------
 */

void site_state_move(struct glidein *glidein, enum glidein_state to)
{
    struct site *site = glidein->site;
    if (glidein->state != to) {
        site->states[glidein->state]--;
        site->states[to]++;
        log_info(site->factory->env.log, "glidein.state", glidein_state_name(to),
                 LOG_TEXT("glidein", glidein->name), LOG_TEXT("site", site->name));
        glidein->state = to;
        glidein->since_ms = site_state_now_ms(site);
        site->factory->changed(site->factory);
    }
}

struct glidein *site_state_add(struct site *site, const struct glidein *as)
{
    struct glidein *glidein = mem_dup(as, sizeof(*as));
    glidein->site = site;
    glidein->since_ms = site_state_now_ms(site);
    TAILQ_INSERT_TAIL(&site->glideins, glidein, entry);
    site->states[glidein->state]++;
    (void)strmap_set(site->factory->glideins, glidein->name, glidein);
    return glidein;
}

void site_state_free(struct glidein *glidein)
{
    struct site *site = glidein->site;
    TAILQ_REMOVE(&site->glideins, glidein, entry);
    site->states[glidein->state]--;
    (void)strmap_remove(site->factory->glideins, glidein->name);
    mem_free(glidein);
}

void site_state_gone(struct glidein *glidein, const char *how)
{
    struct site *site = glidein->site;
    bool taken = glidein->state != GLIDEIN_INTENDED; /* else the site never had it */
    bool unused =
        taken && !glidein->served && glidein->state < GLIDEIN_JOINED && !glidein->removing;
    if (unused) {
        site->ended_unused++;
        site_state_trouble(site, "glidein %s ended before it had joined the pool: %s",
                           glidein->name, how);
        site_state_failure(site);
        site_logs_keep(site, glidein->name);
    } else {
        log_info(site->factory->env.log, "glidein.gone", how, LOG_TEXT("glidein", glidein->name),
                 LOG_TEXT("site", site->name));
    }
    if (glidein->cause == GLIDEIN_TRIAL) {
        (void)snprintf(site->trial.end, sizeof(site->trial.end), "%s", how);
    }
    journal_delete(site->factory->journal, glidein);
    site_state_free(glidein);
    site->factory->changed(site->factory);
}

size_t site_state_count(const struct site *site)
{
    size_t count = 0;
    for (int i = 0; i < GLIDEIN_STATES; i++) {
        count += site->states[i];
    }
    return count;
}

struct grow_facts site_state_facts(const struct site *site)
{
    const struct factory *factory = site->factory;
    const size_t *states = site->states;
    const struct pause *pause = pause_of(factory, site->name);
    struct grow_facts facts = {
        .wanted = site->wanted,
        .ordered = site->ordered,
        .queued = (int64_t)(states[GLIDEIN_INTENDED] + states[GLIDEIN_QUEUED]),
        .held = (int64_t)states[GLIDEIN_HELD],
        .running =
            (int64_t)(states[GLIDEIN_STARTED] + states[GLIDEIN_JOINED] + states[GLIDEIN_LEFT]),
        .pool_room = config_int(factory->env.config, "FACTORY_MAX_GLIDEINS") -
                     (int64_t)(strmap_count(factory->glideins) + factory->stranded.count),
        .is_known = site->looked_ms > 0,
        .needs_canary = site->breaker.needs_canary,
        .refusals = site->breaker.refusals,
        .left_alone_ms = breaker_plan_left_ms(&site->breaker, site_state_now_ms(site)),
        .paused = pause != NULL          ? pause->text
                  : site->paused != NULL ? site->paused
                  : site->is_gone        ? "it is not in the configuration any more"
                                         : NULL,
    };
    const struct glidein *glidein;
    TAILQ_FOREACH(glidein, &site->glideins, entry)
    {
        bool serves = glidein->cause != GLIDEIN_TRIAL && !glidein->removing;
        bool young = glidein->state == GLIDEIN_JOINED && glidein->roomy > 0 &&
                     site_state_now_ms(site) - glidein->since_ms < SITE_YOUNG_MS;
        bool coming =
            glidein->state < GLIDEIN_JOINED && glidein->state != GLIDEIN_HELD && !glidein->hidden;
        facts.coming += serves && (young || coming) ? 1 : 0;
        facts.idle += glidein->cause != GLIDEIN_TRIAL && glidein->state == GLIDEIN_JOINED &&
                              glidein->claims == 0 && !young
                          ? 1
                          : 0;
        facts.total++;
    }
    return facts;
}
