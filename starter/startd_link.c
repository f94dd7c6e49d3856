/* starter/startd_link.c - the connection to the startd: lease renewals and orders come in, the end
 * of the run goes out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "starter/startd_link.h"

#include <errno.h>
#include <string.h>
#include <stdio.h>

#include "base/config/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "starter/ckpt/checkpoint.h"
#include "starter/job/job.h"
#include "starter/job_run.h"
#include "starter/job/joules.h"
#include "starter/remote.h"
#include "starter/starter.h"
#include "starter/starter_plan.h"
#include "wire/wire.h"

#define TELL_MAX_MS 30000 /* for a startd that is not there: it finds out by our pid */
/* The same when somebody else ended the job: the machine goes down, or has no startd any more. */
#define TELL_ALONE_MS 1000

void startd_link_end(void *arg)
{
    struct starter *starter = arg;
    starter->run.phase = STARTER_END;
    loop_stop(starter->env.loop, 0);
}

/* Sets one of the reasons for which the job stands still, and freezes it or lets it continue. */
static void go_on(struct starter *starter, bool *reason, bool holds)
{
    if (starter->run.stop.how != RUNS_ON) {
        return; /* it is to end, not to stand still */
    }
    *reason = holds;
    starter->run.end.odd = starter->run.end.odd || holds;
    job_freeze(starter);
    if (starter->run.phase == STARTER_RUN && starter->run.process.pid == 0) {
        starter_go(starter); /* it was to be started meanwhile */
    }
}

static void take_end(struct starter *starter, const struct ad *args)
{
    struct job_lease *lease = &starter->run.lease;
    int64_t end_ms = ad_int_or(args, "LeaseEndMs", 0);
    int64_t length_s = ad_int_or(args, "LeaseDuration", 0);
    uint64_t now_ms = loop_now_ms(starter->env.loop), sent_ms = 0;
    if (!starter_plan_renews(end_ms, length_s, lease->sent_ms, &sent_ms)) {
        return;
    }
    lease->sent_ms = sent_ms;
    lease->end_ms = (uint64_t)end_ms;
    lease->length_s = length_s;
    lease->late = lease->late && lease->end_ms <= now_ms;
    if (!lease->late) {
        loop_timer_set(starter->timers[TIMER_LEASE],
                       lease->end_ms > now_ms ? lease->end_ms - now_ms : 0);
    }
}

static void take_renewal(struct starter *starter, const struct ad *args)
{
    struct job_lease *lease = &starter->run.lease;
    if (starter->run.phase >= STARTER_CLEAN) {
        return;
    }
    take_end(starter, args);
    /* A schedd that has moved: for the next time that the shadow is dialled.  Who answers there
     * still has to be the shadow of ShadowPin. */
    const char *address = ad_string_or(args, "ShadowAddress", "");
    if (address[0] != '\0' &&
        strcmp(address, ad_string_or(starter->run.record, "ShadowAddress", "")) != 0) {
        log_info(starter->env.log, "shadow.moved", address, LOG_TEXT("job", starter->run.job_id));
        ad_set_string(starter->run.record, "ShadowAddress", address);
        remote_moved(starter);
    }
    if (!lease->late && loop_now_ms(starter->env.loop) < lease->end_ms &&
        starter_plan_ends_gap(lease->sent_ms, lease->gap_ms)) {
        go_on(starter, &starter->run.process.gap, false);
    }
}

static void done_answered(void *arg, struct wire_reply *reply)
{
    struct starter *starter = arg;
    if (reply->status == -ECONNRESET || reply->status == -ETIMEDOUT) {
        return; /* told again when the startd is back */
    }
    if (reply->status == 0 && reply->args != NULL && ad_bool_or(reply->args, "Keep", false) &&
        job_run_may_stay(starter)) {
        starter_rest(starter);
    } else {
        startd_link_end(starter);
    }
}

static void say_done(struct starter *starter)
{
    struct wire *wire = uplink_wire(starter->startd);
    if (wire == NULL) {
        return;
    }
    struct ad *args = job_run_startd_who(starter);
    ad_set_string(args, "Reason", starter->run.end.reason);
    ad_set_bool(args, "MachineFault", starter->run.end.machine_fault);
    ad_set_bool(args, "MayStay", job_run_may_stay(starter));
    ad_set_bool(args, "Delivered", starter->run.end.delivered);
    joules_put(starter, args);
    const struct wire_body body = job_run_startd_body(starter, args);
    (void)wire_call(wire, VERB_STARTER_DONE, &body, 0, done_answered,
                    starter); /* else: when the link is up again */
    ad_destroy(args);
}

