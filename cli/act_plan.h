/* cli/act_plan.h - the messages of `roost submit`, `edit`, `rm`, `hold` and the like about jobs.
 * Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_ACT_PLAN_H
#define CLI_ACT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ad;
struct strbuf;
struct act_words; /* texts of the messages about one action, such as "hold" */

/* Returns the texts for "rm", "hold", "release" or "vacate"; NULL for any other command. */
const struct act_words *act_words_find(const char *command);
/* Returns the value of the argument Action in the request ACT to the schedd. fast: the user gave
 * -fast. */
const char *act_words_action(const struct act_words *words, bool fast);

/* Appends the message for the schedd's answer about one job or cluster id, without a newline;
 * returns whether the action was done. */
bool act_plan_id(const struct act_words *words, const struct ad *answer, struct strbuf *out);

/* Appends the message for an action on many jobs.  totals: the schedd's answer; what: which jobs,
 * such as "of user alice" or "matching constraint (x)", "" for all jobs.  Returns true if at least
 * one job was changed and none was refused. */
bool act_plan_many(const struct act_words *words, const char *what, const struct ad *totals,
                   struct strbuf *out);

/* Appends the message for one job that was to be checkpointed (reply to JOB_CHECKPOINT); returns
 * whether the checkpoint was made. */
bool act_plan_checkpoint(const struct ad *answer, struct strbuf *out);
/* True when the answer is about this id, "12.3" or "12". */
bool act_plan_answers(const struct ad *answer, const char *id);

/* Appends the message of `roost submit` after success.  jobs: number of submitted jobs; cluster:
 * number of their cluster; terse: print only the ids of the first and the last job. */
void act_plan_submitted(int64_t jobs, int64_t cluster, bool terse, struct strbuf *out);
/* Returns the length of NAME if the word is NAME=VALUE with a valid name of an attribute and some
 * value, and no comparison such as NAME==VALUE; else 0. */
size_t act_plan_assigned(const char *word);
/* Appends the message of `roost edit` after success.  attribute: name of the changed attribute;
 * jobs: number of changed jobs. */
void act_plan_edited(const char *attribute, int64_t jobs, struct strbuf *out);

#endif
