/* cli/why/why_advice_plan.h - advice about a job that `roost why` explained.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_WHY_WHY_ADVICE_PLAN_H
#define CLI_WHY_WHY_ADVICE_PLAN_H

#include "cli/why/why_reason_plan.h"

struct ad;
struct strbuf;

/* Appends one sentence about what the user can do; nothing when there is nothing to do.  ad: the
 * job's ad; job: the job's id, such as "12.3". */
void why_advice(const struct ad *ad, const char *job, const struct why_verdict *verdict,
                struct strbuf *out);

/* Prints, for a cluster whose jobs are created later (an ad of the query JobFactory), how many jobs
 * are missing, why no more are created, and what would help. */
void why_factory(const struct ad *factory, struct strbuf *out);

#endif
