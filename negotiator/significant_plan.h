/* negotiator/significant_plan.h - finds the attributes of jobs that machines' policies read.
 *
 * A schedd sends one request for all jobs that are alike in their significant attributes.  It knows
 * what its jobs' own expressions read, but not what START and Rank of machines read
 * (TARGET.WantGPU).  The negotiator has all slots' ads: it publishes these names in its own ad
 * (SignificantAttributes), and schedds group their jobs by them (schedd/requests/significant.h).
 * Otherwise the first job would decide for all jobs of such a group whether they match.
 *
 * While a negotiator lives, names are only added: a policy that comes and goes would make all
 * schedds regroup each time.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NEGOTIATOR_SIGNIFICANT_PLAN_H
#define NEGOTIATOR_SIGNIFICANT_PLAN_H

#include <stdbool.h>

#define SIGNIFICANT_NAMES_MAX 500 /* most names; further names are not published */

struct ad;
struct ad_expr;
struct significant;

struct significant *significant_create(void);
void significant_destroy(struct significant *significant); /* NULL is allowed */

/* Adds the names of job attributes that Requirements and Rank of a slot read, directly or through
 * other attributes.  Returns whether any of them is new. */
bool significant_slot(struct significant *significant, const struct ad *slot);
/* Adds the names of job attributes that an expression of the configuration reads (MY is the slot,
 * TARGET the job).  expr NULL: adds nothing.  Returns whether any of them is new. */
bool significant_expr(struct significant *significant, const struct ad_expr *expr);

/* Sets SignificantAttributes in ad to the list of names, in the order in which they were found. */
void significant_write(const struct significant *significant, struct ad *ad);

#endif
