/* startd/starters.c - starters: one process for each running job, which survives the startd.
 *
 * A starter whose job ended without incident may wait for the claim's next job (struct claim_kept):
 * then it is a process without a job, which ends when it loses its connection to us.
 *
 * A starter is started detached, in a directory of its own below EXECUTE that contains its job
 * record.  It connects to our Unix socket and says which claim it runs.  Over that connection it
 * gets lease renewals and orders to stop, and reports its end.  We also watch its pid: a starter
 * that dies without a report leaves processes and a sandbox, and then both are our business.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/starters.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os_cage.h"
#include "base/os/os_cgroup.h"
#include "base/strbuf.h"
#include "base/stream/stream.h"
#include "classad/ad.h"
#include "startd/claim/claim.h"
#include "startd/claim/claim_facts.h"
#include "startd/claim/claim_record.h"
#include "startd/machine/figures.h"
#include "startd/sleep/going_down.h"
#include "startd/claim/job_ckpt.h"
#include "startd/machine/meter.h"
#include "startd/claim/old_claims.h"
#include "startd/claim/preempt.h"
#include "startd/slot/slot.h"
#include "startd/startd_state.h"
#include "wire/wire.h"

#define CGROUPS_BYTES_MAX ((size_t)64 << 10)
#define CGROUP_WAIT_MS    500  /* for what was killed to be gone */
#define UNKEPT_MS         2000 /* for a starter without a job to end */
#define UNSAID_MS         5000 /* for the starter of an earlier startd to connect to us */

/* ---- sandboxes of the dead */

/* Kills and removes the cgroup that the starter has noted, if its job had one. */
static void end_cgroup(struct startd *startd, const char *directory)
{
    struct strbuf path;
    struct err err;
    char *places;
    size_t length;
    strbuf_init(&path, 0);
    strbuf_printf(&path, "%s/job.cgroups", directory);
    if (os_read_file(startd->env.os, strbuf_text(&path), CGROUPS_BYTES_MAX, &places, &length,
                     NULL) == 0) {
        struct os_cgroup *group = os_cgroup_open(startd->env.os, places);
        if (os_cgroup_remove(group, CGROUP_WAIT_MS, &err) != 0) {
            log_warn(startd->env.log, "cgroup.remove", err.text);
        }
        os_cgroup_close(group);
        mem_free(places);
    }
    strbuf_fini(&path);
}

/* Kills every process of the run in this directory, then removes the directory.  Its path is the
 * mark in the processes' environment. */
static void clean_up(struct startd *startd, const char *directory)
{
    struct strbuf mark;
    struct err err;
    strbuf_init(&mark, 0);
    strbuf_printf(&mark, "ROOST_STARTER_DIR=%s", directory);
    size_t killed = os_marked_kill(startd->env.os, strbuf_text(&mark), SIGKILL);
    strbuf_fini(&mark);
    end_cgroup(startd, directory);
    if (os_remove_tree(startd->env.os, directory, &err) != 0) {
        log_error(startd->env.log, "sandbox.remove", err.text);
    }
    log_info(startd->env.log, "sandbox.cleaned",
             "removed the processes and the sandbox that a starter left behind",
             LOG_TEXT("directory", directory), LOG_INT("killed", killed));
}

/* Adds the starter's own mark: it may have been started for another run than its present one. */
static void put_slot_mark(struct strbuf *mark, const struct startd *startd, const char *slot,
                          size_t length)
{
    strbuf_printf(mark, "ROOST_STARTER_OF=%s/%.*s", config_path(startd->env.config, "EXECUTE"),
                  (int)length, slot);
}

/* Kills the starter of a directory that no claim knows, "dir_slot1_2_12.3_4"; before its job,
 * because it would report the job's end. */
static void end_starter_of(struct startd *startd, const char *name)
{
    const char *slot = name + strlen("dir_");
    size_t length = strlen(slot);
    for (int i = 0; i < 2; i++) {
        while (length > 0 && slot[--length] != '_') {
        }
    }
    for (size_t i = 0; i < startd->claims.count; i++) {
        const struct claim *claim = startd->claims.items[i];
        if (claim_plan_has_run(claim->stage) && claim->slot != NULL &&
            strlen(claim->slot->short_name) == length &&
            strncmp(claim->slot->short_name, slot, length) == 0) {
            return; /* the slot's starter has another job */
        }
    }
    struct strbuf mark;
    strbuf_init(&mark, 0);
    put_slot_mark(&mark, startd, slot, length);
    if (length > 0) {
        (void)os_marked_kill(startd->env.os, strbuf_text(&mark), SIGKILL);
    }
    strbuf_fini(&mark);
}

