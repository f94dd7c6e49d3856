/* startd/startd_context.h - the context in which the startd evaluates expressions, and what a job's
 * expressions may cost.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_STARTD_CONTEXT_H
#define STARTD_STARTD_CONTEXT_H

#include "classad/ad_eval.h"

#define STARTD_STEPS_MAX 20000 /* steps of one evaluation (classad/ad_eval.h): less than 1 ms */

struct slot;
struct startd;
struct user_world;

struct startd_eval { /* state of evaluations */
    uint64_t random_state;
    struct ad_work work;      /* counts the steps of evaluations */
    uint64_t told_over;       /* value of work.over at the last startd_tell_costly() */
    struct user_world *users; /* for userMap() in expressions */
};

/* Returns a context.  Evaluations in it count into startd->eval.work; more than STARTD_STEPS_MAX
 * steps give error. */
struct ad_context startd_context(struct startd *startd);
/* If an evaluation has become too costly since the last call, logs whose job caused it. what: the
 * attribute or knob. */
void startd_tell_costly(const struct slot *slot, const char *what, const char *job_id,
                        const char *user);

#endif
