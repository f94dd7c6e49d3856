/* cli/who_plan.h - the output of `roost who`: the jobs that run on this machine.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_WHO_PLAN_H
#define CLI_WHO_PLAN_H

#include <stddef.h>

struct ad;
struct ad_context;
struct strbuf;
struct terminal;

/* Makes the ad of one line (Owner, Client, Slot, JobId, JobStart, Program) from a starter's record
 * of its job (job.record).  The caller adds JobPid. */
struct ad *who_plan_record(const struct ad *record);
/* Makes the ad of one line from a claimed slot's ad, for a caller that cannot read the
 * starters' records; without Program. */
struct ad *who_plan_slot(const struct ad *slot);
/* Prints the jobs in condor_who's columns. */
void who_plan_print(const struct ad *const *jobs, size_t count, const struct ad_context *context,
                    const struct terminal *terminal, struct strbuf *out);

#endif
