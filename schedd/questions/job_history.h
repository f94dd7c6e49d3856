/* schedd/questions/job_history.h - jobs that are over: the history, and which run of each counted.
 *
 * Two tables: `history` (the whole ad; keys begin with the time, so that the newest are last) and
 * `finished` (job id to epoch, for starters and shadows that come late).  Beyond MAX_HISTORY_JOBS
 * the oldest are dropped from both.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_QUESTIONS_JOB_HISTORY_H
#define SCHEDD_QUESTIONS_JOB_HISTORY_H

#include <stdint.h>

struct ad;
struct change;
struct schedd;

/* flat: its last ad, with ClusterId and ProcId.  epoch: of the run whose result counts, 0 for none.
 */
void history_add(struct change *change, const struct ad *flat, int64_t epoch, int64_t now_s);

/* done gets the epoch that history_add() was given and whose job it was, or -1 and "" when there is
 * no such job; "" also of a job that left under a schedd that did not note it. */
void history_epoch(struct schedd *schedd, int64_t cluster, int64_t proc,
                   void (*done)(void *arg, int64_t epoch, const char *owner), void *arg);

#endif
