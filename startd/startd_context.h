/* startd/startd_context.h - in what expressions are evaluated, and what a job's may cost.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_STARTD_CONTEXT_H
#define STARTD_STARTD_CONTEXT_H

#include "classad/ad_eval.h"

#define STARTD_STEPS_MAX 20000 /* of one evaluation (classad/ad_eval.h): below 1 ms */

struct slot;
struct startd;
struct user_world;

struct startd_eval {
    uint64_t random_state;
    struct ad_work work;      /* of evaluating with jobs of others */
    uint64_t told_over;       /* of work.over */
    struct user_world *users; /* of userMap() in expressions */
};

/* Evaluations count into startd->eval.work, and take at most STARTD_STEPS_MAX: more is error. */
struct ad_context startd_context(struct startd *startd);
/* Logs who wrote the job that made such an evaluation too costly since the last call, if one was.
 * what: the attribute or knob. */
void startd_tell_costly(const struct slot *slot, const char *what, const char *job_id,
                        const char *user);

#endif
