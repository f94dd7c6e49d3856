/* collector/collector_due.c - see collector_due.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "collector/collector_due.h"

#include <stddef.h>

static void put_link(struct ads_due_link **list, struct ads_due_link *link)
{
    link->next = *list;
    link->link = list;
    if (link->next) {
        link->next->link = &link->next;
    }
    *list = link;
}

void ads_due_remove(struct ads_due_link *link)
{
    if (link->link) {
        *link->link = link->next;
        if (link->next) {
            link->next->link = link->link;
        }
        link->link = NULL;
        link->next = NULL;
    }
}

void ads_due_set(struct ads_due *due, struct ads_due_link *link, uint64_t at_s)
{
    ads_due_remove(link);
    link->at_s = at_s > due->last_s ? at_s : due->last_s + 1;
    put_link(&due->slots[link->at_s % ADS_DUE_SLOTS], link);
}

void ads_due_set_now(struct ads_due *due, struct ads_due_link *link)
{
    ads_due_remove(link);
    link->at_s = 0;
    put_link(&due->now, link);
}

/* Makes due those links of a slot whose time has come. */
static void take_due(struct ads_due *due, struct ads_due_link **slot, uint64_t now_s)
{
    for (struct ads_due_link *link = *slot, *next; link; link = next) {
        next = link->next;
        if (link->at_s <= now_s) {
            ads_due_set_now(due, link);
        }
    }
}

struct ads_due_link *ads_due_next(struct ads_due *due, uint64_t now_s)
{
    if (now_s > due->last_s + ADS_DUE_SLOTS) {
        due->last_s = now_s - ADS_DUE_SLOTS; /* a long sleep: once round is all */
    }
    while (!due->now && due->last_s < now_s) {
        due->last_s++;
        take_due(due, &due->slots[due->last_s % ADS_DUE_SLOTS], now_s);
    }
    struct ads_due_link *link = due->now;
    if (link) {
        ads_due_remove(link);
    }
    return link;
}

uint64_t ads_due_first_s(const struct ads_due *due, uint64_t until_s)
{
    for (uint64_t at_s = due->last_s + 1; at_s < until_s; at_s++) {
        const struct ads_due_link *link = due->slots[at_s % ADS_DUE_SLOTS];
        while (link != NULL && link->at_s > at_s) {
            link = link->next;
        }
        if (link != NULL) {
            return at_s;
        }
    }
    return until_s;
}
