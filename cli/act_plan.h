/* cli/act_plan.h - the messages of `roost submit`, `edit`, `rm`, `hold` and the like about jobs.
 * Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_ACT_PLAN_H
#define CLI_ACT_PLAN_H

#include <stdbool.h>
#include <stdint.h>

struct ad;
struct strbuf;
struct act_words; /* the words of one action, such as "hold" */

/* The words for "rm", "hold", "release" or "vacate"; NULL for any other command. */
const struct act_words *act_words_find(const char *command);
/* value of Action in the request ACT */
const char *act_words_action(const struct act_words *words, bool fast);

/* Appends the message for the answer to one id, without a newline; returns whether the action was
 * done. */
bool act_plan_id(const struct act_words *words, const struct ad *answer, struct strbuf *out);

/* Appends the totals of an action on many jobs.  what says which: "of user alice", "matching
 * constraint (x)", "" for all.  Returns whether the action was done. */
bool act_plan_many(const struct act_words *words, const char *what, const struct ad *totals,
                   struct strbuf *out);

/* Appends the message for one job that was to be checkpointed (reply to JOB_CHECKPOINT); returns
 * whether that was done. */
bool act_plan_checkpoint(const struct ad *answer, struct strbuf *out);
/* True when the answer is about this id, "12.3" or "12". */
bool act_plan_answers(const struct ad *answer, const char *id);

/* Append the messages of `roost submit` and `roost edit` after success. */
void act_plan_submitted(int64_t jobs, int64_t cluster, bool terse, struct strbuf *out);
void act_plan_edited(const char *attribute, int64_t jobs, struct strbuf *out);

#endif