struct sweep {
    struct startd *startd;
    struct vec names;
};

static void sweep_name(void *arg, const char *name)
{
    struct sweep *sweep = arg;
    if (strncmp(name, "dir_", 4) == 0) {
        vec_push(&sweep->names, mem_strdup(name));
    }
}

void starters_sweep(struct startd *startd)
{
    struct sweep sweep = {.startd = startd};
    const char *execute = config_path(startd->env.config, "EXECUTE");
    struct err err;
    if (os_list(startd->env.os, execute, sweep_name, &sweep, &err) != 0) {
        log_warn(startd->env.log, "sandbox.list", err.text);
    }
    for (size_t i = 0; i < sweep.names.count; i++) {
        struct strbuf path;
        strbuf_init(&path, 0);
        strbuf_printf(&path, "%s/%s", execute, (const char *)sweep.names.items[i]);
        bool known = false;
        for (size_t j = 0; j < startd->claims.count; j++) {
            const struct claim *claim = startd->claims.items[j];
            known = known || (claim_plan_has_run(claim->stage) && claim->run.directory != NULL &&
                              strcmp(claim->run.directory, strbuf_text(&path)) == 0);
        }
        if (!known) {
            end_starter_of(startd, sweep.names.items[i]);
            clean_up(startd, strbuf_text(&path));
        }
        strbuf_fini(&path);
    }
    vec_fini(&sweep.names, mem_free);
}

/* ---- processes */

/* Removes what a starter that ended by itself would have removed. */
static void clean_up_rest(struct claim *claim, const char *directory)
{
    struct os_stat stat;
    if (directory != NULL && os_stat(claim->startd->env.os, directory, &stat) == 0) {
        clean_up(claim->startd, directory);
    }
}

static void starter_ended(void *arg, pid_t pid, const struct os_exit *how)
{
    struct claim *claim = arg;
    (void)how; /* not our child: its status is not known; what it did, it said */
    if (pid == claim->kept.pid) {
        clean_up_rest(claim, claim->kept.directory);
        mem_free(claim->kept.directory);
        claim->kept.directory = NULL;
        claim_kept_gone(claim);
        return;
    }
    if (pid != claim->starter.pid) {
        return;
    }
    if (claim->starter.done) {
        clean_up_rest(claim, claim->run.directory);
        claim_starter_gone(claim, claim->starter.done_reason);
        return;
    }
    clean_up(claim->startd, claim->run.directory);
    if (claim->stop.by_signal) { /* the job was held, removed or evicted before it began */
        claim_starter_gone(claim, "");
        return;
    }
    log_warn(claim->startd->env.log, "starter.died", "the starter ended without reporting",
             LOG_TEXT("slot", claim->slot_name), LOG_TEXT("job", claim->job.id),
             LOG_INT("pid", pid));
    claim_starter_gone(claim, "starter died");
}

static int watch_starter(struct claim *claim, struct err *err)
{
    return os_watch(claim->startd->env.os, claim->starter.pid, claim->starter.start, starter_ended,
                    claim, err);
}

void starters_name_directory(struct claim *claim)
{
    struct strbuf path;
    strbuf_init(&path, 0);
    strbuf_printf(&path, "%s/dir_%s_%s_%lld", config_path(claim->startd->env.config, "EXECUTE"),
                  claim->slot->short_name, claim->job.id, (long long)claim->job.epoch);
    mem_free(claim->run.directory);
    claim->run.directory = strbuf_take(&path);
    strbuf_fini(&path);
}

/* Renames the directory of the kept starter's last run: it becomes the directory of its next
 * run. */
static bool take_kept_directory(struct claim *claim)
{
    bool taken =
        claim->kept.directory != NULL && os_rename(claim->startd->env.os, claim->kept.directory,
                                                   claim->run.directory, false, NULL) == 0;
    mem_free(claim->kept.directory);
    claim->kept.directory = NULL;
    return taken;
}

