/* schedd/submission/job_spool.c - see job_spool.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/submission/job_spool.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "schedd/claim/job_claims.h"
#include "schedd/job_moves.h"
#include "schedd/moments.h"
#include "schedd/queue/job_ad.h"
#include "schedd/queue/job_change.h"
#include "schedd/queue/queue_finish.h"
#include "schedd/queue/queue_table.h"
#include "schedd/schedd_state.h"
#include "schedd/submission/factory_kick.h"
#include "schedd/submission/spool_sandbox.h"
#include "submit/spool_plan.h"
#include "wire/wire.h"

#define STAGE_IN     "StageInAt" /* a note of schedd/moments.h: when StageInStart was set */
#define LOOK_MS      60000       /* between two looks for jobs whose input never came */
#define NAMES_MAX    100000
#define HELD_BY_USER "SUBMIT_JobStatus" /* kept in a job that was also submitted on hold */

bool spool_is_waiting(const struct job *job)
{
    return job->phase == JOB_HELD && spool_sandbox_is_used(job->cluster->ad) &&
           job_int(job, "HoldReasonCode", 0) == SPOOL_HOLD_CODE;
}

/* ---- submit ---------------------------------------------------------------------------------- */

void spool_take_cluster(struct schedd *schedd, struct ad *cluster)
{
    bool spools = ad_bool_or(cluster, "Spool", false);
    ad_remove(cluster, "Spool");
    ad_remove(cluster, SPOOL_MARK);
    if (spools) {
        spool_plan_keep(cluster);
        ad_set_int(cluster, "StageInStart", loop_wall_s(schedd->loop));
        moment_note(schedd, cluster, STAGE_IN);
    }
}

int spool_take_job(const struct schedd *schedd, struct ad *own, const struct ad *cluster,
                   int64_t proc, struct err *err)
{
    struct strbuf directory;
    strbuf_init(&directory, 0);
    strbuf_printf(&directory, "%s/owner/%s/sandbox/%" PRId64, schedd->self.spool,
                  ad_string_or(cluster, "Owner", ""), ad_int_or(cluster, "ClusterId", 0));
    int rc = spool_plan_rewrite(own, cluster, strbuf_text(&directory), proc, err);
    strbuf_fini(&directory);
    ad_remove(own, HELD_BY_USER);
    if (ad_int_or(own, "JobStatus", 0) == STATUS_HELD ||
        ad_int_or(cluster, "JobStatus", 0) == STATUS_HELD) {
        ad_set_int(own, HELD_BY_USER, STATUS_HELD);
    }
    ad_set_int(own, "JobStatus", STATUS_HELD);
    return rc;
}

void spool_note_hold(struct job *job)
{
    moves_note_hold(job, SPOOL_HOLD_REASON, SPOOL_HOLD_CODE, 0);
}

/* ---- what shadows tell ----------------------------------------------------------------------- */

struct told {
    struct schedd *schedd;
    struct wire_request *request;
};

static void report_committed(void *arg)
{
    struct told *told = arg;
    wire_reply_ok(told->request, NULL);
    claims_flush(told->schedd);
    mem_free(told);
}

static void report_dropped(void *arg)
{
    struct told *told = arg;
    wire_reply_error(told->request, -ESHUTDOWN, "the schedd is stopping");
    mem_free(told);
}

static void input_is_there(struct change *change, struct job *job)
{
    struct ad *own = job_own(job);
    ad_set_int(own, "StageInFinish", loop_wall_s(change_schedd(change)->loop));
    if (ad_has(own, HELD_BY_USER)) {
        ad_remove(own, HELD_BY_USER);
        moves_note_hold(job, "submitted on hold at user's request", HOLD_SUBMITTED_ON_HOLD, 0);
        change_job(change, job);
    } else {
        moves_release(change, job, "Data files spooled");
    }
}

static void cluster_is_spooled(struct change *change, const char *id, const struct owner *owner)
{
    int64_t number = 0, proc = -1;
    struct cluster *cluster = job_id_parse(id, &number, &proc) && proc < 0
                                  ? queue_cluster(change_schedd(change), number)
                                  : NULL;
    for (uint32_t i = 0; cluster != NULL && cluster->owner == owner && i < cluster->proc_count;
         i++) {
        if (cluster->procs[i] != NULL && spool_is_waiting(cluster->procs[i])) {
            input_is_there(change, cluster->procs[i]);
        }
    }
}

/* The job's output was fetched: a completed job that only waited for this leaves the queue. */
static void output_is_fetched(struct change *change, const char *id, const struct owner *owner)
{
    struct schedd *schedd = change_schedd(change);
    struct job *job = queue_job_by_id(schedd, id);
    if (job == NULL || job->cluster->owner != owner || job->phase != JOB_COMPLETED ||
        !spool_sandbox_is_used(job->cluster->ad)) {
        return;
    }
    ad_set_int(job_own(job), "StageOutFinish", loop_wall_s(schedd->loop));
    struct ad *view = job_view(schedd, job);
    bool waits = spool_plan_waits_for_fetch(view);
    ad_destroy(view);
    if (waits) {
        queue_finish(change, job, STATUS_COMPLETED);
    } else {
        change_job(change, job);
    }
}

