/* starter/ckpt/checkpoint.c - checkpoints of the running job: when one is taken, and what becomes
 * of it.
 *
 * roost-ckpt makes an image of the job and an archive of its files while the job stands still
 * (ckpt_take.c).  Both are sent to the shadow under a rate limit (ckpt_send.c).  A checkpoint
 * counts when the schedd has committed it.  Where possible the image holds only what changed since
 * the last one; a shadow that has lost that one (-ENODATA) gets a whole image at once.
 *
 * There is one checkpoint at a time.  When the job is told to stop, a last one is taken, which ends
 * the job.  If the time allowed is shorter than the last one took, the job is killed at once:
 * whoever wants the machine back must not wait.
 *
 * A failure never harms the job: it continues, and the next checkpoint is tried when it is due.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "starter/ckpt/checkpoint.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os_below.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "classad/ad.h"
#include "classad/ad_eval.h"
#include "classad/ad_parse.h"
#include "starter/job/cage.h"
#include "starter/job/cage_plan.h"
#include "starter/ckpt/checkpoint_plan.h"
#include "starter/ckpt/ckpt_send.h"
#include "starter/ckpt/ckpt_take.h"
#include "starter/job_run.h"
#include "starter/starter.h"
#include "wire/checkpoint_attrs.h"
#include "wire/wire.h"

#define LOOK_MS      1000        /* whether it is time */
#define FOLLOW_MS    100         /* of the run: it is followed from then on */
#define SPARE_KIB    (64 * 1024) /* that a dump leaves of the disk */
#define RUN_AGAIN_MS 100         /* for who asked meanwhile */
#define LOSSES_MAX   3           /* after these images are whole: that host cannot merge them */
#define TRIES_MAX    5           /* of a dump that is refused: it may be so for a moment only */
#define TRY_AGAIN_MS 50

static bool job_runs(const struct starter *starter)
{
    return starter->run.phase == STARTER_RUN && starter->run.process.pid > 0 &&
           starter->run.script == SCRIPT_JOB;
}

/* ---- may it be? ------------------------------------------------------------------------------ */

static const char *why_not(const struct starter *starter)
{
    const struct config *config = starter->env.config;
    const struct ad *slot = job_run_slot(starter);
    size_t count = 0;
    const char *const *scratch = config_list(config, "MOUNT_UNDER_SCRATCH", &count);
    if (slot == NULL || !ad_bool_or(slot, CKPT_HAS, false)) {
        return "this machine cannot take checkpoints (its ad has no HasCheckpointing)";
    }
    if (strcmp(config_string(config, "JOB_NAMESPACES"), "none") == 0) {
        return "JOB_NAMESPACES is none";
    }
    if (strcmp(config_string(config, "JOB_SECCOMP"), "strict") == 0) {
        return "JOB_SECCOMP is strict";
    }
    if (job_run_is_wrapped(starter)) {
        return "this machine cannot mount the job's files, so the job's file calls are wrapped, "
               "which excludes checkpoints";
    }
    if (!job_run_is_remote(starter) &&
        text_equal_nocase(ad_string_or(starter->run.job, "ShouldTransferFiles", "YES"), "NO")) {
        return "the job transfers no files (should_transfer_files = NO)";
    }
    if (!cage_plan_home_fits(starter->run.job, scratch, count,
                             config_path(config, "CHECKPOINT_SANDBOX"))) {
        return "CHECKPOINT_SANDBOX is not below a directory of MOUNT_UNDER_SCRATCH, or the job "
               "names files "
               "there";
    }
    return NULL;
}

void checkpoint_decide(struct starter *starter)
{
    struct starter_ckpt *ckpt = &starter->run.ckpt;
    if (!ad_bool_or(starter->run.job, CKPT_WANTED, false)) {
        return;
    }
    const char *why = why_not(starter);
    ckpt->wanted = why == NULL;
    ckpt->kept.sequence = ad_int_or(starter->run.job, CKPT_SEQUENCE, 0);
    ckpt->kept.has_one = ckpt->kept.sequence > 0;
    if (why != NULL) {
        log_warn(starter->env.log, "checkpoint.none", why, LOG_TEXT("job", starter->run.job_id));
        (void)snprintf(ckpt->why_not, sizeof ckpt->why_not, "%s", why);
    }
}

