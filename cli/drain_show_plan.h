/* cli/drain_show_plan.h - the output of `roost drain`.  Pure.
 *
 * Machines with the same result share one line, with their names folded (base/hostlist.h).  A
 * result is one ad for each machine: Machine, ErrorCode (0: done as asked), ErrorString,
 * DrainingRequestId, DrainingSchedule, OnCompletion, and the estimates of docs/protocol/drain.md.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_DRAIN_SHOW_PLAN_H
#define CLI_DRAIN_SHOW_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/drain_words_plan.h"

struct ad;
struct ad_context;
struct strbuf;
struct vec;

/* Appends the successes to out and the failures to failures, one line for each group of machines
 * with the same result.  Returns the number of machines that failed. */
size_t drain_show_results(enum drain_verb verb, const struct ad *const *ads, size_t count,
                          const struct ad_context *context, struct strbuf *out,
                          struct strbuf *failures);

/* Combines the ads of slots with Draining = true into one ad for each machine and request, sorted
 * by name.  An ad has the request's attributes, DrainingSlots, DrainedSlots, DrainingJobs, and
 * DrainingState ("Draining" or "Drained").  Release with drain_show_machines_free(). */
void drain_show_machines(const struct ad *const *slots, size_t count, struct vec *machines);
void drain_show_machines_free(struct vec *machines);
void drain_show_status(const struct ad *const *machines, size_t count,
                       const struct ad_context *context, struct strbuf *out);

/* Appends a line with the folded names and the text `what`, such as "wn[01-03]: drained"; nothing
 * when there are no names. */
void drain_show_names(const char *const *names, size_t count, const char *what, struct strbuf *out);

#endif
