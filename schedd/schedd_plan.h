/* schedd/schedd_plan.h - the schedd's decisions as pure functions of the known facts and the time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_SCHEDD_PLAN_H
#define SCHEDD_SCHEDD_PLAN_H

#include <stdbool.h>
#include <stdint.h>

/* ---- which job first ---- */

/* The facts that decide which of two jobs runs first. */
struct plan_order {
    double prio; /* value of the knob PRIO for the job; NaN counts as lowest */
    int64_t cluster, proc;
};
/* Returns whether job a is to run before job b: higher PRIO first, then the job submitted first.  A
 * strict order: of two different jobs exactly one comes first. */
bool schedd_plan_before(const struct plan_order *a, const struct plan_order *b);

/* Computes the default of the knob PRIO, (UserPrio * 10) + Expanded - (QDate / 1000000000.0), in C
 * instead of evaluating the expression.  expanded: the job has started at least once. */
double schedd_plan_prio(int64_t job_prio, bool expanded, int64_t qdate_s);

/* ---- the startd answers DIAL_ME ---- */

/* What the schedd does with a claim after the schedd's request DIAL_ME, by which it asks the startd
 * to connect for this claim, was answered or has failed. */
enum plan_dialled {
    DIALLED_EXPECT, /* the startd agreed: wait for its connection */
    DIALLED_WAIT,   /* the startd agreed, but another claim on the slot has to end first */
    /* no answer came, but the startd had agreed before (DIALLED_WAIT): repeat DIAL_ME */
    DIALLED_ASK_AGAIN,
    DIALLED_LOST /* the startd refused, or the request failed: drop the claim */
};
/* Decides what the schedd does with a claim after DIAL_ME.  status: 0 when the startd agreed, else
 * the error of the call.  waits: the startd's answer says that another claim on the slot has to end
 * first.  waiting: an earlier answer for this claim said so. */
enum plan_dialled schedd_plan_dialled(int status, bool waits, bool waiting);

/* ---- what to do with a claim whose slot is idle ---- */

/* The facts about a claim whose slot is idle. */
struct plan_claim {
    bool job_waits;       /* an idle job of the claim's autocluster exists */
    bool may_run_more;    /* MAX_JOBS_RUNNING is not reached */
    bool stopping;        /* the schedd is shutting down */
    uint64_t now_ms;      /* present time, monotonic */
    uint64_t claimed_ms;  /* when the claim was made, monotonic */
    uint64_t idle_ms;     /* when the slot became idle, monotonic */
    uint64_t worklife_ms; /* age after which the claim gets no further job (0: no limit) */
    uint64_t linger_ms;   /* how long the claim may stay idle and wait for a job */
};
/* Start a job on the claim; wait for a job; or give the slot back. */
enum plan_next { NEXT_ACTIVATE, NEXT_WAIT, NEXT_RELEASE };
/* Decides about the claim.  With NEXT_WAIT, *wait_ms is set to the time after which the caller must
 * ask again. */
enum plan_next schedd_plan_next(const struct plan_claim *claim, uint64_t *wait_ms);

/* ---- leases ---- */

/* Returns when the schedd gives up a claim whose lease was last renewed at renewed_ms: after
 * lease_ms and a safety margin.  The startd counts from the time when it sent the renewal, and
 * without the margin, so it always ends the job earlier. */
uint64_t schedd_plan_lease_end(uint64_t renewed_ms, uint64_t lease_ms, uint64_t margin_ms);
/* Returns whether the lease has ended at now_ms.  lease_end_ms: what schedd_plan_lease_end() has
 * returned. */
bool schedd_plan_lease_is_over(uint64_t lease_end_ms, uint64_t now_ms);

/* Returns why a job with a claim could not be started in time.  is_served: its shadow is ready, so
 * the startd is what was missing. */
const char *schedd_plan_start_late(bool is_served);

/* ---- does the startd still have a claim? ---- */

