/* starter/starter.c - the process that runs one job at a time: its phases, its lease, its end.
 *
 * The job may run only as long as somebody is known to count on it.  The startd passes on the
 * renewals of the lease; when these stop, the job is ended here, even without a startd.  A jump of
 * the clock (a suspended machine, a restored virtual machine) freezes the job until the claim is
 * confirmed.  Whatever happens, the last thing done is to kill what is left of the job and to
 * remove its sandbox.
 *
 * File work is done on the loop thread: there is one job here, and nobody else waits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "starter/starter.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/err.h"
#include "base/knob.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/plant.h"
#include "base/secret_file.h"
#include "classad/ad.h"
#include "starter/job/cage.h"
#include "starter/ckpt/checkpoint.h"
#include "starter/ckpt/ckpt_send.h"
#include "starter/job/deferral.h"
#include "starter/files/fetch.h"
#include "starter/files/input.h"
#include "starter/job/job.h"
#include "starter/job/job_place.h"
#include "starter/job_run.h"
#include "starter/live.h"
#include "starter/job/nest.h"
#include "starter/files/output.h"
#include "starter/peek.h"
#include "starter/ckpt/resume.h"
#include "starter/job/scripts.h"
#include "starter/shadow_link.h"
#include "starter/shell.h"
#include "starter/startd_link.h"
#include "starter/starter_plan.h"
#include "starter/files/upload.h"
#include "starter/job/watch.h"
#include "wire/pool.h"
#include "wire/job_record.h"
#include "wire/wire.h"

/* So long a run whose lease ended while it stood still waits for word from its startd. */
#define WORD_MS 5000

void starter_give_up(struct starter *starter, const char *reason)
{
    job_run_give_up(starter, reason);
    starter_go(starter);
}

static uint64_t tick_ms(const struct starter *starter)
{
    return (uint64_t)starter->run.lease.length_s * 1000 / 6;
}

/* Freezes the job until the schedd has confirmed the claim, and asks for that. */
static void stand_still(struct starter *starter, uint64_t now_ms)
{
    starter->run.process.gap = starter->run.end.odd = true;
    starter->run.lease.gap_ms = now_ms;
    job_freeze(starter);
    startd_link_confirm(starter);
}

/* Notices that the machine stood still for longer than its claim may last: then the job may run
 * elsewhere already. */
static void look_at_clock(struct starter *starter)
{
    uint64_t now_ms = loop_now_ms(starter->env.loop);
    if (!starter->run.process.gap &&
        starter_plan_is_gap(starter->run.lease.last_tick_ms, now_ms, tick_ms(starter),
                            starter->run.lease.length_s)) {
        log_warn(starter->env.log, "starter.gap",
                 "the clock jumped, as if the machine had slept; the job is frozen until its claim "
                 "is renewed",
                 LOG_TEXT("job", starter->run.job_id),
                 LOG_INT("gap_ms", now_ms - starter->run.lease.last_tick_ms));
        starter->run.lease.last_tick_ms = now_ms; /* it is one gap, whoever saw it */
        stand_still(starter, now_ms);
    }
}

/* Takes the next step of the phase, if none is under way and the shadow can be reached. */
static void go_on(struct starter *starter)
{
    if (starter->run.busy) {
        return;
    }
    if (starter->run.phase < STARTER_CLEAN && starter->run.phase != STARTER_RUN &&
        (starter->shadow == NULL || !wire_is_ready(starter->shadow))) {
        return; /* the link's ready callback comes back here */
    }
    switch (starter->run.phase) {
    case STARTER_FETCH:
        input_fetch(starter);
        break;
    case STARTER_INPUT:
        input_next(starter);
        break;
    case STARTER_RUN:
        look_at_clock(starter); /* what else went on with the machine may be seen before a timer */
        if (starter->run.process.pid == 0 && !starter->run.process.suspended &&
            !starter->run.process.gap) {
            job_start(starter);
        } else if (starter->run.process.pid != 0) {
            job_tell_started(starter);
        }
        break;
    case STARTER_OUTPUT:
        output_next(starter);
        break;
    case STARTER_REPORT:
        output_report(starter);
        break;
    case STARTER_CLEAN:
        job_clean(starter);
        job_run_enter(starter, STARTER_TELL);
        if (!job_run_may_stay(starter)) {
            job_run_close_shadow(starter);
        }
        startd_link_tell(starter);
        break;
    case STARTER_TELL:
    case STARTER_IDLE:
    case STARTER_END:
        break;
    }
}

