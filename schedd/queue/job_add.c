/* schedd/queue/job_add.c - see job_add.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/queue/job_add.h"

#include <stddef.h>
#include <stdint.h>

#include "classad/ad.h"
#include "schedd/queue/job_change.h"
#include "schedd/submission/job_dollar.h"
#include "schedd/job_events.h"
#include "schedd/job_moves.h"
#include "schedd/policy/job_policy.h"
#include "schedd/queue/job_queue.h"
#include "schedd/submission/job_spool.h"
#include "schedd/claim/machine_attrs.h"
#include "schedd/submission/spool_sandbox.h"

void job_look_at(struct schedd *schedd, struct job *job)
{
    policy_look_at(schedd, job);
    dollar_look_at(schedd, job);
    machine_attrs_look_at(schedd, job);
}

struct job *job_add(struct change *change, struct cluster *cluster, struct ad *own, bool may_run)
{
    int64_t status = own != NULL ? ad_int_or(own, "JobStatus", 0) : 0;
    if (status == 0) {
        status = ad_int_or(cluster->ad, "JobStatus", STATUS_IDLE);
    }
    bool held = status == STATUS_HELD;
    if (own != NULL) {
        ad_remove(own, "JobStatus");
        if (ad_count(own) == 0 && !held) {
            ad_destroy(own);
            own = NULL;
        }
    }
    struct job *job =
        queue_add_job(change_schedd(change), cluster, own, held ? JOB_HELD : JOB_IDLE, may_run);
    job_look_at(change_schedd(change), job);
    if (held && spool_sandbox_is_used(cluster->ad)) {
        spool_note_hold(job);
    } else if (held) {
        moves_note_hold(job, "submitted on hold at user's request", HOLD_SUBMITTED_ON_HOLD, 0);
    }
    events_submitted(change, job);
    if (spool_is_waiting(job)) {
        events_held(change, job);
    }
    change_job(change, job);
    return job;
}