/* ---- the end of one -------------------------------------------------------------------------- */

static void take_one(struct starter *starter);

/* Answers the first `count` waiting requests; the others wait for the next checkpoint. */
static void answer_waiting(struct starter *starter, size_t count, int status, const char *text)
{
    struct starter_ckpt *ckpt = &starter->run.ckpt;
    struct vec waiting = ckpt->waiting;
    ckpt->waiting = (struct vec){0};
    for (size_t i = 0; i < waiting.count; i++) {
        if (i >= count) {
            vec_push(&ckpt->waiting, waiting.items[i]);
            continue;
        }
        if (status != 0) {
            wire_reply_error(waiting.items[i], status, "%s", text);
            continue;
        }
        struct ad *args = ad_create();
        ad_set_int(args, CKPT_SEQUENCE, ckpt->kept.sequence);
        ad_set_real(args, CKPT_SECONDS, (double)ckpt->in_hand.took_ms / 1000);
        const struct wire_body body = {.args = args};
        wire_reply_ok(waiting.items[i], &body);
        ad_destroy(args);
    }
    vec_fini(&waiting, NULL);
}

static void remove_files(struct starter *starter)
{
    struct starter_ckpt *ckpt = &starter->run.ckpt;
    for (size_t i = 0; i < 2; i++) {
        if (ckpt->in_hand.files[i][0] != '\0') {
            (void)os_below_remove(starter->env.os, starter->run.directory, ckpt->in_hand.files[i],
                                  NULL); /* it goes with the directory */
        }
    }
    os_file_close(ckpt->send.file);
    digest_destroy(ckpt->send.digest);
    ad_destroy(ckpt->in_hand.manifest);
    ckpt->send.file = NULL;
    ckpt->send.digest = NULL;
    ckpt->in_hand.manifest = NULL;
}

static uint64_t time_left_ms(const struct starter *starter)
{
    uint64_t now_ms = loop_now_ms(starter->env.loop);
    return starter->run.ckpt.end.stop_by_ms > now_ms ? starter->run.ckpt.end.stop_by_ms - now_ms
                                                     : 0;
}

/* Returns whether the next image can hold only what changed. */
static bool is_followed(const struct starter *starter)
{
    const struct starter_ckpt *ckpt = &starter->run.ckpt;
    return ckpt->follower > 0 && ckpt->kept.id[0] != '\0';
}

/* Returns whether there is time for another checkpoint: a little more than the last one of its kind
 * took. */
static bool has_time(const struct starter *starter)
{
    uint64_t takes_ms =
        checkpoint_plan_takes_ms(&starter->run.ckpt.clock.costs, is_followed(starter));
    return time_left_ms(starter) > takes_ms + takes_ms / 4;
}

/* No checkpoint is in hand any more. kept: the last one was committed.  Decides what comes next. */
static void become_idle(struct starter *starter, bool kept)
{
    struct starter_ckpt *ckpt = &starter->run.ckpt;
    remove_files(starter);
    ckpt->step = CKPT_IDLE;
    ckpt->clock.next_ms =
        loop_now_ms(starter->env.loop) +
        checkpoint_plan_interval_ms(&ckpt->clock.costs, is_followed(starter),
                                    (uint64_t)config_duration_ms(starter->env.config,
                                                                 "CHECKPOINT_INTERVAL_MIN"),
                                    (uint64_t)config_duration_ms(starter->env.config,
                                                                 "CHECKPOINT_INTERVAL_MAX"));
    if (!ckpt->end.ends_run) {
        bool again = ckpt->waiting.count > 0 || ckpt->kept.is_lost;
        loop_timer_set(starter->timers[TIMER_CKPT], again ? RUN_AGAIN_MS : LOOK_MS);
        return;
    }
    if (ckpt->end.job_ended) {
        job_run_give_up(starter, "");
    } else if (kept && ckpt->end.once_more && has_time(starter)) {
        ckpt->end.once_more = false;
        take_one(starter);
    } else {
        cage_kill(starter); /* job_ended() goes on */
    }
}

