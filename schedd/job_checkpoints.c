/* schedd/job_checkpoints.c - see job_checkpoints.h.
 *
 * Jobs whose checkpoints are to be deleted are gathered, and each owner's shadow is told once:
 * `roost rm` of thousands of jobs is one call.  If a shadow does not hear it, it finds out when it
 * says hello.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/job_checkpoints.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/plant.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "schedd/checkpoint_plan.h"
#include "schedd/claim/claim_accounts.h"
#include "schedd/queue/job_ad.h"
#include "schedd/requests/job_autocluster.h"
#include "schedd/queue/job_change.h"
#include "schedd/job_events.h"
#include "schedd/job_suspensions.h"
#include "schedd/queue/queue_table.h"
#include "schedd/schedd_state.h"
#include "schedd/shadows/shadows.h"
#include "wire/checkpoint_attrs.h"
#include "wire/wire.h"

#define LIST_MAX 60000 /* bytes of ids in one call */

struct checkpoints {
    struct schedd *schedd;
    /* owner -> struct strbuf: ids of jobs whose checkpoints are to be deleted */
    struct strmap *gone;
    struct loop_timer *timer; /* fires to tell the shadows */
};

bool checkpoints_wanted(const struct job *job)
{
    return job_int(job, CKPT_WANTED, 0) != 0;
}

/* ---- reports of shadows ---------------------------------------------------------------------- */

static struct checkpoint_facts facts_of(const struct schedd *schedd, const struct job *job)
{
    int64_t now_s = loop_wall_s(schedd->loop);
    int64_t began_s = job_int(job, "JobCurrentStartDate", now_s);
    int64_t run_s = claim_ran_s(schedd, job);
    if (job->phase != JOB_ACTIVE) { /* it has ended */
        run_s = job_int(job, "LastRemoteWallClockTime", 0);
    }
    return (struct checkpoint_facts){.now_s = now_s,
                                     .began_s = began_s,
                                     .run_max_s = run_s,
                                     .suspended_s = suspensions_s(job),
                                     .weight = claim_slot_weight(job)};
}

/* The machines on which the job may run have changed: puts it into the right autocluster. */
static void match_anew(struct schedd *schedd, struct job *job)
{
    autocluster_rejoin(schedd, job);
}

void checkpoints_taken(struct change *change, struct job *job, const struct ad *told)
{
    struct schedd *schedd = change_schedd(change);
    struct ad *own = job_own(job);
    const struct checkpoint_facts facts = facts_of(schedd, job);
    if (!checkpoint_plan_taken(own, told, &facts)) {
        return; /* said again: the answer was lost */
    }
    events_checkpointed(change, job);
    match_anew(schedd, job);
    change_job(change, job);
    char id[JOB_ID_SIZE];
    job_id(job, id);
    log_info(schedd->log, "job.checkpointed", "stored a checkpoint of the job", LOG_TEXT("job", id),
             LOG_INT("sequence", ad_int_or(own, CKPT_SEQUENCE, 0)),
             LOG_INT("image_bytes", ad_int_or(own, CKPT_IMAGE_BYTES, 0)),
             LOG_INT("committed_s", ad_int_or(own, "CommittedTime", 0)));
}

void checkpoints_refused(struct change *change, struct job *job, const struct ad *told)
{
    struct schedd *schedd = change_schedd(change);
    char id[JOB_ID_SIZE];
    job_id(job, id);
    log_warn(schedd->log, "job.checkpoint_refused", ad_string_or(told, "Reason", ""),
             LOG_TEXT("job", id), LOG_INT("sequence", ad_int_or(told, CKPT_SEQUENCE, 0)),
             LOG_BOOL("damaged", ad_bool_or(told, "Damaged", false)));
    checkpoint_plan_refused(job_own(job), told);
    match_anew(schedd, job);
    change_job(change, job);
}

bool checkpoints_take_late(const struct job *job, int64_t epoch)
{
    return (job->phase == JOB_IDLE || job->phase == JOB_MATCHED || job->phase == JOB_HELD) &&
           job->epoch == epoch + 1 && checkpoints_wanted(job);
}

/* ---- their end ------------------------------------------------------------------------------- */

static void ignore_answer(void *arg, int status, const char *text)
{
    (void)arg;
    (void)status;
    (void)text; /* a shadow that comes later is told which jobs have some */
}

static void tell_shadow(struct schedd *schedd, const char *owner, const char *ids)
{
    struct ad *args = ad_create();
    ad_set_string(args, CKPT_JOBS, ids);
    shadows_call(schedd, queue_owner(schedd, owner), VERB_JOB_STOP, args, NULL, ignore_answer,
                 NULL);
    ad_destroy(args);
}

