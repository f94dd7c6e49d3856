/* schedd/requests/significant.c - see significant.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/requests/significant.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "schedd/requests/job_autocluster.h"
#include "schedd/queue/job_change.h"
#include "schedd/schedd_state.h"
#include "wire/watch.h"

#define ROW "significant"

/* Learns the names in a list attribute, and appends copies of the new ones to `fresh`. */
static void learn_list(struct schedd *schedd, const struct ad *ad, const char *attribute,
                       struct vec *fresh)
{
    struct ad_value list;
    (void)ad_eval_attr(ad, NULL, attribute, NULL, &list); /* absent: undefined, of no elements */
    for (size_t i = 0; i < ad_value_count(&list); i++) {
        struct ad_value item;
        ad_value_item(&list, i, &item);
        if (item.type == AD_TYPE_STRING && autoclusters_learn(schedd, item.string.text)) {
            vec_push(fresh, mem_strdup(item.string.text));
        }
        ad_value_fini(&item);
    }
    ad_value_fini(&list);
}

static void keep_names(struct schedd *schedd)
{
    size_t count = strmap_count(schedd->groups.learned), at = 0;
    const char **names = mem_alloc((count + 1) * sizeof *names);
    for (size_t i = 0; i < count; i++) {
        (void)strmap_next(schedd->groups.learned, &at, &names[i], NULL); /* there are so many */
    }
    struct ad *row = ad_create();
    struct change *change = change_begin(schedd);
    ad_set_strings(row, "Names", names, count);
    change_put(change, "counters", ROW, row);
    ad_set_int(row, "Value", schedd->groups.next_id);
    ad_remove(row, "Names");
    change_put(change, "counters", "next_autocluster", row);
    change_commit(change, NULL, NULL, NULL);
    ad_destroy(row);
    mem_free(names);
}

static void negotiator_changed(void *arg, const char *key, const struct ad *ad)
{
    struct schedd *schedd = arg;
    struct vec fresh = {0};
    (void)key;
    learn_list(schedd, ad, "SignificantAttributes", &fresh);
    if (fresh.count > 0) {
        size_t moved = autoclusters_divide(schedd, (const char *const *)fresh.items, fresh.count);
        log_info(schedd->log, "significant", "more job attributes are significant for matching",
                 LOG_INT("names", strmap_count(schedd->groups.learned)),
                 LOG_TEXT("first", fresh.items[0]), LOG_INT("jobs", moved));
        keep_names(schedd);
    }
    vec_fini(&fresh, mem_free);
}

static void negotiator_gone(void *arg, const char *key)
{
    (void)arg;
    (void)key; /* what was learned stays */
}

static void watch_synced(void *arg)
{
    (void)arg;
}

void significant_init(struct schedd *schedd)
{
    static const char *const PROJECTION[] = {"SignificantAttributes", NULL};
    static const struct watch_spec SPEC = {.type = "Negotiator", .projection = PROJECTION};
    static const struct watch_events EVENTS = {.changed = negotiator_changed,
                                               .gone = negotiator_gone,
                                               .synced = watch_synced};
    schedd->learning = watch_create(schedd->loop, &SPEC, &EVENTS, schedd);
}

void significant_fini(struct schedd *schedd)
{
    watch_destroy(schedd->learning);
    schedd->learning = NULL;
}

void significant_up(struct schedd *schedd, struct wire *wire)
{
    (void)watch_start(schedd->learning, wire); /* a cut: the next uplink asks again */
}

void significant_load(struct schedd *schedd, const struct ad *row)
{
    struct vec fresh = {0};
    learn_list(schedd, row, "Names", &fresh);
    vec_fini(&fresh, mem_free);
}