/* Makes the run's directory, with the record in it. */
static int make_directory(struct claim *claim, struct err *err)
{
    struct startd *startd = claim->startd;
    struct os_stat stat;
    struct strbuf path;
    if (os_stat(startd->env.os, claim->run.directory, &stat) != -ENOENT) {
        clean_up(startd, claim->run.directory); /* of an earlier life of this very run */
    }
    strbuf_init(&path, 0);
    strbuf_printf(&path, "%s/job.record", claim->run.directory);
    int rc =
        take_kept_directory(claim) ? 0 : os_mkdirs(startd->env.os, claim->run.directory, 0711, err);
    rc = rc != 0 ? rc
                 : os_rewrite_file(startd->env.os, strbuf_text(&path), claim->run.record,
                                   strlen(claim->run.record), 0600, err);
    strbuf_fini(&path);
    return rc;
}

int starters_spawn(struct claim *claim, struct err *err)
{
    struct startd *startd = claim->startd;
    struct os *os = startd->env.os;
    struct strbuf mark, slot_mark;
    strbuf_init(&mark, 0);
    strbuf_init(&slot_mark, 0);
    strbuf_printf(&mark, "ROOST_STARTER_DIR=%s", claim->run.directory);
    put_slot_mark(&slot_mark, startd, claim->slot->short_name, strlen(claim->slot->short_name));
    int rc = make_directory(claim, err);
    if (rc == 0) {
        const char *argv[] = {config_path(startd->env.config, "STARTER"),
                              "-instance",
                              claim->slot->short_name,
                              "-noresurrect",
                              "-dir",
                              claim->run.directory,
                              NULL};
        const char *env_add[] = {strbuf_text(&mark), strbuf_text(&slot_mark), NULL};
        const struct os_spawn spec = {.argv = argv,
                                      .env_add = env_add,
                                      .cwd = claim->run.directory,
                                      .new_session = true,
                                      .prepared = true,
                                      .kin = OS_DETACHED};
        os_prepare(os, argv[0]); /* for the next, where it is not there yet */
        rc = os_spawn(os, &spec, NULL, NULL, &claim->starter.pid, err);
    }
    if (rc == 0) {
        claim->starter.config = startd->starters.configurations;
        claim->starter.start = os_start_time(os, claim->starter.pid);
        rc = watch_starter(claim, err);
    }
    if (rc != 0) { /* one that cannot be watched is ended by its mark */
        claim->starter.pid = 0;
        clean_up(startd, claim->run.directory);
    }
    strbuf_fini(&mark);
    strbuf_fini(&slot_mark);
    return rc;
}

/* If a startd was killed after it had started a starter and before the commit of its pid, the
 * record has no pid.  But the starter holds its slot's lock, which the starter before it had given
 * up when this run was recorded. */
static void find_by_lock(struct claim *claim)
{
    struct startd *startd = claim->startd;
    struct strbuf path;
    strbuf_init(&path, 0);
    strbuf_printf(&path, "%s/starter.%s.lock", config_path(startd->env.config, "LOCK"),
                  claim->slot->short_name);
    pid_t pid = os_lock_holder(startd->env.os, strbuf_text(&path));
    strbuf_fini(&path);
    if (pid > 0) {
        claim->starter.pid = pid;
        claim->starter.start = os_start_time(startd->env.os, pid);
        log_info(startd->env.log, "starter.found", "found a starter that was not recorded yet",
                 LOG_TEXT("slot", claim->slot_name), LOG_TEXT("job", claim->job.id),
                 LOG_INT("pid", pid));
        claim_commit(claim, NULL);
    }
}

/* ---- those that are kept */

static void ignore_reply(void *arg, struct wire_reply *reply)
{
    (void)arg;
    (void)reply; /* its connection's end tells what matters */
}

int starters_hand_over(struct claim *claim, struct err *err)
{
    CHECK(claim->kept.pid > 0 && claim->kept.wire != NULL);
    int rc = make_directory(claim, err);
    if (rc != 0) {
        return rc;
    }
    claim->starter.pid = claim->kept.pid;
    claim->starter.start = claim->kept.start;
    claim->starter.wire = claim->kept.wire;
    claim->kept.pid = 0;
    claim->kept.wire = NULL;
    struct ad *args = ad_create();
    ad_set_string(args, "Directory", claim->run.directory);
    meter_put_rates(claim->startd, args);
    const struct wire_body body = {.args = args};
    (void)wire_call(claim->starter.wire, VERB_STARTER_RUN, &body, 0, ignore_reply,
                    NULL); /* one that cannot ends: it is watched */
    ad_destroy(args);
    return 0;
}

