/* factory/samples.c - see samples.h.
 *
 * Design note: a sample's ad is sent whole once for each connection, with the holds that the
 * negotiator has written into it; after that only OfflineMultiplicity is sent.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "factory/samples.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/plant.h"
#include "base/random.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "factory/example.h"
#include "factory/factory.h"
#include "factory/site.h"
#include "factory/upload.h"
#include "offline_ads/offline_ads.h"
#include "offline_ads/offline_holds.h"
#include "wire/watch.h"

#define LIFETIME_S  ((int64_t)24 * 3600) /* ClassAdLifetime of a sample: the seed document's day */
#define REFRESH_MS  600000               /* a younger newest sample is not replaced */
#define NOT_KNOWN   (-1)                 /* multiplicity of a sample that is to be sent whole */
#define NAME_LENGTH 200

/* What belongs to one glidein alone: a new one would have another, or none. */
static const char *const OWN[] = {
    "GLIDEIN_ToRetire", "TokenExpires",       "AdProblems",      "BootId",
    "BootTime",         "DaemonStartTime",    "HardwareAddress", "Subnet",
    "SubnetMask",       "NotRespondingSince", "ClockMin",        "ClockDay",
    "ClockDate",        "NumDynamicSlots",    "UidDomain",       "FileSystemDomain",
};

static struct sample *add_sample(struct site *site, const char *name, struct ad *ad)
{
    struct sample *sample = mem_zalloc(sizeof(*sample));
    sample->site = site;
    sample->name = mem_strdup(name);
    sample->ad = ad;
    sample->added_ms = loop_now_ms(site->factory->env.loop);
    sample->made_s = ad_int_or(ad, "OfflineSince", 0);
    sample->multiplicity = NOT_KNOWN;
    sample->is_example = strcmp(ad_string_or(ad, "PreviousName", ""), EXAMPLE_NAME) == 0;
    vec_push(&site->samples, sample);
    (void)strmap_set(site->factory->samples, name, sample);
    return sample;
}

static void free_sample(struct sample *sample)
{
    (void)strmap_remove(sample->site->factory->samples, sample->name);
    ad_destroy(sample->ad);
    mem_free(sample->name);
    mem_free(sample);
}

static void drop_sample(struct site *site, size_t index)
{
    struct sample *sample = site->samples.items[index];
    upload_gone(site->factory, "Machine", sample->name, true);
    vec_remove_at(&site->samples, index);
    free_sample(sample);
}

void samples_free_all(struct site *site)
{
    for (size_t i = 0; i < site->samples.count; i++) {
        free_sample(site->samples.items[i]);
    }
    vec_fini(&site->samples, NULL);
}

void samples_withdraw(struct site *site)
{
    while (site->samples.count > 0) {
        drop_sample(site, site->samples.count - 1);
    }
}

/* ---- samples ----------------------------------------------------------------------------------
 */

/* Makes the ad of a sample from that of a glidein, or of an example. */
static struct ad *make_sample(const struct site *site, const struct ad *live, const char *name)
{
    struct ad *copy = ad_copy(live);
    for (size_t i = 0; i < ARRAY_COUNT(OWN); i++) {
        ad_remove(copy, OWN[i]);
    }
    offline_ads_make_whole(copy);
    const struct offline_ads_how how = {.now_s = loop_wall_s(site->factory->env.loop),
                                        .lifetime_s = LIFETIME_S,
                                        .sample_name = name};
    struct ad *sample = offline_ads_make(copy, &how);
    ad_set_string(sample, "Machine", name);
    ad_destroy(copy);
    return sample;
}

static void put_name(const struct site *site, const char *word, char *ret, size_t size)
{
    (void)snprintf(ret, size, "%s-%s-%s", site->factory->name, site->name, word);
}

static void add_example(struct site *site)
{
    struct ad *example;
    char name[NAME_LENGTH];
    if (site->settings.example.count == 0 ||
        example_make(&site->settings, site->name, site->factory->name, &example, NULL) != 0) {
        return;
    }
    put_name(site, EXAMPLE_NAME, name, sizeof(name));
    (void)add_sample(site, name, make_sample(site, example, name));
    ad_destroy(example);
}

void samples_adopt(struct factory *factory, const char *key, const struct ad *ad)
{
    struct site *site = strmap_get(factory->sites, ad_string_or(ad, "GLIDEIN_Site", ""));
    if (strcmp(ad_string_or(ad, "GLIDEIN_Factory", ""), factory->name) != 0 ||
        strmap_get(factory->samples, key) != NULL) {
        return;
    }
    if (site == NULL || site->is_gone) { /* the collector was away when it was withdrawn */
        upload_gone(factory, "Machine", key, true);
    } else if (strcmp(ad_string_or(ad, "PreviousName", ""), EXAMPLE_NAME) != 0) {
        (void)add_sample(site, key, ad_copy(ad));
    } else if (site->samples.count > 0) {
        upload_gone(factory, "Machine", key, true);
    } /* else samples_show() makes an example anew, from the configuration */
}

static bool is_before(const struct sample *a, const struct sample *b)
{
    return a->is_example != b->is_example ? a->is_example : a->made_s < b->made_s;
}

