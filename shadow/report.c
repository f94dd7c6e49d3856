/* shadow/report.c - see report.h.
 *
 * A report may be repeated: the schedd knows by the epoch what it has committed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "shadow/report.h"

#include <errno.h>

#include "base/log.h"
#include "base/mem.h"
#include "classad/ad.h"
#include "shadow/run/shadow_run.h"
#include "shadow/shadow_state.h"
#include "wire/wire.h"

struct report {
    struct shadow *shadow;
    struct run *run; /* kept until the answer; may be NULL */
    enum wire_verb verb;
    struct ad *args;
    report_f answered;
    void *arg;
    bool sent;
};

static void forget_report(struct report *report)
{
    struct vec *reports = &report->shadow->reports;
    for (size_t i = 0; i < reports->count; i++) {
        if (reports->items[i] == report) {
            vec_remove_at(reports, i);
            break;
        }
    }
}

static void try_send(struct report *report);

static void report_answered(void *arg, struct wire_reply *reply)
{
    struct report *report = arg;
    report->sent = false;
    if (report->shadow->uplink == NULL) {
        return; /* the process ends */
    }
    if (reply->status == -ETIMEDOUT) {
        try_send(report);
        return;
    }
    if (reply->status == -ECONNRESET) {
        return; /* again after the next SHADOW_HELLO */
    }
    forget_report(report);
    report->answered(report->run, report->arg, reply->status, reply->text, reply->args);
    if (report->run != NULL) {
        run_unuse(report->run);
    }
    ad_destroy(report->args);
    mem_free(report);
}

static void try_send(struct report *report)
{
    struct shadow *shadow = report->shadow;
    struct wire *wire = shadow->greeted ? uplink_wire(shadow->uplink) : NULL;
    if (wire != NULL && !report->sent) {
        const struct wire_body body = {.args = report->args};
        report->sent = wire_call(wire, report->verb, &body, 0, report_answered, report) > 0;
    }
}

void report_send(struct shadow *shadow, struct run *run, enum wire_verb verb, struct ad *args,
                 report_f call, void *arg)
{
    struct report *report = mem_zalloc(sizeof(*report));
    report->shadow = shadow;
    report->run = run;
    report->verb = verb;
    report->args = args;
    report->answered = call;
    report->arg = arg;
    if (run != NULL) {
        run_use(run);
        ad_set_string(args, "JobId", run->id);
        ad_set_int(args, "ClaimEpoch", run->epoch);
    }
    vec_push(&shadow->reports, report);
    try_send(report);
}

void reports_send_again(struct shadow *shadow)
{
    for (size_t i = 0; i < shadow->reports.count; i++) {
        try_send(shadow->reports.items[i]);
    }
}

void reports_end(struct shadow *shadow)
{
    while (shadow->reports.count > 0) {
        struct report *report = shadow->reports.items[0];
        vec_remove_at(&shadow->reports, 0);
        report->answered(report->run, report->arg, -ESHUTDOWN, "the shadow is stopping", NULL);
        if (report->run != NULL) {
            run_unuse(report->run);
        }
        ad_destroy(report->args);
        mem_free(report);
    }
    vec_fini(&shadow->reports, NULL);
}

void report_hold(struct run *run, int code, int subcode, const char *reason, report_f call,
                 void *arg)
{
    struct ad *args = ad_create();
    ad_set_string(args, "Event", "Hold");
    ad_set_string(args, "HoldReason", reason);
    ad_set_int(args, "HoldReasonCode", code);
    ad_set_int(args, "HoldReasonSubCode", subcode);
    log_info(run->shadow->log, "run.hold", reason, LOG_TEXT("job", run->id));
    report_send(run->shadow, run, VERB_JOB_STATUS, args, call, arg);
}