/* Does what the parts have asked for, and what they ask for meanwhile. */
static void wake_run(void *arg)
{
    struct starter *starter = arg;
    while (starter->run.wake != WAKE_NONE) {
        enum starter_wake due = starter->run.wake;
        starter->run.wake = WAKE_NONE;
        if (due == WAKE_OVER && starter->run.phase == STARTER_RUN) {
            job_over(starter);
        } else {
            go_on(starter);
        }
    }
    loop_timer_stop(starter->timers[TIMER_WAKE]);
}

void starter_go(struct starter *starter)
{
    if (starter->run.wake == WAKE_OVER) {
        go_on(starter);
    } else {
        starter->run.wake = WAKE_GO;
    }
    wake_run(starter);
}

static void watch_timer(void *arg)
{
    struct starter *starter = arg;
    enum watch_seen seen = watch_look(starter);
    if (seen == WATCH_TOLD) {
        scripts_tell(starter);
    }
    if (seen != WATCH_OVER) {
        shells_look(starter);
    }
}

static void ckpt_timer(void *arg)
{
    struct starter *starter = arg;
    if (starter->run.phase == STARTER_INPUT) {
        resume_tick(starter);
    } else {
        checkpoint_tick(starter);
    }
}

void starter_stop(struct starter *starter, bool fast)
{
    bool first = starter->run.stop.how == RUNS_ON;
    if (fast || first) {
        starter->run.stop.how = fast ? STOPS_AT_ONCE : STOPS_GENTLY;
    }
    starter->run.end.odd = true;
    if (starter->run.phase == STARTER_IDLE) {
        loop_stop(starter->env.loop, 0);
    } else if (starter->run.stop.how == STOPS_AT_ONCE && checkpoint_is_sent(starter)) {
        starter_give_up(starter, ""); /* its latest one counts */
    } else if (starter->run.phase == STARTER_RUN && starter->run.process.pid != 0) {
        job_stop(starter, starter->run.stop.how == STOPS_AT_ONCE); /* its exit goes on to give_up */
    } else if (starter->run.phase < STARTER_RUN || starter->run.stop.how == STOPS_AT_ONCE ||
               (starter->run.phase == STARTER_RUN &&
                starter->run.process.pid == 0)) { /* nothing runs yet */
        starter_give_up(starter, "");
    } else if (first && starter->run.phase <
                            STARTER_CLEAN) { /* the result is on its way: a little time for it */
        loop_timer_set(starter->timers[TIMER_KILL],
                       (uint64_t)config_duration_s(starter->env.config, "KILLING_TIMEOUT") * 1000);
    }
}

static void kill_timer(void *arg)
{
    struct starter *starter = arg;
    starter_stop(starter, true);
}

static void lease_timer(void *arg)
{
    struct starter *starter = arg;
    uint64_t now_ms = loop_now_ms(starter->env.loop);
    if (PLANTED(lease_check_skipped)) {
        return;
    }
    if (now_ms < starter->run.lease.end_ms) {
        loop_timer_set(starter->timers[TIMER_LEASE], starter->run.lease.end_ms - now_ms);
        return;
    }
    if (!starter->run.lease.late && starter->run.phase < STARTER_CLEAN &&
        starter_plan_is_late(starter->run.lease.end_ms, now_ms)) {
        log_warn(
            starter->env.log, "starter.late",
            "the lease ended while this process stood still; the job is frozen, and the startd "
            "is asked whether it has renewed the lease",
            LOG_TEXT("job", starter->run.job_id),
            LOG_INT("late_ms", now_ms - starter->run.lease.end_ms));
        starter->run.lease.late = true;
        starter->run.lease.last_tick_ms = now_ms;
        loop_timer_set(starter->timers[TIMER_LEASE], WORD_MS);
        stand_still(starter, now_ms);
        return;
    }
    starter_give_up(starter, "the claim's lease has expired");
}

static void clock_timer(void *arg)
{
    struct starter *starter = arg;
    look_at_clock(starter);
    starter->run.lease.last_tick_ms = loop_now_ms(starter->env.loop);
    loop_timer_set(starter->timers[TIMER_TICK], tick_ms(starter));
}