void starters_unkeep(struct claim *claim)
{
    if (claim->kept.wire != NULL) {
        wire_close(claim->kept.wire); /* with that it ends */
        claim->kept.wire = NULL;
        loop_timer_set(claim->stop.timer, UNKEPT_MS);
    }
}

void starters_unkeep_all(struct startd *startd)
{
    for (size_t i = 0; i < startd->claims.count; i++) {
        starters_unkeep(startd->claims.items[i]);
    }
}

/* Returns whether the starter, which is done, may wait for the next job. */
static bool is_to_be_kept(const struct claim *claim, const struct ad *args)
{
    const struct startd *startd = claim->startd;
    char why[200];
    return ad_bool_or(args, "MayStay", false) && ad_string_or(args, "Reason", "")[0] == '\0' &&
           !startd->stopping && !going_down_takes_none(startd) && !startd->farewell.begun &&
           claim->ending.reason[0] == '\0' && claim->calls.release == NULL &&
           claim->stop.how == CLAIM_STOP_NOT && !claim->starter.adopted &&
           claim->starter.config == startd->starters.configurations &&
           claim->starter.wire != NULL && !preempt_is_due(claim->slot, why, sizeof why);
}

static void keep_starter(struct claim *claim)
{
    claim->kept.pid = claim->starter.pid;
    claim->kept.start = claim->starter.start;
    claim->kept.wire = claim->starter.wire;
    mem_free(claim->kept.directory);
    claim->kept.directory = mem_strdup(claim->run.directory);
    claim->starter.wire = NULL;
    claim_starter_gone(claim, "");
}

void starters_adopt(struct claim *claim)
{
    struct err err;
    claim->starter.adopted = true;
    if (claim->starter.pid == 0 && claim->slot != NULL) {
        find_by_lock(claim);
    }
    /* Without a start time it was dead when it was recorded, and the pid is another's by now. */
    if (claim->starter.pid > 0 && claim->starter.start != 0 && watch_starter(claim, &err) == 0) {
        return; /* if it is gone already, starter_ended() comes at once */
    }
    claim->starter.pid = 0;
    clean_up(claim->startd, claim->run.directory);
    claim_starter_gone(claim, "the starter died while the startd was not running");
}

/* ---- what is said to a starter */

/* Gives the starter a little more time to stop than it gives its job itself. */
static void await_end(struct claim *claim)
{
    int64_t killing_s = config_duration_s(claim->startd->env.config, "KILLING_TIMEOUT");
    int64_t grace_s = claim->stop.how == CLAIM_STOP_FAST ? 0
                      : claim->stop.grace_s > 0          ? claim->stop.grace_s
                                                         : killing_s;
    loop_timer_set(claim->stop.timer, (uint64_t)(grace_s + killing_s) * 1000);
}

static void stop_by_signal(struct claim *claim)
{
    (void)os_kill(claim->startd->env.os, claim->starter.pid,
                  claim->stop.how == CLAIM_STOP_FAST ? SIGQUIT : SIGTERM); /* gone: watched */
    claim->stop.by_signal = true;
}

void starters_stop(struct claim *claim, bool fast)
{
    struct startd *startd = claim->startd;
    if (claim->stop.how != CLAIM_STOP_NOT && !fast) {
        return;
    }
    bool is_first = claim->stop.how == CLAIM_STOP_NOT,
         was_fast = claim->stop.how == CLAIM_STOP_FAST;
    claim->stop.how = fast ? CLAIM_STOP_FAST : CLAIM_STOP_ASKED;
    if (claim->starter.wire != NULL && wire_is_ready(claim->starter.wire)) {
        struct ad *args = ad_create();
        ad_set_bool(args, "Fast", fast);
        if (claim->stop.kind[0] != '\0') {
            ad_set_string(args, "Kind", claim->stop.kind);
        }
        if (claim->stop.grace_s > 0) {
            ad_set_int(args, "Grace", claim->stop.grace_s);
        }
        struct wire_body body = {.args = args};
        if (wire_call(claim->starter.wire, VERB_STARTER_STOP, &body, 0, ignore_reply, NULL) < 0) {
            log_warn(startd->env.log, "starter.stop",
                     "the order to stop the job could not be sent to the starter",
                     LOG_TEXT("job", claim->job.id));
        }
        ad_destroy(args);
    } else if (claim->starter.pid > 0 && claim->starter.adopted && is_first) {
        claim->stop.unsaid = true; /* starter_hello() tells it */
        loop_timer_set(claim->stop.timer, UNSAID_MS);
        return;
    } else if (claim->starter.pid > 0 && !claim->stop.unsaid) {
        stop_by_signal(claim);
    }
    if (!was_fast && !claim->stop.unsaid) {
        await_end(claim);
    }
}

