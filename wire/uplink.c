/* wire/uplink.c - a connection that is dialled again whenever it ends.
 *
 * After a lost connection the first attempt comes after a random part of 50 ms; each failure
 * doubles the range, up to 5 s.  So ten thousand workers that lost the same hub come back spread
 * out, and within seconds.  The range is reset only after a connection that lasted for a while, so
 * that a hub which accepts and drops us is not flooded.  The addresses of the list are tried in
 * turn, one per attempt.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/redial.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "wire/wire_private.h"

#define STEADY_MS 10000 /* a connection that lasted so long resets the back-off */

struct uplink {
    struct wire_context *context;
    struct loop *loop;
    struct uplink_events events;
    void *arg;
    struct vec addresses;
    size_t next_address;
    char *dialled; /* the address of wire */
    char *route, *name, *pin, *server;
    struct ad *hello;
    uint32_t server_scopes;
    struct wire *wire; /* NULL: waiting to dial */
    bool up;
    uint64_t up_since_ms;
    unsigned failures; /* since a connection that lived for a while */
    struct loop_timer *timer;
};

static void uplink_wait(struct uplink *uplink)
{
    loop_timer_set(uplink->timer, redial_delay_ms(loop_rng(uplink->loop), uplink->failures++));
}

/* Returns whether it is the collector that is dialled, without whom a daemon is not in the pool. */
static bool is_to_collector(const struct uplink *uplink)
{
    return uplink->route != NULL && strcmp(uplink->route, "collector") == 0;
}

static void on_ready(void *arg, struct wire *wire)
{
    struct uplink *uplink = arg;
    if (is_to_collector(uplink)) {
        wire_context_complain(uplink->context, NULL);
    }
    uplink->up = true;
    uplink->up_since_ms = loop_now_ms(uplink->loop);
    uplink->events.up(uplink->arg, wire);
}

static void on_request(void *arg, struct wire_request *request)
{
    struct uplink *uplink = arg;
    if (uplink->events.request == NULL) {
        wire_reply_error(request, -ENOSYS, "this daemon does not answer %s requests",
                         wire_verb_name(wire_request_verb(request)));
        return;
    }
    uplink->events.request(uplink->arg, request);
}

static void on_complaint(void *arg, struct wire_reply *reply)
{
    struct uplink *uplink = arg;
    if (uplink->events.complaint != NULL) {
        uplink->events.complaint(uplink->arg, reply);
    }
}

static void on_closed(void *arg, struct wire *wire, int status, const char *why)
{
    struct uplink *uplink = arg;
    /* Whatever it was, we dial again: tokens and keys are mended while we run. */
    if (status == -ESTALE) { /* another of our name: two that replace each other do it slowly */
        uplink->failures = REDIAL_SLOWLY;
    } else if (uplink->up && loop_now_ms(uplink->loop) - uplink->up_since_ms >= STEADY_MS) {
        uplink->failures = 0;
    }
    if (status == -EACCES && !uplink->up && wire->end.refused != -EBUSY &&
        is_to_collector(uplink)) { /* a busy one will accept us soon */
        wire_context_complain(uplink->context, why);
    }
    uplink->up = false;
    uplink->wire = NULL;
    uplink_wait(uplink);
    if (uplink->events.down != NULL) {
        uplink->events.down(uplink->arg, why); /* may destroy the uplink */
    }
    wire_close(wire);
}

static void uplink_dial(void *arg)
{
    struct uplink *uplink = arg;
    static const struct wire_events EVENTS = {.ready = on_ready,
                                              .request = on_request,
                                              .complaint = on_complaint,
                                              .closed = on_closed};
    struct err err = {{0}};
    struct wire_dial dial = {.address = uplink->addresses.items[uplink->next_address],
                             .route = uplink->route,
                             .name = uplink->name,
                             .pin = uplink->pin,
                             .server = uplink->server,
                             .hello = uplink->hello,
                             .server_scopes = uplink->server_scopes};
    mem_free(uplink->dialled);
    uplink->dialled = mem_strdup(dial.address);
    uplink->next_address = (uplink->next_address + 1) % uplink->addresses.count;
    if (wire_dial(uplink->context, &dial, &EVENTS, uplink, &uplink->wire, &err) < 0) {
        uplink->wire = NULL;
        uplink_wait(uplink);
        if (uplink->events.down != NULL) {
            uplink->events.down(uplink->arg, err.text);
        }
    }
}

