/* cli/why/why_site_plan.c - see why_site_plan.h.
 *
 * A site that could start no glidein now, because it is paused, left alone or full, has no sample
 * in the pool: the factory withdraws them.  A job that would match such a sample finds none, and
 * only the Site ad says why.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/why/why_site_plan.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/strbuf.h"
#include "classad/ad.h"
#include "cli/factory_plan.h"
#include "cli/status/status_cells_plan.h"
#include "cli/why/why_places_plan.h"
#include "cli/why/why_plan.h"
#include "offline_ads/offline_ads.h"

#define SITES_SHOWN 3 /* the line names so many sites; `roost factory status` shows all */

bool why_site_put_sample(const struct ad *slot, struct strbuf *out)
{
    if (!offline_ads_is_sample(slot)) {
        return false;
    }
    strbuf_printf(out, "a glidein of site %s", ad_string_or(slot, "GLIDEIN_Site", "?"));
    return true;
}

/* Appends what stops the site and what went wrong there last. */
static void put_what_stops(const struct why_pool *pool, const struct ad *site, struct strbuf *out)
{
    const char *why = ad_string_or(site, "Why", ""), *trouble = ad_string_or(site, "Trouble", "");
    strbuf_printf(out, why[0] != '\0' ? ", no more are asked for: %s" : "%s", why);
    if (trouble[0] != '\0') {
        strbuf_puts(out, "; its last trouble, ");
        status_put_since(site, "TroubleTime", pool->context, out);
        strbuf_printf(out, " ago: %s", trouble);
    }
}

/* Returns whether more glideins are wanted than are on their way, or the site does not work. */
static bool is_stopped(const struct ad *site)
{
    return ad_int_or(site, "Coming", 0) < ad_int_or(site, "Wanted", 0) ||
           strcmp(ad_string_or(site, "State", ""), "Serving") != 0;
}

/* Returns whether a matching sample of the site is held for the job's request. */
static bool is_chosen(const struct why_pool *pool, const struct ad *site, const char *schedd)
{
    int64_t auto_cluster = ad_int_or(pool->job, "AutoClusterId", -1);
    for (size_t i = 0; i < pool->slot_count; i++) {
        const struct ad *slot = pool->slots[i].ad;
        if (pool->answer->matches[i] && factory_plan_is_sample_of(site, slot) &&
            why_places_is_held(slot, schedd, auto_cluster, pool->context->now_s)) {
            return true;
        }
    }
    return false;
}

static bool has_sample(const struct why_pool *pool, const struct ad *site)
{
    for (size_t i = 0; i < pool->slot_count; i++) {
        if (factory_plan_is_sample_of(site, pool->slots[i].ad)) {
            return true;
        }
    }
    return false;
}

void why_site_put_chosen(const struct why_pool *pool, struct strbuf *out)
{
    struct strbuf schedd;
    size_t shown = 0;
    strbuf_init(&schedd, 0);
    why_places_schedd(pool->job, &schedd);
    for (size_t i = 0; i < pool->site_count && shown < SITES_SHOWN; i++) {
        const struct ad *site = pool->sites[i];
        if (is_chosen(pool, site, strbuf_text(&schedd))) {
            long long coming = ad_int_or(site, "Coming", 0);
            strbuf_printf(out, "; site %s has %lld %s on the way", ad_string_or(site, "Site", "?"),
                          coming, coming == 1 ? "glidein" : "glideins");
            if (is_stopped(site)) {
                put_what_stops(pool, site, out);
            }
            shown++;
        }
    }
    strbuf_fini(&schedd);
}

void why_site_put_closed(const struct why_pool *pool, struct strbuf *out)
{
    size_t shown = 0, more = 0;
    for (size_t i = 0; i < pool->site_count; i++) {
        const struct ad *site = pool->sites[i];
        if (has_sample(pool, site)) {
            continue;
        }
        if (shown == SITES_SHOWN) {
            more++;
            continue;
        }
        strbuf_printf(out, "; site %s can be given no job now", ad_string_or(site, "Site", "?"));
        if (ad_int_or(site, "Samples", 0) == 0) {
            strbuf_puts(out, ", because it has no samples");
        } else {
            put_what_stops(pool, site, out);
        }
        shown++;
    }
    if (more > 0) {
        strbuf_printf(out, "; so it is with %zu more: `roost factory status` shows them", more);
    }
}
