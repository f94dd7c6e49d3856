/* collector/collector_shown.c - see collector_shown.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "collector/collector_shown.h"

#include <stddef.h>

#include "base/loop.h"
#include "base/text.h"
#include "classad/ad_eval.h"
#include "collector/collector_ads.h"
#include "collector/collector_state.h"
#include "user_maps/user_world.h"
#include "wire/watch.h"

/* The ad is examined by a walk of collector_inspect.c, which begins now if none is under way. */
static void inspect_soon(struct collector *collector)
{
    collector->inspection.due = true;
    if (collector->inspection.rests) {
        collector->inspection.rests = false;
        loop_timer_set(collector->inspection.timer, INSPECTION_REST_MS);
    }
}

static void ad_changed(void *arg, const char *type, const char *name, const struct ad *ad)
{
    struct collector *collector = arg;
    watch_server_changed(collector->watches, type, name, ad);
    if (text_compare_nocase(type, "Machine") == 0) {
        inspect_soon(collector);
    }
}

static void ad_gone(void *arg, const char *type, const char *name)
{
    struct collector *collector = arg;
    watch_server_gone(collector->watches, type, name);
}

static void walk_shown(void *arg, const char *type, watch_each_f each, void *each_arg)
{
    const struct collector *collector = arg;
    struct ads_cursor cursor;
    ads_cursor_init(&cursor, collector->ads, type);
    const struct ads_entry *entry;
    while ((entry = ads_cursor_next(&cursor)) != NULL) {
        if (entry->shown && !entry->shown_absent && !each(each_arg, entry->name)) {
            break;
        }
    }
    ads_cursor_fini(&cursor);
}

static const struct ad *get_shown(void *arg, const char *type, const char *name)
{
    const struct collector *collector = arg;
    const struct ads_entry *entry = collector_ads_find(collector->ads, type, name);
    return entry && !entry->shown_absent ? entry->shown : NULL;
}

static const struct secret_list *get_secrets(void *arg, const char *type, const char *name)
{
    const struct collector *collector = arg;
    const struct ads_entry *entry = collector_ads_find(collector->ads, type, name);
    return entry && !entry->shown_absent ? entry->shown_secrets : NULL;
}

static void serve_watch(void *arg, struct ad_context *context)
{
    const struct collector *collector = arg;
    user_world_serve(collector->users, context);
}

const struct ads_events collector_shown_events = {.changed = ad_changed, .gone = ad_gone};

const struct watch_server_source collector_shown_source = {.walk = walk_shown,
                                                           .get = get_shown,
                                                           .secrets = get_secrets,
                                                           .serve = serve_watch};