/* The starter should have ended by now: tells it again, more strongly, then kills it. */
void starters_stop_step(void *arg)
{
    struct claim *claim = arg;
    if (claim->kept.pid > 0 && claim->kept.wire == NULL) {
        (void)os_kill(claim->startd->env.os, claim->kept.pid, SIGKILL); /* watched */
        return;
    }
    if (!claim_plan_has_run(claim->stage) || claim->starter.pid <= 0) {
        return;
    }
    if (claim->stop.unsaid) {
        claim->stop.unsaid = false;
        stop_by_signal(claim);
        await_end(claim);
        return;
    }
    if (claim->stop.how != CLAIM_STOP_FAST) {
        if (claim->ending.reason[0] != '\0') {
            claim_end(claim, "", true);
        } else {
            starters_stop(claim, true); /* the claim goes on */
        }
        return;
    }
    log_error(claim->startd->env.log, "starter.overdue", "the starter does not end and is killed",
              LOG_TEXT("slot", claim->slot_name), LOG_TEXT("job", claim->job.id),
              LOG_INT("pid", claim->starter.pid));
    (void)os_kill(claim->startd->env.os, claim->starter.pid, SIGKILL); /* watched */
}

void starters_suspend(struct claim *claim)
{
    if (claim->starter.wire == NULL || !wire_is_ready(claim->starter.wire)) {
        return; /* it asks when it says hello */
    }
    struct ad *args = ad_create();
    ad_set_bool(args, "Suspended", claim_is_suspended(claim));
    struct wire_body body = {.args = args};
    if (wire_call(claim->starter.wire, VERB_STARTER_SUSPEND, &body, 0, ignore_reply, NULL) < 0) {
        log_warn(claim->startd->env.log, "starter.suspend",
                 "the order to suspend or continue the job could not be sent to the starter",
                 LOG_TEXT("job", claim->job.id));
    }
    ad_destroy(args);
}

/* Both count on the same clock: an end says the same whenever it is read, and a remainder does not.
 */
static void put_lease(const struct claim *claim, struct ad *args)
{
    ad_set_int(args, "LeaseEndMs", (int64_t)claim->lease.end_ms);
    ad_set_int(args, "LeaseDuration", claim->lease.length_s);
}

/* Tells the lease process of the job's container; it depends on no starter. */
static void renew_cage(const struct claim *claim)
{
    struct strbuf path;
    strbuf_init(&path, 0);
    strbuf_printf(&path, "%s/job.lease", claim->run.directory);
    os_cage_renew(claim->startd->env.os, strbuf_text(&path), claim->lease.end_ms);
    strbuf_fini(&path);
}

void starters_renewed(struct claim *claim)
{
    if (claim->starter.pid > 0 && claim->run.directory != NULL) {
        renew_cage(claim);
    }
    if (claim->starter.wire == NULL || !wire_is_ready(claim->starter.wire)) {
        return;
    }
    struct ad *args = ad_create();
    put_lease(claim, args);
    if (claim->schedd.address != NULL) { /* its shadows are behind the same port */
        ad_set_string(args, "ShadowAddress", claim->schedd.address);
    }
    struct wire_body body = {.args = args};
    if (wire_call(claim->starter.wire, VERB_LEASE_RENEWED, &body, 0, ignore_reply, NULL) < 0) {
        log_debug(claim->startd->env.log, "starter.renew", "not connected",
                  LOG_TEXT("job", claim->job.id));
    }
    ad_destroy(args);
}

/* ---- what a starter says */

/* A starter that an older version had started sends its claim id among its arguments; that is
 * accepted as long as its job runs.  It was adopted, and so gets no other job (is_to_be_kept()). */
