/* cli/why/why_advice_plan.h - what somebody can do about a job that `roost why` explained.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_WHY_WHY_ADVICE_PLAN_H
#define CLI_WHY_WHY_ADVICE_PLAN_H

#include "cli/why/why_reason_plan.h"

struct ad;
struct strbuf;

/* One sentence, "" when there is nothing to do; job: "12.3". */
void why_advice(const struct ad *ad, const char *job, const struct why_verdict *verdict,
                struct strbuf *out);

/* Of a cluster whose jobs are made later (QUERY of JobFactory): how far it is, why it does not go
 * on, and what makes it. */
void why_factory(const struct ad *factory, struct strbuf *out);

#endif