static void free_list(void *value)
{
    strbuf_fini(value);
    mem_free(value);
}

static void tell_all_shadows(void *arg)
{
    struct checkpoints *checkpoints = arg;
    struct schedd *schedd = checkpoints->schedd;
    size_t at = 0;
    const char *owner = NULL;
    void *value = NULL;
    while (!schedd->stopping && strmap_next(checkpoints->gone, &at, &owner, &value)) {
        tell_shadow(schedd, owner, strbuf_text(value));
    }
    strmap_destroy(checkpoints->gone, free_list);
    checkpoints->gone = strmap_create(STRMAP_CASE_SENSITIVE);
}

struct forgotten {
    struct checkpoints *checkpoints;
    char owner[OWNER_NAME_MAX + 1];
    char id[JOB_ID_SIZE];
};

static void gather_forgotten(void *arg)
{
    struct forgotten *forgotten = arg;
    struct checkpoints *checkpoints = forgotten->checkpoints;
    struct strbuf *ids = strmap_get(checkpoints->gone, forgotten->owner);
    if (ids == NULL) {
        ids = mem_zalloc(sizeof(*ids));
        strbuf_init(ids, 0);
        (void)strmap_set(checkpoints->gone, forgotten->owner, ids); /* was absent */
    }
    strbuf_printf(ids, "%s%s", ids->length > 0 ? "," : "", forgotten->id);
    loop_timer_set(checkpoints->timer, 0);
    if (ids->length > LIST_MAX) {
        tell_all_shadows(checkpoints);
    }
    mem_free(forgotten);
}

bool checkpoints_may_be(const struct job *job)
{
    return (job->own != NULL && ad_int_or(job->own, CKPT_SEQUENCE, 0) > 0) ||
           (job->phase != JOB_COMPLETED && job->epoch > 0 && checkpoints_wanted(job));
}

void checkpoints_forget(struct change *change, struct job *job, bool leaves)
{
    bool had = checkpoints_may_be(job);
    if (!leaves && job->own != NULL && (checkpoint_plan_forget(job->own) || had)) {
        match_anew(change_schedd(change), job);
    }
    if (had && !PLANTED(checkpoint_left)) {
        struct forgotten *forgotten = mem_zalloc(sizeof(*forgotten));
        forgotten->checkpoints = change_schedd(change)->checkpoints;
        (void)snprintf(forgotten->owner, sizeof(forgotten->owner), "%s",
                       job->cluster->owner->name); /* fits */
        job_id(job, forgotten->id);
        change_then(change, gather_forgotten, forgotten);
    }
}

/* ---- no machine for it ----------------------------------------------------------------------- */

bool checkpoints_look_at(struct schedd *schedd, struct job *job)
{
    const struct autocluster *autocluster = job->autocluster;
    if (job->phase != JOB_IDLE || job->own == NULL || autocluster == NULL) {
        return false;
    }
    bool is_of_now = autocluster->rejected_s >= job->entered_s;
    int64_t patience_s = schedd->settings.checkpoint_patience_s;
    if (!checkpoint_plan_gives_up(job->own, claim_idle_s(schedd, job), patience_s,
                                  is_of_now ? autocluster->rejected_why : NULL)) {
        return false;
    }
    char id[JOB_ID_SIZE];
    job_id(job, id);
    log_warn(schedd->log, "job.checkpoint_given_up",
             "no machine that can resume the job's checkpoint has joined; the job may now start "
             "over on any machine",
             LOG_TEXT("job", id), LOG_INT("patience_s", patience_s));
    ad_set_bool(job->own, CKPT_ANYWHERE, true);
    match_anew(schedd, job);
    return true;
}

/* ---------------------------------------------------------------------------------------------- */

void checkpoints_init(struct schedd *schedd)
{
    struct checkpoints *checkpoints = mem_zalloc(sizeof(*checkpoints));
    checkpoints->schedd = schedd;
    checkpoints->gone = strmap_create(STRMAP_CASE_SENSITIVE);
    checkpoints->timer = loop_timer_create(schedd->loop, tell_all_shadows, checkpoints);
    schedd->checkpoints = checkpoints;
}

void checkpoints_fini(struct schedd *schedd)
{
    if (schedd->checkpoints != NULL) {
        loop_timer_destroy(schedd->checkpoints->timer);
        strmap_destroy(schedd->checkpoints->gone, free_list);
        mem_free(schedd->checkpoints);
        schedd->checkpoints = NULL;
    }
}
