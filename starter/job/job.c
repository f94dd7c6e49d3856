/* starter/job/job.c - the job's process: its start, its stop and its end.
 *
 * Orphans of the job become our children, and every process of the job carries our directory in its
 * environment.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "starter/job/job.h"

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
#include "base/plant.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "starter/job/cage.h"
#include "starter/ckpt/checkpoint.h"
#include "starter/ckpt/ckpt_inputs.h"
#include "starter/ckpt/ckpt_program.h"
#include "starter/job/deferral.h"
#include "starter/files/fetch.h"
#include "starter/job/job_end.h"
#include "starter/job/job_place.h"
#include "starter/job_run.h"
#include "starter/live.h"
#include "starter/job/nest.h"
#include "starter/files/output.h"
#include "starter/files/own_file.h"
#include "starter/peek.h"
#include "starter/remote.h"
#include "starter/ckpt/resume.h"
#include "starter/job/scripts.h"
#include "starter/shell.h"
#include "starter/starter.h"
#include "starter/starter_plan.h"
#include "starter/files/upload.h"
#include "starter/job/watch.h"
#include "wire/checkpoint_attrs.h"
#include "wire/wire.h"

#define STALE_MS         1000 /* for the startd's order to end a run that its shadow knows no more */
#define STARTER_TELLS_MS 50   /* so long a job lives before its start is told by itself */

#define HOLD_NOT_STARTED  6 /* HTCondor's number */
#define WRAPPER_BYTES_MAX 4096

static void job_ended(void *arg, pid_t pid, const struct os_exit *how)
{
    struct starter *starter = arg;
    (void)pid;
    starter->run.process.exit = *how;
    starter->run.process.ended_ms = (int64_t)loop_now_ms(starter->env.loop);
    log_info(starter->env.log, "job.ended", "the job ended", LOG_TEXT("job", starter->run.job_id),
             LOG_INT("status", how->status), LOG_INT("signal", how->signal));
    starter->run.process.pid = -1;
    if (starter->run.phase != STARTER_RUN) {
        return;
    }
    if (job_end_is_machines(starter, how)) {
        return;
    }
    if (starter->run.stop.how == RUNS_ON && (resume_failed(starter) || remote_failed(starter))) {
        return;
    }
    bool held = watch_end(starter) || starter->run.end.hold != NULL;
    if (starter->run.stop.how == RUNS_ON && !held && ckpt_program_was_killed(starter)) {
        return;
    }
    if (checkpoint_holds_end(starter)) {
        watch_tell(starter);
        return;
    }
    if (starter->run.stop.how != RUNS_ON && !held && output_is_spooled(starter)) {
        starter->run.end.evicted = starter->run.end.odd = true;
        job_over(starter);
    } else if (starter->run.stop.how != RUNS_ON) {
        watch_tell(starter); /* no result will */
        peek_over(starter);
        job_run_give_up(starter, "");
    } else if (held) {
        job_end_held(starter);
    } else if (!remote_was_killed(starter)) {
        if (!scripts_after(starter)) {
            job_over(starter);
        }
    }
}

/* Reads why the site's wrapper did not start the job.  True: there was a message, and the job is
 * held. */
static bool wrapper_failed(struct starter *starter)
{
    const char *wrapper = config_path(starter->env.config, "USER_JOB_WRAPPER");
    char reason[500];
    char *text = wrapper != NULL ? own_file_read(starter, starter->run.sandbox,
                                                 JOB_PLACE_WRAPPER_ERRORS, WRAPPER_BYTES_MAX)
                                 : NULL;
    if (text == NULL) {
        return false;
    }
    (void)snprintf(reason, sizeof reason, "Error from %.100s: job wrapper failed: %.*s",
                   ad_string_or(starter->run.record, "SlotName", ""), (int)strcspn(text, "\n"),
                   text);
    mem_free(text);
    job_run_hold(starter, HOLD_NOT_STARTED, 0, reason);
    return true;
}

