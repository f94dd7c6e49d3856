/* offline_ads/offline_holds.c - see offline_holds.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "offline_ads/offline_holds.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "classad/ad.h"

#define ATTR "OfflineMatches"

struct entry {
    struct offline_hold hold;
    char *schedd; /* what hold.schedd points to */
};

struct offline_holds {
    struct entry entries[OFFLINE_HOLDS_MAX];
    size_t count;
};

struct offline_holds *offline_holds_create(void)
{
    struct offline_holds *holds = mem_alloc(sizeof(*holds)); /* not zeroed: it is large */
    holds->count = 0;
    return holds;
}

void offline_holds_destroy(struct offline_holds *holds)
{
    if (!holds) {
        return;
    }
    for (size_t i = 0; i < holds->count; i++) {
        mem_free(holds->entries[i].schedd);
    }
    mem_free(holds);
}

static struct entry *find_entry(const struct offline_holds *holds, const char *schedd,
                                int64_t auto_cluster)
{
    for (size_t i = 0; i < holds->count; i++) {
        const struct entry *entry = &holds->entries[i];
        if (entry->hold.auto_cluster == auto_cluster && strcmp(entry->schedd, schedd) == 0) {
            return (struct entry *)(uintptr_t)entry;
        }
    }
    return NULL;
}

static void remove_at(struct offline_holds *holds, size_t index)
{
    mem_free(holds->entries[index].schedd);
    holds->count--;
    memmove(&holds->entries[index], &holds->entries[index + 1],
            (holds->count - index) * sizeof(holds->entries[0]));
}

static bool read_entry(const struct ad *ad, struct offline_hold *ret)
{
    ret->since_s = ad_int_or(ad, "Since", 0);
    return ad_get_string(ad, "Schedd", &ret->schedd) == 0 &&
           ad_get_int(ad, "AutoCluster", &ret->auto_cluster) == 0 &&
           ad_get_int(ad, "Count", &ret->count) == 0 && ad_get_int(ad, "Until", &ret->until_s) == 0;
}

struct offline_holds *offline_holds_read(const struct ad *ad)
{
    struct offline_holds *holds = offline_holds_create();
    struct ad_value list;
    (void)ad_eval_attr(ad, NULL, ATTR, NULL, &list); /* absent: not a list */
    size_t count = ad_value_count(&list);
    for (size_t i = 0; i < count; i++) {
        struct ad_value item;
        struct offline_hold hold = {0};
        ad_value_item(&list, i, &item);
        if (item.type == AD_TYPE_AD && read_entry(item.ad, &hold)) {
            (void)offline_holds_add(holds, &hold); /* what does not fit is left out */
        }
        ad_value_fini(&item);
    }
    ad_value_fini(&list);
    return holds;
}

void offline_holds_write(const struct offline_holds *holds, struct ad *ad)
{
    if (holds->count == 0) {
        ad_remove(ad, ATTR);
        return;
    }
    struct strbuf text;
    strbuf_init(&text, 0);
    struct ad *one = ad_create();
    for (size_t i = 0; i < holds->count; i++) {
        const struct offline_hold *hold = &holds->entries[i].hold;
        ad_set_string(one, "Schedd", hold->schedd);
        ad_set_int(one, "AutoCluster", hold->auto_cluster);
        ad_set_int(one, "Count", hold->count);
        ad_set_int(one, "Until", hold->until_s);
        ad_set_int(one, "Since", hold->since_s);
        strbuf_puts(&text, i == 0 ? "{ " : ", ");
        ad_print(one, &text);
    }
    strbuf_puts(&text, " }");
    CHECK(ad_set_expr(ad, ATTR, strbuf_text(&text), NULL) == 0);
    ad_destroy(one);
    strbuf_fini(&text);
}

size_t offline_holds_entries(const struct offline_holds *holds)
{
    return holds ? holds->count : 0;
}

const struct offline_hold *offline_holds_at(const struct offline_holds *holds, size_t index)
{
    CHECK(index < holds->count);
    return &holds->entries[index].hold;
}

int64_t offline_holds_total(const struct offline_holds *holds)
{
    int64_t total = 0;
    for (size_t i = 0; i < offline_holds_entries(holds); i++) {
        total += holds->entries[i].hold.count;
    }
    return total;
}

int64_t offline_holds_since_s(const struct offline_holds *holds)
{
    int64_t since_s = INT64_MAX;
    for (size_t i = 0; i < offline_holds_entries(holds); i++) {
        int64_t one_s = holds->entries[i].hold.since_s;
        since_s = one_s < since_s ? one_s : since_s;
    }
    return since_s;
}

int64_t offline_holds_of(const struct offline_holds *holds, const char *schedd,
                         int64_t auto_cluster)
{
    const struct entry *entry = holds ? find_entry(holds, schedd, auto_cluster) : NULL;
    return entry ? entry->hold.count : 0;
}

int offline_holds_add(struct offline_holds *holds, const struct offline_hold *hold)
{
    struct entry *entry = find_entry(holds, hold->schedd, hold->auto_cluster);
    int64_t room = OFFLINE_HOLDS_COUNT_MAX - (entry ? entry->hold.count : 0);
    if (hold->count < 1 || hold->count > room) {
        return -EINVAL;
    }
    if (!entry) {
        if (holds->count == OFFLINE_HOLDS_MAX) {
            return -E2BIG;
        }
        entry = &holds->entries[holds->count++];
        *entry = (struct entry){.hold = *hold, .schedd = mem_strdup(hold->schedd)};
        entry->hold.schedd = entry->schedd;
        return 0;
    }
    entry->hold.count += hold->count;
    if (hold->until_s > entry->hold.until_s) {
        entry->hold.until_s = hold->until_s;
    }
    if (hold->since_s < entry->hold.since_s) {
        entry->hold.since_s = hold->since_s;
    }
    return 0;
}

int64_t offline_holds_clear(struct offline_holds *holds, const char *schedd, int64_t auto_cluster)
{
    const struct entry *entry = find_entry(holds, schedd, auto_cluster);
    if (!entry) {
        return 0;
    }
    int64_t count = entry->hold.count;
    remove_at(holds, (size_t)(entry - holds->entries));
    return count;
}

int64_t offline_holds_prune(struct offline_holds *holds, int64_t now_s)
{
    int64_t count = 0;
    for (size_t i = holds->count; i > 0; i--) {
        if (holds->entries[i - 1].hold.until_s <= now_s) {
            count += holds->entries[i - 1].hold.count;
            remove_at(holds, i - 1);
        }
    }
    return count;
}
