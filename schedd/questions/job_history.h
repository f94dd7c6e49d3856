/* schedd/questions/job_history.h - the history of jobs that have left the queue.
 *
 * Two tables in the store: `history` has each job's last ad (the keys begin with the time, so the
 * newest job is last), and `finished` has the epoch of the run that completed the job, for starters
 * and shadows that ask late.  Beyond MAX_HISTORY_JOBS the oldest jobs are deleted from both tables.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_QUESTIONS_JOB_HISTORY_H
#define SCHEDD_QUESTIONS_JOB_HISTORY_H

#include <stdint.h>

struct ad;
struct change;
struct schedd;

/* Adds a job to the history.  flat: its last ad, with ClusterId and ProcId.  epoch: claim
 * epoch of the run whose result counts; 0 when no result counts. */
void history_add(struct change *change, const struct ad *flat, int64_t epoch, int64_t now_s);

/* Looks a job up in the history and calls done later, on the loop, with the epoch that
 * history_add() was given and the job's owner.  When there is no such job, epoch is -1 and owner
 * "".  owner is also "" for a job that an older schedd has stored without it. */
void history_epoch(struct schedd *schedd, int64_t cluster, int64_t proc,
                   void (*done)(void *arg, int64_t epoch, const char *owner), void *arg);

#endif
