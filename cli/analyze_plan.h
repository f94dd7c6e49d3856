/* cli/analyze_plan.h - `roost q -analyze`, `-better-analyze`: the form of HTCondor's analysis.
 *
 * The Requirements expression step by step, the steps that matter with how many slots meet them,
 * and a summary.  `roost why` tells more; this is for eyes and scripts that know the form.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_ANALYZE_PLAN_H
#define CLI_ANALYZE_PLAN_H

#include <stddef.h>

#include "cli/why/why_plan.h"

struct ad;
struct strbuf;

/* Writes the analysis of one job: question->ad is the job, the others are slots, and answer what
 * why_plan_answer() said to the question.  A job that is not idle gets a line that says so. */
void analyze_plan_print(const struct why_question *question, const struct why_answer *answer,
                        struct strbuf *out);

#endif
