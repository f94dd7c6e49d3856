/* cli/drain_show_plan.h - what `roost drain` prints.  Pure.
 *
 * Many machines are said as one: those that did the same are in one line, their names folded
 * (base/hostlist.h).  A result is an ad for each machine: Machine, ErrorCode (0: as asked),
 * ErrorString, DrainingRequestId, DrainingSchedule, OnCompletion, and the estimates of
 * docs/protocol/drain.md.
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

/* What succeeded to out, what failed to failures, a line (ended) for each kind; how many failed. */
size_t drain_show_results(enum drain_verb verb, const struct ad *const *ads, size_t count,
                          const struct ad_context *context, struct strbuf *out,
                          struct strbuf *failures);

/* Slots' ads, those with Draining = true, into an ad for each machine and request, by name
 * (owned by the caller): the request's attributes, DrainingSlots, DrainedSlots, DrainingJobs,
 * DrainingState ("Draining", "Drained"). */
void drain_show_machines(const struct ad *const *slots, size_t count, struct vec *machines);
void drain_show_machines_free(struct vec *machines);
void drain_show_status(const struct ad *const *machines, size_t count,
                       const struct ad_context *context, struct strbuf *out);

/* "wn[01-03]: what\n", nothing for no names. */
void drain_show_names(const char *const *names, size_t count, const char *what, struct strbuf *out);

#endif