void job_over(struct starter *starter)
{
    struct err err;
    starter->run.process.pid = -1;
    while (upload_is_needed(starter)) {
        if (upload_next(starter)) {
            return; /* comes back here */
        }
    }
    job_end_still(starter); /* the output stands still from here on */
    if (job_place_take_back(starter, &err) != 0) {
        job_run_give_up(starter, err.text);
        return;
    }
    if (wrapper_failed(starter)) {
        return;
    }
    output_collect(starter);
    job_run_enter(starter, STARTER_OUTPUT);
    job_run_wake(starter, WAKE_GO);
}

/* Writes an ad beside the sandbox, where the last run's file may lie, and moves it into the
 * sandbox, replacing whatever is there. */
static void write_ad(struct starter *starter, const char *name, const struct ad *ad)
{
    struct strbuf text;
    char path[4096];
    char *beside = nest_ad_path(starter, name);
    struct err err;
    strbuf_init(&text, 0);
    ad_print_long(ad, &text);
    /* Beside the sandbox others could read it. */
    if (os_rewrite_file(starter->env.os, beside, strbuf_text(&text), text.length,
                        STARTER_AD_BESIDE_MODE, &err) != 0 ||
        os_rename(starter->env.os, beside, job_run_path(starter, name, path, sizeof path), false,
                  &err) != 0 ||
        os_below_chmod(starter->env.os, starter->run.sandbox, name, 0644, &err) != 0) {
        log_warn(starter->env.log, "job.ad", err.text);
    }
    mem_free(beside);
    strbuf_fini(&text);
}

static const char *make_absolute(struct starter *starter, const char *directory, const char *name,
                                 char *ret, size_t size)
{
    (void)starter;
    (void)snprintf(ret, size, name[0] == '/' ? "%.0s%s" : "%s/%s", directory, name);
    return ret;
}

static int spawn_job(struct starter *starter, struct vec *argv, struct vec *entries,
                     struct err *err)
{
    const struct ad *job = starter->run.job;
    const char *cwd = job_place_directory(starter);
    char in[4096], out[4096], error[4096], program[4096];
    const char *in_name = ad_string_or(job, "In", "/dev/null");
    vec_push(argv, NULL);
    bool remote = job_run_is_remote(starter);
    if (starter->run.ckpt.wanted && !remote) {
        ckpt_program_environment(starter, entries);
    }
    vec_push(entries, NULL);
    if (remote) {
        remote_words(starter, argv);
        remote_environment(entries);
    }
    make_absolute(starter, cwd, argv->items[0], program, sizeof program);
    mem_free(argv->items[0]);
    argv->items[0] = mem_strdup(program);
    const char *wrapper = config_path(starter->env.config, "USER_JOB_WRAPPER");
    if (wrapper != NULL) {
        vec_push(argv, NULL);
        memmove(argv->items + 1, argv->items, (argv->count - 1) * sizeof *argv->items);
        argv->items[0] = mem_strdup(wrapper);
    }
    if (starter->run.ckpt.wanted && !remote) { /* the mount's keeper does what that one would */
        ckpt_program_words(starter, argv);
    }
    char *log = remote ? remote_log(starter) : NULL;
    make_absolute(starter, cwd, in_name[0] != '\0' ? in_name : "/dev/null", in, sizeof in);
    make_absolute(starter, cwd, ad_string_or(job, "Out", "/dev/null"), out, sizeof out);
    make_absolute(starter, cwd, ad_string_or(job, "Err", "/dev/null"), error, sizeof error);
    if (resume_is_ready(starter)) { /* its streams are in the image */
        mem_free(log);
        resume_words(starter, argv, &log);
        if (remote) {
            remote_words(starter, argv);
        }
        vec_push(argv, NULL);
    }
    struct os_spawn spec = job_place_spec(starter);
    spec.argv = (const char *const *)argv->items;
    spec.env = (const char *const *)entries->items;
    spec.cwd = cwd;
    spec.stdin_path = log != NULL ? "/dev/null" : in;
    spec.stdout_path = log != NULL ? "/dev/null" : out;
    spec.stderr_path = log != NULL ? log : error;
    spec.truncate_output = true;
    spec.nice = (int)config_int(starter->env.config, "JOB_RENICE_INCREMENT");
    spec.kin = OS_SUBREAPER_JOB;
    int rc = cage_spawn(starter, &spec, job_ended, &starter->run.process.pid, err);
    mem_free(log);
    return rc;
}

