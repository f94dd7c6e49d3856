/* cli/why/why_show_plan.h - what `roost why` prints: the answer as text for people and as an ad.
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

/* Who asks and who is asked, as they are called in the text. */
struct why_words {
    const char *subject;        /* "job", "slot" */
    const char *other, *others; /* "slot", "slots" */
    const char *live;           /* heading of the column of live ones */
    const char *offline;        /* of the offline ones; NULL: there are none */
};
extern const struct why_words why_words_job, why_words_slot;

/* A whole answer about a job: a line, then what supports it. */
void why_show_job(const char *label, const struct why_verdict *verdict,
                  const struct why_answer *answer, bool all, struct strbuf *out);

/* A line of what the negotiator said of the job when it last got nothing; nothing when it did not.
 */
void why_show_rejection(const struct ad *job, const struct ad_context *context, struct strbuf *out);

/* A whole answer about a slot, to whom the others are requests. */
void why_show_slot(const struct ad *slot, const struct why_answer *answer,
                   const struct ad_context *context, struct strbuf *out);

/* For -l, --json, -af: MyType "Why".  verdict may be NULL.  Owned by the caller. */
struct ad *why_show_ad(const char *subject, const char *label, const struct why_verdict *verdict,
                       const struct why_answer *answer);

#endif