static char *copy_or_null(const char *text)
{
    return text == NULL ? NULL : mem_strdup(text);
}

static void addresses_split(struct vec *addresses, const char *list)
{
    for (const char *at = list; *at != '\0';) {
        size_t length = strcspn(at, ",");
        const char *next = at + length + (at[length] == ',' ? 1 : 0);
        while (length > 0 && *at == ' ') {
            at++;
            length--;
        }
        while (length > 0 && at[length - 1] == ' ') {
            length--;
        }
        if (length > 0) {
            vec_push(addresses, mem_strndup(at, length));
        }
        at = next;
    }
}

int uplink_create(struct wire_context *context, const struct wire_dial *dial,
                  const struct uplink_events *events, void *arg, struct uplink **ret,
                  struct err *err)
{
    CHECK(events->up != NULL);
    struct uplink *uplink = mem_zalloc(sizeof *uplink);
    addresses_split(&uplink->addresses, dial->address);
    if (uplink->addresses.count == 0) {
        vec_fini(&uplink->addresses, mem_free);
        mem_free(uplink);
        return err_set(err, -EINVAL, "'%s': no address to connect to", dial->address);
    }
    uplink->context = context;
    uplink->loop = wire_context_loop(context);
    uplink->events = *events;
    uplink->arg = arg;
    uplink->route = copy_or_null(dial->route);
    uplink->name = copy_or_null(dial->name);
    uplink->pin = copy_or_null(dial->pin);
    uplink->server = copy_or_null(dial->server);
    uplink->hello = dial->hello == NULL ? NULL : ad_copy(dial->hello);
    uplink->server_scopes = dial->server_scopes;
    uplink->timer = loop_timer_create(uplink->loop, uplink_dial, uplink);
    loop_timer_set(uplink->timer, 0);
    *ret = uplink;
    return 0;
}

int uplink_change(struct uplink *uplink, const char *address, struct err *err)
{
    struct vec addresses = {0};
    addresses_split(&addresses, address);
    if (addresses.count == 0) {
        vec_fini(&addresses, mem_free);
        return err_set(err, -EINVAL, "'%s': no address to connect to", address);
    }
    bool stays = uplink->wire == NULL; /* the next try is to one of the new ones */
    for (size_t i = 0; i < addresses.count && !stays; i++) {
        stays = strcmp(addresses.items[i], uplink->dialled) == 0;
    }
    vec_fini(&uplink->addresses, mem_free);
    uplink->addresses = addresses;
    uplink->next_address = 0;
    if (!stays) {
        wire_close(uplink->wire);
        uplink->wire = NULL;
        uplink->failures = 0;
        loop_timer_set(uplink->timer, 0);
        bool was_up = uplink->up;
        uplink->up = false;
        if (was_up && uplink->events.down != NULL) {
            uplink->events.down(uplink->arg, "a different address is configured now");
        }
    }
    return 0;
}

void uplink_destroy(struct uplink *uplink)
{
    if (uplink == NULL) {
        return;
    }
    wire_close(uplink->wire);
    loop_timer_destroy(uplink->timer);
    vec_fini(&uplink->addresses, mem_free);
    mem_free(uplink->dialled);
    mem_free(uplink->route);
    mem_free(uplink->name);
    mem_free(uplink->pin);
    mem_free(uplink->server);
    ad_destroy(uplink->hello);
    mem_free(uplink);
}

struct wire *uplink_wire(const struct uplink *uplink)
{
    return uplink->up ? uplink->wire : NULL;
}