/* Prepares the sandbox and gives it to the account; once, before anything runs as the account. */
static int open_sandbox(struct starter *starter, struct err *err)
{
    const struct ad *slot = NULL;
    if (ad_get_ad(starter->run.record, "Slot", &slot) == 0) {
        write_ad(starter, STARTER_MACHINE_AD, slot);
    }
    write_ad(starter, STARTER_JOB_AD, starter->run.job);
    int rc = remote_prepare(starter, err);
    return rc != 0 ? rc : job_place_hand_over(starter, err);
}

void job_start(struct starter *starter)
{
    struct vec argv = {0}, entries = {0};
    struct err err;
    int rc;
    if (starter->run.script == SCRIPT_NONE && fetch_is_needed(starter)) {
        rc = open_sandbox(starter, &err);
        if (rc != 0) {
            starter->run.process.pid = -1;
            job_run_give_up_for(starter, rc, err.text);
        } else {
            fetch_next(starter);
        }
        return;
    }
    if (starter->run.again.tries == 0 && deferral_holds_back(starter)) {
        return; /* comes back here, or the job is held */
    }
    rc = starter->run.script == SCRIPT_NONE ? open_sandbox(starter, &err) : 0;
    if (rc != 0) {
        starter->run.process.pid = -1;
        job_run_give_up_for(starter, rc, err.text);
        return;
    }
    if (resume_unpacks(starter)) {
        return; /* comes back here, or the run ends */
    }
    if (scripts_before(starter)) {
        return; /* comes back here */
    }
    rc =
        starter_plan_argv(starter->run.job, ad_string_or(starter->run.job, "Cmd", ""), &argv, &err);
    rc = rc != 0 ? rc : job_place_environment(starter, &entries, &err);
    if (rc == 0 && starter->run.ckpt.wanted && !resume_is_ready(starter) &&
        ckpt_inputs_save(starter, &err) != 0) {
        starter->run.process.pid = -1;
        job_run_give_up(starter, err.text); /* this machine's fault */
    } else if (rc != 0) {
        job_run_hold(starter, HOLD_NOT_STARTED, -rc, err.text);
    } else {
        rc = spawn_job(starter, &argv, &entries, &err);
        if (job_run_tries_again(starter, rc, err.text, WAKE_GO)) {
            starter->run.process.pid = 0;
        } else if (err_is_shortage(rc) && !PLANTED(fork_holds_job)) {
            starter->run.process.pid = -1;
            job_run_blame_machine(starter, err.text);
        } else if (rc != 0) {
            job_run_hold(starter, HOLD_NOT_STARTED, -rc, err.text);
        } else {
            starter->run.process.started_ms = (int64_t)loop_now_ms(starter->env.loop);
            pid_t inner = os_caged_pid(starter->env.os, starter->run.process.pid);
            starter->run.process.job_pid =
                inner > 0 ? inner : starter->run.process.pid; /* it was quick, and is gone */
            watch_begin(starter);
            live_begin(starter);
            checkpoint_begin(starter);
            log_info(starter->env.log, "job.started",
                     resume_is_ready(starter) ? "the job continues" : "the job is running",
                     LOG_TEXT("job", starter->run.job_id),
                     LOG_INT("pid", starter->run.process.job_pid),
                     LOG_INT("checkpoint", resume_sequence(starter)));
            loop_timer_set(starter->timers[TIMER_BEGUN], STARTER_TELLS_MS);
        }
    }
    vec_fini(&argv, mem_free);
    vec_fini(&entries, mem_free);
}

