/* shadow/turns.c - see turns.h.  The schedd limits how many turns are taken at once.
 *
 * Only large transfers wait: a few small files are sent before the schedd could answer.  Requests
 * of the starter that come before the run's turn are kept and handled then.  A turn is a call to
 * the schedd that stays open (TRANSFER_TURN); cancelling the call gives the turn back.  While the
 * schedd is away, transfers that have begun go on, and the others ask when it is back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "shadow/turns.h"

#include <errno.h>

#include "base/loop.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "shadow/run/shadow_run.h"
#include "shadow/shadow_state.h"
#include "wire/wire.h"

#define LARGE_BYTES ((int64_t)1 << 20)
#define PROGRESS_MS 2000

static struct run_turn *turn_of(struct run *run, bool output)
{
    return &run->turns[output ? 1 : 0];
}

static void refuse_request(struct wire_request *request)
{
    wire_reply_error(request, -ESTALE, "this run of the job has been replaced or has ended");
}

/* Handles the requests that were kept, after the schedd has given the turn. */
static void let_go_on(struct run_turn *turn)
{
    struct run *run = turn->run;
    struct vec parked = turn->parked;
    turn->parked = (struct vec){0};
    for (size_t i = 0; i < parked.count; i++) {
        struct wire_request *request = parked.items[i];
        if (run->dropped || wire_request_wire(request) == NULL) { /* or to nobody */
            refuse_request(request);
        } else {
            turn->go_on(run, request);
        }
    }
    vec_fini(&parked, NULL);
}

static void refuse_parked(struct run_turn *turn)
{
    struct vec parked = turn->parked;
    turn->parked = (struct vec){0};
    for (size_t i = 0; i < parked.count; i++) {
        refuse_request(parked.items[i]);
    }
    vec_fini(&parked, NULL);
}

/* The schedd has answered the call for a turn.  The call keeps the run until it is cancelled here
 * or ends with the connection. */
static void turn_answered(void *arg, struct wire_reply *reply)
{
    struct run_turn *turn = arg;
    struct run *run = turn->run;
    if (!reply->more) {
        turn->call = 0;
    }
    if (reply->status == -ECONNRESET || reply->status == -ESHUTDOWN) {
        turn->is_wanted = !turn->has_begun && !turn->is_over; /* turns_ask_again() */
    } else if (!turn->is_over) {
        turn->has_begun = true; /* a refusal, too: other answers of the schedd decide on the run */
        let_go_on(turn);
    }
    if (!reply->more) {
        run_unuse(run);
    }
}

static void ask_turn(struct run_turn *turn)
{
    struct run *run = turn->run;
    struct shadow *shadow = run->shadow;
    struct wire *wire = shadow->greeted ? uplink_wire(shadow->uplink) : NULL;
    turn->is_wanted = true;
    if (wire == NULL) {
        return;
    }
    struct ad *args = ad_create();
    ad_set_string(args, "JobId", run->id);
    ad_set_int(args, "ClaimEpoch", run->epoch);
    ad_set_bool(args, "Output", turn == &run->turns[1]);
    const struct wire_body body = {.args = args};
    turn->call = wire_call(wire, VERB_TRANSFER_TURN, &body, WIRE_NO_DEADLINE, turn_answered, turn);
    ad_destroy(args);
    if (turn->call > 0) {
        turn->wire = wire;
        turn->is_wanted = false;
        run_use(run);
    } else {
        turn->call = 0;
    }
}

bool turn_is_there(struct run *run, bool output, int64_t bytes, struct wire_request *request,
                   turn_f go_on)
{
    struct run_turn *turn = turn_of(run, output);
    turn->run = run;
    turn->go_on = go_on;
    if (turn->has_begun || bytes < LARGE_BYTES) {
        return true;
    }
    turn->is_over = false;
    vec_push(&turn->parked, request);
    if (turn->call == 0) {
        ask_turn(turn);
    }
    return false;
}

void turn_give_back(struct run *run, bool output)
{
    struct run_turn *turn = turn_of(run, output);
    struct shadow *shadow = run->shadow;
    turn->is_over = true;
    turn->has_begun = turn->is_wanted = false;
    refuse_parked(turn);
    if (turn->call > 0 && shadow->uplink != NULL && uplink_wire(shadow->uplink) == turn->wire) {
        wire_cancel(turn->wire, turn->call);
        turn->call = 0;
        run_unuse(run);
    } /* else that connection is gone, and turn_answered() comes */
}

void turns_forget(struct run *run)
{
    for (size_t i = 0; i < 2; i++) {
        struct run_turn *turn = &run->turns[i];
        for (size_t k = 0; k < turn->parked.count; k++) {
            wire_reply_error(turn->parked.items[k], -ESHUTDOWN, "the shadow is stopping");
        }
        vec_fini(&turn->parked, NULL);
        if (turn->call > 0) {
            turn->call = 0;
            run->uses--;
        }
    }
}

static void ignore_answer(void *arg, struct wire_reply *reply)
{
    (void)arg;
    (void)reply; /* the next figure is newer */
}

void turn_progress(struct run *run, bool output, int64_t bytes, int64_t total)
{
    struct run_turn *turn = turn_of(run, output);
    struct shadow *shadow = run->shadow;
    uint64_t now_ms = loop_now_ms(shadow->loop);
    struct wire *wire = shadow->greeted ? uplink_wire(shadow->uplink) : NULL;
    turn->bytes += bytes;
    if (!turn->has_begun || wire == NULL || now_ms < turn->told_ms + PROGRESS_MS) {
        return;
    }
    turn->told_ms = now_ms;
    struct ad *args = ad_create();
    ad_set_string(args, "Event", "Usage");
    ad_set_string(args, "JobId", run->id);
    ad_set_int(args, "ClaimEpoch", run->epoch);
    ad_set_int(args, "TransferDoneBytes", turn->bytes);
    ad_set_int(args, "TransferTotalBytes", total);
    const struct wire_body body = {.args = args};
    (void)wire_call(wire, VERB_JOB_STATUS, &body, 0, ignore_answer, NULL);
    ad_destroy(args);
}

void turns_ask_again(struct shadow *shadow)
{
    size_t at = 0;
    void *value = NULL;
    while (strmap_next(shadow->runs, &at, NULL, &value)) {
        struct run *run = value;
        for (size_t i = 0; i < 2; i++) {
            if (run->turns[i].is_wanted && run->turns[i].call == 0) {
                ask_turn(&run->turns[i]);
            }
        }
    }
}
