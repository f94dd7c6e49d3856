/* startd/sleep/reclaim.c - jobs take this machine back while it is going down: POWER_RECLAIM.
 *
 * A machine that saves power may be wanted again before it sleeps.  To let it go down and then wake
 * it, or another one, would cost a boot.  So the daemon that sees the jobs asks, and only we can
 * answer: only here is known whether there is still time, and the answer is carried out in the same
 * moment.  The order to go down is given once, and after that (DOWN_ORDERED) it is too late: there
 * is no instant in which it could be both given and taken back.
 *
 * What somebody ordered by name (a drain without Reclaimable, POWER_DOWN) is never taken back.
 *
 * With POWER_METHOD rooster the rooster would give the order, so the rooster says that it does not
 * (Withdrawn).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/sleep/reclaim.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/loop.h"
#include "classad/ad.h"
#include "startd/draining.h"
#include "startd/draining_facts.h"
#include "startd/sleep/going_down.h"
#include "startd/sleep/hibernate.h"
#include "startd/startd_state.h"
#include "wire/wire.h"

static void reply_result(struct wire_request *request, const char *result)
{
    struct ad *args = ad_create();
    ad_set_string(args, "Result", result);
    const struct wire_body body = {.args = args};
    wire_reply_ok(request, &body);
    ad_destroy(args);
}

static void caller_gone(void *arg)
{
    ((struct startd *)arg)->reclaim.request = NULL;
}

static void reclaim_saved(void *arg)
{
    struct startd *startd = arg;
    struct wire_request *request = startd->reclaim.request;
    startd->reclaim.request = NULL;
    if (request != NULL) {
        reply_result(request, "Reclaimed");
    }
}

/* Remembers why, for those who ask why the machine is up; called before its ads are made anew. */
static void note_reclaim(struct startd *startd, const struct wire_request *request,
                         const char *what)
{
    const struct ad *args = wire_request_args(request);
    struct reclaim *reclaim = &startd->reclaim;
    startd->look.reclaimed_ms[0] = startd->look.reclaimed_ms[1];
    startd->look.reclaimed_ms[1] = loop_now_ms(startd->env.loop);
    reclaim->at_ms = (int64_t)loop_now_ms(startd->env.loop);
    (void)snprintf(reclaim->reason, sizeof reclaim->reason, "%.200s; the machine %.80s",
                   ad_string_or(args, "Reason", "jobs wait"), what);
    log_info(startd->env.log, "power.reclaimed", reclaim->reason,
             LOG_TEXT("by", wire_request_peer(request)->identity),
             LOG_INT("jobs", ad_int_or(args, "Jobs", 0)));
}

/* Answers when the end of a drain request is durable; without such a request, when the disk has
 * been written. */
static void answer_when_durable(struct startd *startd, struct wire_request *request)
{
    startd->reclaim.request = request;
    wire_request_on_gone(request, caller_gone, startd);
    draining_save(startd, reclaim_saved);
}

static void end_drain(struct startd *startd, struct wire_request *request)
{
    if (!startd->draining.request.reclaimable) {
        wire_reply_error(request, -EPERM, "%s is drained by %s and may not be taken back for jobs",
                         startd->name, startd->draining.requester);
        return;
    }
    char what[80];
    (void)snprintf(what, sizeof what, "was drained by %.60s", startd->draining.requester);
    note_reclaim(startd, request, what);
    draining_finish(startd, "jobs wait for the machine, so it stays up");
    answer_when_durable(startd, request);
}

static void end_sleep(struct startd *startd, struct wire_request *request)
{
    bool withdrawn = ad_bool_or(wire_request_args(request), "Withdrawn", false);
    int rc = hibernate_may_reclaim(startd, withdrawn);
    if (rc != 0) {
        wire_reply_error(request, rc,
                         rc == -EPERM ? "%s is going down by a user's order"
                                      : "%s is going down, and it is too late to stop that",
                         startd->name);
        return;
    }
    note_reclaim(startd, request, "was about to sleep");
    hibernate_reclaim(startd);
    answer_when_durable(startd, request);
}

void reclaim_request(struct startd *startd, struct wire_request *request)
{
    if (startd->stopping || startd->farewell.begun || startd->asleep) {
        wire_reply_error(request, -ESHUTDOWN, "%s: the startd is stopping", startd->name);
    } else if (startd->reclaim.request != NULL) {
        wire_reply_error(request, -EBUSY, "%s: another change is being stored; try again",
                         startd->name);
    } else if (going_down_has_begun(startd)) {
        end_sleep(startd, request);
    } else if (going_down_is_leaving(startd)) {
        wire_reply_error(request, -EPERM, "%s is going down by a user's order", startd->name);
    } else if (draining_is_on(startd)) {
        end_drain(startd, request);
    } else {
        reply_result(request, "Up");
    }
}
