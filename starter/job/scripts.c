/* starter/job/scripts.c - programs that run before, beside and after the job, in its cage and as
 * its account: the site's hooks and the job's own PreCmd and PostCmd.
 *
 *     <KEYWORD>_HOOK_PREPARE_JOB, PreCmd, the job, PostCmd, <KEYWORD>_HOOK_JOB_EXIT
 *     beside the job, now and then: <KEYWORD>_HOOK_UPDATE_JOB_INFO
 *
 * KEYWORD is the job's HookKeyword, if the site has hooks of that name, else
 * STARTER_DEFAULT_JOB_HOOK_KEYWORD.  A hook gets the job ad on its standard input.  The hook at the
 * end also learns how the job ended, by its argument ("exit") and in the ad.
 *
 * The hook beside the job learns what the job uses, as often as the job's schedd does.  There is
 * one at a time, and none while the job stands still (the hook would stand still, too).  It counts
 * as a process of the job and ends with it; nothing depends on it.
 *
 * The job's own scripts hold the job only if the job defines their success (SuccessPreExitCode
 * ...).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "starter/job/scripts.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/args.h"
#include "base/check.h"
#include "base/config/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "classad/ad.h"
#include "starter/job/cage.h"
#include "starter/job/job_end.h"
#include "starter/job/job_place.h"
#include "starter/job_run.h"
#include "starter/ckpt/resume.h"
#include "starter/starter.h"
#include "starter/starter_plan.h"
#include "starter/job/watch.h"

/* HTCondor's numbers. */
#define HOLD_HOOK_PREPARE_JOB 19
#define HOLD_PRE_SCRIPT       43
#define HOLD_POST_SCRIPT      44

#define KEYWORD_MAX 64 /* most bytes of a hook keyword, with the terminating zero */

static const char *const SCRIPT_NAMES[] = {"",        "prepare hook", "PreCmd", "job",
                                           "PostCmd", "exit hook",    ""};

/* Returns the path of the site's hook of that name; NULL: there is none. */
static const char *hook_path(const struct starter *starter, const char *hook)
{
    const struct config *config = starter->env.config;
    const char *keywords[] = {ad_string_or(starter->run.job, "HookKeyword", ""),
                              config_string(config, "STARTER_DEFAULT_JOB_HOOK_KEYWORD")};
    for (size_t i = 0; i < ARRAY_COUNT(keywords); i++) {
        char name[KEYWORD_MAX + 40];
        size_t length = keywords[i] != NULL ? strlen(keywords[i]) : 0;
        bool plain = length > 0 && length < KEYWORD_MAX;
        for (size_t k = 0; k < length && plain; k++) {
            plain = isalnum((unsigned char)keywords[i][k]) || keywords[i][k] == '_';
        }
        if (!plain) {
            continue;
        }
        (void)snprintf(name, sizeof name, "%.63s_HOOK_%.30s", keywords[i], hook);
        const char *path = config_text(config, name);
        if (path != NULL && path[0] == '/') {
            return path;
        }
    }
    return NULL;
}

/* ---- one of them */

static void script_ended(void *arg, pid_t pid, const struct os_exit *how);

static void script_failed(struct starter *starter, enum starter_script script, int code,
                          int subcode, const char *what)
{
    char reason[500];
    (void)snprintf(reason, sizeof reason, "Error from %.100s: %s %.300s",
                   ad_string_or(starter->run.record, "SlotName", ""), SCRIPT_NAMES[script], what);
    job_run_hold(starter, code, subcode, reason);
}

static int hold_code_of(enum starter_script script)
{
    return script == SCRIPT_PRE    ? HOLD_PRE_SCRIPT
           : script == SCRIPT_POST ? HOLD_POST_SCRIPT
                                   : HOLD_HOOK_PREPARE_JOB;
}

/* Returns the ad that a hook gets: the job ad and, once the job has begun, how it runs or ended,
 * under HTCondor's names.  The caller owns it. */
static struct ad *what_it_is_told(const struct starter *starter, enum starter_script script)
{
    struct ad *told = ad_copy(starter->run.job);
    if (script >= SCRIPT_JOB) {
        ad_set_string(told, "JobState", script == SCRIPT_JOB ? "Running" : "Exited");
        ad_set_int(told, "JobPid", starter->run.process.job_pid);
        ad_set_int(told, "JobStartDate",
                   loop_wall_of_s(starter->env.loop, starter->run.process.started_ms));
        watch_report(starter, told);
    }
    if (script > SCRIPT_JOB) {
        job_run_add_exit(starter, told);
        ad_set_int(told, "JobDuration", job_run_length_s(starter));
    }
    return told;
}

