/* shadow/shadow_run.c - runs: their life, and which part answers which call of a starter.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/text.h"
#include "classad/ad.h"
#include "shadow/remote.h"
#include "shadow/shadow_state.h"
#include "shadow/transfer_plan.h"
#include "transfer/transfer_walk.h"
#include "wire/checkpoint_attrs.h"
#include "wire/wire.h"

#define TO(phase) (1U << (phase))
static const unsigned MOVES[RUN_PHASES] = {
    [RUN_OPEN] = TO(RUN_SYNCING) | TO(RUN_FINISHING) | TO(RUN_PLACING) | TO(RUN_OVER),
    [RUN_SYNCING] = TO(RUN_OPEN) | TO(RUN_REPORTING) | TO(RUN_OVER),
    [RUN_REPORTING] = TO(RUN_PLACING) | TO(RUN_OVER),
    [RUN_PLACING] = TO(RUN_FINISHING) | TO(RUN_OVER),
    [RUN_FINISHING] = TO(RUN_OVER),
    [RUN_OVER] = TO(RUN_OVER),
};

void run_move(struct run *run, enum run_phase phase)
{
    CHECK((MOVES[run->phase] & TO(phase)) != 0);
    run->phase = phase;
}

static char *stage_path(const char *above, const char *id, int64_t epoch, const char *suffix)
{
    struct strbuf path;
    strbuf_init(&path, 0);
    strbuf_printf(&path, "%s/%s.%" PRId64 "%s", above, id, epoch, suffix);
    return strbuf_take(&path);
}

/* Expressions are shared by count, and a count belongs to one thread. */
struct ad *ad_for_lane(const struct ad *ad)
{
    struct strbuf bytes;
    struct ad *copy = NULL;
    strbuf_init(&bytes, 0);
    ad_encode(ad, false, &bytes);
    CHECK(!bytes.failed); /* it came in one frame */
    int result = ad_decode(bytes.data, bytes.length, NULL, &copy, NULL);
    CHECK(result == 0);
    strbuf_fini(&bytes);
    return copy;
}

/* Always the same one for a job: what an earlier run of it still does there comes first. */
struct loop_lane *run_lane(const struct shadow *shadow, const char *id)
{
    uint32_t hash = 2166136261U; /* FNV-1a */
    for (; *id != '\0'; id++) {
        hash = (hash ^ (unsigned char)*id) * 16777619U;
    }
    return shadow->lanes[hash % shadow->lane_count];
}

struct run *run_create(struct shadow *shadow, const char *id, int64_t epoch, const char *nonce,
                       const struct ad *job)
{
    struct run *run = mem_zalloc(sizeof(*run));
    run->shadow = shadow;
    (void)snprintf(run->id, sizeof(run->id), "%s", id);          /* checked by the caller */
    (void)snprintf(run->nonce, sizeof(run->nonce), "%s", nonce); /* a malformed one fits nobody */
    run->epoch = epoch;
    run->job = ad_copy(job);
    run->lane_job = ad_for_lane(job);
    run->lane = run_lane(shadow, id);
    run->part = stage_path(shadow->stages, id, epoch, ".part");
    run->stage = stage_path(shadow->stages, id, epoch, "");
    run->spool = stage_path(shadow->spools, id, epoch, "");
    int64_t spooled = ad_int_or(job, "SpooledEpoch", 0);
    run->spooled = spooled > 0 ? stage_path(shadow->spools, id, spooled, "") : NULL;
    run->ckpt_latest = ad_int_or(job, CKPT_SEQUENCE, 0);
    run->ckpt_previous = ad_int_or(job, CKPT_PREVIOUS, 0);
    run->files = strmap_create(STRMAP_CASE_SENSITIVE);
    run->output_bytes_max = transfer_plan_limit(job, "MaxTransferOutputMB", shadow->output_mb_max);
    CHECK(strmap_set(shadow->runs, id, run) == NULL);
    return run;
}

struct run *run_find(const struct shadow *shadow, const char *id, int64_t epoch)
{
    struct run *run = strmap_get(shadow->runs, id);
    return run != NULL && run->epoch == epoch ? run : NULL;
}

void run_answer_done(struct run *run, int status, const char *text)
{
    struct vec waiting = run->waiting;
    run->waiting = (struct vec){0};
    for (size_t i = 0; i < waiting.count; i++) {
        if (status == 0) {
            wire_reply_ok(waiting.items[i], NULL);
        } else {
            wire_reply_error(waiting.items[i], status, "%s", text);
        }
    }
    vec_fini(&waiting, NULL);
}

static void run_destroy(struct run *run)
{
    remotes_close(run);
    stage_forget_files(run);
    live_close(run);
    strmap_destroy(run->files, NULL);
    vec_fini(&run->inputs, transfer_entry_destroy);
    run_answer_done(run, -ESHUTDOWN, "the shadow ends"); /* to nobody: the links are closed */
    ad_destroy(run->job);
    ad_destroy(run->lane_job);
    mem_free(run->part);
    mem_free(run->made);
    mem_free(run->stage);
    mem_free(run->spool);
    mem_free(run->spooled);
    mem_free(run);
}

void run_use(struct run *run)
{
    run->uses++;
}

void run_unuse(struct run *run)
{
    CHECK(run->uses > 0);
    run->uses--;
    if (run->uses == 0 && run->dropped) {
        run_destroy(run);
    }
}