static void hello_answered(void *arg, struct wire_reply *reply)
{
    struct starter *starter = arg;
    if (reply->status == -ENOKEY) {
        starter_give_up(starter, "the startd does not know this run");
        return;
    }
    if (reply->status != 0 || reply->args == NULL) {
        return; /* the link comes again */
    }
    take_renewal(starter, reply->args);
    joules_rates(starter, reply->args);
    checkpoint_tell_startd(starter);
    starter->run.stop.grace_s = ad_int_or(reply->args, "Grace", 0);
    go_on(starter, &starter->run.process.suspended, ad_bool_or(reply->args, "Suspended", false));
    if (ad_bool_or(reply->args, "Stop", false)) {
        starter->run.stop.kind = starter_plan_stop_kind(ad_string_or(reply->args, "Kind", ""));
        starter_stop(starter, ad_bool_or(reply->args, "Fast", false));
    }
}

static void say_hello(struct starter *starter, struct wire *wire)
{
    struct ad *args = job_run_startd_who(starter);
    if (starter->run.process.gap) {
        ad_set_bool(args, "Confirm", true);
    }
    const struct wire_body body = job_run_startd_body(starter, args);
    (void)wire_call(wire, VERB_STARTER_HELLO, &body, 0, hello_answered,
                    starter); /* else: when it is up again */
    ad_destroy(args);
}

void startd_link_confirm(struct starter *starter)
{
    struct wire *wire = uplink_wire(starter->startd);
    if (wire != NULL) { /* else: when the link is up */
        say_hello(starter, wire);
    }
}

static void on_up(void *arg, struct wire *wire)
{
    struct starter *starter = arg;
    if (starter->run.phase == STARTER_TELL) {
        say_done(starter);
    } else {
        say_hello(starter, wire);
    }
}

/* A startd that is gone, or gives up the claim, has no next job for us. */
static void on_down(void *arg, const char *why)
{
    struct starter *starter = arg;
    if (starter->run.phase == STARTER_IDLE) {
        log_info(starter->env.log, "starter.unkept", why);
        startd_link_end(starter);
    }
}

static void run_next(struct starter *starter, struct wire_request *request)
{
    struct err err = {""};
    int rc = starter->run.phase == STARTER_IDLE
                 ? starter_begin(starter, ad_string_or(wire_request_args(request), "Directory", ""),
                                 &err)
                 : err_set(&err, -EBUSY, "this starter has a job already");
    if (rc == 0) {
        joules_rates(starter, wire_request_args(request));
        wire_reply_ok(request, NULL);
        return;
    }
    wire_reply_error(request, rc, "%s", err.text);
    if (rc != -EBUSY) {
        startd_link_end(starter);
    }
}

static void on_request(void *arg, struct wire_request *request)
{
    struct starter *starter = arg;
    const struct ad *args = wire_request_args(request);
    switch (wire_request_verb(request)) {
    case VERB_LEASE_RENEWED:
        take_renewal(starter, args);
        wire_reply_ok(request, NULL);
        break;
    case VERB_STARTER_STOP: {
        bool fast = ad_bool_or(args, "Fast", false);
        starter->run.stop.grace_s = ad_int_or(args, "Grace", 0);
        starter->run.stop.kind = starter_plan_stop_kind(ad_string_or(args, "Kind", ""));
        wire_reply_ok(request, NULL);
        starter_stop(starter, fast);
        break;
    }
    case VERB_STARTER_SUSPEND: {
        bool suspended = ad_bool_or(args, "Suspended", false);
        wire_reply_ok(request, NULL);
        go_on(starter, &starter->run.process.suspended, suspended);
        break;
    }
    case VERB_STARTER_CHECKPOINT:
        checkpoint_asked(starter, request);
        break;
    case VERB_STARTER_RUN:
        run_next(starter, request);
        break;
    default:
        wire_reply_error(request, -ENOSYS, "a starter does not support %s",
                         wire_verb_name(wire_request_verb(request)));
    }
}

int startd_link_open(struct starter *starter, struct err *err)
{
    static const struct uplink_events EVENTS = {.up = on_up,
                                                .down = on_down,
                                                .request = on_request};
    struct strbuf address;
    strbuf_init(&address, 0);
    strbuf_printf(&address, "unix:%s/startd.sock", config_path(starter->env.config, "RUN"));
    const struct wire_dial how = {.address = strbuf_text(&address),
                                  .route = "starter",
                                  .name = "",
                                  .server_scopes = SCOPE_ADVERTISE};
    int rc = uplink_create(starter->wires, &how, &EVENTS, starter, &starter->startd, err);
    strbuf_fini(&address);
    return rc;
}

void startd_link_tell(struct starter *starter)
{
    loop_timer_stop(starter->timers[TIMER_KILL]);
    bool is_alone = starter->run.stop.by_signal && uplink_wire(starter->startd) == NULL;
    loop_timer_set(starter->timers[TIMER_TOLD], is_alone ? TELL_ALONE_MS : TELL_MAX_MS);
    say_done(starter);
}

void startd_link_close(struct starter *starter)
{
    uplink_destroy(starter->startd);
    starter->startd = NULL;
}