static struct claim *claim_of(struct startd *startd, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    const char *id = wire_request_secret(request, SECRET_CLAIM_ID);
    struct claim *claim =
        claim_find(startd, id[0] != '\0' ? id : ad_string_or(args, OLD_CLAIM_ID, ""));
    if (claim == NULL || !claim_plan_has_run(claim->stage) ||
        strcmp(claim->job.id, ad_string_or(args, "JobId", "")) != 0 ||
        claim->job.epoch != ad_int_or(args, "ClaimEpoch", -1)) {
        return NULL;
    }
    return claim;
}

static void starter_hello(struct startd *startd, struct wire_request *request)
{
    struct claim *claim = claim_of(startd, request);
    if (claim == NULL) {
        wire_reply_error(request, -ENOKEY, "no claim of this startd runs that job");
        return;
    }
    if (claim->starter.wire != NULL && claim->starter.wire != wire_request_wire(request)) {
        wire_close(claim->starter.wire);
    }
    for (size_t i = 0; i < startd->starters.wires.count; i++) {
        if (startd->starters.wires.items[i] == wire_request_wire(request)) {
            vec_remove_at(&startd->starters.wires, i);
            break;
        }
    }
    claim->starter.wire = wire_request_wire(request);
    bool confirm = ad_bool_or(wire_request_args(request), "Confirm", false);
    struct ad *args = ad_create();
    if (claim->lease.confirmed) {
        put_lease(claim, args);
    } /* else its lease stays what it was: that we were started again renews nothing */
    ad_set_bool(args, "Stop", claim->stop.how != CLAIM_STOP_NOT);
    ad_set_bool(args, "Fast", claim->stop.how == CLAIM_STOP_FAST);
    if (claim->stop.unsaid) {
        claim->stop.unsaid = false;
        await_end(claim);
    }
    if (claim->stop.kind[0] != '\0') {
        ad_set_string(args, "Kind", claim->stop.kind);
    }
    ad_set_bool(args, "Suspended", claim_is_suspended(claim));
    if (claim->stop.grace_s > 0) {
        ad_set_int(args, "Grace", claim->stop.grace_s);
    }
    meter_put_rates(startd, args);
    struct wire_body body = {.args = args};
    wire_reply_ok(request, &body);
    ad_destroy(args);
    if (confirm) {
        claim_say_alive(claim);
    }
}

/* Takes over the energy of its run so far, and answers with the present rates. */
static void starter_energy(struct startd *startd, struct wire_request *request)
{
    struct claim *claim = claim_of(startd, request);
    if (claim == NULL) {
        wire_reply_error(request, -ENOKEY, "no claim of this startd runs that job");
        return;
    }
    meter_count(claim, wire_request_args(request), false);
    struct ad *args = ad_create();
    meter_put_rates(startd, args);
    const struct wire_body body = {.args = args};
    wire_reply_ok(request, &body);
    ad_destroy(args);
}

static void starter_ckpt(struct startd *startd, struct wire_request *request)
{
    struct claim *claim = claim_of(startd, request);
    if (claim == NULL) {
        wire_reply_error(request, -ENOKEY, "no claim of this startd runs that job");
        return;
    }
    job_ckpt_taken(claim, wire_request_args(request));
    if (claim->slot != NULL) {
        slot_refresh(claim->slot);
    }
    wire_reply_ok(request, NULL);
}

static void starter_done(struct startd *startd, struct wire_request *request)
{
    struct claim *claim = claim_of(startd, request);
    char reason[200];
    if (claim != NULL) {
        meter_count(claim, wire_request_args(request), true);
    }
    (void)snprintf(reason, sizeof reason, "%s",
                   ad_string_or(wire_request_args(request), "Reason", ""));
    bool kept = claim != NULL && is_to_be_kept(claim, wire_request_args(request)) &&
                claim->starter.wire == wire_request_wire(request);
    bool delivered = ad_bool_or(wire_request_args(request), "Delivered", false);
    bool machine_fault = ad_bool_or(wire_request_args(request), "MachineFault", false);
    struct ad *args = ad_create();
    ad_set_bool(args, "Keep", kept);
    const struct wire_body body = {.args = args};
    wire_reply_ok(request, &body);
    ad_destroy(args);
    if (claim == NULL) {
        return;
    }
    claim->starter.delivered = delivered;
    claim->starter.machine_fault = machine_fault;
    log_info(startd->env.log, "starter.done", "the starter has reported the end of its run",
             LOG_TEXT("slot", claim->slot_name), LOG_TEXT("job", claim->job.id),
             LOG_TEXT("reason", reason));
    if (kept) {
        keep_starter(claim);
        return;
    }
    /* The next starter of this slot may begin when this process is gone: it holds the slot's lock
     * until then. */
    claim->starter.done = true;
    (void)snprintf(claim->starter.done_reason, sizeof claim->starter.done_reason, "%s", reason);
}

