/* startd/startd_serve.c - the connection to the collector: commands that come over it are passed to
 * those who carry them out.
 *
 * Only startd.c stands above this file: it calls all who carry out commands, and nobody calls it.
 * advertise.c sends the ads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/startd_serve.h"

#include <errno.h>

#include "base/log.h"
#include "startd/sleep/adapter.h"
#include "startd/advertise.h"
#include "startd/draining_call.h"
#include "startd/sleep/going_down.h"
#include "startd/sleep/hibernate.h"
#include "startd/keep.h"
#include "startd/sleep/reclaim.h"
#include "startd/slot/slots.h"
#include "startd/startd_state.h"
#include "wire/pool.h"
#include "wire/revocations.h"
#include "wire/settings.h"
#include "wire/wire.h"

static void uplink_up(void *arg, struct wire *wire)
{
    struct startd *startd = arg;
    log_info(startd->env.log, "uplink.up", "connected to the collector");
    revocations_watch(startd->wires, wire);
    startd->sent.first_done = false;
    if (startd->asleep) {
        hibernate_leave(startd);
        return;
    }
    if (going_down_is_silent(startd)) {
        hibernate_ask(startd);
        return; /* the sleep goes on or is taken back by its own timer */
    }
    slots_replace_ids(startd);
    advertise_all(startd, wire);
}

static void uplink_down(void *arg, const char *why)
{
    struct startd *startd = arg;
    log_warn(startd->env.log, "uplink.down", why);
}

static void serve_request(void *arg, struct wire_request *request)
{
    struct startd *startd = arg;
    enum wire_verb verb = wire_request_verb(request);
    if (verb == VERB_DIAL_ME || verb == VERB_RELEASE_CLAIM || verb == VERB_POWER_DOWN) {
        draining_call_change(startd, request);
    } else if (verb == VERB_START_DRAINING || verb == VERB_COMMIT_DRAINING ||
               verb == VERB_CANCEL_DRAINING) {
        draining_call_request(startd, request);
    } else if (verb == VERB_POWER_KEEP) {
        keep_request(startd, request);
    } else if (verb == VERB_POWER_RECLAIM) {
        reclaim_request(startd, request);
    } else if (verb == VERB_MAGIC_PACKET) {
        adapter_wake_neighbour(startd, request);
    } else if (verb == VERB_CONFIG) {
        settings_serve(&startd->env, request);
    } else if (verb == VERB_PING) {
        wire_reply_ok(request, NULL);
    } else {
        wire_reply_error(request, -ENOSYS, "%s is not for a startd", wire_verb_name(verb));
    }
}

int startd_serve_open(struct startd *startd, struct err *err)
{
    static const struct uplink_events EVENTS = {.up = uplink_up,
                                                .down = uplink_down,
                                                .request = serve_request,
                                                .complaint = advertise_complaint};
    char address[POOL_ADDRESS_MAX];
    int rc = pool_collector_addresses(startd->env.config, address, sizeof address, err);
    if (rc != 0) {
        return rc;
    }
    const struct wire_dial how = {.address = address, .route = "collector", .name = startd->uplink};
    advertise_open(startd);
    return uplink_create(startd->wires, &how, &EVENTS, startd, &startd->collector, err);
}

void startd_serve_close(struct startd *startd)
{
    advertise_close(startd);
    uplink_destroy(startd->collector);
    startd->collector = NULL;
}