static int remove_stage(struct work *work)
{
    struct run *run = work->run;
    int result = os_remove_tree(run->shadow->os, run->part, &work->err);
    if (result == 0 && run->is_spent && run->spooled != NULL) {
        result = os_remove_tree(run->shadow->os, run->spooled, &work->err);
    }
    return result == 0 ? os_remove_tree(run->shadow->os, run->stage, &work->err) : result;
}

static void stage_removed(struct work *work, int result)
{
    if (result != 0 && result != -ESHUTDOWN) {
        log_warn(work->run->shadow->log, "stage.not_removed", work->err.text,
                 LOG_TEXT("job", work->run->id));
    }
}

void run_drop(struct run *run, bool remove)
{
    if (run->dropped) {
        return;
    }
    struct shadow *shadow = run->shadow;
    run_use(run);
    run->dropped = true;
    run_move(run, RUN_OVER);
    CHECK(strmap_remove(shadow->runs, run->id) == run);
    run_answer_done(run, -ESTALE, "this run does not count any more");
    remotes_close(run);
    turn_give_back(run, false);
    turn_give_back(run, true);
    if (run->link != NULL) {
        link_let_go(run->link);
    }
    if (remove) {
        work_start(run, NULL, remove_stage, stage_removed, NULL);
    }
    run_unuse(run);
}

/* ---- works -------------------------------------------------------------------------------------
 */

static int work_body(void *arg)
{
    struct work *work = arg;
    return work->body(work);
}

static void work_done(void *arg, int result)
{
    struct work *work = arg;
    struct run *run = work->run;
    struct vec *works = &run->shadow->works;
    for (size_t i = 0; i < works->count; i++) {
        if (works->items[i] == work) {
            vec_remove_at(works, i);
            break;
        }
    }
    work->done(work, result);
    mem_free(work);
    run_unuse(run);
}

void work_start(struct run *run, struct wire_request *request, int (*body)(struct work *work),
                void (*done)(struct work *work, int result), void *arg)
{
    struct work *work = mem_zalloc(sizeof(*work));
    work->run = run;
    work->request = request;
    work->body = body;
    work->done = done;
    work->arg = arg;
    run_use(run);
    vec_push(&run->shadow->works, work);
    loop_lane_run(run->lane, work_body, work_done, work);
}

void runs_end(struct shadow *shadow)
{
    struct vec runs = {0};
    size_t at = 0;
    void *value = NULL;
    while (strmap_next(shadow->runs, &at, NULL, &value)) {
        vec_push(&runs, value);
    }
    strmap_destroy(shadow->runs, NULL);
    shadow->runs = strmap_create(STRMAP_CASE_SENSITIVE);
    for (size_t i = 0; i < runs.count; i++) {
        struct run *run = runs.items[i];
        run->dropped = true; /* the callbacks below only let go */
        turns_forget(run);
        if (run->uses == 0) {
            run_destroy(run);
        }
    }
    vec_fini(&runs, NULL);
    while (shadow->works.count > 0) {
        work_done(shadow->works.items[0], -ESHUTDOWN);
    }
    vec_fini(&shadow->works, NULL);
    feeds_end(shadow);
    reports_end(shadow);
    stages_end(shadow);
    strmap_destroy(shadow->runs, NULL);
}

/* ---- calls of the starter ----------------------------------------------------------------------
 */

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

void run_note_transfers(const struct run *run, struct ad *args)
{
    if (!transfer_plan_is_wanted(run->job)) {
        return;
    }
    int64_t now_ms = loop_wall_ms(run->shadow->loop);
    if (run->input_began_ms > 0) {
        ad_set_int(args, "InputStarted", run->input_began_ms);
        ad_set_int(args, "InputFinished", run->input_ended_ms);
    }
    if (run->phase != RUN_OPEN) {
        ad_set_int(args, "OutputStarted", run->output_began_ms > 0 ? run->output_began_ms : now_ms);
        ad_set_int(args, "OutputFinished", now_ms);
    }
}

/* When the starter asked for its input and sent its output, as seen from here. */
static void note_times(struct run *run, enum wire_verb verb)
{
    int64_t now_ms = loop_wall_ms(run->shadow->loop);
    if (verb == VERB_JOB_FETCH && run->input_began_ms == 0) {
        run->input_began_ms = now_ms;
    }
    if (verb == VERB_JOB_FETCH || verb == VERB_FILE_GET) {
        run->input_ended_ms = now_ms;
    }
    if (verb == VERB_FILE_PUT && run->output_began_ms == 0) {
        run->output_began_ms = now_ms;
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
    stage_done(run, request);
}

void run_handle(struct run *run, struct wire_request *request)
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
        wire_reply_error(request, -ESTALE, "JOB_DONE came before");
        return;
    }
    switch (verb) {
    case VERB_JOB_FETCH:
        feed_fetch(run, request);
        break;
    case VERB_FILE_GET:
        if (turn_is_there(run, false, run->input_bytes, request)) {
            feed_get(run, request);
        }
        break;
    case VERB_FILE_PUT:
        if (turn_is_there(run, true, ad_int_or(wire_request_args(request), "Total", 0), request)) {
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
        wire_reply_error(request, -ENOSYS, "a shadow does not answer %s", wire_verb_name(verb));
        break;
    }
}
