/* rooster/queue_ask.c - see queue_ask.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rooster/queue_ask.h"

#include <stdio.h>

#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "rooster/look.h"
#include "rooster/nodes.h"
#include "rooster/rooster.h"
#include "wire/wire.h"

#define GAP_MS 1000 /* shortest time between two questions */

struct queue_asks {
    struct rooster *rooster;
    struct loop_timer *timer;
    uint64_t due_ms; /* when the timer fires; valid while it is set */
    bool is_asking;
    uint64_t asked_ms;        /* when the negotiator was last asked; 0: never */
    struct pool_figures pool; /* figures of the whole pool; valid if at_ms is not 0 */
    uint64_t at_ms;
    bool is_needed; /* ROOSTER_RESERVE reads them */
};

static uint64_t now_of(const struct rooster *rooster)
{
    return loop_now_ms(rooster->env.loop);
}

static bool is_fresh(const struct rooster *rooster, uint64_t at_ms)
{
    return at_ms != 0 && now_of(rooster) - at_ms <= POOL_FIGURES_AGE_MS;
}

static const struct pool_figures *figures_of(const struct node *node)
{
    return is_fresh(node->rooster, node->queue.at_ms) ? &node->queue.figures : NULL;
}

static const struct pool_figures *figures_of_pool(const struct rooster *rooster)
{
    const struct queue_asks *asks = rooster->queue_asks;
    return is_fresh(rooster, asks->at_ms) ? &asks->pool : NULL;
}

static void put_clock(const struct rooster *rooster, struct ad *ad)
{
    int64_t now_s = loop_wall_s(rooster->env.loop);
    pool_figures_put_clock(now_s + os_zone_offset_s(rooster->env.os, now_s), ad);
}

void queue_put(const struct node *node, struct ad *ad)
{
    put_clock(node->rooster, ad);
    pool_figures_put(figures_of(node), ad);
}

void queue_put_pool(const struct rooster *rooster, struct ad *ad)
{
    put_clock(rooster, ad);
    pool_figures_put(figures_of_pool(rooster), ad);
}

void queue_print(const struct node *node, char *ret, size_t size)
{
    const struct node_queue *queue = &node->queue;
    char figures[256] = "";
    ret[0] = '\0';
    if (!queue->is_refused || node->jobs.demand_it) {
        return;
    }
    if (queue->is_needed) {
        pool_figures_print(figures_of(node), figures, sizeof figures);
    }
    (void)snprintf(ret, size, "%s is not true%s%s", queue->refused_by,
                   queue->is_needed ? "; now " : "", figures);
}

void queue_print_pool(const struct rooster *rooster, char *ret, size_t size)
{
    pool_figures_print(figures_of_pool(rooster), ret, size);
}

/* ---- asking */

/* Has the question asked so many ms after asked_ms, but not in the same second as the last one. */
static void ask_after(struct queue_asks *asks, uint64_t asked_ms)
{
    uint64_t now_ms = now_of(asks->rooster), due_ms = now_ms;
    if (asks->is_asking) {
        return; /* the answer calls again */
    }
    if (asked_ms != 0 && asked_ms + POOL_FIGURES_AGAIN_MS > due_ms) {
        due_ms = asked_ms + POOL_FIGURES_AGAIN_MS;
    }
    if (asks->asked_ms != 0 && asks->asked_ms + GAP_MS > due_ms) {
        due_ms = asks->asked_ms + GAP_MS;
    }
    if (!loop_timer_is_set(asks->timer) || due_ms < asks->due_ms) {
        asks->due_ms = due_ms;
        loop_timer_set(asks->timer, due_ms - now_ms);
    }
}

void queue_need(struct node *node)
{
    ask_after(node->rooster->queue_asks, node->queue.asked_ms);
}

void queue_need_pool(struct rooster *rooster)
{
    rooster->queue_asks->is_needed = true;
    ask_after(rooster->queue_asks, rooster->queue_asks->asked_ms);
}

static void take_figures(struct queue_asks *asks, const struct wire_reply *reply)
{
    struct rooster *rooster = asks->rooster;
    uint64_t now_ms = now_of(rooster);
    if (!pool_figures_read(reply->args, NULL, &asks->pool)) {
        return;
    }
    asks->at_ms = now_ms;
    for (size_t i = 0; i < reply->ad_count; i++) {
        struct node *node = strmap_get(rooster->nodes, ad_string_or(reply->ads[i], "Machine", ""));
        if (node != NULL && pool_figures_read(reply->args, reply->ads[i], &node->queue.figures)) {
            node->queue.at_ms = now_ms;
            look_at(node);
        }
    }
}

static void queue_answered(void *arg, struct wire_reply *reply)
{
    struct queue_asks *asks = arg;
    struct rooster *rooster = asks->rooster;
    size_t at = 0;
    void *node;
    if (reply->more) {
        return; /* POOL_FIGURES_MACHINES_MAX ads fit into one part */
    }
    asks->is_asking = false;
    if (reply->status != 0) {
        log_debug(rooster->env.log, "queue.not_known", reply->text);
    } else {
        take_figures(asks, reply);
    }
    if (asks->is_needed) {
        asks->is_needed = false; /* the look at the reserve says whether it still is */
        look_soon(rooster);
    }
    while (strmap_next(rooster->nodes, &at, NULL, &node)) {
        if (((struct node *)node)->queue.is_needed) {
            queue_need(node);
        }
    }
}

static bool is_due(const struct node *node, uint64_t now_ms)
{
    const struct node_queue *queue = &node->queue;
    return queue->is_needed &&
           (queue->asked_ms == 0 || now_ms - queue->asked_ms >= POOL_FIGURES_AGAIN_MS);
}

static void ask_negotiator(void *arg)
{
    struct queue_asks *asks = arg;
    struct rooster *rooster = asks->rooster;
    struct wire *wire = uplink_wire(rooster->uplink);
    uint64_t now_ms = now_of(rooster);
    size_t count = 0, at = 0;
    void *node;
    if (wire == NULL) {
        loop_timer_set(asks->timer, GAP_MS);
        return;
    }
    const char **names = mem_alloc(POOL_FIGURES_MACHINES_MAX * sizeof *names);
    while (count < POOL_FIGURES_MACHINES_MAX && strmap_next(rooster->nodes, &at, NULL, &node)) {
        if (is_due(node, now_ms)) {
            ((struct node *)node)->queue.asked_ms = now_ms;
            names[count++] = ((struct node *)node)->name;
        }
    }
    asks->asked_ms = now_ms;
    if (count > 0 || asks->is_needed) {
        asks->is_asking = pool_figures_ask(wire, names, count, queue_answered, asks) > 0;
        if (!asks->is_asking) {
            ask_after(asks, now_ms);
        }
    }
    mem_free(names);
}

/* ---- life */

struct queue_asks *queue_asks_create(struct rooster *rooster)
{
    struct queue_asks *asks = mem_zalloc(sizeof *asks);
    asks->rooster = rooster;
    asks->timer = loop_timer_create(rooster->env.loop, ask_negotiator, asks);
    return asks;
}

void queue_asks_destroy(struct queue_asks *asks)
{
    if (asks != NULL) {
        loop_timer_destroy(asks->timer);
        mem_free(asks);
    }
}