static int read_record(struct starter *starter, const char *directory, struct err *err)
{
    if (directory == NULL || directory[0] != '/') {
        return err_set(err, -EINVAL,
                       "roost-starter needs -dir with the absolute path of a job's directory");
    }
    starter->run.directory = mem_strdup(directory);
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/sandbox", directory);
    starter->run.sandbox = mem_strdup(path);
    (void)snprintf(path, sizeof path, "%s/job.record", directory);
    char *text;
    size_t length;
    int rc = os_read_file(starter->env.os, path, STARTER_RECORD_BYTES, &text, &length, err);
    if (rc != 0) {
        return rc;
    }
    rc = job_record_read(text, length, &starter->run.record, &starter->run.secrets, err);
    secret_wipe(text, length);
    mem_free(text);
    if (rc != 0) {
        return err_prefix(err, rc, "%s", path);
    }
    starter->run.claim_id =
        (struct wire_secret){SECRET_CLAIM_ID, SECRET_OF_ARGS,
                             secret_list_find(starter->run.secrets, SECRET_CLAIM_ID)};
    starter->run.nonce = (struct wire_secret){SECRET_NONCE, SECRET_OF_ARGS,
                                              secret_list_find(starter->run.secrets, SECRET_NONCE)};
    (void)snprintf(starter->run.job_id, sizeof starter->run.job_id, "%s",
                   ad_string_or(starter->run.record, "JobId", ""));
    starter->run.epoch = ad_int_or(starter->run.record, "ClaimEpoch", 0);
    starter->run.lease.length_s = ad_int_or(starter->run.record, "LeaseDuration", 0);
    int64_t end_ms = ad_int_or(starter->run.record, "LeaseEndMs", 0);
    if (starter->run.job_id[0] == '\0' || starter->run.lease.length_s < 1 || end_ms < 1) {
        return err_set(err, -EINVAL, "%s: JobId, LeaseDuration or LeaseEndMs is missing", path);
    }
    starter->run.lease.end_ms = (uint64_t)end_ms;
    return 0;
}

/* What a part of a run does when something has happened to all of it; NULL: nothing. */
struct part {
    void (*lose)(struct starter *starter);   /* the connection to the shadow is lost */
    void (*cut)(struct starter *starter);    /* it is made again: what was on its way is not */
    void (*forget)(struct starter *starter); /* the run is over */
};

/* In the order in which they are forgotten: parts that read the job's files, or run beside the job,
 * before its cage. */
static const struct part PARTS[] = {
    {.forget = job_run_close_file},
    {.forget = peek_close},
    {.lose = shells_hang_up, .forget = shells_close},
    {.forget = scripts_forget},
    {.cut = checkpoint_cut, .forget = checkpoint_forget},
    {.forget = resume_forget},
    {.forget = cage_close},
    {.forget = watch_forget},
    {.forget = job_run_forget_inputs},
    {.forget = fetch_forget},
    {.forget = upload_forget},
    {.cut = live_cut, .forget = live_forget},
    {.cut = output_cut, .forget = output_forget},
};

void starter_lose(struct starter *starter)
{
    for (size_t i = 0; i < ARRAY_COUNT(PARTS); i++) {
        if (PARTS[i].lose != NULL) {
            PARTS[i].lose(starter);
        }
    }
}

void starter_cut(struct starter *starter)
{
    for (size_t i = 0; i < ARRAY_COUNT(PARTS); i++) {
        if (PARTS[i].cut != NULL) {
            PARTS[i].cut(starter);
        }
    }
}

static void free_run(struct starter *starter)
{
    struct job_run *run = &starter->run;
    for (size_t i = 0; i < ARRAY_COUNT(PARTS); i++) {
        if (PARTS[i].forget != NULL) {
            PARTS[i].forget(starter);
        }
    }
    ad_destroy(run->record);
    secret_list_unref(run->secrets);
    ad_destroy(run->job);
    ad_destroy(run->end.hold);
    mem_free(run->directory);
    mem_free(run->sandbox);
}

/* Clears the run, so that nothing of it is left for the next one. */
static void starter_forget_run(struct starter *starter)
{
    for (size_t i = 0; i < TIMER_COUNT; i++) {
        loop_timer_stop(starter->timers[i]);
    }
    free_run(starter);
    starter->run = (struct job_run){0};
}