/* Starts a hook or script. told: the ad for a hook; NULL: it is a script of the job. */
static int start_program(struct starter *starter, const char *program, const char *argument,
                         const struct ad *told, os_exit_f ended, pid_t *ret, struct err *err)
{
    struct vec words = {0}, entries = {0};
    struct strbuf ad;
    char path[4096];
    const char *cwd = job_place_directory(starter);
    strbuf_init(&ad, 0);
    if (program[0] == '/') {
        (void)snprintf(path, sizeof path, "%.4000s", program);
    } else {
        (void)snprintf(path, sizeof path, "%.2000s/%.2000s", cwd, program);
    }
    vec_push(&words, mem_strdup(path));
    int rc = 0;
    if (told != NULL && argument != NULL) {
        vec_push(&words, mem_strdup(argument));
    } else if (argument != NULL) {
        rc = args_parse_v2(argument, &words, err);
    }
    if (told != NULL) {
        ad_print_long(told, &ad);
    }
    rc = rc != 0 ? rc : job_place_environment(starter, &entries, err);
    vec_push(&words, NULL);
    vec_push(&entries, NULL);
    if (rc == 0) {
        struct os_spawn spec = job_place_spec(starter);
        spec.argv = (const char *const *)words.items;
        spec.env = (const char *const *)entries.items;
        spec.cwd = cwd;
        spec.input_text = told != NULL ? strbuf_text(&ad) : NULL;
        spec.kin = OS_SUBREAPER_JOB;
        rc = ended == script_ended ? cage_spawn(starter, &spec, ended, ret, err)
                                   : cage_spawn_beside(starter, &spec, ended, ret, err);
    }
    vec_fini(&words, mem_free);
    vec_fini(&entries, mem_free);
    strbuf_fini(&ad);
    return rc;
}

/* Starts a script or hook in the cage.  False: it was the hook at the end, whose failure changes
 * nothing. */
static bool run_script(struct starter *starter, enum starter_script script, const char *program,
                       const char *argument, bool is_hook)
{
    struct err err;
    struct ad *told = is_hook ? what_it_is_told(starter, script) : NULL;
    starter->run.script = script;
    int rc = start_program(starter, program, argument, told, script_ended,
                           &starter->run.process.pid, &err);
    ad_destroy(told);
    if (rc == 0 && script != SCRIPT_EXIT) { /* the job's result stands, whatever that one takes */
        watch_begin(starter);
    }
    if (rc != 0 && script == SCRIPT_EXIT) {
        starter->run.process.pid = -1;
        log_warn(starter->env.log, "script.exit", err.text, LOG_TEXT("job", starter->run.job_id));
        return false; /* the job is over: its result stands */
    }
    if (rc != 0) {
        starter->run.process.pid = -1;
        if (err_is_shortage(rc)) {
            job_run_blame_machine(starter, err.text);
        } else {
            script_failed(starter, script, hold_code_of(script), -rc, err.text);
        }
    }
    return true;
}

/* Returns whether the script ended as the job defines its success; true if the job does not define
 * it. */
static bool is_success(const struct starter *starter, enum starter_script script,
                       const struct os_exit *how)
{
    const char *which = script == SCRIPT_PRE ? "Pre" : "Post";
    char name[40];
    if (script == SCRIPT_PREPARE) {
        return how->signal == 0 && how->status == 0;
    }
    if (script == SCRIPT_EXIT) {
        return true; /* the job is over: its result stands */
    }
    (void)snprintf(name, sizeof name, "Success%sExitBySignal", which);
    bool by_signal = ad_bool_or(starter->run.job, name, false);
    (void)snprintf(name, sizeof name, by_signal ? "Success%sExitSignal" : "Success%sExitCode",
                   which);
    int64_t wanted = ad_int_or(starter->run.job, name, -1);
    if (wanted < 0) {
        return true;
    }
    return by_signal ? how->signal == wanted : how->signal == 0 && how->status == wanted;
}

