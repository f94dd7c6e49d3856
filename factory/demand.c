/* factory/demand.c - see demand.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "factory/demand.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/loop.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "classad/ad_eval.h"
#include "classad/ad_value.h"
#include "factory/factory.h"
#include "factory/packing_plan.h"
#include "factory/samples.h"
#include "factory/site.h"
#include "offline_ads/offline_ads.h"
#include "offline_ads/offline_holds.h"
#include "wire/watch.h"

/* A live ad of a glidein. */
struct slot {
    char *glidein; /* its name; the glidein itself may be gone */
    bool is_claimed, is_roomy;
};

static void free_slot(void *value)
{
    struct slot *slot = value;
    mem_free(slot->glidein);
    mem_free(slot);
}

void demand_free(struct factory *factory)
{
    strmap_destroy(factory->slots, free_slot);
}

/* ---- glideins ---------------------------------------------------------------------------------
 */

static void count_slot(struct factory *factory, const struct slot *slot, int sign)
{
    struct glidein *glidein = strmap_get(factory->glideins, slot->glidein);
    if (glidein != NULL) {
        glidein->ads += (size_t)sign;
        glidein->claims += slot->is_claimed ? (size_t)sign : 0;
        glidein->roomy += slot->is_roomy ? (size_t)sign : 0;
    }
}

static bool is_roomy(const struct ad *ad, bool is_claimed)
{
    return ad_bool_or(ad, "PartitionableSlot", false) ? ad_int_or(ad, "Cpus", 0) > 0 : !is_claimed;
}

static void live_changed(struct factory *factory, const char *key, const struct ad *ad)
{
    const char *machine = ad_string_or(ad, "Machine", "");
    struct glidein *glidein = strmap_get(factory->glideins, machine);
    struct slot *slot = strmap_get(factory->slots, key);
    bool is_new = slot == NULL;
    bool is_claimed = strcmp(ad_string_or(ad, "State", ""), "Claimed") == 0;
    bool roomy = is_roomy(ad, is_claimed);
    if (glidein == NULL || (!is_new && slot->is_claimed == is_claimed && slot->is_roomy == roomy)) {
        return;
    }
    if (is_new) {
        slot = mem_zalloc(sizeof(*slot));
        slot->glidein = mem_strdup(machine);
        (void)strmap_set(factory->slots, key, slot);
    } else {
        count_slot(factory, slot, -1);
    }
    slot->is_claimed = is_claimed;
    slot->is_roomy = roomy;
    count_slot(factory, slot, 1);
    if (is_new && glidein->cause != GLIDEIN_TRIAL) {
        samples_offer(glidein->site, ad);
    }
    site_slots_changed(glidein);
}

void demand_machine_changed(struct factory *factory, const char *key, const struct ad *ad)
{
    if (!offline_ads_is(ad)) {
        live_changed(factory, key, ad);
    } else if (offline_ads_is_sample(ad)) {
        samples_adopt(factory, key, ad);
        if (strmap_get(factory->samples, key) != NULL) {
            factory->changed(factory);
        }
    }
}

void demand_machine_gone(struct factory *factory, const char *key)
{
    struct slot *slot = strmap_remove(factory->slots, key);
    samples_lost(factory, key);
    if (slot != NULL) {
        struct glidein *glidein = strmap_get(factory->glideins, slot->glidein);
        count_slot(factory, slot, -1);
        free_slot(slot);
        if (glidein != NULL) {
            site_slots_changed(glidein);
        }
    }
}

/* ---- demand -----------------------------------------------------------------------------------
 */

static int64_t evaluate(const struct ad *my, const struct ad *target, const char *name)
{
    struct ad_value value;
    int64_t number = 0;
    (void)ad_eval_attr(my, target, name, NULL, &value);
    if (value.type == AD_TYPE_INT) {
        number = value.integer;
    } else if (value.type == AD_TYPE_REAL && value.real < 1e15) {
        number = (int64_t)value.real;
    }
    ad_value_fini(&value);
    return number;
}

static struct packing_size size_of(const struct ad *my, const struct ad *target,
                                   const char *const names[3])
{
    return (struct packing_size){.cpus = evaluate(my, target, names[0]),
                                 .memory_mib = evaluate(my, target, names[1]),
                                 .disk_kib = evaluate(my, target, names[2])};
}

/* How many jobs of a request are not counted yet. */
struct unserved {
    int64_t left;
};

/* While a hold moves from one sample to another, both have it: jobs count once. */
static int64_t take_jobs(struct strmap *requests, const char *key, const struct ad *request,
                         int64_t count)
{
    struct unserved *unserved = strmap_get(requests, key);
    if (unserved == NULL) {
        unserved = mem_zalloc(sizeof(*unserved));
        unserved->left = ad_int_or(request, "JobCount", 0);
        (void)strmap_set(requests, key, unserved);
    }
    int64_t taken = count < unserved->left ? count : unserved->left;
    unserved->left -= taken;
    return taken;
}

/* A hold whose request is gone is of jobs that do not wait any more. */
static int64_t machines_for(const struct factory *factory, const struct ad *sample,
                            struct strmap *requests)
{
    static const char *const WHOLE[3] = {"TotalSlotCpus", "TotalSlotMemory", "TotalSlotDisk"};
    static const char *const REQUEST[3] = {"RequestCpus", "RequestMemory", "RequestDisk"};
    struct packing_need needs[OFFLINE_HOLDS_MAX];
    size_t count = 0;
    struct offline_holds *holds = offline_holds_read(sample);
    (void)offline_holds_prune(holds, loop_wall_s(factory->env.loop));
    for (size_t i = 0; i < offline_holds_entries(holds); i++) {
        const struct offline_hold *hold = offline_holds_at(holds, i);
        char key[400];
        (void)snprintf(key, sizeof(key), "%s#%" PRId64, hold->schedd, hold->auto_cluster);
        const struct ad *request = watch_get(factory->requests, key);
        if (request != NULL) {
            needs[count++] =
                (struct packing_need){.each = size_of(request, sample, REQUEST),
                                      .count = take_jobs(requests, key, request, hold->count)};
        }
    }
    offline_holds_destroy(holds);
    struct packing_size machine = size_of(sample, NULL, WHOLE);
    return packing_plan_machines(&machine, needs, count,
                                 !ad_bool_or(sample, "PartitionableSlot", false));
}

static int64_t count_site(const struct site *site, struct strmap *requests)
{
    const struct factory *factory = site->factory;
    int64_t wanted = 0;
    for (size_t i = 0; i < site->samples.count; i++) {
        const struct sample *sample = site->samples.items[i];
        const struct ad *shown = watch_get(factory->machines, sample->name);
        wanted += shown != NULL && ad_has(shown, "OfflineMatches")
                      ? machines_for(factory, shown, requests)
                      : 0;
    }
    bool learns = site->settings.learn && site->samples.count == 0 && TAILQ_EMPTY(&site->glideins);
    return learns ? 1 : wanted;
}

void demand_count(struct factory *factory)
{
    /* What is known may be old while it is not in step: no demand, no glideins. */
    bool known = watch_is_synced(factory->machines) && watch_is_synced(factory->requests);
    struct strmap *requests = strmap_create(STRMAP_CASE_SENSITIVE);
    size_t at = 0;
    void *value;
    while (strmap_next(factory->sites, &at, NULL, &value)) {
        struct site *site = value;
        site->wanted = known ? count_site(site, requests) : 0;
    }
    strmap_destroy(requests, mem_free);
}
