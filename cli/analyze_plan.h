/* cli/analyze_plan.h - `roost q -analyze` and `-better-analyze`, in the layout of HTCondor's
 * analysis.
 *
 * Prints the Requirements expression step by step, how many slots meet each relevant step, and a
 * summary. `roost why` tells more; this layout is for people and scripts that know it from
 * HTCondor.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_ANALYZE_PLAN_H
#define CLI_ANALYZE_PLAN_H

#include <stddef.h>

#include "cli/why/why_plan.h"

struct ad;
struct strbuf;

/* Prints the analysis of one job.  question->ad is the job, question->others are the slots, and
 * answer is the result of why_plan_answer() for question.  For a job that is not idle, prints one
 * line that says so. */
void analyze_plan_print(const struct why_question *question, const struct why_answer *answer,
                        struct strbuf *out);

#endif