void checkpoint_abandon(struct starter *starter, int status, const char *why)
{
    struct starter_ckpt *ckpt = &starter->run.ckpt;
    log_warn(starter->env.log, "checkpoint.failed", why, LOG_TEXT("job", starter->run.job_id),
             LOG_INT("sequence", ckpt->in_hand.number), LOG_INT("status", status));
    ckpt->kept.is_lost = status == -ENODATA && !ckpt->end.ends_run && !ckpt->end.job_ended;
    if (status == -ENODATA) {
        ckpt->kept.id[0] = '\0'; /* a whole one, at once */
        ckpt_take_note_sent(starter, false);
        ckpt->kept.losses++;
    }
    if (!ckpt->kept.is_lost) {
        answer_waiting(starter, ckpt->in_hand.asking, status, why);
    }
    become_idle(starter, false);
}

static void ignore_answer(void *arg, struct wire_reply *reply)
{
    (void)arg;
    (void)reply; /* the next one is newer */
}

void checkpoint_tell_startd(struct starter *starter)
{
    struct wire *wire = uplink_wire(starter->startd);
    const struct starter_ckpt *ckpt = &starter->run.ckpt;
    if (wire == NULL || ckpt->kept.taken_s == 0) {
        return;
    }
    struct ad *args = job_run_startd_who(starter);
    ad_set_int(args, CKPT_SLOT_LAST, ckpt->kept.taken_s);
    ad_set_int(args, CKPT_RUN_SECONDS, ckpt->kept.run_s);
    ad_set_real(args, CKPT_SECONDS, (double)ckpt->in_hand.took_ms / 1000);
    const struct wire_body body = job_run_startd_body(starter, args);
    (void)wire_call(wire, VERB_STARTER_CKPT, &body, 0, ignore_answer,
                    NULL); /* when it is up again */
    ad_destroy(args);
}

void checkpoint_committed(struct starter *starter)
{
    struct starter_ckpt *ckpt = &starter->run.ckpt;
    bool was_followed = is_followed(starter);
    ckpt->kept.sequence = ckpt->in_hand.number;
    ckpt->kept.has_one = true;
    checkpoint_plan_note(&ckpt->clock.costs, ckpt->in_hand.took_ms, was_followed,
                         ckpt->in_hand.is_delta);
    if (ckpt->kept.losses < LOSSES_MAX) {
        memcpy(ckpt->kept.id, ckpt->in_hand.id, sizeof ckpt->kept.id);
    }
    ckpt_take_note_sent(starter, ckpt->kept.losses < LOSSES_MAX);
    ckpt->kept.taken_s = ad_int_or(ckpt->in_hand.manifest, CKPT_LAST_TIME, 0);
    ckpt->kept.run_s = ad_int_or(ckpt->in_hand.manifest, CKPT_RUN_SECONDS, 0);
    log_info(starter->env.log, "checkpoint.kept", "the job can resume from this checkpoint",
             LOG_TEXT("job", starter->run.job_id), LOG_INT("sequence", ckpt->kept.sequence),
             LOG_INT("sent_bytes", ckpt->in_hand.sizes[0] + ckpt->in_hand.sizes[1]),
             LOG_BOOL("delta", ckpt->in_hand.is_delta),
             LOG_BOOL("changes", ckpt->in_hand.is_changes),
             LOG_INT("took_ms", ckpt->in_hand.took_ms));
    checkpoint_tell_startd(starter);
    answer_waiting(starter, ckpt->in_hand.asking, 0, "");
    become_idle(starter, true);
}

/* ---- taking ---------------------------------------------------------------------------------- */