static void script_ended(void *arg, pid_t pid, const struct os_exit *how)
{
    struct starter *starter = arg;
    enum starter_script script = starter->run.script;
    (void)pid;
    starter->run.process.pid = script < SCRIPT_JOB ? 0 : -1;
    log_info(starter->env.log, "script.ended", SCRIPT_NAMES[script],
             LOG_TEXT("job", starter->run.job_id), LOG_INT("status", how->status),
             LOG_INT("signal", how->signal));
    if (starter->run.phase != STARTER_RUN) {
        return;
    }
    if (starter->run.stop.how != RUNS_ON) {
        starter->run.process.pid = -1;
        job_run_give_up(starter, "");
        return;
    }
    watch_rest(starter);
    if (job_end_is_machines(starter, how)) {
        return;
    }
    if (starter->run.end.hold != NULL) {
        job_end_held(starter);
        return;
    }
    if (!is_success(starter, script, how)) {
        char what[80];
        (void)snprintf(what, sizeof what, how->signal != 0 ? "died of signal %d" : "exited with %d",
                       how->signal != 0 ? how->signal : how->status);
        starter->run.process.pid = -1;
        script_failed(starter, script, hold_code_of(script), how->status, what);
        return;
    }
    if (script < SCRIPT_JOB) {
        job_run_wake(starter, WAKE_GO); /* job_start() comes back to scripts_before() */
    } else if (!scripts_after(starter)) {
        job_run_wake(starter, WAKE_OVER);
    }
}

/* ---- all of them */

bool scripts_before(struct starter *starter)
{
    while (starter->run.script < SCRIPT_PRE) {
        starter->run.script++;
        const char *program = starter->run.script == SCRIPT_PREPARE
                                  ? hook_path(starter, "PREPARE_JOB")
                                  : ad_string_or(starter->run.job, "PreCmd", "");
        if (starter->run.script == SCRIPT_PRE && resume_is_ready(starter)) {
            continue; /* what it did is in the checkpoint */
        }
        if (program != NULL && program[0] != '\0') {
            return run_script(starter, starter->run.script, program,
                              starter->run.script == SCRIPT_PRE
                                  ? ad_string_or(starter->run.job, "PreArguments", NULL)
                                  : NULL,
                              starter->run.script == SCRIPT_PREPARE);
        }
    }
    starter->run.script = SCRIPT_JOB;
    return false;
}

bool scripts_after(struct starter *starter)
{
    while (starter->run.script < SCRIPT_EXIT) {
        starter->run.script++;
        const char *program = starter->run.script == SCRIPT_POST
                                  ? ad_string_or(starter->run.job, "PostCmd", "")
                                  : hook_path(starter, "JOB_EXIT");
        if (program != NULL && program[0] != '\0' &&
            run_script(starter, starter->run.script, program,
                       starter->run.script == SCRIPT_POST
                           ? ad_string_or(starter->run.job, "PostArguments", NULL)
                           : "exit",
                       starter->run.script == SCRIPT_EXIT)) {
            return true;
        }
    }
    starter->run.script = SCRIPT_OVER;
    return false;
}

/* ---- beside the job */

static void info_ended(void *arg, pid_t pid, const struct os_exit *how)
{
    struct starter *starter = arg;
    (void)pid;
    starter->run.process.info_pid = 0;
    if (starter->run.phase == STARTER_RUN && starter->run.process.pid > 0 &&
        (how->status | how->signal) != 0) {
        log_info(starter->env.log, "script.info", "the update hook failed",
                 LOG_TEXT("job", starter->run.job_id), LOG_INT("status", how->status),
                 LOG_INT("signal", how->signal));
    }
}

void scripts_tell(struct starter *starter)
{
    bool runs = starter->run.phase == STARTER_RUN && starter->run.process.pid > 0 &&
                starter->run.script == SCRIPT_JOB;
    if (!runs || starter->run.process.frozen || starter->run.stop.how != RUNS_ON ||
        starter->run.process.info_pid > 0) {
        return;
    }
    const char *program = hook_path(starter, "UPDATE_JOB_INFO");
    if (program == NULL) {
        return;
    }
    struct err err;
    struct ad *told = what_it_is_told(starter, SCRIPT_JOB);
    if (start_program(starter, program, NULL, told, info_ended, &starter->run.process.info_pid,
                      &err) != 0) {
        starter->run.process.info_pid = 0;
        log_warn(starter->env.log, "script.info", err.text, LOG_TEXT("job", starter->run.job_id));
    }
    ad_destroy(told);
}

void scripts_forget(struct starter *starter)
{
    if (starter->run.process.info_pid > 0) {
        os_forget(starter->env.os, starter->run.process.info_pid);
        starter->run.process.info_pid = 0;
    }
}
