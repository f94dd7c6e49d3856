/* schedd/shadows/shadow_runs.h - tells an owner's shadow which starters to expect, and which output
 * to place.
 *
 * A shadow has runs: one for each job of its owner that was given to a claim, or whose output is to
 * be placed.  Whenever a shadow says SHADOW_HELLO, it is told all of its runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_SHADOWS_SHADOW_RUNS_H
#define SCHEDD_SHADOWS_SHADOW_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct change;
struct job;
struct owner;
struct schedd;
struct strbuf;

void shadow_runs_fini(struct schedd *schedd);

/* To be called when the job was given to a claim and this is durable: tells the shadow to expect
 * the job's starter.  The shadow's answer goes to claims_shadow_answered(). */
void shadow_runs_start(struct schedd *schedd, const struct job *job);
/* To be called when the job's result is committed: tells the shadow to move the staged output to
 * its place. */
void shadow_runs_place(struct schedd *schedd, const struct job *job);
/* To be called before the commit of the job's result: a shadow that connects again after that
 * commit is told to place the output, and no longer to expect the starter. */
void shadow_runs_expect_placing(struct change *change, const struct job *job);
/* After the commit of change, takes the job's present run off the list of the shadow's runs.  stop:
 * true: also tell the shadow to drop the run (the job was removed, held or evicted); false: the
 * shadow ends the run without being told.  why: the reason, for the shadow's log. */
void shadow_runs_forget(struct change *change, const struct job *job, bool stop, const char *why);
/* For a run that the shadow still serves although the job was taken off its claim
 * (claims_keep_run()): to be called when the run's starter has ended.  Tells the shadow to drop the
 * run.  id: the job's id. */
void shadow_runs_ended(struct owner *owner, const char *id, int64_t epoch);

/* shadow_runs_list() appends the owner's runs as "JOB.EPOCH,...", such as "12.3.1,12.4.2";
 * shadow_runs_tell() sends all of them to the shadow, which has just connected. */
void shadow_runs_list(const struct owner *owner, struct strbuf *ret);
size_t shadow_runs_count(const struct owner *owner); /* number of the owner's runs */
void shadow_runs_tell(struct schedd *schedd, const struct owner *owner);

#endif
