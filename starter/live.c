/* starter/live.c - standard output and error that go to the owner while the job runs (StreamOut,
 * StreamErr).
 *
 * The job writes to files of its sandbox, as any job does.  Here these files are followed: what is
 * new is sent with its offset.  What was not acknowledged before a lost connection is sent again.
 * The end of the streams is sent before any other output.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "starter/live.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os_below.h"
#include "base/text.h"
#include "classad/ad.h"
#include "starter/job_run.h"
#include "starter/starter.h"
#include "starter/starter_plan.h"
#include "wire/wire.h"

#define LOOK_MS     200
#define LIVE_BYTES  ((size_t)256 << 10)
#define FAILS_MAX   25 /* of its end, before the job is held */
#define HOLD_OUTPUT 12 /* HTCondor's */

static const char *const NAMES[] = {STARTER_STDOUT, STARTER_STDERR};

bool live_is(const struct starter *starter, const char *name)
{
    const struct ad *job = starter->run.job;
    for (size_t i = 0; i < 2; i++) {
        if (strcmp(name, NAMES[i]) == 0) {
            return job != NULL && ad_bool_or(job, i == 1 ? "StreamErr" : "StreamOut", false) &&
                   strcmp(ad_string_or(job, i == 1 ? "Err" : "Out", ""), name) == 0 &&
                   !text_equal_nocase(ad_string_or(job, "ShouldTransferFiles", "YES"), "NO");
        }
    }
    return false;
}

static void send_next(struct starter *starter);

static void note_failure(struct starter *starter, struct starter_live *live, const char *text,
                         int status)
{
    log_warn(starter->env.log, "live.not_sent", text, LOG_TEXT("job", starter->run.job_id));
    if (status == -ESTALE) {
        live->offset = 0;
    }
    if (starter->run.phase == STARTER_OUTPUT && ++live->fails >= FAILS_MAX) {
        char reason[ERR_TEXT_MAX + 80];
        (void)snprintf(reason, sizeof reason,
                       "Transfer output files failure at the access point. Details: %s", text);
        job_run_hold(starter, HOLD_OUTPUT, -status, reason);
    }
}

static void put_answered(void *arg, struct wire_reply *reply)
{
    struct starter *starter = arg;
    if (reply->status == -ECONNRESET) {
        return; /* live_cut() */
    }
    struct starter_live *live = &starter->run.live.streams[starter->run.live.at];
    starter->run.live.busy = false;
    if (reply->status != 0) {
        note_failure(starter, live, reply->text, reply->status);
        loop_timer_set(starter->timers[TIMER_LIVE], LOOK_MS);
        return;
    }
    live->fails = 0;
    live->offset += live->sent;
    live->over = live->ends;
    starter->run.bytes.sent += (int64_t)live->sent;
    send_next(starter);
}

/* Sends what is new of one stream.  False: there is nothing. */
static bool send_piece(struct starter *starter, size_t which)
{
    struct starter_live *live = &starter->run.live.streams[which];
    bool is_end = starter->run.phase == STARTER_OUTPUT;
    struct os_file *file = NULL;
    char *buffer = mem_alloc(LIVE_BYTES);
    ssize_t got = 0;
    if (os_below_open(starter->env.os, starter->run.sandbox, NAMES[which], OS_READ, 0, &file,
                      NULL) == 0) {
        got = os_file_read(file, live->offset, buffer, LIVE_BYTES);
        os_file_close(file);
    }
    got = got < 0 ? 0 : got;
    if (got == 0 && !is_end) {
        mem_free(buffer);
        return false;
    }
    struct ad *args = ad_create();
    ad_set_string(args, "Name", NAMES[which]);
    ad_set_bool(args, "Stream", true);
    ad_set_int(args, "Offset", (int64_t)live->offset);
    live->sent = (uint64_t)got;
    live->ends = is_end && got == 0;
    ad_set_bool(args, "Ends", live->ends);
    const struct wire_body body = {.args = args, .blob = buffer, .blob_length = (size_t)got};
    starter->run.live.at = which;
    starter->run.live.busy =
        wire_call(starter->shadow, VERB_FILE_PUT, &body, 0, put_answered, starter) > 0;
    ad_destroy(args);
    mem_free(buffer);
    return true;
}

static void send_next(struct starter *starter)
{
    if (starter->shadow == NULL || !wire_is_ready(starter->shadow) || starter->run.live.busy ||
        starter->run.phase < STARTER_RUN || starter->run.phase > STARTER_OUTPUT) {
        return;
    }
    bool left = false;
    for (size_t i = 0; i < 2; i++) {
        size_t which = (starter->run.live.at + 1 + i) % 2; /* in turn */
        if (!live_is(starter, NAMES[which]) || starter->run.live.streams[which].over) {
            continue;
        }
        left = true;
        if (send_piece(starter, which)) {
            return;
        }
    }
    if (left) {
        loop_timer_set(starter->timers[TIMER_LIVE], LOOK_MS);
    } else if (starter->run.phase == STARTER_OUTPUT) {
        job_run_wake(starter, WAKE_GO);
    }
}

void live_look(void *arg)
{
    send_next(arg);
}

void live_begin(struct starter *starter)
{
    if (live_is(starter, STARTER_STDOUT) || live_is(starter, STARTER_STDERR)) {
        loop_timer_set(starter->timers[TIMER_LIVE], LOOK_MS);
    }
}

bool live_is_over(const struct starter *starter)
{
    for (size_t i = 0; i < 2; i++) {
        if (live_is(starter, NAMES[i]) && !starter->run.live.streams[i].over) {
            return false;
        }
    }
    return true;
}

void live_cut(struct starter *starter)
{
    starter->run.live.busy = false;
    if (starter->run.phase == STARTER_RUN) {
        live_begin(starter);
    }
}

void live_forget(struct starter *starter)
{
    starter->run.live = (struct starter_streams){0};
    loop_timer_stop(starter->timers[TIMER_LIVE]);
}
