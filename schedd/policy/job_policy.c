/* schedd/policy/job_policy.c - see job_policy.h.
 *
 * A round keeps ids and not pointers to jobs, because between two slices any job may leave the
 * queue.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/policy/job_policy.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/slices.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "classad/ad_limits.h"
#include "schedd/queue/job_ad.h"
#include "schedd/requests/job_autocluster.h"
#include "schedd/queue/job_change.h"
#include "schedd/claim/claim_accounts.h"
#include "schedd/claim/job_claims.h"
#include "schedd/job_checkpoints.h"
#include "schedd/policy/job_cron.h"
#include "schedd/job_events.h"
#include "schedd/job_moves.h"
#include "schedd/claim/job_nonce.h"
#include "schedd/queue/job_queue.h"
#include "schedd/submission/job_spool.h"
#include "schedd/policy/policy_plan.h"
#include "schedd/queue/queue_finish.h"
#include "schedd/queue/queue_table.h"
#include "schedd/requests/request_work.h"
#include "schedd/schedd_state.h"
#include "schedd/shadows/shadow_runs.h"

#define VERDICT_ATTRIBUTE "ExitVerdict"
#define NAME_MAX_BYTES    128 /* most bytes of a name, with the terminating zero */

struct policies {
    struct schedd *schedd;
    struct policy_system system;
    struct loop_timer *timer; /* starts the next round */
    struct slice_work *turn;
    struct ad_work work;
    /* the round */
    int64_t *clusters; /* ids of the clusters in this round */
    size_t count, capacity, at;
    uint32_t proc; /* next ProcId of clusters[at] */
    uint64_t begun_ms;
    bool started;
    bool hurry; /* start another round at once */
};

/* ---- the site's rules ------------------------------------------------------------------------ */

static const struct {
    const char *name, *reason, *subcode, *names;
} SYSTEM[POLICY_KINDS] = {
    [POLICY_OF_HOLD] = {"SYSTEM_PERIODIC_HOLD", "SYSTEM_PERIODIC_HOLD_REASON",
                        "SYSTEM_PERIODIC_HOLD_SUBCODE", "SYSTEM_PERIODIC_HOLD_NAMES"},
    [POLICY_OF_RELEASE] = {"SYSTEM_PERIODIC_RELEASE", "SYSTEM_PERIODIC_RELEASE_REASON",
                           "SYSTEM_PERIODIC_RELEASE_SUBCODE", "SYSTEM_PERIODIC_RELEASE_NAMES"},
    [POLICY_OF_REMOVE] = {"SYSTEM_PERIODIC_REMOVE", "SYSTEM_PERIODIC_REMOVE_REASON",
                          "SYSTEM_PERIODIC_REMOVE_SUBCODE", "SYSTEM_PERIODIC_REMOVE_NAMES"},
    [POLICY_OF_VACATE] = {"SYSTEM_PERIODIC_VACATE", "SYSTEM_PERIODIC_VACATE_REASON",
                          "SYSTEM_PERIODIC_VACATE_SUBCODE", "SYSTEM_PERIODIC_VACATE_NAMES"},
};

static const char *text_of(const struct config *config, const char *name, const char *suffix)
{
    char full[NAME_MAX_BYTES + 16];
    (void)snprintf(full, sizeof(full), "%s%s", name, suffix); /* fits */
    return config_text(config, full);
}

/* Reads the site's rules of one kind: the named rules in the order of their list, then the rule
 * without a name. */