/* Returns the index of the oldest sample; examples are older than all others. */
static size_t oldest_of(const struct site *site)
{
    size_t oldest = 0;
    for (size_t i = 1; i < site->samples.count; i++) {
        if (is_before(site->samples.items[i], site->samples.items[oldest])) {
            oldest = i;
        }
    }
    return oldest;
}

static const struct sample *newest_of(const struct site *site)
{
    const struct sample *newest = NULL;
    for (size_t i = 0; i < site->samples.count; i++) {
        const struct sample *sample = site->samples.items[i];
        newest = newest == NULL || is_before(newest, sample) ? sample : newest;
    }
    return newest;
}

void samples_offer(struct site *site, const struct ad *live)
{
    const struct sample *newest = newest_of(site);
    uint64_t now_ms = loop_now_ms(site->factory->env.loop);
    bool is_full = (int64_t)site->samples.count >= site->settings.samples;
    char word[40], name[NAME_LENGTH];
    if (ad_bool_or(live, "DynamicSlot", false) ||
        (is_full && newest != NULL && !newest->is_example &&
         now_ms - newest->added_ms < REFRESH_MS)) {
        return;
    }
    (void)snprintf(word, sizeof(word), "offline-%llx%04x",
                   (unsigned long long)loop_wall_ms(site->factory->env.loop),
                   (unsigned)rng_below(loop_rng(site->factory->env.loop), 0x10000));
    put_name(site, word, name, sizeof(name));
    (void)add_sample(site, name, make_sample(site, live, name));
    while ((int64_t)site->samples.count > site->settings.samples) {
        drop_sample(site, oldest_of(site));
    }
}

static bool is_waited_for(const struct sample *sample)
{
    const struct ad *shown = watch_get(sample->site->factory->machines, sample->name);
    struct offline_holds *holds = shown != NULL ? offline_holds_read(shown) : NULL;
    bool waited_for = offline_holds_entries(holds) > 0;
    offline_holds_destroy(holds);
    return waited_for;
}

/* Removes the example as soon as nothing waits for it and there is a sample. */
static void drop_example(struct site *site)
{
    size_t at = oldest_of(site);
    const struct sample *oldest = site->samples.items[at];
    if (site->samples.count > 1 && oldest->is_example && !is_waited_for(oldest)) {
        drop_sample(site, at);
    }
}

static void send_sample(struct sample *sample, int64_t multiplicity)
{
    struct factory *factory = sample->site->factory;
    int64_t now_s = loop_wall_s(factory->env.loop);
    if (multiplicity == 0) {
        upload_gone(factory, "Machine", sample->name, true);
    } else if (sample->multiplicity <= 0) {
        const struct ad *shown = watch_get(factory->machines, sample->name);
        ad_set_int(sample->ad, "OfflineMultiplicity", multiplicity);
        ad_set_int(sample->ad, "MyCurrentTime", now_s);
        if (shown != NULL) {
            (void)ad_copy_attr(sample->ad, "OfflineMatches", shown, "OfflineMatches");
            (void)ad_copy_attr(sample->ad, "MachineLastMatchTime", shown, "MachineLastMatchTime");
        }
        upload_ad(factory, sample->ad, true);
        ad_remove(sample->ad, "OfflineMatches");
        ad_remove(sample->ad, "MachineLastMatchTime");
    } else {
        struct ad *change = ad_create();
        ad_set_string(change, "MyType", "Machine");
        ad_set_string(change, "Name", sample->name);
        ad_set_int(change, "OfflineMultiplicity", multiplicity);
        ad_set_int(sample->ad, "OfflineMultiplicity", multiplicity);
        upload_ad(factory, change, false);
        ad_destroy(change);
    }
    sample->multiplicity = multiplicity;
}

/* Shares what the site has room for among its samples: the newest gets what is left over. */
static void share_room(struct site *site, int64_t room)
{
    int64_t count = (int64_t)site->samples.count;
    const struct sample *newest = newest_of(site);
    for (size_t i = 0; i < site->samples.count; i++) {
        struct sample *sample = site->samples.items[i];
        sample->room = sample == newest ? room / count + room % count : room / count;
    }
}

void samples_show(struct site *site, int64_t room)
{
    if (site->is_gone) {
        return;
    }
    if (site->samples.count == 0) {
        add_example(site);
    }
    if (site->samples.count == 0 || !watch_is_synced(site->factory->machines)) {
        return;
    }
    drop_example(site);
    share_room(site, room);
    for (size_t i = 0; i < site->samples.count; i++) {
        struct sample *sample = site->samples.items[i];
        bool kept = PLANTED(multiplicity_kept) && sample->room < sample->multiplicity;
        if (sample->room != sample->multiplicity && !kept) {
            send_sample(sample, sample->room);
        }
    }
}

void samples_lost(struct factory *factory, const char *key)
{
    struct sample *sample = strmap_get(factory->samples, key);
    if (sample != NULL && sample->multiplicity > 0) {
        sample->multiplicity = NOT_KNOWN;
        factory->changed(factory);
    }
}

void samples_repeat(struct factory *factory)
{
    size_t at = 0;
    void *value;
    while (strmap_next(factory->samples, &at, NULL, &value)) {
        struct sample *sample = value;
        sample->multiplicity = NOT_KNOWN;
    }
}
