/* cli/why/why_places_plan.c - see why_places_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/why/why_places_plan.h"

#include <string.h>

#include "base/strbuf.h"
#include "classad/ad.h"
#include "cli/why/why_plan.h"
#include "offline_ads/offline_ads.h"
#include "offline_ads/offline_holds.h"

void why_places_schedd(const struct ad *job, struct strbuf *out)
{
    const char *id = ad_string_or(job, "GlobalJobId", "");
    const char *end = strchr(id, '#');
    strbuf_append(out, id, end != NULL ? (size_t)(end - id) : 0);
}

static bool is_text(const struct ad *ad, const char *name, const char *text)
{
    return strcmp(ad_string_or(ad, name, ""), text) == 0;
}

static void count_locked(const struct ad *slot, struct why_places *places)
{
    places->locked++;
    places->sample_locked = places->sample_locked != NULL ? places->sample_locked : slot;
}

/* Returns whether the job's schedd gives the machine no jobs, because starters failed there. */
static bool is_avoided(const struct why_pool *pool, const struct ad *slot)
{
    const char *machine = ad_string_or(slot, "Machine", "");
    const char *at =
        pool->request != NULL ? ad_string_or(pool->request, "AvoidedMachines", "") : "";
    while (*at != '\0') {
        size_t length = strcspn(at, ", ");
        if (length > 0 && strlen(machine) == length && strncmp(at, machine, length) == 0) {
            return true;
        }
        at += length + strspn(at + length, ", ");
    }
    return false;
}

static void count_live(const struct why_pool *pool, const struct why_other *other, const char *user,
                       struct why_places *places)
{
    const struct ad *slot = other->ad;
    if (ad_bool_or(slot, "PowerLocked", false)) {
        count_locked(slot, places);
        return;
    }
    const char *state = ad_string_or(slot, "State", "Unclaimed");
    const char *power = ad_string_or(slot, "PowerState", "On");
    if (offline_ads_is_silent(slot)) {
        places->silent++;
        places->sample_silent = places->sample_silent != NULL ? places->sample_silent : slot;
    } else if (strcmp(state, "Drained") == 0 || strcmp(power, "Draining") == 0) {
        places->draining++;
    } else if (strcmp(power, "GoingDown") == 0) {
        places->leaving++;
    } else if (other->now != NULL && !ad_match(pool->job, other->now, pool->context)) {
        places->full++;
    } else if (strcmp(state, "Unclaimed") == 0 && is_avoided(pool, slot)) {
        places->avoided++;
        places->sample_avoided = places->sample_avoided != NULL ? places->sample_avoided : slot;
    } else if (strcmp(state, "Unclaimed") == 0) {
        places->free++;
    } else if (strcmp(state, "Owner") == 0) {
        places->owner++;
    } else if (user[0] != '\0' && is_text(slot, "RemoteUser", user)) {
        places->mine++;
    } else {
        places->others++;
    }
}

bool why_places_is_held(const struct ad *slot, const char *schedd, int64_t auto_cluster,
                        int64_t now_s)
{
    if (!ad_has(slot, "OfflineMatches")) {
        return false;
    }
    struct offline_holds *holds = offline_holds_read(slot);
    (void)offline_holds_prune(holds, now_s);
    bool held = offline_holds_of(holds, schedd, auto_cluster) > 0;
    offline_holds_destroy(holds);
    return held;
}

static void count_offline(const struct why_pool *pool, const struct ad *slot, const char *schedd,
                          struct why_places *places)
{
    bool held = why_places_is_held(slot, schedd, ad_int_or(pool->job, "AutoClusterId", -1),
                                   pool->context->now_s);
    bool waking = is_text(slot, "PowerState", "Waking");
    if (ad_bool_or(slot, "PowerLocked", false) || ad_bool_or(slot, "PowerKeptOff", false)) {
        count_locked(slot, places);
        return;
    }
    if (is_text(slot, "PowerState", "WakeFailed") || is_text(slot, "PowerState", "Unknown")) {
        places->failed++;
        places->sample_failed = places->sample_failed != NULL ? places->sample_failed : slot;
        return;
    }
    places->waking += waking;
    places->asleep += !waking;
    places->glideins += !waking && offline_ads_is_sample(slot);
    places->held += held;
    /* The best to tell of: held and waking, then held, then waking. */
    int now = 2 * held + waking;
    const struct ad *known = places->sample_waking;
    int before = known == NULL ? 0
                               : 2 * why_places_is_held(known, schedd,
                                                        ad_int_or(pool->job, "AutoClusterId", -1),
                                                        pool->context->now_s) +
                                     is_text(known, "PowerState", "Waking");
    places->sample_waking = now > before ? slot : known;
}

void why_places_count(const struct why_pool *pool, struct why_places *places)
{
    struct strbuf schedd;
    strbuf_init(&schedd, 0);
    why_places_schedd(pool->job, &schedd);
    const char *user = ad_string_or(pool->job, "User", "");
    for (size_t i = 0; i < pool->slot_count; i++) {
        if (!pool->answer->matches[i]) {
            continue;
        }
        if (pool->slots[i].offline) {
            count_offline(pool, pool->slots[i].ad, strbuf_text(&schedd), places);
        } else {
            count_live(pool, &pool->slots[i], user, places);
        }
    }
    strbuf_fini(&schedd);
}
