/* negotiator/significant_plan.h - which attributes of jobs the machines' policies look at.
 *
 * A schedd asks for slots with one request for all jobs that are alike.  Alike in what?  What the
 * job's own expressions name, it sees itself; what START and Rank of machines name (TARGET.WantGPU)
 * it cannot know.  The negotiator, which has all slots' ads, can: it tells the names in its ad
 * (SignificantAttributes), and schedds group their jobs by them (schedd/requests/significant.h).
 * Without this a job would be matched, or not, as the first of its group.
 *
 * Names only ever get more while a negotiator lives: a policy that comes and goes would else make
 * all schedds group anew each time.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NEGOTIATOR_SIGNIFICANT_PLAN_H
#define NEGOTIATOR_SIGNIFICANT_PLAN_H

#include <stdbool.h>

#define SIGNIFICANT_NAMES_MAX 500 /* more are not told */

struct ad;
struct ad_expr;
struct significant;

struct significant *significant_create(void);
void significant_destroy(struct significant *significant); /* NULL is allowed */

/* Looks into Requirements and Rank of a slot, and what they lead to.  True: there are new names. */
bool significant_slot(struct significant *significant, const struct ad *slot);
/* An expression of the configuration, with the slot as MY and the job as TARGET; NULL is allowed.
 * Only what it names as TARGET's is taken. */
bool significant_expr(struct significant *significant, const struct ad_expr *expr);

/* Sets SignificantAttributes: a list of names, in the order in which they were found. */
void significant_write(const struct significant *significant, struct ad *ad);

#endif