static void dump_ended(void *arg, pid_t pid, const struct os_exit *how)
{
    struct starter *starter = arg;
    struct starter_ckpt *ckpt = &starter->run.ckpt;
    struct err err = {""};
    (void)pid;
    ckpt->pid = 0;
    cage_allow_copy(starter, false);
    if (ckpt->step != CKPT_DUMPING) {
        return;
    }
    loop_timer_stop(starter->timers[TIMER_CKPT]);
    char *report = ckpt_take_report(starter);
    int rc = 0;
    if (how->signal != 0 || how->status != 0) {
        report[strcspn(report, "\n")] = '\0';
        rc = err_set(&err, -EOPNOTSUPP, "%s", report[0] != '\0' ? report : "roost-ckpt was killed");
    }
    rc = rc != 0 ? rc : ckpt_take_manifest(starter, report, &err);
    mem_free(report);
    /* One that was killed took too long, or somebody did not want it. */
    if (rc != 0 && how->signal == 0 && ++ckpt->in_hand.tries < TRIES_MAX && !ckpt->end.job_ended) {
        log_info(starter->env.log, "checkpoint.again", err.text,
                 LOG_TEXT("job", starter->run.job_id), LOG_INT("sequence", ckpt->in_hand.number));
        loop_timer_set(starter->timers[TIMER_CKPT],
                       TRY_AGAIN_MS); /* a process between fork and exec, mostly */
        return;
    }
    if (rc != 0) {
        checkpoint_abandon(starter, rc, err.text);
        return;
    }
    log_info(starter->env.log, "checkpoint.taken", "sending the checkpoint",
             LOG_TEXT("job", starter->run.job_id), LOG_INT("sequence", ckpt->in_hand.number),
             LOG_BOOL("delta", ckpt->in_hand.is_delta),
             LOG_INT("image_bytes", ckpt->in_hand.sizes[0]),
             LOG_INT("files_bytes", ckpt->in_hand.sizes[1]));
    if (ckpt->end.ends_run && !ckpt->end.job_ended && starter->run.process.pid > 0) {
        cage_kill(starter); /* what it does from now on is done again anyway */
    }
    ckpt->in_hand.sending_ms = loop_now_ms(starter->env.loop);
    ckpt->send.sent = 0;
    ckpt->send.resends = 0;
    ckpt_send_begin(starter);
}

/* Removes the copy of the job's files: without it there is more room for the rest. */
static void remove_copy(struct starter *starter)
{
    char *path = job_run_image_path(starter, STARTER_CKPT_COPY_NAME);
    (void)os_remove_tree(starter->env.os, path, NULL); /* goes with the directory */
    mem_free(path);
}

/* Checks the free space on disk.  The image is about as large as the job's memory, the archive as
 * its files. */
static int check_room(struct starter *starter, struct err *err)
{
    struct starter_ckpt *ckpt = &starter->run.ckpt;
    int64_t wanted_kib =
        starter->run.watch.memory_kib + starter->run.watch.disk_kib + (int64_t)SPARE_KIB;
    int64_t free_kib = os_disk_free_kib(starter->env.os, starter->run.directory);
    int64_t max_kib = config_bytes(starter->env.config, "CHECKPOINT_COPY_MAX") / 1024;
    bool copies = checkpoint_plan_copies(free_kib, wanted_kib, starter->run.watch.disk_kib, max_kib,
                                         ckpt->copies);
    if (ckpt->copies && !copies) {
        remove_copy(starter);
        free_kib = os_disk_free_kib(starter->env.os, starter->run.directory);
    }
    ckpt->copies = copies;
    return free_kib >= 0 && free_kib < wanted_kib
               ? err_set(err, -ENOSPC,
                         "EXECUTE has %lld KiB left, but the checkpoint needs about %lld",
                         (long long)free_kib, (long long)wanted_kib)
               : 0;
}

static uint64_t run_ms(const struct starter *starter)
{
    const struct starter_ckpt *ckpt = &starter->run.ckpt;
    uint64_t all_ms = loop_now_ms(starter->env.loop) - ckpt->clock.job_began_ms;
    return all_ms > ckpt->clock.still_ms ? all_ms - ckpt->clock.still_ms : 0;
}

static void try_to_dump(struct starter *starter)
{
    struct starter_ckpt *ckpt = &starter->run.ckpt;
    struct err err;
    ckpt->in_hand.run_ms = run_ms(starter);
    int rc = check_room(starter, &err);
    if (rc == 0 && !ckpt->end.ends_run) {
        cage_allow_copy(starter, true);
    }
    rc = rc != 0 ? rc : ckpt_take_spawn(starter, dump_ended, &err);
    if (rc != 0) {
        ckpt->pid = 0;
        cage_allow_copy(starter, false);
        checkpoint_abandon(starter, rc, err.text);
        return;
    }
    loop_timer_set(starter->timers[TIMER_CKPT],
                   (uint64_t)config_duration_ms(starter->env.config, "CHECKPOINT_TIMEOUT"));
}

