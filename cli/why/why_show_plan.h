/* cli/why/why_show_plan.h - the output of `roost why`, as text for people and as an ad.
 *
 * Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_WHY_WHY_SHOW_PLAN_H
#define CLI_WHY_WHY_SHOW_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/why/why_plan.h"

struct ad;
struct ad_context;
struct strbuf;
struct why_verdict;

/* The words for the two sides of a question. */
struct why_words {
    const char *subject;        /* what is explained: "job" or "slot" */
    const char *other, *others; /* the other side, singular and plural: "slot", "slots" */
    const char *live;           /* column heading for counts of live ads */
    const char *offline;        /* column heading for offline ads; NULL: no such column */
};
extern const struct why_words why_words_job, why_words_slot;

/* Prints the full answer about a job: the verdict in a line, then, if the verdict needs them or
 * `all` is true, the clauses and the changes that would help. label: the job's id, and the number
 * of jobs that are alike. */
void why_show_job(const char *label, const struct why_verdict *verdict,
                  const struct why_answer *answer, bool all, struct strbuf *out);

/* Prints a line about why the negotiator gave the job nothing the last time; nothing when it never
 * refused the job. */
void why_show_rejection(const struct ad *job, const struct ad_context *context, struct strbuf *out);

/* Prints the full answer about a slot; the other ads of the answer are then requests. */
void why_show_slot(const struct ad *slot, const struct why_answer *answer,
                   const struct ad_context *context, struct strbuf *out);

/* Makes the answer an ad, for -l, --json and -af: MyType "Why".  subject: "Job" or "Slot";
 * label: the job's id or the slot's name; verdict: NULL for a slot.  Owned by the caller. */
struct ad *why_show_ad(const char *subject, const char *label, const struct why_verdict *verdict,
                       const struct why_answer *answer);

#endif
