/* factory/publish.c - see publish.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "factory/publish.h"

#include <stdio.h>
#include <string.h>

#include "base/loop.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "factory/factory.h"
#include "factory/journal.h"
#include "factory/site.h"
#include "factory/upload.h"
#include "store/store.h"
#include "wire/daemon_ad.h"
#include "wire/settings.h"

/* An ad that the collector has been sent. */
struct shown {
    char *type, *name, *text;
    bool is_there; /* in the round that is under way */
};

static void free_shown(void *value)
{
    struct shown *shown = value;
    mem_free(shown->type);
    mem_free(shown->name);
    mem_free(shown->text);
    mem_free(shown);
}

/* Sends the ad if it says something new.  Frees it. */
static void show(struct factory *factory, struct ad *ad)
{
    const char *type = ad_string_or(ad, "MyType", ""), *name = ad_string_or(ad, "Name", "");
    struct strbuf key, text;
    strbuf_init(&key, 0);
    strbuf_init(&text, 0);
    strbuf_printf(&key, "%s/%s", type, name);
    ad_print_long(ad, &text);
    struct shown *shown = strmap_get(factory->shown, strbuf_text(&key));
    if (shown == NULL) {
        shown = mem_zalloc(sizeof(*shown));
        shown->type = mem_strdup(type);
        shown->name = mem_strdup(name);
        (void)strmap_set(factory->shown, strbuf_text(&key), shown);
    }
    if (shown->text == NULL || strcmp(shown->text, strbuf_text(&text)) != 0) {
        mem_free(shown->text);
        shown->text = mem_strdup(strbuf_text(&text));
        upload_ad(factory, ad, true);
    }
    shown->is_there = true;
    strbuf_fini(&key);
    strbuf_fini(&text);
    ad_destroy(ad);
}

static struct ad *factory_to_ad(const struct factory *factory)
{
    const struct store *store = journal_store(factory->journal);
    struct ad *ad = ad_create();
    char uplink[120];
    daemon_ad_put(ad, factory->env.os, "Factory", factory->name,
                  loop_wall_of_s(factory->env.loop, factory->started_ms));
    settings_put(ad, factory->env.config);
    (void)snprintf(uplink, sizeof(uplink), "factory/%s", factory->name);
    ad_set_string(ad, "FactoryUplink", uplink);
    ad_set_int(ad, "Sites", (int64_t)strmap_count(factory->sites));
    ad_set_int(ad, "Glideins", (int64_t)strmap_count(factory->glideins));
    daemon_ad_put_store(ad, store_problem(store), store_damaged_rows(store));
    return ad;
}

static void take_back(struct factory *factory)
{
    struct vec gone = {0};
    size_t at = 0;
    const char *key;
    void *value;
    while (strmap_next(factory->shown, &at, &key, &value)) {
        struct shown *shown = value;
        if (!shown->is_there) {
            vec_push(&gone, mem_strdup(key));
        }
        shown->is_there = false;
    }
    for (size_t i = 0; i < gone.count; i++) {
        struct shown *shown = strmap_remove(factory->shown, gone.items[i]);
        upload_gone(factory, shown->type, shown->name, false);
        free_shown(shown);
    }
    vec_fini(&gone, mem_free);
}

void publish_changes(struct factory *factory)
{
    size_t at = 0;
    void *value;
    show(factory, factory_to_ad(factory));
    while (strmap_next(factory->sites, &at, NULL, &value)) {
        show(factory, site_to_ad(value));
    }
    at = 0;
    while (strmap_next(factory->glideins, &at, NULL, &value)) {
        show(factory, glidein_to_ad(value, factory->name));
    }
    take_back(factory);
}

void publish_forget(struct factory *factory)
{
    size_t at = 0;
    void *value;
    while (strmap_next(factory->shown, &at, NULL, &value)) {
        struct shown *shown = value;
        mem_free(shown->text);
        shown->text = NULL;
    }
}

void publish_free(struct factory *factory)
{
    strmap_destroy(factory->shown, free_shown);
}
