/* starter/shadow_link.c - the connection to the shadow: made again as long as the lease lasts, and
 * kept for the next run if that has the same shadow.
 *
 * It goes over the schedd's port, which passes it on.  We trust only the certificate whose
 * fingerprint came with the claim, and prove who we are by the nonce of this run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "starter/shadow_link.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/redial.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "starter/job_run.h"
#include "starter/peek.h"
#include "starter/shell.h"
#include "starter/starter.h"
#include "wire/wire.h"

static void dial_later(struct starter *starter)
{
    loop_timer_set(starter->timers[TIMER_DIAL],
                   redial_delay_ms(loop_rng(starter->env.loop), starter->run.failures++));
}

static void on_ready(void *arg, struct wire *wire)
{
    struct starter *starter = arg;
    (void)wire;
    starter->run.failures = 0;
    starter->run.busy = false;
    starter_cut(starter);
    starter_go(starter);
}

static void on_closed(void *arg, struct wire *wire, int status, const char *why)
{
    struct starter *starter = arg;
    log_info(starter->env.log, "shadow.closed", why, LOG_TEXT("job", starter->run.job_id),
             LOG_INT("status", status));
    if (wire == starter->shadow) {
        starter->shadow = NULL;
        starter->run.busy = false;
        starter_lose(starter);
    }
    wire_close(wire);
    starter->run.shadow_kept = false;
    if (starter->run.phase >= STARTER_CLEAN) {
        return;
    }
    if (status == -EACCES) { /* this run is not the one that counts any more */
        starter_give_up(starter, "");
        return;
    }
    dial_later(starter);
}

/* Serves requests of the job's owner, which come through the shadow. */
static void on_request(void *arg, struct wire_request *request)
{
    struct starter *starter = arg;
    enum wire_verb verb = wire_request_verb(request);
    if (verb == VERB_FILE_PEEK && starter->run.phase >= STARTER_CLEAN) {
        wire_reply_error(request, -ESRCH, "this run of the job has ended");
    } else if (verb == VERB_FILE_PEEK) {
        peek_handle(starter, request);
    } else if (verb == VERB_SHELL_OPEN || verb == VERB_SHELL_READ || verb == VERB_SHELL_WRITE) {
        shells_handle(starter, request);
    } else {
        wire_reply_error(request, -ENOSYS, "a starter does not support %s", wire_verb_name(verb));
    }
}

/* Returns where the record says that the shadow is; the caller frees it. */
static char *place_of(const struct starter *starter)
{
    struct strbuf place;
    strbuf_init(&place, 0);
    strbuf_printf(&place, "%s %s %s", ad_string_or(starter->run.record, "ShadowAddress", ""),
                  ad_string_or(starter->run.record, "ShadowRoute", ""),
                  ad_string_or(starter->run.record, "ShadowPin", ""));
    char *text = strbuf_take(&place);
    strbuf_fini(&place);
    return text;
}

/* Uses the connection of the last run if it leads to this run's shadow; else closes it. */
static bool go_on_with_kept(struct starter *starter)
{
    char *place = place_of(starter);
    bool good = starter->run.shadow_kept && wire_is_ready(starter->shadow) &&
                strcmp(place, starter->shadow_place) == 0;
    if (starter->shadow != NULL && !good) {
        job_run_close_shadow(starter);
    }
    mem_free(starter->shadow_place);
    starter->shadow_place = place;
    return good;
}

void shadow_link_dial(struct starter *starter)
{
    static const struct wire_events EVENTS = {.ready = on_ready,
                                              .request = on_request,
                                              .closed = on_closed};
    if ((starter->shadow != NULL && !starter->run.shadow_kept) ||
        starter->run.phase >= STARTER_CLEAN) {
        return;
    }
    if (go_on_with_kept(starter)) {
        starter_go(starter);
        return;
    }
    struct ad *hello = job_run_hello(starter);
    const struct wire_dial how = {
        .address = ad_string_or(starter->run.record, "ShadowAddress", ""),
        .route = ad_string_or(starter->run.record, "ShadowRoute", ""),
        .name = "",
        .pin = ad_string_or(starter->run.record, "ShadowPin", ""),
        .hello = hello,
        .secrets = &starter->run.nonce,
        .secret_count = 1,
    };
    struct err err;
    if (wire_dial(starter->wires, &how, &EVENTS, starter, &starter->shadow, &err) != 0) {
        starter->shadow = NULL;
        log_warn(starter->env.log, "shadow.dial", err.text, LOG_TEXT("job", starter->run.job_id));
        dial_later(starter);
    }
    ad_destroy(hello);
}
