/* rooster/seen.c - notes which ads belong to which machine, and marks machines to be examined.
 *
 * In a pool of 10,000 machines, machine ads change some hundred times a second; a pass over all ads
 * at each change would take all of the rooster's time.  So every ad is noted with its machine, a
 * change marks the machine, and only marked machines are examined.  All machines are marked by what
 * may change all of them: a new configuration, a new copy of the collector's ads, and
 * ROOSTER_INTERVAL, because expressions may depend on the time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rooster/seen.h"

#include <string.h>

#include "base/mem.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "offline_ads/offline_ads.h"
#include "rooster/look.h"
#include "rooster/nodes.h"
#include "rooster/rooster.h"

static void unlink_seen(struct rooster *rooster, struct seen *seen)
{
    struct vec *ads = &seen->node->ads;
    for (size_t i = 0; i < ads->count; i++) {
        if (ads->items[i] == seen) {
            vec_remove_at(ads, i);
            break;
        }
    }
    rooster->machines -= ads->count == 0 ? 1 : 0;
    seen->node->asleep.ad = NULL; /* it may have been this one */
    look_at(seen->node);
}

void seen_gone(struct rooster *rooster, const char *key)
{
    struct seen *seen = strmap_remove(rooster->seen, key);
    if (seen != NULL) {
        unlink_seen(rooster, seen);
        mem_free(seen->key);
        mem_free(seen);
    }
}

/* Returns whether the slot is in use.  Noted at once, because the job may have ended before the
 * machine is examined. */
static bool is_in_use(const struct ad *ad)
{
    const char *state = ad_string_or(ad, "State", "");
    return strcmp(state, "Claimed") == 0 || strcmp(state, "Preempting") == 0;
}

void seen_changed(struct rooster *rooster, const char *key, const struct ad *ad)
{
    const char *machine = ad_string_or(ad, "Machine", "");
    struct seen *seen = strmap_get(rooster->seen, key);
    if (machine[0] == '\0' || offline_ads_is_sample(ad)) {
        seen_gone(rooster, key); /* samples of a site are the factory's business */
        return;
    }
    struct node *node = node_of(rooster, machine);
    if (seen == NULL) {
        seen = mem_zalloc(sizeof *seen);
        seen->key = mem_strdup(key);
        (void)strmap_set(rooster->seen, key, seen); /* was absent */
    } else if (seen->node != node) {
        unlink_seen(rooster, seen);
        seen->node = NULL;
    }
    if (seen->node == NULL) {
        seen->node = node;
        rooster->machines += node->ads.count == 0 ? 1 : 0;
        vec_push(&node->ads, seen);
    }
    seen->ad = ad;
    node->awake.was_used = node->awake.was_used || (!offline_ads_is(ad) && is_in_use(ad));
    node->asleep.ad = NULL; /* it may have been this one */
    look_at(node);
}

static void seen_destroy(void *value)
{
    struct seen *seen = value;
    mem_free(seen->key);
    mem_free(seen);
}

void seen_destroy_all(struct rooster *rooster)
{
    strmap_destroy(rooster->seen, seen_destroy);
    vec_fini(&rooster->marked, NULL);
}
