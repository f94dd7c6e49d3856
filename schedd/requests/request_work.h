/* schedd/requests/request_work.h - limits the work that a client's request makes the schedd do.
 *
 * Design.  A constraint is a program of somebody else that runs once for each job.  Its work is
 * counted in steps of evaluation (classad/ad_eval.h), not in time.  After AD_SLICE_STEPS other
 * requests have their turn (base/slices.h: one slice in each pass of the event loop, callers one
 * after the other).  A request that takes more than MAX_CONSTRAINT_STEPS in all ends with an error,
 * and the log says who asked for what.
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

/* Steps that are counted in addition to those of evaluating expressions.  WORK_LOOK_STEPS: for each
 * job or cluster that is looked at; WORK_VIEW_STEPS: for putting together a job's whole ad;
 * WORK_ROW_STEPS: for adding a job to an answer. */
#define WORK_LOOK_STEPS 20
#define WORK_VIEW_STEPS 150
#define WORK_ROW_STEPS  50

struct request_work {
    struct schedd *schedd;
    const struct wire_request *request;
    const char *constraint;    /* text of the constraint, borrowed from the request; "" for none */
    struct ad_context context; /* context for the evaluations; counts their steps in `work` */
    struct ad_work work;       /* steps of evaluation that the request has used so far */
    uint64_t slice_end;        /* the present slice ends when work.steps has this value */
    struct slice_work *turn;   /* the request's place among the works that wait for a slice */
};

/* Most queries and commands of one caller under way at a time (slice_work_enter()).  Limited
 * because each keeps lists of clusters and jobs in memory, and its answer until the caller has read
 * it. */
#define CALLER_WORKS_MAX 16

/* most bytes of a constraint's text, without the terminating zero */
#define WORK_CONSTRAINT_MAX ((size_t)256 << 10)

/* Parses the constraint of a request.  Returns 0 and sets *ret, owned by the caller; or, with err,
 * -EINVAL (not an expression) or -E2BIG (longer than WORK_CONSTRAINT_MAX). */
int request_constraint(const char *text, struct ad_expr **ret, struct err *err);

/* Starts counting the steps of a request.  slice(arg) is called for each slice that
 * slice_work_want(work->turn) asks for.  work must not move in memory until
 * request_work_fini(). */
void request_work_init(struct request_work *work, struct schedd *schedd,
                       const struct wire_request *request, const char *constraint, loop_f slice,
                       void *arg);
/* ends the counting; a zero-initialized struct is allowed */
void request_work_fini(struct request_work *work);

/* To be called at the start of each slice: sets at how many steps the slice ends. */
void request_work_begin(struct request_work *work);
/* Returns false when the slice has used its steps, or the request all of MAX_CONSTRAINT_STEPS. */
bool request_work_goes_on(const struct request_work *work);
/* Returns how many steps the request may still use; UINT64_MAX: no limit. */
uint64_t request_work_left(const struct request_work *work);
/* Returns 0; or, when the request has used all of MAX_CONSTRAINT_STEPS, -EDQUOT with err, and
 * writes the caller and the request to the log. */
int request_work_check(const struct request_work *work, struct err *err);
/* To be called at the end of a request.  Returns how many evaluations were stopped because a single
 * one took too many steps; if there were any, writes their number and the caller to the log. */
int64_t request_work_end(const struct request_work *work);

#endif