/* Judges the answer to the question whether a startd still has a claim (DIAL_ME with Again):
 * returns true when the claim is gone, and its job may run elsewhere. status: the answer's.
 * -ENOKEY: the startd does not have the claim; -ESTALE: it does not, and the claim was of an
 * earlier boot of its machine, so nothing of it can run. signed_by: id of the token that signed
 * the answer; "": nobody, the hub answered in the startd's place. agreed_by: id of the token that
 * signed the agreement to the claim. started: the start of the job was reported; such a job may
 * still run where the startd's records were lost, and only the end of its lease makes it idle. */
bool schedd_plan_claim_is_gone(int status, const char *signed_by, const char *agreed_by,
                               bool started);

/* ---- a machine on which starters fail ---- */

/* Returns how many milliseconds a machine is avoided after this many failures in a row: 0 after the
 * first failure, first_ms after the second, then doubled with each failure, at most 60 times
 * first_ms. */
uint64_t schedd_plan_trouble_wait(unsigned failures, uint64_t first_ms);
/* Returns true when a machine's last failure, at noted_ms, is more than 120 times first_ms ago,
 * so that its next failure counts as the first again. */
bool schedd_plan_trouble_is_old(uint64_t noted_ms, uint64_t now_ms, uint64_t first_ms);
/* Returns true when a job whose starters failed this often in all is to be held now: at each
 * multiple of failures_max (0: never). */
bool schedd_plan_failures_hold(int64_t failures, int64_t failures_max);

/* ---- a startd says that it still has a claim ---- */

/* The facts when a startd reconnects and reports a claim of this schedd. */
struct plan_resume {
    bool lease_over;
    bool has_job; /* the claim has a job that was given to the startd */
    /* the startd reports the job id, and the epoch, of the last job that the claim was given */
    bool same_job, same_epoch;
    bool startd_has_starter; /* the startd reports that a starter on the slot has a job, any job */
};
/* What to do with the claim of a startd that reconnects. */
enum plan_resumed {
    RESUME_RUNNING, /* the job runs on as before */
    RESUME_IDLE,    /* nothing runs on the slot: the claim can take a job */
    RESUME_AGAIN,   /* the startd no longer has the claim's job: start this job again */
    /* the lease has ended, or the startd has another job or epoch: refuse it, and end the claim */
    RESUME_REFUSE
};
/* Decides what to do when a startd reconnects with a claim. */
enum plan_resumed schedd_plan_resume(const struct plan_resume *resume);

/* ---- a result arrives ---- */

/* The facts about a job when a shadow reports a result of it. */
struct plan_result {
    bool in_queue;
    bool runs; /* the job is idle, matched, claimed or active, and has no result yet */
    /* a result of the job is committed: JobStatus 6, or held with output still to be placed */
    bool placing;
    bool completed;         /* JobStatus 4: the output is placed, and the job stays in the queue */
    int64_t job_epoch;      /* the job's present epoch, while it is in the queue */
    bool finished;          /* the job is in the history */
    int64_t finished_epoch; /* epoch of the run that completed the job; 0: the job was removed */
    int64_t epoch;          /* epoch of the run that sends this result */
};
/* What to do with the reported result. */
enum plan_verdict {
    RESULT_COMMIT, /* the result is new: commit it */
    RESULT_AGAIN,  /* the result is committed already: the shadow may place the output */
    RESULT_DONE,   /* the output is placed already: nothing to do */
    RESULT_STALE   /* the result is from another run: refuse it */
};
/* Decides what to do with a result that a shadow reports. */
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
enum act_result { /* what became of an action on a job */
                  ACT_ERROR,
                  ACT_SUCCESS,
                  ACT_NOT_FOUND,
                  ACT_BAD_STATUS,
                  ACT_ALREADY_DONE,
                  ACT_PERMISSION_DENIED,
                  ACT_RESULTS
};
/* Decides whether the action may be done to a job.  status: its JobStatus; allowed: the caller owns
 * the job or is an administrator; switching: a suspension or its end was ordered, and the machine
 * has not reported the change yet. */
enum act_result schedd_plan_act(enum act_action action, int status, bool allowed, bool switching);
/* Returns HTCondor's word for the result, such as "AlreadyDone". */
const char *schedd_plan_act_name(enum act_result result);

#endif
