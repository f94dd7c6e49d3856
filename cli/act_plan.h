/* cli/act_plan.h - what `roost submit`, `edit`, `rm`, `hold` and their like say about jobs.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_ACT_PLAN_H
#define CLI_ACT_PLAN_H

#include <stdbool.h>
#include <stdint.h>

struct ad;
struct strbuf;
struct act_words; /* of one action */

/* "rm", "hold", "release", "vacate"; NULL: none of these. */
const struct act_words *act_words_find(const char *command);
const char *act_words_action(const struct act_words *words, bool fast); /* Action of ACT */

/* The answer for one id: a line (without its end) and whether it was done. */
bool act_plan_id(const struct act_words *words, const struct ad *answer, struct strbuf *out);

/* The totals for a constraint.  what: "of user alice", "matching constraint (x)", "" for all. */
bool act_plan_many(const struct act_words *words, const char *what, const struct ad *totals,
                   struct strbuf *out);

/* The answer for one job that was to be checkpointed (JOB_CHECKPOINT). */
bool act_plan_checkpoint(const struct ad *answer, struct strbuf *out);
/* Is that answer to the id, "12.3" or "12"? */
bool act_plan_answers(const struct ad *answer, const char *id);

/* What `roost submit` and `edit` say when it is done. */
void act_plan_submitted(int64_t jobs, int64_t cluster, bool terse, struct strbuf *out);
void act_plan_edited(const char *attribute, int64_t jobs, struct strbuf *out);

#endif
