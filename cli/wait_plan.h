/* cli/wait_plan.h - describes in words how a job ended.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_WAIT_PLAN_H
#define CLI_WAIT_PLAN_H

#include <stdbool.h>

struct ad;
struct strbuf;

/* True when the job is completed or removed, even if it is still in the queue. */
bool wait_plan_is_over(const struct ad *job);
/* Appends a text such as "Job 12.3 completed, exit status 0". */
void wait_plan_outcome(const char *id, const struct ad *job, struct strbuf *out);

#endif
