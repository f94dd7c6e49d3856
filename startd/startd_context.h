/* startd/startd_context.h - the context in which the startd evaluates expressions, and what a job's
 * expressions may cost.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_STARTD_CONTEXT_H
#define STARTD_STARTD_CONTEXT_H

#include "classad/ad_eval.h"

/* most steps of one evaluation of an expression (classad/ad_eval.h); takes less than 1 ms */
#define STARTD_STEPS_MAX 20000

struct slot;
struct startd;
struct user_world;

/* State that all evaluations of expressions in the startd share. */
struct startd_eval {
    uint64_t random_state;
    /* counts the steps of evaluations, and how many evaluations took too many */
    struct ad_work work;
    /* work.over (number of too costly evaluations) when startd_tell_costly() last looked */
    uint64_t told_over;
    struct user_world *users; /* data for userMap() and userHome() in expressions */
};

/* Returns a context for evaluating expressions.  Evaluations with it are counted in
 * startd->eval.work; an evaluation of more than STARTD_STEPS_MAX steps gives the value error. */
struct ad_context startd_context(struct startd *startd);
/* If an evaluation has exceeded STARTD_STEPS_MAX since the last call, logs that this job of this
 * user caused it. what: the attribute or knob that was evaluated. */
void startd_tell_costly(const struct slot *slot, const char *what, const char *job_id,
                        const char *user);

#endif
