/* starter/shadow_link.c - the connection to the shadow: made again as long as the lease lasts.
 *
 * The way leads over the schedd's port, which hands the connection on; we trust exactly the
 * certificate whose fingerprint came with the claim, and prove ourselves by the nonce of this run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>

#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/redial.h"
#include "classad/ad.h"
#include "starter/starter.h"
#include "wire/wire.h"

static void dial_later(struct starter *starter)
{
    loop_timer_set(starter->dial_timer,
                   redial_delay_ms(loop_rng(starter->env.loop), starter->failures++));
}

static void on_ready(void *arg, struct wire *wire)
{
    struct starter *starter = arg;
    (void)wire;
    starter->failures = 0;
    starter->busy = false;
    output_cut(starter);
    starter_go(starter);
}

static void on_closed(void *arg, struct wire *wire, int status, const char *why)
{
    struct starter *starter = arg;
    log_info(starter->env.log, "shadow.closed", why, LOG_TEXT("job", starter->job_id),
             LOG_INT("status", status));
    if (wire == starter->shadow) {
        starter->shadow = NULL;
        starter->busy = false;
    }
    wire_close(wire);
    if (starter->phase >= STARTER_CLEAN) {
        return;
    }
    if (status == -EACCES) { /* this run is not the one that counts any more */
        starter_give_up(starter, "");
        return;
    }
    dial_later(starter);
}

/* What the owner asks through the shadow. */
static void on_request(void *arg, struct wire_request *request)
{
    struct starter *starter = arg;
    enum wire_verb verb = wire_request_verb(request);
    if (verb == VERB_FILE_PEEK) {
        peek_handle(starter, request);
    } else {
        wire_reply_error(request, -ENOSYS, "a starter does not answer %s", wire_verb_name(verb));
    }
}

void shadow_link_dial(struct starter *starter)
{
    static const struct wire_events EVENTS = {.ready = on_ready,
                                              .request = on_request,
                                              .closed = on_closed};
    if (starter->shadow != NULL || starter->phase >= STARTER_CLEAN) {
        return;
    }
    struct ad *hello = ad_create();
    ad_set_string(hello, "JobId", starter->job_id);
    ad_set_int(hello, "ClaimEpoch", starter->epoch);
    ad_set_string(hello, "Nonce", ad_string_or(starter->record, "_roost_priv_Nonce", ""));
    const struct wire_dial how = {
        .address = ad_string_or(starter->record, "ShadowAddress", ""),
        .route = ad_string_or(starter->record, "ShadowRoute", ""),
        .name = "",
        .pin = ad_string_or(starter->record, "ShadowPin", ""),
        .hello = hello,
    };
    struct err err;
    if (wire_dial(starter->wires, &how, &EVENTS, starter, &starter->shadow, &err) != 0) {
        starter->shadow = NULL;
        log_warn(starter->env.log, "shadow.dial", err.text, LOG_TEXT("job", starter->job_id));
        dial_later(starter);
    }
    ad_destroy(hello);
}

void shadow_link_close(struct starter *starter)
{
    wire_close(starter->shadow);
    starter->shadow = NULL;
    loop_timer_stop(starter->dial_timer);
}