static void started_answered(void *arg, struct wire_reply *reply)
{
    struct starter *starter = arg;
    if (reply->status == -ECONNRESET || reply->status == -ETIMEDOUT) {
        return; /* told again when the link is up */
    }
    if (reply->status != 0 &&
        (starter->run.stop.how != RUNS_ON || starter->run.phase >= STARTER_CLEAN)) {
        return; /* held, vacated: it has the time it was given */
    }
    if (reply->status != 0) { /* another run has begun, or the order to end this is on its way */
        log_warn(starter->env.log, "job.stale", reply->text, LOG_TEXT("job", starter->run.job_id));
        loop_timer_set(starter->timers[TIMER_KILL], STALE_MS);
        return;
    }
    starter->run.process.started_told = true;
}

void job_tell_started(struct starter *starter)
{
    if (starter->run.process.started_told || starter->run.process.job_pid == 0 ||
        starter->shadow == NULL || !wire_is_ready(starter->shadow)) {
        return;
    }
    struct ad *args = ad_create();
    ad_set_int(args, "Pid", starter->run.process.job_pid);
    ad_set_int(args, "StartTime",
               loop_wall_of_s(starter->env.loop, starter->run.process.started_ms));
    ad_set_string(args, "BootId", ad_string_or(starter->run.record, "BootId", ""));
    ad_set_string(args, "RemoteHost", ad_string_or(starter->run.record, "SlotName", ""));
    ad_set_string(args, "CondorScratchDir", starter->run.sandbox);
    if (resume_is_ready(starter)) {
        ad_set_int(args, CKPT_SEQUENCE, resume_sequence(starter));
    }
    struct wire_body body = {.args = args};
    (void)wire_call(starter->shadow, VERB_JOB_STARTED, &body, 0, started_answered,
                    starter); /* else: when up */
    ad_destroy(args);
}

void job_begun(void *arg)
{
    struct starter *starter = arg;
    if (starter->run.phase == STARTER_RUN && starter->run.process.pid > 0) {
        job_tell_started(starter);
    }
}

void job_stop(struct starter *starter, bool fast)
{
    if (starter->run.process.pid <= 0) {
        return;
    }
    starter->run.process.gap = starter->run.process.suspended = false; /* it is to see the signal */
    job_freeze(starter);
    if (fast) {
        cage_kill(starter);
        return;
    }
    int64_t grace_s = starter->run.stop.grace_s > 0
                          ? starter->run.stop.grace_s
                          : config_duration_s(starter->env.config, "KILLING_TIMEOUT");
    uint64_t grace_ms = (uint64_t)starter_plan_grace_s(starter->run.job, grace_s) * 1000;
    loop_timer_set(starter->timers[TIMER_KILL], grace_ms);
    if (checkpoint_stops(starter, grace_ms)) {
        return;
    }
    (void)os_kill(starter->env.os, starter->run.process.pid,
                  starter_plan_soft_signal(starter->run.job,
                                           starter->run.stop.kind)); /* gone: job_ended() follows */
}

void job_freeze(struct starter *starter)
{
    bool frozen = starter->run.process.gap || starter->run.process.suspended;
    if (starter->run.process.pid <= 0 || starter->run.process.frozen == frozen) {
        return;
    }
    starter->run.process.frozen = frozen;
    checkpoint_note_frozen(starter, frozen);
    log_info(starter->env.log, frozen ? "job.frozen" : "job.thawed",
             frozen ? "the job is frozen" : "the job continues",
             LOG_TEXT("job", starter->run.job_id));
    cage_freeze(starter, frozen);
    shells_note_frozen(starter);
}

void job_clean(struct starter *starter)
{
    struct err err;
    checkpoint_forget(starter);
    resume_forget(starter);
    if (starter->run.process.pid > 0) {
        os_forget(starter->env.os, starter->run.process.pid);
        cage_kill(starter);
    }
    cage_empty(starter);
    peek_close(starter);
    shells_close(starter);
    starter->run.process.pid = -1;
    if (!nest_keep(starter) && os_remove_tree(starter->env.os, starter->run.directory, &err) != 0) {
        log_error(starter->env.log, "sandbox.remove", err.text);
        starter->run.end.odd = true;
    }
}
