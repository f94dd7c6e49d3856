/* schedd/shadows/shadow_runs.h - which starters an owner's shadow is to expect, and which output to
 * place.
 *
 * A shadow has runs: one for each job of its owner that was given to a claim, or whose output is to
 * be placed.  Whenever a shadow says SHADOW_HELLO it is told all runs.
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

/* The job was given to a claim (committed): expect its starter.  The answer comes as
 * claims_shadow_answered(). */
void shadow_runs_start(struct schedd *schedd, const struct job *job);
/* Its result is committed: move its staged output to its place. */
void shadow_runs_place(struct schedd *schedd, const struct job *job);
/* Its result is about to be committed by change: from then on the shadow, should it come anew, is
 * told to place it and not to expect it. */
void shadow_runs_expect_placing(struct change *change, const struct job *job);
/* The run that the job has now is over; acts after the commit of change.  stop: the shadow is to
 * drop it (removed, held, evicted). */
void shadow_runs_forget(struct change *change, const struct job *job, bool stop, const char *why);
/* A run that was left to its shadow until its starter has ended (claims_keep_run()) has ended: the
 * shadow drops it, at once. */
void shadow_runs_ended(struct owner *owner, const char *id, int64_t epoch);

/* The runs: "12.3.1,12.4.2"; how many; tells the shadow, which has come anew, all of them. */
void shadow_runs_list(const struct owner *owner, struct strbuf *ret);
size_t shadow_runs_count(const struct owner *owner);
void shadow_runs_tell(struct schedd *schedd, const struct owner *owner);

#endif
