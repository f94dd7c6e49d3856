/* factory/pause.c - see pause.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "factory/pause.h"

#include <stdio.h>

#include "base/loop.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "base/text.h"
#include "classad/ad.h"
#include "factory/factory.h"
#include "factory/journal.h"

static struct pause *make_pause(const char *by, const char *reason, int64_t since_s)
{
    struct pause *pause = mem_zalloc(sizeof(*pause));
    char since[TEXT_UTC_MAX];
    text_utc_s(since_s, since);
    pause->since_s = since_s;
    (void)snprintf(pause->by, sizeof(pause->by), "%s", by);
    (void)snprintf(pause->reason, sizeof(pause->reason), "%s", reason);
    (void)snprintf(pause->text, sizeof(pause->text), "paused by %s since %s%s%s", pause->by, since,
                   pause->reason[0] != '\0' ? ": " : "", pause->reason);
    return pause;
}

static void keep_pause(struct factory *factory, const char *site, struct pause *pause)
{
    mem_free(strmap_set(factory->pauses, site, pause));
}

static void recall_pause(void *arg, const char *site, const struct ad *row)
{
    keep_pause(arg, site,
               make_pause(ad_string_or(row, "PausedBy", ""), ad_string_or(row, "PausedReason", ""),
                          ad_int_or(row, "PausedSince", 0)));
}

int pause_load(struct factory *factory, struct err *err)
{
    return journal_load_pauses(factory->journal, recall_pause, factory, err);
}

void pause_free(struct factory *factory)
{
    strmap_destroy(factory->pauses, mem_free);
}

const struct pause *pause_of(const struct factory *factory, const char *site)
{
    return strmap_get(factory->pauses, site);
}

void pause_put(const struct factory *factory, const char *site, struct ad *ad)
{
    const struct pause *pause = pause_of(factory, site);
    if (pause != NULL) {
        ad_set_string(ad, "PausedBy", pause->by);
        ad_set_string(ad, "PausedReason", pause->reason);
        ad_set_int(ad, "PausedSince", pause->since_s);
    }
}

void pause_set(struct factory *factory, const char *site, const char *by, const char *reason,
               void (*done)(void *arg), void *arg)
{
    struct ad *row = ad_create();
    keep_pause(factory, site, make_pause(by, reason, loop_wall_s(factory->env.loop)));
    pause_put(factory, site, row);
    journal_put_pause(factory->journal, site, row, done, arg);
    ad_destroy(row);
    factory->changed(factory);
}

void pause_lift(struct factory *factory, const char *site, void (*done)(void *arg), void *arg)
{
    mem_free(strmap_remove(factory->pauses, site));
    journal_put_pause(factory->journal, site, NULL, done, arg);
    factory->changed(factory);
}
