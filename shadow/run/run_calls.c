/* shadow/run/run_calls.c - see run_calls.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "shadow/run/run_calls.h"

#include <errno.h>

#include "base/loop.h"
#include "classad/ad.h"
#include "shadow/ckpt/checkpoint.h"
#include "shadow/feed.h"
#include "shadow/link.h"
#include "shadow/remote.h"
#include "shadow/report.h"
#include "shadow/run/run_drop.h"
#include "shadow/run/shadow_run.h"
#include "shadow/shadow_state.h"
#include "shadow/stage/stage.h"
#include "shadow/stage/stage_done.h"
#include "shadow/turns.h"
#include "wire/wire.h"

static void started_answered(struct run *run, void *arg, int status, const char *text,
                             const struct ad *answer)
{
    (void)run;
    (void)answer;
    if (status == 0) {
        wire_reply_ok(arg, NULL);
    } else {
        wire_reply_error(arg, status, "%s", text);
    }
}

/* Notes when the starter asked for its input and sent its output, by the clock of this host. */
static void note_times(struct run *run, enum wire_verb verb)
{
    int64_t wall_ms = loop_wall_ms(run->shadow->loop);
    if (verb == VERB_JOB_FETCH && run->times.input_began_ms == 0) {
        run->times.input_began_ms = wall_ms;
    }
    if (verb == VERB_JOB_FETCH || verb == VERB_FILE_GET) {
        run->times.input_ended_ms = wall_ms;
    }
    if (verb == VERB_FILE_PUT && run->times.output_began_ms == 0) {
        run->times.output_began_ms = wall_ms;
    }
}

static void handle_started(struct run *run, struct wire_request *request)
{
    struct ad *args = ad_copy(wire_request_args(request));
    ad_set_string(args, "Event", "Started");
    run_note_transfers(run, args);
    report_send(run->shadow, run, VERB_JOB_STATUS, args, started_answered, request);
}

static void ignore_answer(void *arg, struct wire_reply *reply)
{
    (void)arg;
    (void)reply; /* the next usage is newer */
}

static void handle_usage(struct run *run, struct wire_request *request)
{
    struct wire *wire = run->shadow->greeted ? uplink_wire(run->shadow->uplink) : NULL;
    if (wire != NULL) {
        struct ad *args = ad_copy(wire_request_args(request));
        ad_set_string(args, "Event", "Usage");
        ad_set_string(args, "JobId", run->id);
        ad_set_int(args, "ClaimEpoch", run->epoch);
        const struct wire_body body = {.args = args};
        (void)wire_call(wire, VERB_JOB_STATUS, &body, 0, ignore_answer, NULL);
        ad_destroy(args);
    }
    wire_reply_ok(request, NULL);
}

static void held_answered(struct run *run, void *arg, int status, const char *text,
                          const struct ad *answer)
{
    (void)arg;
    (void)answer;
    run_answer_done(run, status, text);
    run_drop(run, true);
}

static void handle_done(struct run *run, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    /* With files it has run, and the hold is part of its result. */
    if (run->phase == RUN_OPEN && ad_int_or(args, "HoldReasonCode", 0) > 0 &&
        !ad_has(args, "Files")) {
        vec_push(&run->waiting, request);
        run_move(run, RUN_FINISHING);
        report_hold(run, (int)ad_int_or(args, "HoldReasonCode", 0),
                    (int)ad_int_or(args, "HoldReasonSubCode", 0),
                    ad_string_or(args, "HoldReason", "the starter could not start the job"),
                    held_answered, NULL);
        return;
    }
    stage_done_handle(run, request);
}

void run_calls_handle(struct run *run, struct wire_request *request)
{
    enum wire_verb verb = wire_request_verb(request);
    note_times(run, verb);
    if (verb == VERB_FILE_PUT || verb == VERB_JOB_DONE) {
        turn_give_back(run, false); /* of so short a job no start is told */
    }
    if (verb == VERB_JOB_DONE) {
        remotes_close(run); /* nothing of the job runs any more */
        turn_give_back(run, true);
        if (run->link != NULL) {
            link_stays(run->link, ad_bool_or(wire_request_args(request), "MayStay", false));
        }
        handle_done(run, request);
        return;
    }
    if (run->phase != RUN_OPEN) {
        wire_reply_error(request, -ESTALE, "JOB_DONE was sent before");
        return;
    }
    switch (verb) {
    case VERB_JOB_FETCH:
        feed_fetch(run, request);
        break;
    case VERB_FILE_GET:
        if (turn_is_there(run, false, run->input_bytes, request, run_calls_handle)) {
            feed_get(run, request);
        }
        break;
    case VERB_FILE_PUT:
        if (turn_is_there(run, true, ad_int_or(wire_request_args(request), "Total", 0), request,
                          run_calls_handle)) {
            stage_put(run, request);
        }
        break;
    case VERB_JOB_STARTED:
        turn_give_back(run, false);
        handle_started(run, request);
        break;
    case VERB_CKPT_PUT:
    case VERB_CKPT_DONE:
    case VERB_CKPT_LOOK:
    case VERB_CKPT_GET:
    case VERB_CKPT_REFUSED:
        checkpoint_handle(run, request);
        break;
    case VERB_JOB_USAGE:
        handle_usage(run, request);
        break;
    case VERB_PING:
        wire_reply_ok(request, NULL);
        break;
    default:
        wire_reply_error(request, -ENOSYS, "a shadow does not support %s", wire_verb_name(verb));
        break;
    }
}
