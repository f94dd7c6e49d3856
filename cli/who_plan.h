/* cli/who_plan.h - what `roost who` prints: the jobs that run on this machine.  Pure.
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

/* A line's ad, of a starter's record of its job (job.record): Owner, Client, Slot, JobId, JobStart,
 * Program.  JobPid is the caller's to add. */
struct ad *who_plan_record(const struct ad *record);
/* The same of a claimed slot's ad, when records cannot be read: it knows no Program. */
struct ad *who_plan_slot(const struct ad *slot);
/* condor_who's columns. */
void who_plan_print(const struct ad *const *jobs, size_t count, const struct ad_context *context,
                    const struct terminal *terminal, struct strbuf *out);

#endif