static int read_kind(const struct config *config, enum policy_kind kind,
                     struct policy_system *system, struct err *err)
{
    const char *const *names = config_list(config, SYSTEM[kind].names, NULL);
    for (size_t i = 0; names[i] != NULL; i++) {
        char name[NAME_MAX_BYTES];
        int written = snprintf(name, sizeof(name), "%s_%s", SYSTEM[kind].name, names[i]);
        if (written < 0 || (size_t)written >= sizeof(name)) {
            return err_set(
                err, -EINVAL,
                "%s: the name '%.40s...' is too long: %s_<name> may have at most %d bytes",
                SYSTEM[kind].names, names[i], SYSTEM[kind].name, NAME_MAX_BYTES - 1);
        }
        if (config_text(config, name) == NULL) {
            return err_set(err, -EINVAL, "%s names %s, but %s is not set", SYSTEM[kind].names,
                           names[i], name);
        }
        int result = policy_system_add(system, kind, name, text_of(config, name, ""),
                                       text_of(config, name, "_REASON"),
                                       text_of(config, name, "_SUBCODE"), err);
        if (result != 0) {
            return result;
        }
    }
    return policy_system_add(system, kind, SYSTEM[kind].name,
                             config_expr(config, SYSTEM[kind].name),
                             config_expr(config, SYSTEM[kind].reason),
                             config_expr(config, SYSTEM[kind].subcode), err);
}

/* Fills *fresh, which must be empty; on failure it stays so. */
static int read_kinds(const struct config *config, struct policy_system *fresh, struct err *err)
{
    int result = 0;
    for (int kind = 0; result == 0 && kind < POLICY_KINDS; kind++) {
        result = read_kind(config, (enum policy_kind)kind, fresh, err);
    }
    if (result != 0) {
        policy_system_fini(fresh);
    }
    return result;
}

int policies_check(const struct config *config, struct err *err)
{
    struct policy_system fresh = {0};
    int result = read_kinds(config, &fresh, err);
    if (result == 0) {
        policy_system_fini(&fresh);
    }
    return result;
}

int policies_reload(struct schedd *schedd, struct err *err)
{
    struct policy_system fresh = {0};
    int result = read_kinds(schedd->config, &fresh, err);
    if (result != 0) {
        return result;
    }
    policy_system_fini(&schedd->policies->system);
    schedd->policies->system = fresh;
    return 0;
}

/* ---- the exit of a job ----------------------------------------------------------------------- */

static struct ad_context context_of(const struct schedd *schedd)
{
    return (struct ad_context){.now_s = loop_wall_s(schedd->loop)};
}

/* Keeps the verdict in the ad for policy_act_on_exit(), which is called when the output is in its
 * place. */
static void keep_verdict(struct ad *own, int action, int code, int subcode, const char *reason)
{
    struct ad *kept = ad_create();
    ad_set_int(kept, "Action", action);
    if (action == POLICY_HOLD) {
        ad_set_int(kept, "Code", code);
        ad_set_int(kept, "SubCode", subcode);
    }
    ad_set_string(kept, "Reason", reason);
    ad_set_ad(own, VERDICT_ATTRIBUTE, kept);
}

void policy_judge_exit(struct schedd *schedd, struct job *job)
{
    struct policy_verdict verdict;
    struct ad_context context = context_of(schedd);
    struct ad_work work = {0};
    struct ad *view = job_view(schedd, job);
    context.work = &work;
    ad_set_int(view, "JobStatus", STATUS_RUNNING); /* also where its start was not heard of */
    policy_plan_exit(view, &schedd->policies->system, &context, &verdict);
    ad_destroy(view);
    struct ad *own = job_own(job);
    ad_remove(own, VERDICT_ATTRIBUTE);
    if (verdict.action == POLICY_NONE) {
        return;
    }
    keep_verdict(own, (int)verdict.action, verdict.code, verdict.subcode, verdict.reason);
}

void policy_hold_on_exit(struct job *job, int code, int subcode, const char *reason)
{
    keep_verdict(job_own(job), POLICY_HOLD, code, subcode, reason);
}

static void complete_job(struct change *change, struct job *job)
{
    struct schedd *schedd = change_schedd(change);
    struct ad_context context = context_of(schedd);
    struct ad *own = job_own(job);
    char id[JOB_ID_SIZE];
    job_id(job, id);
    events_terminated(change, job);
    shadow_runs_forget(change, job, false, "completed");
    ad_set_int(own, "CompletionDate", context.now_s);
    struct ad *view = job_view(schedd, job);
    ad_set_int(view, "JobStatus", STATUS_COMPLETED);
    ad_set_int(view, "EnteredCurrentStatus", context.now_s);
    bool stays = policy_plan_stays(view, &context);
    ad_destroy(view);
    if (stays) {
        nonce_drop(change, job);
        queue_move(schedd, job, JOB_COMPLETED);
        change_job(change, job);
    } else {
        queue_finish(change, job, STATUS_COMPLETED);
    }
    log_info(schedd->log, "job.completed", "the job has completed", LOG_TEXT("job", id),
             LOG_BOOL("stays", stays));
}

