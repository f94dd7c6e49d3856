/* schedd/requests/request_work.c - see request_work.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/requests/request_work.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/slices.h"
#include "classad/ad.h"
#include "classad/ad_limits.h"
#include "schedd/schedd_state.h"
#include "wire/wire.h"

#define TEXT_SHOWN 200 /* bytes of a constraint in a line of the log, or in an answer */

int request_constraint(const char *text, struct ad_expr **ret, struct err *err)
{
    size_t length = strlen(text);
    if (length > WORK_CONSTRAINT_MAX) {
        return err_set(err, -E2BIG, "Constraint is longer than %zu bytes", WORK_CONSTRAINT_MAX);
    }
    int result = ad_expr_parse(text, length, AD_OLD, ret, err);
    return result == 0 ? 0 : err_prefix(err, -EINVAL, "Constraint");
}

void request_work_init(struct request_work *work, struct schedd *schedd,
                       const struct wire_request *request, const char *constraint, loop_f slice,
                       void *arg)
{
    *work = (struct request_work){
        .schedd = schedd,
        .request = request,
        .constraint = constraint,
        .context = {.now_s = loop_wall_s(schedd->loop)},
    };
    work->context.work = &work->work;
    work->turn =
        slice_work_create(schedd->slices, wire_request_peer(request)->identity, slice, arg);
}

void request_work_fini(struct request_work *work)
{
    slice_work_destroy(work->turn);
    work->turn = NULL;
}

static bool is_used_up(const struct request_work *work)
{
    uint64_t most = work->schedd->settings.constraint_steps_max;
    return most != 0 && work->work.steps > most;
}

uint64_t request_work_left(const struct request_work *work)
{
    uint64_t most = work->schedd->settings.constraint_steps_max;
    return most == 0 ? UINT64_MAX : most > work->work.steps ? most - work->work.steps : 0;
}

void request_work_begin(struct request_work *work)
{
    work->slice_end = work->work.steps + AD_SLICE_STEPS;
}

bool request_work_goes_on(const struct request_work *work)
{
    return work->work.steps < work->slice_end && !is_used_up(work);
}

static void tell_log(const struct request_work *work, const char *event, const char *what)
{
    const struct wire_peer *peer = wire_request_peer(work->request);
    char text[TEXT_SHOWN + 1];
    (void)snprintf(text, sizeof(text), "%s", work->constraint); /* cut if long */
    log_warn(work->schedd->log, event, what, LOG_TEXT("identity", peer->identity),
             LOG_TEXT("peer", peer->address),
             LOG_TEXT("verb", wire_verb_name(wire_request_verb(work->request))),
             LOG_INT("steps", work->work.steps), LOG_INT("over_limit", work->work.over),
             LOG_TEXT("constraint", text));
}

int request_work_check(const struct request_work *work, struct err *err)
{
    if (!is_used_up(work)) {
        return 0;
    }
    tell_log(work, "request.too_costly", "a request took more work than MAX_CONSTRAINT_STEPS");
    return err_set(err, -EDQUOT,
                   "evaluating the constraint '%.*s' took more than %llu steps "
                   "(MAX_CONSTRAINT_STEPS); use a cheaper one, or name the jobs by their ids",
                   TEXT_SHOWN, work->constraint,
                   (unsigned long long)work->schedd->settings.constraint_steps_max);
}

int64_t request_work_end(const struct request_work *work)
{
    if (work->work.over > 0) {
        tell_log(work, "request.costly",
                 "evaluations of a constraint exceeded their limit and count as error");
    }
    return (int64_t)work->work.over;
}
