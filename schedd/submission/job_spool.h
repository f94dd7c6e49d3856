/* schedd/submission/job_spool.h - jobs whose files are spooled by their submitter, from wherever he
 * is.
 *
 * The files themselves are the business of the owner's shadow (docs/protocol/access.md, section 4);
 * here is what becomes of the jobs: held with code 16 until their input is there, in the queue
 * until their output was fetched, and the sandbox's end when they have left it.
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

bool spool_is_waiting(const struct job *job); /* held for its input */

/* Of a SUBMIT: the cluster's new ad, which is spooled or not as its Spool says, ClusterId being
 * set; a job's own new ad, chained to it. */
void spool_take_cluster(struct schedd *schedd, struct ad *cluster);
int spool_take_job(const struct schedd *schedd, struct ad *own, const struct ad *cluster,
                   int64_t proc, struct err *err);
/* The job, which is held, is new. */
void spool_note_hold(struct job *job);

/* Is this JOB_STATUS of a shadow about spooled files?  Then it is answered. */
bool spool_handle(struct schedd *schedd, struct owner *owner, struct wire_request *request);
void spool_start(struct schedd *schedd); /* jobs whose input never came are removed some time */
void spool_stop(struct schedd *schedd);

#endif