void policy_act_on_exit(struct change *change, struct job *job)
{
    struct schedd *schedd = change_schedd(change);
    struct ad *own = job_own(job);
    const struct ad *kept = NULL;
    checkpoints_forget(change, job, false); /* it ended: another run begins at the start */
    if (ad_get_ad(own, VERDICT_ATTRIBUTE, &kept) != 0) {
        complete_job(change, job);
        return;
    }
    struct ad *verdict = ad_copy(kept);
    ad_remove(own, VERDICT_ATTRIBUTE);
    if (ad_int_or(verdict, "Action", 0) == POLICY_HOLD) {
        moves_hold_after_exit(change, job, ad_string_or(verdict, "Reason", ""),
                              (int)ad_int_or(verdict, "Code", HOLD_JOB_POLICY),
                              (int)ad_int_or(verdict, "SubCode", 0));
    } else {
        char id[JOB_ID_SIZE];
        job_id(job, id);
        log_info(schedd->log, "job.requeued", "the job's policy lets the job run again",
                 LOG_TEXT("job", id), LOG_INT("completions", job_int(job, "NumJobCompletions", 0)));
        moves_requeue(change, job, ad_string_or(verdict, "Reason", ""));
    }
    ad_destroy(verdict);
}

/* ---- the rounds ------------------------------------------------------------------------------ */

void policy_look_at(struct schedd *schedd, struct job *job)
{
    struct cluster *cluster = job->cluster;
    if (!cluster->has_policy) {
        cluster->has_policy = policy_plan_matters(cluster->ad) || policy_plan_matters(job->own) ||
                              checkpoints_wanted(job);
    }
    struct policies *policies = schedd->policies;
    job->costly = false; /* perhaps it is another expression now */
    if (policies != NULL && policies->started && job_has(job, "IsNoopJob")) {
        policies->hurry = true; /* before it gets a slot */
        loop_timer_set(policies->timer, 0);
    }
}

static void act_on_verdict(struct change *change, struct job *job,
                           const struct policy_verdict *verdict)
{
    static const char *const WORDS[] = {
        [POLICY_NONE] = "none",     [POLICY_HOLD] = "hold",     [POLICY_RELEASE] = "release",
        [POLICY_REMOVE] = "remove", [POLICY_VACATE] = "vacate", [POLICY_REQUEUE] = "requeue",
    };
    struct schedd *schedd = change_schedd(change);
    char id[JOB_ID_SIZE];
    if (verdict->action == POLICY_RELEASE && job->cluster->owner->is_root) {
        return; /* it stays held for good */
    }
    job_id(job, id);
    log_info(schedd->log, "job.policy", verdict->reason, LOG_TEXT("job", id),
             LOG_TEXT("action", WORDS[verdict->action]));
    switch (verdict->action) {
    case POLICY_HOLD:
        moves_hold(change, job, verdict->reason, verdict->code, verdict->subcode, true);
        break;
    case POLICY_RELEASE:
        moves_release(change, job, verdict->reason);
        break;
    case POLICY_REMOVE:
        moves_remove(change, job, verdict->reason, true);
        break;
    case POLICY_VACATE:
        moves_vacate(change, job, verdict->reason, false);
        break;
    case POLICY_NONE:
    case POLICY_REQUEUE:
    default:
        CHECK(verdict->action == POLICY_HOLD); /* the plan gives no other */
    }
}

/* Looks after a job that waits: a DeferralTime that has passed is set to the next one, a job with
 * malformed times is held, and a job whose checkpoint no machine can resume may run anywhere.
 * change and the result as for ask_job(). */