static void take_one(struct starter *starter)
{
    struct starter_ckpt *ckpt = &starter->run.ckpt;
    ckpt->in_hand.number =
        (ckpt->in_hand.number > ckpt->kept.sequence ? ckpt->in_hand.number : ckpt->kept.sequence) +
        1;
    ckpt->in_hand.began_ms = loop_now_ms(starter->env.loop);
    ckpt->step = CKPT_DUMPING;
    ckpt->in_hand.tries = 0;
    ckpt->in_hand.asking = ckpt->waiting.count; /* who asks later gets a later one */
    ckpt->kept.is_lost = false;
    try_to_dump(starter);
}

/* ---- when ------------------------------------------------------------------------------------ */

void checkpoint_begin(struct starter *starter)
{
    struct starter_ckpt *ckpt = &starter->run.ckpt;
    if (!ckpt->wanted) {
        return;
    }
    ckpt->clock.job_began_ms = loop_now_ms(starter->env.loop);
    ckpt->clock.next_ms =
        ckpt->clock.job_began_ms +
        (uint64_t)config_duration_ms(starter->env.config, "CHECKPOINT_INTERVAL_MIN");
    loop_timer_set(starter->timers[TIMER_CKPT], FOLLOW_MS);
}

void checkpoint_note_frozen(struct starter *starter, bool frozen)
{
    struct starter_ckpt *ckpt = &starter->run.ckpt;
    uint64_t now_ms = loop_now_ms(starter->env.loop);
    if (frozen) {
        ckpt->clock.frozen_ms = now_ms;
    } else if (ckpt->clock.frozen_ms > 0) {
        ckpt->clock.still_ms += now_ms - ckpt->clock.frozen_ms;
        ckpt->clock.frozen_ms = 0;
    }
}

static bool is_true(const struct ad *my, const struct ad *target, const char *name, int64_t now_s)
{
    const struct ad_context context = {.now_s = now_s};
    struct ad_value value;
    if (my == NULL || !ad_has(my, name) || ad_eval_attr(my, target, name, &context, &value) != 0) {
        return false;
    }
    bool yes = value.type == AD_TYPE_BOOL ? value.boolean
                                          : value.type == AD_TYPE_INT && value.integer != 0;
    ad_value_fini(&value);
    return yes;
}

/* Returns whether a checkpoint is due: by the machine's and the job's expressions, or, without any,
 * by its cost. */
static bool is_time(struct starter *starter)
{
    struct starter_ckpt *ckpt = &starter->run.ckpt;
    const char *text = config_expr(starter->env.config, "PERIODIC_CHECKPOINT");
    bool has_own = ad_has(starter->run.job, CKPT_PERIODIC);
    int64_t now_s = loop_wall_s(starter->env.loop);
    const struct ad *slot = job_run_slot(starter);
    if (text == NULL && !has_own) {
        return loop_now_ms(starter->env.loop) >= ckpt->clock.next_ms;
    }
    struct ad *my = slot != NULL ? ad_copy(slot) : ad_create();
    int64_t last_s = ckpt->kept.taken_s > 0
                         ? ckpt->kept.taken_s
                         : loop_wall_of_s(starter->env.loop, starter->run.process.started_ms);
    ad_set_int(my, CKPT_SLOT_LAST, last_s);
    struct ad *job = ad_copy(starter->run.job);
    ad_set_int(job, CKPT_SLOT_LAST, last_s);
    ad_set_int(job, CKPT_LAST_TIME, last_s);
    bool yes = (text != NULL && ad_set_expr_old(my, "_periodic_checkpoint", text, NULL) == 0 &&
                is_true(my, job, "_periodic_checkpoint", now_s)) ||
               (has_own && is_true(job, my, CKPT_PERIODIC, now_s));
    ad_destroy(job);
    ad_destroy(my);
    return yes;
}

void checkpoint_tick(struct starter *starter)
{
    struct starter_ckpt *ckpt = &starter->run.ckpt;
    if (ckpt->step == CKPT_SENDING) {
        ckpt_send_next(starter);
        return;
    }
    if (ckpt->step == CKPT_DUMPING && ckpt->pid > 0) {            /* it takes too long */
        (void)os_kill_group(starter->env.os, ckpt->pid, SIGKILL); /* dump_ended() follows */
        if (ckpt->follower > 0) {
            (void)os_kill_group(starter->env.os, ckpt->follower, SIGKILL); /* it may be stuck */
        }
        return;
    }
    if (ckpt->step == CKPT_DUMPING && job_runs(starter)) {
        try_to_dump(starter);
        return;
    }
    if (ckpt->step != CKPT_IDLE || !job_runs(starter) || starter->run.stop.how != RUNS_ON) {
        return;
    }
    ckpt_take_follow(starter);
    if (!starter->run.process.frozen &&
        (ckpt->waiting.count > 0 || ckpt->kept.is_lost || is_time(starter))) {
        take_one(starter);
    } else {
        loop_timer_set(starter->timers[TIMER_CKPT], LOOK_MS);
    }
}

