/* negotiator/verdict_plan.h - judges which kind of slot matches which kind of job, and how well.
 *
 * Ten thousand kinds of slots and a thousand kinds of jobs are ten million pairs, which take a
 * second or two to evaluate.  So Requirements are split into the clauses that they demand
 * (ad_clauses.h), and each clause is prepared as far as possible for its kind:
 *
 *   it reads only its own side:     decided once for the kind
 *   it reads only the other side:   evaluated once for each kind of the other side, for all kinds
 *                                   with this clause
 *   it compares an attribute of the other side with something of its own (Memory >= RequestMemory):
 *                                   its own part is computed once, the attribute once for each kind
 *                                   of the other side; a pair costs one comparison of two numbers
 *   anything else:                  evaluated once for each combination of the values it reads
 *
 * Splitting is exact: a && b is true if and only if a is true and b is true (if one of them is
 * undefined or an error, a && b is never true), and only "true" matters.  One thing differs from
 * evaluating the whole: each clause has its own limit of steps.
 *
 * A clause that read the clock or random() is evaluated again in a full cycle.
 *
 * Users and owners of machines write the expressions that are evaluated here, so the steps of
 * evaluation are counted (ad_eval.h).  An evaluation of more than VERDICT_STEPS_MAX steps is an
 * error.  A kind whose own expressions exceed that repeatedly, or take far more steps than others,
 * matches nothing from then on and is reported by verdicts_take_costly().  Judging can be done in
 * slices (verdicts_prepare()) before a cycle needs the results.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NEGOTIATOR_VERDICT_PLAN_H
#define NEGOTIATOR_VERDICT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "negotiator/kinds_plan.h"

/* Limits of the work of evaluating expressions, in steps (ad_eval.h).  VERDICT_STEPS_MAX: steps of
 * one evaluation.  VERDICT_OVER_MAX: how many evaluations of a kind's expressions may exceed
 * VERDICT_STEPS_MAX.  VERDICT_STEPS_FREE: steps that all evaluations of a kind's expressions may
 * take together; VERDICT_STEPS_EACH is added to it for each kind of the other side with which the
 * kind was judged. */
#define VERDICT_STEPS_MAX  5000
#define VERDICT_OVER_MAX   20
#define VERDICT_STEPS_FREE 100000
#define VERDICT_STEPS_EACH 500

struct ad_context;
struct ad_expr;
struct verdicts;

/* Returns an object that judges the kinds of slots and jobs in `kinds`, which must live longer than
 * the object.  The caller frees the object by verdicts_destroy(). */
struct verdicts *verdicts_create(struct kinds *kinds);
void verdicts_destroy(struct verdicts *verdicts); /* NULL is allowed */

/* Sets NEGOTIATOR_PRE_JOB_RANK and NEGOTIATOR_POST_JOB_RANK (NULL: not set).  In them MY is the
 * slot, TARGET the job.  pre_job and post_job must live until this function is called again. */
void verdicts_set_ranks(struct verdicts *verdicts, const struct ad_expr *pre_job,
                        const struct ad_expr *post_job);

/* Begins a cycle, or its preparation, with a copy of context.  full: verdicts_catch_up() shall
 * judge again the kinds whose expressions read the clock. */
void verdicts_begin(struct verdicts *verdicts, const struct ad_context *context, bool full);

/* Returns the number of steps of evaluation since verdicts_create(). */
uint64_t verdicts_steps(const struct verdicts *verdicts);
/* These two judge in slices.  Each works until verdicts_steps() reaches `end`, and returns true
 * when nothing is left to do.  verdicts_catch_up(), for a full cycle: judges again the kinds whose
 * evaluation has read the clock.  verdicts_prepare(): does what verdicts_of() and verdicts_rank()
 * need for this kind of job. */
bool verdicts_catch_up(struct verdicts *verdicts, uint64_t end);
bool verdicts_prepare(struct verdicts *verdicts, uint32_t job, uint64_t end);
/* Writes to *side and *kind the next kind that matches nothing any more because its expressions are
 * too costly; each is reported once.  Returns false when there is none. */
bool verdicts_take_costly(struct verdicts *verdicts, enum kinds_side *side, uint32_t *kind);
/* Lets this kind be matched from now on.  May be called again for the same kind. */
void verdicts_add(struct verdicts *verdicts, enum kinds_side side, uint32_t kind);

/* Returns which kinds of slots, of those that were added, match this kind of job: a bit set, with
 * bit number n for kind n, of at least kinds_limit() bits.  Valid until the next call for the same
 * kind of job. */
const uint64_t *verdicts_of(struct verdicts *verdicts, uint32_t job);

/* Returns the same without evaluating anything, and the number of its words; NULL: this kind of job
 * was not judged with all kinds of slots yet. */
const uint64_t *verdicts_known(const struct verdicts *verdicts, uint32_t job, size_t *words);

struct verdict_rank { /* how NEGOTIATOR_PRE_JOB_RANK, the job's Rank and NEGOTIATOR_POST_JOB_RANK
                         rank a kind of slot; greater is better; never NaN */
    double pre, job, post;
};
struct verdict_rank verdicts_rank(struct verdicts *verdicts, uint32_t job, uint32_t slot);

/* Returns the Rank that this kind of slot gives this kind of job. */
double verdicts_machine_rank(struct verdicts *verdicts, uint32_t job, uint32_t slot);

/* Returns how many expressions were evaluated since the last verdicts_begin(). */
size_t verdicts_evaluated(const struct verdicts *verdicts);

#endif
