/* schedd/submission/job_spool.h - jobs whose submitter sends (spools) their input files to the
 * schedd and fetches their output later, perhaps from another host.
 *
 * The owner's shadow handles the files (docs/protocol/access.md, section 4).  This file handles the
 * jobs: they are held with code 16 until their input has come, stay in the queue until their output
 * was fetched, and their sandbox is removed when they leave the queue.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_SUBMISSION_JOB_SPOOL_H
#define SCHEDD_SUBMISSION_JOB_SPOOL_H

#include <stdbool.h>
#include <stdint.h>

struct ad;
struct change;
struct cluster;
struct err;
struct job;
struct owner;
struct schedd;
struct wire_request;

bool spool_is_waiting(const struct job *job); /* true: the job is held until its input has come */

/* For a new cluster: if its attribute Spool is true, copies the paths in its ad to attributes
 * SUBMIT_<name>, and sets LeaveJobInQueue and StageInStart.  cluster: its ad, with ClusterId. */
void spool_take_cluster(struct schedd *schedd, struct ad *cluster);
/* For a new job of a spooled cluster: rewrites the paths in the job's own ad (chained to the
 * cluster's ad) to paths in the job's sandbox, and puts the job on hold.  Returns 0, or a negative
 * errno with err. */
int spool_take_job(const struct schedd *schedd, struct ad *own, const struct ad *cluster,
                   int64_t proc, struct err *err);
/* Sets the reason of the hold for a new job that waits for its input. */
void spool_note_hold(struct job *job);

/* Returns false when the request is not a shadow's JOB_STATUS about spooled files; else handles and
 * answers the request. */
bool spool_handle(struct schedd *schedd, struct owner *owner, struct wire_request *request);
/* begins to remove, from time to time, jobs whose input never came */
void spool_start(struct schedd *schedd);
void spool_stop(struct schedd *schedd);

#endif
