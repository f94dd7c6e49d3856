/* cli/wait_plan.h - how a job ended, in words.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_WAIT_PLAN_H
#define CLI_WAIT_PLAN_H

#include <stdbool.h>

struct ad;
struct strbuf;

/* Completed or removed: it leaves the queue, if it has not. */
bool wait_plan_is_over(const struct ad *job);
/* "Job 12.3 completed, exit status 0" */
void wait_plan_outcome(const char *id, const struct ad *job, struct strbuf *out);

#endif
