/* schedd/schedd_plan.h - the schedd's decisions, as functions of what is known and the time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_SCHEDD_PLAN_H
#define SCHEDD_SCHEDD_PLAN_H

#include <stdbool.h>
#include <stdint.h>

/* ---- which job first ---- */

struct plan_order {
    double prio; /* value of PRIO; NaN counts as lowest */
    int64_t cluster, proc;
};
/* PRIO, then order of submission.  A strict order: of two different jobs one is before. */
bool schedd_plan_before(const struct plan_order *a, const struct plan_order *b);

/* The default PRIO, (UserPrio * 10) + Expanded - (QDate / 1000000000.0), without an expression. */
double schedd_plan_prio(int64_t job_prio, bool expanded, int64_t qdate_s);

/* ---- the startd answers DIAL_ME ---- */

enum plan_dialled {
    DIALLED_EXPECT,    /* it dials */
    DIALLED_WAIT,      /* another claim has to end before */
    DIALLED_ASK_AGAIN, /* a claim that waits: the question or its answer was lost */
    DIALLED_LOST       /* it does not take the job */
};
/* waits: the answer says so; waiting: we knew that it waits. */
enum plan_dialled schedd_plan_dialled(int status, bool waits, bool waiting);

/* ---- what to do with a claim whose slot is idle ---- */

struct plan_claim {
    bool job_waits;       /* an idle job of its autocluster is there */
    bool may_run_more;    /* MAX_JOBS_RUNNING is not reached */
    bool stopping;        /* the schedd is told to end */
    uint64_t now_ms;      /* all on one clock */
    uint64_t claimed_ms;  /* when the claim was made */
    uint64_t idle_ms;     /* since when it is idle */
    uint64_t worklife_ms; /* after that it takes no further job (0: never) */
    uint64_t linger_ms;   /* so long it may wait for a job */
};
enum plan_next { NEXT_ACTIVATE, NEXT_WAIT, NEXT_RELEASE };
/* wait_ms is set with NEXT_WAIT: ask again then. */
enum plan_next schedd_plan_next(const struct plan_claim *claim, uint64_t *wait_ms);

/* ---- leases ---- */

/* The moment when a claim that was renewed at renewed_ms counts as lost here: the startd, which
 * counts from when it sent the renewal, ends the job before. */
uint64_t schedd_plan_lease_end(uint64_t renewed_ms, uint64_t lease_ms, uint64_t margin_ms);
bool schedd_plan_lease_is_over(uint64_t lease_end_ms, uint64_t now_ms);

/* ---- a machine on which starters fail ---- */

/* How long it is avoided after so many failures in a row: the first is free, then first_ms, doubled
 * with each, at most 60 times that. */
uint64_t schedd_plan_trouble_wait(unsigned failures, uint64_t first_ms);
/* Was the last failure so long ago that the next one is a first? */
bool schedd_plan_trouble_is_old(uint64_t noted_ms, uint64_t now_ms, uint64_t first_ms);
/* Is a job that has failed so often in all to be held now? */
bool schedd_plan_failures_hold(int64_t failures, int64_t failures_max);

/* ---- a startd says that it still has our claim ---- */

struct plan_resume {
    bool lease_over;
    bool has_job;              /* the claim has a job that was given to the startd */
    bool same_job, same_epoch; /* what the startd says it runs is what we gave it last */
    bool startd_has_starter;   /* it named a job at all */
};
enum plan_resumed {
    RESUME_RUNNING, /* as before */
    RESUME_IDLE,    /* nothing runs there: the claim can take a job */
    RESUME_AGAIN,   /* the startd lost the job that we think is there: give it anew */
    RESUME_REFUSE
};
enum plan_resumed schedd_plan_resume(const struct plan_resume *resume);

/* ---- a result arrives ---- */

struct plan_result {
    bool in_queue;
    bool runs;              /* idle, matched, claimed or active: has no result yet */
    bool placing;           /* JobStatus 6, or held and staged: its result is committed */
    bool completed;         /* JobStatus 4: placed, and the job stays in the queue */
    int64_t job_epoch;      /* of the job in the queue */
    bool finished;          /* in the history ... */
    int64_t finished_epoch; /* ... and by which run it got there; 0: removed */
    int64_t epoch;          /* of the result */
};
enum plan_verdict {
    RESULT_COMMIT, /* commit it */
    RESULT_AGAIN,  /* it is committed already: place it */
    RESULT_DONE,   /* it was placed long ago */
    RESULT_STALE   /* of another run: refuse */
};
enum plan_verdict schedd_plan_result(const struct plan_result *result);

/* ---- ACT ---- */

enum act_action {
    ACT_REMOVE,
    ACT_HOLD,
    ACT_RELEASE,
    ACT_VACATE,
    ACT_VACATE_FAST,
    ACT_SUSPEND,
    ACT_CONTINUE
};
enum act_result { /* HTCondor's words for them are in schedd_plan_act_name() */
                  ACT_ERROR,
                  ACT_SUCCESS,
                  ACT_NOT_FOUND,
                  ACT_BAD_STATUS,
                  ACT_ALREADY_DONE,
                  ACT_PERMISSION_DENIED,
                  ACT_RESULTS
};
/* status: JobStatus; allowed: the caller owns the job or is an administrator; switching: a
 * suspension or its end was ordered, and the machine has not reported the change yet. */
enum act_result schedd_plan_act(enum act_action action, int status, bool allowed, bool switching);
const char *schedd_plan_act_name(enum act_result result);

#endif
