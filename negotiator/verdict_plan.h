/* negotiator/verdict_plan.h - which kind of slot suits which kind of job, and how well.
 *
 * Ten thousand kinds of slots and a thousand kinds of jobs are ten million pairs, a second or two
 * of evaluation.  So Requirements are taken apart into the clauses that they demand (ad_clauses.h),
 * and each clause is prepared for its kind as far as it can be:
 *
 *   it reads only its own side:     decided once for the kind
 *   it reads only the other side:   evaluated once for each kind over there, for all that say it
 *   it compares an attribute of the other side with something of its own (Memory >= RequestMemory):
 *                                   its own part is computed once, the attribute once for each kind
 *                                   over there; a pair costs one comparison of two numbers
 *   anything else:                  evaluated once for each combination of the values it reads
 *
 * Splitting is exact: a && b is true if and only if both are (three-valued logic: undefined and
 * error on one side never become true by the other), and only "true" matters.  What differs from
 * evaluating the whole is limits, which count for each clause of its own.
 *
 * A clause that looked at the clock, or at random(), is evaluated anew in a full cycle.
 *
 * What is evaluated was written by strangers, so it is counted (ad_eval.h): an evaluation that
 * takes more than VERDICT_STEPS_MAX is error, and a kind whose own expressions cross that again and
 * again, or take far more than others, matches nothing from then on and is told by
 * verdicts_take_costly(). Judging can be done in slices (verdicts_prepare()), before a cycle needs
 * it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NEGOTIATOR_VERDICT_PLAN_H
#define NEGOTIATOR_VERDICT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "negotiator/kinds_plan.h"

/* Steps of one evaluation; so often may a kind cross that; what all its evaluations may take, and
 * for each kind of the other side that it was judged with. */
#define VERDICT_STEPS_MAX  5000
#define VERDICT_OVER_MAX   20
#define VERDICT_STEPS_FREE 100000
#define VERDICT_STEPS_EACH 500

struct ad_context;
struct ad_expr;
struct verdicts;

struct verdicts *verdicts_create(struct kinds *kinds); /* kinds is borrowed */
void verdicts_destroy(struct verdicts *verdicts);      /* NULL is allowed */

/* MY is the slot, TARGET the job; either may be NULL.  Borrowed until the next call. */
void verdicts_set_ranks(struct verdicts *verdicts, const struct ad_expr *pre_job,
                        const struct ad_expr *post_job);

/* A cycle begins, or is being prepared; what context points to is borrowed until the next one.
 * full: what looked at the clock is judged anew, by verdicts_catch_up(). */
void verdicts_begin(struct verdicts *verdicts, const struct ad_context *context, bool full);

/* Slices: they go on until verdicts_steps() has come to end, and return true when nothing is left
 * to do: of what a full cycle judges anew; of what verdicts_of() and verdicts_rank() look at. */
uint64_t verdicts_steps(const struct verdicts *verdicts); /* of evaluation, so far */
bool verdicts_catch_up(struct verdicts *verdicts, uint64_t end);
bool verdicts_prepare(struct verdicts *verdicts, uint32_t job, uint64_t end);
/* A kind that matches nothing any more, because of what it costs; each is told once.  False: there
 * is none. */
bool verdicts_take_costly(struct verdicts *verdicts, enum kinds_side *side, uint32_t *kind);
/* This kind takes part from now on (again: no matter). */
void verdicts_add(struct verdicts *verdicts, enum kinds_side side, uint32_t kind);

/* The kinds of slots that match this kind of job: bits by number, of all that were added; good
 * until the next call for the same job, at least kinds_limit() bits. */
const uint64_t *verdicts_of(struct verdicts *verdicts, uint32_t job);

struct verdict_rank { /* greater is better; never NaN */
    double pre, job, post;
};
struct verdict_rank verdicts_rank(struct verdicts *verdicts, uint32_t job, uint32_t slot);

/* How the slot's side ranks the job: its Rank. */
double verdicts_machine_rank(struct verdicts *verdicts, uint32_t job, uint32_t slot);

/* Expressions evaluated since the last verdicts_begin(). */
size_t verdicts_evaluated(const struct verdicts *verdicts);

#endif