static void starter_destroy(void *state)
{
    struct starter *starter = state;
    job_run_close_shadow(starter);
    startd_link_close(starter);
    nest_remove(starter);
    free_run(starter);
    for (size_t i = 0; i < TIMER_COUNT; i++) {
        loop_timer_destroy(starter->timers[i]);
    }
    wire_context_destroy(starter->wires);
    mem_free(starter->shadow_place);
    mem_free(starter);
}

static void dial_timer(void *arg)
{
    shadow_link_dial(arg);
}

/* Begins the run; its record has been read. */
static void set_out(struct starter *starter)
{
    struct err err = {""};
    starter->runs++;
    lease_timer(starter);
    starter->run.lease.last_tick_ms = loop_now_ms(starter->env.loop);
    clock_timer(starter);
    int rc = job_place_prepare(starter, nest_has_sandbox(starter), &err);
    if (rc != 0) {
        job_run_give_up_for(starter, rc,
                            err.text[0] != '\0' ? err.text : "cannot create a sandbox");
        starter_go(starter);
    } else {
        shadow_link_dial(starter);
    }
}

int starter_begin(struct starter *starter, const char *directory, struct err *err)
{
    CHECK(starter->run.phase == STARTER_IDLE);
    starter->run.phase = STARTER_FETCH;
    starter->run.shadow_kept = starter->shadow != NULL;
    int rc = read_record(starter, directory, err);
    if (rc != 0) {
        return rc;
    }
    log_info(starter->env.log, "starter.next", "starting the claim's next job",
             LOG_TEXT("job", starter->run.job_id), LOG_INT("run", starter->runs + 1));
    set_out(starter);
    return 0;
}

void starter_rest(struct starter *starter)
{
    log_info(starter->env.log, "starter.idle", "waiting for the claim's next job",
             LOG_TEXT("after", starter->run.job_id), LOG_INT("runs", starter->runs));
    starter_forget_run(starter);
    starter->run.phase = STARTER_IDLE;
}

static const char *directory_argument(const struct starter *starter)
{
    const char *directory = NULL;
    for (int i = 0; i + 1 < starter->env.argc; i++) {
        if (strcmp(starter->env.argv[i], "-dir") == 0) {
            directory = starter->env.argv[i + 1];
        }
    }
    return directory;
}

static void again_timer(void *arg)
{
    struct starter *starter = arg;
    job_run_wake(starter, starter->run.again.wake);
}

static const loop_f TIMER_CALLS[TIMER_COUNT] = {
    [TIMER_WAKE] = wake_run,     [TIMER_DIAL] = dial_timer,        [TIMER_LEASE] = lease_timer,
    [TIMER_TICK] = clock_timer,  [TIMER_KILL] = kill_timer,        [TIMER_TOLD] = startd_link_end,
    [TIMER_BEGUN] = job_begun,   [TIMER_DEFERRAL] = deferral_tick, [TIMER_WATCH] = watch_timer,
    [TIMER_AGAIN] = again_timer, [TIMER_CKPT] = ckpt_timer,        [TIMER_LIVE] = live_look,
};

static int starter_start(const struct daemon_env *env, void **state, struct err *err)
{
    struct starter *starter = mem_zalloc(sizeof *starter);
    starter->env = *env;
    for (size_t i = 0; i < TIMER_COUNT; i++) {
        starter->timers[i] = loop_timer_create(env->loop, TIMER_CALLS[i], starter);
    }
    int rc = read_record(starter, directory_argument(starter), err);
    rc = rc != 0 ? rc : pool_client_context_create(env, &starter->wires, err);
    if (rc == 0) {
        os_become_subreaper(env->os);
        rc = startd_link_open(starter, err);
    }
    if (rc != 0) {
        starter_destroy(starter);
        return rc;
    }
    *state = starter;
    set_out(starter);
    return 0;
}

/* SIGTERM came: from a startd to which we are not connected, or because the machine shuts down. */
static void starter_told_to_stop(void *state)
{
    struct starter *starter = state;
    starter->run.stop.by_signal = true;
    starter_stop(starter, starter->run.stop.how != RUNS_ON);
}

static const struct knob_table *const TABLES[] = {&starter_knobs, &knobs_common};

const struct daemon starter_daemon = {
    .name = "starter",
    .tables = TABLES,
    .table_count = ARRAY_COUNT(TABLES),
    .gather_texts = true,
    .start = starter_start,
    .stop = starter_told_to_stop,
    .destroy = starter_destroy,
};