static void each_text(const struct ad *args, const char *name,
                      void (*each)(struct change *change, const char *text,
                                   const struct owner *owner),
                      struct change *change, const struct owner *owner)
{
    struct ad_value list;
    (void)ad_eval_attr(args, NULL, name, NULL, &list); /* absent: no elements */
    size_t count = ad_value_count(&list);
    for (size_t i = 0; i < count && i < NAMES_MAX; i++) {
        struct ad_value item;
        ad_value_item(&list, i, &item);
        if (item.type == AD_TYPE_STRING) {
            each(change, item.string.text, owner);
        }
        ad_value_fini(&item);
    }
    ad_value_fini(&list);
}

static void change_jobs(struct schedd *schedd, struct owner *owner, struct wire_request *request,
                        bool spooled)
{
    const struct ad *args = wire_request_args(request);
    struct change *change = change_begin(schedd);
    if (spooled) {
        each_text(args, "Ids", cluster_is_spooled, change, owner);
    } else {
        each_text(args, "JobIds", output_is_fetched, change, owner);
    }
    struct told *told = mem_alloc(sizeof(*told));
    *told = (struct told){schedd, request};
    change_commit(change, report_committed, report_dropped, told);
}

/* Answers which of these sandboxes belong to no cluster any more. */
static void which_are_gone(struct schedd *schedd, const struct owner *owner,
                           struct wire_request *request)
{
    struct ad_value list;
    struct vec gone = {0};
    (void)ad_eval_attr(wire_request_args(request), NULL, "Names", NULL, &list);
    size_t count = ad_value_count(&list);
    for (size_t i = 0; i < count && i < NAMES_MAX; i++) {
        struct ad_value item;
        int64_t number = 0, proc = -1;
        ad_value_item(&list, i, &item);
        if (item.type == AD_TYPE_STRING && job_id_parse(item.string.text, &number, &proc)) {
            const struct cluster *cluster = queue_cluster(schedd, number);
            if (cluster == NULL || cluster->owner != owner || !spool_sandbox_is_used(cluster->ad)) {
                vec_push(&gone, mem_strdup(item.string.text));
            }
        }
        ad_value_fini(&item);
    }
    ad_value_fini(&list);
    struct ad *args = ad_create();
    ad_set_strings(args, "Gone", (const char *const *)gone.items, gone.count);
    const struct wire_body body = {.args = args};
    wire_reply_ok(request, &body);
    ad_destroy(args);
    vec_fini(&gone, mem_free);
}

bool spool_handle(struct schedd *schedd, struct owner *owner, struct wire_request *request)
{
    const char *event = ad_string_or(wire_request_args(request), "Event", "");
    if (wire_request_verb(request) != VERB_JOB_STATUS) {
        return false;
    }
    if (strcmp(event, "Spooled") == 0 || strcmp(event, "Fetched") == 0) {
        change_jobs(schedd, owner, request, strcmp(event, "Spooled") == 0);
        return true;
    }
    if (strcmp(event, "Sandboxes") == 0) {
        which_are_gone(schedd, owner, request);
        return true;
    }
    return false;
}

/* ---- input that never came ------------------------------------------------------------------- */

struct late {
    const struct schedd *schedd;
    struct vec jobs;
};

static bool add_late(void *arg, struct job *job)
{
    struct late *late = arg;
    const struct ad *cluster = job->cluster->ad;
    int64_t timeout_s = late->schedd->settings.spool_timeout_s;
    if (job->phase == JOB_HELD && spool_is_waiting(job) &&
        moment_since_s(late->schedd, cluster, STAGE_IN, ad_int_or(cluster, "StageInStart", 0)) >
            timeout_s) {
        vec_push(&late->jobs, job);
    }
    return true;
}

static void look_for_late(void *arg)
{
    struct schedd *schedd = arg;
    struct late late = {.schedd = schedd};
    loop_timer_set(schedd->spool_timer, LOOK_MS);
    factory_kick_waiting(schedd); /* the disk may have room again */
    if (schedd->settings.spool_timeout_s == 0 || schedd->queue.held == 0) {
        return;
    }
    queue_walk(schedd, add_late, &late);
    struct change *change = late.jobs.count > 0 ? change_begin(schedd) : NULL;
    for (size_t i = 0; i < late.jobs.count; i++) {
        moves_remove(change, late.jobs.items[i],
                     "the job's input data files were not spooled within SPOOL_TIMEOUT", true);
    }
    if (change != NULL) {
        log_warn(schedd->log, "spool.timeout", "removed jobs whose input was not spooled in time",
                 LOG_INT("jobs", late.jobs.count));
        change_commit(change, NULL, NULL, NULL);
    }
    vec_fini(&late.jobs, NULL);
}

void spool_start(struct schedd *schedd)
{
    schedd->spool_timer = loop_timer_create(schedd->loop, look_for_late, schedd);
    loop_timer_set(schedd->spool_timer, LOOK_MS);
}

void spool_stop(struct schedd *schedd)
{
    loop_timer_destroy(schedd->spool_timer);
    schedd->spool_timer = NULL;
}