static void on_request(void *arg, struct wire_request *request)
{
    struct startd *startd = arg;
    enum wire_verb verb = wire_request_verb(request);
    if (verb == VERB_STARTER_HELLO) {
        starter_hello(startd, request);
    } else if (verb == VERB_STARTER_DONE) {
        starter_done(startd, request);
    } else if (verb == VERB_STARTER_ENERGY) {
        starter_energy(startd, request);
    } else if (verb == VERB_STARTER_CKPT) {
        starter_ckpt(startd, request);
    } else if (verb == VERB_CONSOLE_USED) {
        figures_console_used(startd, ad_int_or(wire_request_args(request), "ConsoleIdle",
                                               OS_NEVER_IDLE_S / 1000000));
        loop_timer_set(startd->poll.timer, 0); /* the owner is not to wait */
        wire_reply_ok(request, NULL);
    } else {
        wire_reply_error(request, -ENOSYS, "a starter may not send the request %s to its startd",
                         wire_verb_name(verb));
    }
}

static void on_closed(void *arg, struct wire *wire, int status, const char *why)
{
    struct startd *startd = arg;
    (void)status;
    (void)why; /* the starter's pid is what counts; it dials again if it lives */
    for (size_t i = 0; i < startd->starters.wires.count; i++) {
        if (startd->starters.wires.items[i] == wire) {
            vec_remove_at(&startd->starters.wires, i);
            break;
        }
    }
    for (size_t i = 0; i < startd->claims.count; i++) {
        struct claim *claim = startd->claims.items[i];
        if (claim->starter.wire == wire) {
            claim->starter.wire = NULL;
        }
        if (claim->kept.wire == wire) { /* and with it the starter */
            claim->kept.wire = NULL;
            loop_timer_set(claim->stop.timer, UNKEPT_MS);
        }
    }
    wire_close(wire);
}

static int admit_starter(void *arg, const struct wire_peer *peer, const struct wire_hello *hello,
                         struct err *err)
{
    struct startd *startd = arg;
    (void)hello;
    uid_t own = os_uid(startd->env.os);
    if (!peer->has_uid || (peer->uid != own && peer->uid != 0)) {
        return err_set(err, -EACCES, "only starters of this startd may connect to this socket");
    }
    return 0;
}

static void on_incoming(void *arg, struct incoming *incoming)
{
    struct startd *startd = arg;
    static const struct wire_events EVENTS = {.request = on_request, .closed = on_closed};
    const struct wire_accept how = {.no_token = true, .admit = admit_starter};
    struct wire *wire;
    struct err err;
    if (wire_accept(startd->wires, incoming, &how, &EVENTS, startd, &wire, &err) != 0) {
        log_warn(startd->env.log, "starter.accept", err.text);
        return;
    }
    vec_push(&startd->starters.wires, wire);
}

int starters_open(struct startd *startd, struct err *err)
{
    struct strbuf address;
    strbuf_init(&address, 0);
    strbuf_printf(&address, "unix:%s/startd.sock", config_path(startd->env.config, "RUN"));
    int rc = os_mkdirs(startd->env.os, config_path(startd->env.config, "EXECUTE"), 0755, err);
    if (rc == 0) {
        rc = os_mkdirs(startd->env.os, config_path(startd->env.config, "RUN"), 0755, err);
    }
    if (rc == 0) {
        rc = listener_create(startd->env.loop, strbuf_text(&address), on_incoming, startd,
                             &startd->starters.listener, err);
    }
    strbuf_fini(&address);
    return rc;
}

void starters_close(struct startd *startd)
{
    listener_destroy(startd->starters.listener);
    startd->starters.listener = NULL;
    for (size_t i = 0; i < startd->claims.count; i++) {
        struct claim *claim = startd->claims.items[i];
        wire_close(claim->starter.wire);
        claim->starter.wire = NULL;
        wire_close(claim->kept.wire);
        claim->kept.wire = NULL;
    }
    for (size_t i = 0; i < startd->starters.wires.count; i++) {
        wire_close(startd->starters.wires.items[i]);
    }
    vec_fini(&startd->starters.wires, NULL);
}