static struct change *ask_idle(struct schedd *schedd, struct job *job, struct change *change)
{
    struct err err = {{0}};
    if (checkpoints_look_at(schedd, job)) {
        change = change != NULL ? change : change_begin(schedd);
        change_job(change, job);
    }
    int result = job->phase == JOB_IDLE ? cron_refresh(schedd, job, &err) : 0;
    if (result == 0) {
        return change;
    }
    change = change != NULL ? change : change_begin(schedd);
    if (result > 0) {
        autocluster_rejoin(schedd, job);
        change_job(change, job);
    } else {
        moves_hold(change, job, err.text, HOLD_INVALID_CRON, 0, true);
    }
    return change;
}

/* Evaluates the policies of one job and acts on them.  change: collects the changes of this slice;
 * NULL: none so far.  Returns it, made if needed. */
static struct change *ask_job(struct schedd *schedd, struct job *job, struct change *change)
{
    struct policy_verdict verdict = {.action = POLICY_NONE};
    struct ad_context context = context_of(schedd);
    struct ad_work *work = &schedd->policies->work;
    int64_t code = 0, signal = 0;
    context.work = work;
    if (job->phase == JOB_PLACING || job->staged) {
        return change; /* its result is committed: it goes to its end */
    }
    if (spool_is_waiting(job)) {
        return change; /* nothing releases it before its input is there */
    }
    struct ad *view = job_view(schedd, job);
    uint64_t over = work->over;
    work->steps += WORK_VIEW_STEPS + ad_count(view);
    if (job->phase < JOB_ACTIVE && policy_plan_is_noop(view, &context, &code, &signal)) {
        ad_destroy(view);
        change = change != NULL ? change : change_begin(schedd);
        moves_end_noop(change, job, code, signal);
        return change;
    }
    if (work->over > over) {
        policy_plan_too_costly(view, "The job attribute IsNoopJob", &context, &verdict);
    }
    bool rests = job->phase == JOB_HELD || job->phase == JOB_COMPLETED;
    bool leaves = job->phase == JOB_COMPLETED && !policy_plan_stays(view, &context);
    if (!leaves && !verdict.costly && !(rests && job->costly)) {
        policy_plan_periodic(view, &schedd->policies->system, &context, &verdict);
        job->costly = verdict.costly;
        if (verdict.costly && verdict.action == POLICY_NONE) {
            char id[JOB_ID_SIZE];
            job_id(job, id);
            log_info(schedd->log, "job.policy_costly", verdict.reason, LOG_TEXT("job", id));
        }
    }
    ad_destroy(view);
    if (!leaves && verdict.action == POLICY_NONE) {
        return ask_idle(schedd, job, change);
    }
    change = change != NULL ? change : change_begin(schedd);
    if (leaves) {
        queue_finish(change, job, STATUS_COMPLETED);
    } else {
        act_on_verdict(change, job, &verdict);
    }
    return change;
}

static void flush_after_commit(void *arg)
{
    claims_flush(arg);
}

static void plan_round(struct policies *policies)
{
    const struct schedd_settings *settings = &policies->schedd->settings;
    if (policies->hurry) {
        loop_timer_set(policies->timer, 0);
        return;
    }
    if (settings->policy_interval_ms == 0) {
        loop_timer_stop(policies->timer);
        return;
    }
    /* So that asking takes no more than PERIODIC_EXPR_TIMESLICE of the time. */
    uint64_t took_ms = loop_now_ms(policies->schedd->loop) - policies->begun_ms;
    uint64_t wait_ms = settings->policy_interval_ms;
    double wanted_ms = settings->policy_timeslice > 0 ? (double)took_ms / settings->policy_timeslice
                                                      : (double)settings->policy_interval_max_ms;
    if (wanted_ms > (double)wait_ms && settings->policy_interval_max_ms > wait_ms) {
        wait_ms = wanted_ms < (double)settings->policy_interval_max_ms
                      ? (uint64_t)wanted_ms
                      : settings->policy_interval_max_ms;
    }
    loop_timer_set(policies->timer, wait_ms);
}

