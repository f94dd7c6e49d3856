/* schedd/submission/job_dollar.h - expands $$() in jobs when they get a slot (dollar_plan.h).
 *
 * When a claim gets a job, the expansions are stored in MATCH_EXP_ attributes of the job, in the
 * same transaction.  Shadow and startd see the expanded ad, also after a restart; the queue shows
 * both.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_SUBMISSION_JOB_DOLLAR_H
#define SCHEDD_SUBMISSION_JOB_DOLLAR_H

struct ad;
struct err;
struct job;
struct schedd;

/* To be called when a job is new, or attributes of it or of its cluster changed: notes whether the
 * job has a $$(). */
void dollar_look_at(struct schedd *schedd, struct job *job);
/* Expands the job's $$() and sets the expansions in its own ad.  slot: the slot's ad; NULL:
 * unknown.  Returns 0; -EINVAL with err when the job's $$() cannot be expanded on this slot;
 * -ENODATA when the slot's ad is needed and unknown. */
int dollar_expand(struct schedd *schedd, struct job *job, const struct ad *slot, struct err *err);
/* Returns the job's whole ad with $$() expanded, as the job is to run.  Owned by the caller. */
struct ad *job_run_ad(const struct schedd *schedd, const struct job *job);

#endif
