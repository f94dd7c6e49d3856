/* schedd/schedd_plan.c - see schedd_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/schedd_plan.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/check.h"

bool schedd_plan_before(const struct plan_order *a, const struct plan_order *b)
{
    double pa = isnan(a->prio) ? -INFINITY : a->prio;
    double pb = isnan(b->prio) ? -INFINITY : b->prio;
    if (pa > pb || pa < pb) {
        return pa > pb;
    }
    if (a->cluster != b->cluster) {
        return a->cluster < b->cluster;
    }
    return a->proc < b->proc;
}

double schedd_plan_prio(int64_t job_prio, bool expanded, int64_t qdate_s)
{
    return (double)job_prio * 10.0 + (expanded ? 1.0 : 0.0) - (double)qdate_s / 1000000000.0;
}

enum plan_dialled schedd_plan_dialled(int status, bool waits, bool waiting)
{
    if (status == 0) {
        return waits ? DIALLED_WAIT : DIALLED_EXPECT;
    }
    bool unheard = status == -ECONNRESET || status == -ETIMEDOUT || status == -EHOSTUNREACH;
    return waiting && unheard ? DIALLED_ASK_AGAIN : DIALLED_LOST;
}

enum plan_next schedd_plan_next(const struct plan_claim *claim, uint64_t *wait_ms)
{
    if (claim->stopping) {
        return NEXT_RELEASE;
    }
    if (claim->worklife_ms > 0 && claim->now_ms - claim->claimed_ms >= claim->worklife_ms) {
        return NEXT_RELEASE; /* let the negotiator be fair with this slot */
    }
    if (claim->job_waits && claim->may_run_more) {
        return NEXT_ACTIVATE;
    }
    uint64_t waited_ms = claim->now_ms - claim->idle_ms;
    if (waited_ms < claim->linger_ms) {
        *wait_ms = claim->linger_ms - waited_ms;
        return NEXT_WAIT;
    }
    return NEXT_RELEASE;
}

uint64_t schedd_plan_lease_end(uint64_t renewed_ms, uint64_t lease_ms, uint64_t margin_ms)
{
    return renewed_ms + lease_ms + margin_ms;
}

bool schedd_plan_lease_is_over(uint64_t lease_end_ms, uint64_t now_ms)
{
    return now_ms >= lease_end_ms;
}

const char *schedd_plan_start_late(bool is_served)
{
    return is_served
               ? "the startd was not connected, and did not come back in time to start the job"
               : "the shadow did not start in time";
}

bool schedd_plan_claim_is_gone(int status, const char *signed_by, const char *agreed_by,
                               bool started)
{
    bool is_gone = status == -ESTALE || (status == -ENOKEY && !started);
    return is_gone && signed_by[0] != '\0' && strcmp(signed_by, agreed_by) == 0;
}

#define TROUBLE_DOUBLINGS 6
#define TROUBLE_TIMES_MAX 60

uint64_t schedd_plan_trouble_wait(unsigned failures, uint64_t first_ms)
{
    unsigned doublings = failures < 2 ? 0 : failures - 2;
    doublings = doublings < TROUBLE_DOUBLINGS ? doublings : TROUBLE_DOUBLINGS;
    uint64_t wait_ms = first_ms << doublings;
    uint64_t max_ms = first_ms * TROUBLE_TIMES_MAX;
    return failures < 2 ? 0 : wait_ms < max_ms ? wait_ms : max_ms;
}

bool schedd_plan_trouble_is_old(uint64_t noted_ms, uint64_t now_ms, uint64_t first_ms)
{
    return now_ms - noted_ms > 2 * TROUBLE_TIMES_MAX * first_ms;
}

bool schedd_plan_failures_hold(int64_t failures, int64_t failures_max)
{
    return failures_max > 0 && failures > 0 && failures % failures_max == 0;
}

enum plan_resumed schedd_plan_resume(const struct plan_resume *resume)
{
    if (resume->lease_over) {
        return RESUME_REFUSE;
    }
    if (!resume->startd_has_starter) {
        return resume->has_job ? RESUME_AGAIN : RESUME_IDLE;
    }
    if (!resume->same_job || !resume->same_epoch) {
        return RESUME_REFUSE;
    }
    return RESUME_RUNNING;
}

enum plan_verdict schedd_plan_result(const struct plan_result *result)
{
    if (result->epoch <= 0) {
        return RESULT_STALE;
    }
    if (result->in_queue) {
        if (result->epoch != result->job_epoch) {
            return RESULT_STALE;
        }
        if (result->completed) {
            return RESULT_DONE;
        }
        if (result->placing) {
            return RESULT_AGAIN;
        }
        return result->runs ? RESULT_COMMIT : RESULT_STALE;
    }
    if (result->finished && result->finished_epoch == result->epoch) {
        return RESULT_DONE;
    }
    return RESULT_STALE;
}

enum act_result schedd_plan_act(enum act_action action, int status, bool allowed, bool switching)
{
    enum {
        IDLE = 1,
        RUNNING = 2,
        REMOVED = 3,
        COMPLETED = 4,
        HELD = 5,
        TRANSFERRING = 6,
        SUSPENDED = 7
    };
    if (!allowed) {
        return ACT_PERMISSION_DENIED;
    }
    if (status == REMOVED) {
        return action == ACT_REMOVE ? ACT_ALREADY_DONE : ACT_BAD_STATUS;
    }
    if (status == COMPLETED) { /* it stays in the queue until it is removed */
        return action == ACT_REMOVE ? ACT_SUCCESS : ACT_BAD_STATUS;
    }
    switch (action) {
    case ACT_REMOVE:
        return ACT_SUCCESS;
    case ACT_HOLD:
        /* Its result is committed: there is nothing left that could be held. */
        if (status == TRANSFERRING) {
            return ACT_BAD_STATUS;
        }
        return status == HELD ? ACT_ALREADY_DONE : ACT_SUCCESS;
    case ACT_RELEASE:
        return status == HELD ? ACT_SUCCESS : ACT_BAD_STATUS;
    case ACT_VACATE:
    case ACT_VACATE_FAST:
        return status == RUNNING || status == SUSPENDED ? ACT_SUCCESS : ACT_BAD_STATUS;
    case ACT_SUSPEND:
        return status == RUNNING || (status == SUSPENDED && switching) ? ACT_SUCCESS
               : status == SUSPENDED                                   ? ACT_ALREADY_DONE
                                                                       : ACT_BAD_STATUS;
    case ACT_CONTINUE:
        return status == SUSPENDED || (status == RUNNING && switching) ? ACT_SUCCESS
                                                                       : ACT_BAD_STATUS;
    default:
        return ACT_ERROR;
    }
}

const char *schedd_plan_act_name(enum act_result result)
{
    static const char *const NAMES[ACT_RESULTS] = {
        [ACT_ERROR] = "Error",
        [ACT_SUCCESS] = "Success",
        [ACT_NOT_FOUND] = "NotFound",
        [ACT_BAD_STATUS] = "BadStatus",
        [ACT_ALREADY_DONE] = "AlreadyDone",
        [ACT_PERMISSION_DENIED] = "PermissionDenied",
    };
    CHECK((unsigned)result < ACT_RESULTS);
    return NAMES[result];
}