static void gather_clusters(struct policies *policies)
{
    bool all = !policy_system_is_empty(&policies->system);
    size_t at = 0;
    void *value = NULL;
    policies->hurry = false;
    policies->begun_ms = loop_now_ms(policies->schedd->loop);
    claim_stamps_follow(policies->schedd);
    policies->count = 0;
    policies->at = 0;
    policies->proc = 0;
    while (strmap_next(policies->schedd->queue.owners, &at, NULL, &value)) {
        ((struct owner *)value)->policy_steps = 0;
    }
    at = 0;
    while (strmap_next(policies->schedd->queue.clusters, &at, NULL, &value)) {
        const struct cluster *cluster = value;
        if (!all && !cluster->has_policy) {
            continue;
        }
        if (policies->count == policies->capacity) {
            policies->capacity = policies->capacity == 0 ? 64 : policies->capacity * 2;
            policies->clusters =
                mem_realloc(policies->clusters, policies->capacity * sizeof(*policies->clusters));
        }
        policies->clusters[policies->count++] = cluster->id;
    }
}

/* As ask_job(), and counts the steps for the job's owner.  When the owner's budget is used up,
 * expressions that are not cheap count as too costly. */
static struct change *ask_within_budget(struct policies *policies, struct job *job,
                                        struct change *change)
{
    struct schedd *schedd = policies->schedd;
    struct owner *owner = job->cluster->owner;
    uint64_t most = schedd->settings.policy_steps_max, before = policies->work.steps;
    bool was_over = most != 0 && owner->policy_steps > most;
    policies->work.steps_max = was_over ? POLICY_CHEAP_STEPS : 0;
    change = ask_job(schedd, job, change); /* the job may be gone now */
    owner->policy_steps += policies->work.steps - before;
    if (!was_over && most != 0 && owner->policy_steps > most) {
        log_warn(
            schedd->log, "policy.too_costly",
            "the periodic expressions of an owner's jobs took more than "
            "MAX_PERIODIC_EXPR_STEPS; in this round, further jobs of this owner are held if their "
            "expressions take many steps",
            LOG_TEXT("owner", owner->name), LOG_INT("steps", owner->policy_steps));
    }
    return change;
}

static void want_slice(void *arg)
{
    slice_work_want(((struct policies *)arg)->turn);
}

static void ask_slice(void *arg)
{
    struct policies *policies = arg;
    struct schedd *schedd = policies->schedd;
    struct change *change = NULL;
    if (schedd->stopping) {
        return;
    }
    if (policies->at == policies->count) {
        gather_clusters(policies);
    }
    /* Places of jobs that are gone count, too: they are looked at. */
    uint64_t end = policies->work.steps + AD_SLICE_STEPS;
    while (policies->work.steps < end && policies->at < policies->count) {
        const struct cluster *cluster = queue_cluster(schedd, policies->clusters[policies->at]);
        policies->work.steps += WORK_LOOK_STEPS;
        if (cluster == NULL || policies->proc >= cluster->proc_count) {
            policies->at++;
            policies->proc = 0;
            continue;
        }
        struct job *job = cluster->procs[policies->proc++];
        if (job != NULL) {
            change = ask_within_budget(policies, job, change);
        }
    }
    if (change != NULL) {
        change_commit(change, flush_after_commit, NULL, schedd);
    }
    if (policies->at < policies->count) {
        slice_work_want(policies->turn);
    } else {
        plan_round(policies);
    }
}

void policies_init(struct schedd *schedd)
{
    struct policies *policies = mem_zalloc(sizeof(*policies));
    policies->schedd = schedd;
    policies->timer = loop_timer_create(schedd->loop, want_slice, policies);
    policies->turn = slice_work_create(schedd->slices, "", ask_slice, policies);
    schedd->policies = policies;
}

void policies_start(struct schedd *schedd)
{
    schedd->policies->started = true;
    schedd->policies->begun_ms = loop_now_ms(schedd->loop);
    claim_stamps_follow(schedd);
    plan_round(schedd->policies);
}

void policies_fini(struct schedd *schedd)
{
    struct policies *policies = schedd->policies;
    if (policies != NULL) {
        loop_timer_destroy(policies->timer);
        slice_work_destroy(policies->turn);
        policy_system_fini(&policies->system);
        mem_free(policies->clusters);
        mem_free(policies);
        schedd->policies = NULL;
    }
}
