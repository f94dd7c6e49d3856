/* factory/orders.c - see orders.h.
 *
 * Design note: an order that waits is looked at each time when something has changed, and is done
 * when what is known of its site says so.  So the files below do not know of orders.  While an
 * order waits its caller is told every few seconds that the factory is there; a caller that goes
 * gives up its order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "factory/orders.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "factory/factory.h"
#include "factory/pause.h"
#include "factory/site.h"
#include "wire/wire.h"

#define TELL_MS    5000 /* a caller that waits is told so often that the factory is there */
#define ORDERS_MAX 256  /* that wait */

struct order;

struct order_kind {
    const char *name;
    void (*begin)(struct order *order, struct site *site);
};

struct order {
    struct factory *factory;
    const struct order_kind *kind;
    struct wire_request *request; /* NULL: the caller is gone, and only the disk is waited for */
    char site[SITE_NAME_LENGTH + 1];
};

/* ---- answers ----------------------------------------------------------------------------------
 */

static void forget_order(struct order *order)
{
    struct vec *orders = &order->factory->orders;
    for (size_t i = 0; i < orders->count; i++) {
        if (orders->items[i] == order) {
            vec_remove_at(orders, i);
            break;
        }
    }
    mem_free(order);
}

/* Answers, and ends the order.  args: its own attributes, freed here. */
static void answer_order(struct order *order, struct ad *args, const char *text)
{
    if (order->request != NULL) {
        const struct wire_body body = {.args = args};
        ad_set_string(args, "Order", order->kind->name);
        ad_set_string(args, "Site", order->site);
        ad_set_string(args, "Factory", order->factory->name);
        ad_set_string(args, "Text", text);
        wire_reply_ok(order->request, &body);
    }
    ad_destroy(args);
    forget_order(order);
}

/* ---- pause, resume ----------------------------------------------------------------------------
 */

static const char *order_reason(const struct order *order)
{
    return ad_string_or(wire_request_args(order->request), "Reason", "");
}

static void is_paused(void *arg)
{
    struct order *order = arg;
    struct ad *args = ad_create();
    pause_put(order->factory, order->site, args);
    answer_order(order, args, "paused; no more glideins are asked for, and those that run go on");
}

static void begin_pause(struct order *order, struct site *site)
{
    const char *by = wire_request_peer(order->request)->identity, *reason = order_reason(order);
    log_info(order->factory->env.log, "site.paused", reason, LOG_TEXT("site", site->name),
             LOG_TEXT("by", by));
    pause_set(order->factory, site->name, by, reason, is_paused, order);
}

static void is_resumed(void *arg)
{
    struct order *order = arg;
    answer_order(order, ad_create(), "resumed");
}

static void begin_resume(struct order *order, struct site *site)
{
    if (pause_of(order->factory, site->name) == NULL && site->paused == NULL) {
        answer_order(order, ad_create(), "was not paused");
        return;
    }
    log_info(order->factory->env.log, "site.resumed", "glideins are asked for again",
             LOG_TEXT("site", site->name),
             LOG_TEXT("by", wire_request_peer(order->request)->identity));
    site_resume(site);
    pause_lift(order->factory, site->name, is_resumed, order);
}

/* ---- serving ----------------------------------------------------------------------------------
 */

static const struct order_kind KINDS[] = {
    {.name = "Pause", .begin = begin_pause},
    {.name = "Resume", .begin = begin_resume},
};

static void caller_gone(void *arg)
{
    struct order *order = arg;
    order->request = NULL; /* the disk's answer ends the order */
}

static const struct order_kind *kind_of(const struct ad *args)
{
    const char *name = ad_string_or(args, "Order", "");
    for (size_t i = 0; i < ARRAY_COUNT(KINDS); i++) {
        if (strcmp(KINDS[i].name, name) == 0) {
            return &KINDS[i];
        }
    }
    return NULL;
}

static bool is_short_line(const char *text, size_t size)
{
    size_t length = 0;
    for (; text[length] != '\0'; length++) {
        if ((unsigned char)text[length] < ' ' || text[length] == '\x7f') {
            return false;
        }
    }
    return length < size;
}

/* Answers the request if it cannot be what it says; returns whether it can. */
static bool check_order(const struct factory *factory, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    if (kind_of(args) == NULL) {
        wire_reply_error(request, -EINVAL, "FACTORY_ORDER: unknown Order '%.40s'",
                         ad_string_or(args, "Order", ""));
    } else if (!is_short_line(ad_string_or(args, "Reason", ""), PAUSE_WORDS_MAX)) {
        wire_reply_error(request, -EINVAL, "the reason must be one line of at most %d bytes",
                         PAUSE_WORDS_MAX - 1);
    } else if (factory->orders.count >= ORDERS_MAX) {
        wire_reply_error(request, -EBUSY, "factory %s has %d orders that wait; try again later",
                         factory->name, ORDERS_MAX);
    } else {
        return true;
    }
    return false;
}

void orders_serve(struct factory *factory, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    const char *name = ad_string_or(args, "Site", "");
    struct site *site = strmap_get(factory->sites, name);
    if (!check_order(factory, request)) {
        return;
    }
    if (site == NULL || site->is_gone) {
        wire_reply_error(request, -ENOENT, "factory %s has no site '%.40s'", factory->name, name);
        return;
    }
    struct order *order = mem_zalloc(sizeof(*order));
    order->factory = factory;
    order->kind = kind_of(args);
    order->request = request;
    (void)snprintf(order->site, sizeof(order->site), "%s", name);
    vec_push(&factory->orders, order);
    wire_request_on_gone(request, caller_gone, order);
    if (!loop_timer_is_set(factory->orders_tick)) {
        loop_timer_set(factory->orders_tick, TELL_MS);
    }
    order->kind->begin(order, site);
}

void orders_advance(struct factory *factory)
{
    (void)factory;
}

/* The deadline of a request begins anew with each part of its answer. */
static void tell_callers(void *arg)
{
    struct factory *factory = arg;
    const struct wire_body nothing = {.args = NULL};
    for (size_t i = 0; i < factory->orders.count; i++) {
        const struct order *order = factory->orders.items[i];
        if (order->request != NULL) {
            (void)wire_reply_part(order->request, &nothing);
        }
    }
    if (factory->orders.count > 0) {
        loop_timer_set(factory->orders_tick, TELL_MS);
    }
}

void orders_open(struct factory *factory)
{
    factory->orders_tick = loop_timer_create(factory->env.loop, tell_callers, factory);
}

void orders_close(struct factory *factory)
{
    vec_fini(&factory->orders, mem_free);
    loop_timer_destroy(factory->orders_tick);
}
