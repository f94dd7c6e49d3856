/* schedd/requests/request_work.h - what a request makes us evaluate: in slices, and within a
 * budget.
 *
 * Design.  A constraint is a stranger's program that runs once for each job.  Its work is counted
 * in steps of evaluation (classad/ad_eval.h), never timed.  After AD_SLICE_STEPS others have their
 * turn (base/slices.h: one slice in a turn of the loop, callers one after the other).  Past
 * MAX_CONSTRAINT_STEPS in all the request ends with an error, and the log names who asked for what.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_REQUESTS_REQUEST_WORK_H
#define SCHEDD_REQUESTS_REQUEST_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/loop.h"
#include "classad/ad_eval.h"

struct ad_expr;
struct err;
struct schedd;
struct slice_work;
struct wire_request;

/* What counts besides the evaluation itself, in steps: each job or cluster that is passed, the
 * whole ad of a job that has to be put together, a job that is put into an answer. */
#define WORK_LOOK_STEPS 20
#define WORK_VIEW_STEPS 150
#define WORK_ROW_STEPS  50

struct request_work {
    struct schedd *schedd;
    const struct wire_request *request;
    const char *constraint;    /* its text, borrowed from the request; "" for none */
    struct ad_context context; /* for the evaluations; it counts into `work` */
    struct ad_work work;
    uint64_t slice_end;
    struct slice_work *turn;
};

/* Queries and commands of one caller that have begun: each holds lists of clusters and jobs, and an
 * answer until it is taken (slice_work_enter()). */
#define CALLER_WORKS_MAX 16

#define WORK_CONSTRAINT_MAX ((size_t)256 << 10) /* bytes of its text */

/* The constraint of a request: 0 and *ret, or -EINVAL or -E2BIG with err. */
int request_constraint(const char *text, struct ad_expr **ret, struct err *err);

/* slice(arg) is called for each slice that is asked for by slice_work_want(work->turn).  The struct
 * does not move until request_work_fini(). */
void request_work_init(struct request_work *work, struct schedd *schedd,
                       const struct wire_request *request, const char *constraint, loop_f slice,
                       void *arg);
void request_work_fini(struct request_work *work); /* zero-initialized is allowed */

void request_work_begin(struct request_work *work); /* a slice begins */
/* May it go on?  False: the slice is over, or the whole budget. */
bool request_work_goes_on(const struct request_work *work);
uint64_t request_work_left(const struct request_work *work); /* steps of the whole budget */
/* 0, or, when the whole budget is used up, -EDQUOT with err; that is logged, with the caller. */
int request_work_check(const struct request_work *work, struct err *err);
/* At the end: evaluations that crossed their own limit are logged, with the caller.  Returns how
 * many. */
int64_t request_work_end(const struct request_work *work);

#endif