void checkpoint_asked(struct starter *starter, struct wire_request *request)
{
    struct starter_ckpt *ckpt = &starter->run.ckpt;
    if (starter->run.job != NULL && !ad_bool_or(starter->run.job, CKPT_WANTED, false)) {
        wire_reply_error(request, -ENOTSUP, "job %s was submitted without checkpoint = true",
                         starter->run.job_id);
    } else if (starter->run.job != NULL && !ckpt->wanted) {
        wire_reply_error(request, -ENOTSUP, "job %s cannot be checkpointed here: %s",
                         starter->run.job_id, ckpt->why_not);
    } else if (!job_runs(starter) || starter->run.stop.how != RUNS_ON) {
        wire_reply_error(request, -ESRCH, "no program of job %s is running", starter->run.job_id);
    } else if (starter->run.process.frozen) {
        wire_reply_error(request, -EBUSY, "job %s is suspended", starter->run.job_id);
    } else {
        vec_push(&ckpt->waiting, request);
        if (ckpt->step == CKPT_IDLE) {
            loop_timer_stop(starter->timers[TIMER_CKPT]);
            take_one(starter);
        } /* else the one behind it answers */
    }
}

/* ---- the job's end --------------------------------------------------------------------------- */

bool checkpoint_stops(struct starter *starter, uint64_t grace_ms)
{
    struct starter_ckpt *ckpt = &starter->run.ckpt;
    if (!ckpt->wanted || ckpt->end.ends_run || starter->run.stop.kind == STOP_REMOVED ||
        starter->run.script != SCRIPT_JOB || starter->run.process.pid <= 0) {
        return ckpt->end.ends_run;
    }
    ckpt->end.stop_by_ms = loop_now_ms(starter->env.loop) + grace_ms;
    if (ckpt->step == CKPT_IDLE && !has_time(starter) && !ckpt->kept.has_one) {
        return false; /* it may save something itself */
    }
    ckpt->end.ends_run = true;
    if (ckpt->step == CKPT_SENDING || ckpt->step == CKPT_TELLING) {
        ckpt->end.once_more = true; /* a fresh one behind it, if the time suffices */
    } else if (ckpt->step == CKPT_IDLE && has_time(starter)) {
        loop_timer_stop(starter->timers[TIMER_CKPT]);
        take_one(starter);
    } else if (ckpt->step == CKPT_IDLE) {
        log_info(starter->env.log, "checkpoint.no_time",
                 "there is no time for another checkpoint; the job's previous one is used",
                 LOG_TEXT("job", starter->run.job_id), LOG_INT("sequence", ckpt->kept.sequence));
        cage_kill(starter);
    }
    return true;
}

bool checkpoint_holds_end(struct starter *starter)
{
    struct starter_ckpt *ckpt = &starter->run.ckpt;
    bool tries_again = ckpt->step == CKPT_DUMPING && ckpt->pid == 0; /* of what is no more */
    ckpt->end.job_ended = true;
    if (ckpt->end.ends_run && starter->run.stop.how != STOPS_AT_ONCE && ckpt->step != CKPT_IDLE &&
        !tries_again) {
        return true;
    }
    checkpoint_forget(starter);
    return false;
}

bool checkpoint_is_sent(const struct starter *starter)
{
    return starter->run.ckpt.end.ends_run && starter->run.ckpt.end.job_ended &&
           starter->run.ckpt.step != CKPT_IDLE;
}

void checkpoint_forget(struct starter *starter)
{
    struct starter_ckpt *ckpt = &starter->run.ckpt;
    ckpt_take_end(starter);
    loop_timer_stop(starter->timers[TIMER_CKPT]);
    remove_files(starter);
    ckpt->step = CKPT_IDLE;
    answer_waiting(starter, ckpt->waiting.count, -ESRCH, "the job has ended");
}
