/* shadow/run/shadow_run.c - see shadow_run.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "shadow/run/shadow_run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "shadow/lanes.h"
#include "shadow/remote.h"
#include "shadow/shadow_state.h"
#include "shadow/stage/stage_files.h"
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

struct run *run_create(struct shadow *shadow, const char *id, int64_t epoch, const char *nonce,
                       const struct ad *job)
{
    struct run *run = mem_zalloc(sizeof(*run));
    run->shadow = shadow;
    (void)snprintf(run->id, sizeof(run->id), "%s", id);          /* checked by the caller */
    (void)snprintf(run->nonce, sizeof(run->nonce), "%s", nonce); /* a malformed one fits nobody */
    run->epoch = epoch;
    run->job = ad_copy(job);
    run->lane_job = lanes_copy_ad(job);
    run->lane = lanes_of(shadow, id);
    run->part = stage_path(shadow->stages, id, epoch, ".part");
    run->stage = stage_path(shadow->stages, id, epoch, "");
    run->spool = stage_path(shadow->spools, id, epoch, "");
    int64_t spooled = ad_int_or(job, "SpooledEpoch", 0);
    run->spooled = spooled > 0 ? stage_path(shadow->spools, id, spooled, "") : NULL;
    run->ckpt.latest = ad_int_or(job, CKPT_SEQUENCE, 0);
    run->ckpt.previous = ad_int_or(job, CKPT_PREVIOUS, 0);
    stage_files_init(&run->files,
                     transfer_plan_limit(job, "MaxTransferOutputMB", shadow->output_mb_max));
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
    stage_files_fini(&run->files);
    for (size_t i = 0; i < ARRAY_COUNT(run->live); i++) {
        os_file_close(run->live[i]);
    }
    loop_timer_destroy(run->placing.timer);
    vec_fini(&run->inputs, transfer_entry_destroy);
    run_answer_done(run, -ESHUTDOWN,
                    "the shadow is stopping"); /* to nobody: the links are closed */
    ad_destroy(run->job);
    ad_destroy(run->lane_job);
    mem_free(run->part);
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

void run_note_transfers(const struct run *run, struct ad *args)
{
    if (!transfer_plan_is_wanted(run->job)) {
        return;
    }
    int64_t wall_ms = loop_wall_ms(run->shadow->loop);
    if (run->times.input_began_ms > 0) {
        ad_set_int(args, "InputStarted", run->times.input_began_ms);
        ad_set_int(args, "InputFinished", run->times.input_ended_ms);
    }
    if (run->phase != RUN_OPEN) {
        ad_set_int(args, "OutputStarted",
                   run->times.output_began_ms > 0 ? run->times.output_began_ms : wall_ms);
        ad_set_int(args, "OutputFinished", wall_ms);
    }
}
