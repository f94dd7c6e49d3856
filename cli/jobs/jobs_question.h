/* cli/jobs/jobs_question.h - the request that `roost q` and `roost history` send to a schedd.
 * cmd_q.c and cmd_history.c read their options; jobs_plan.c decides what is printed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_JOBS_JOBS_QUESTION_H
#define CLI_JOBS_JOBS_QUESTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "cli/cli.h"
#include "cli/jobs/jobs_groups_plan.h"
#include "cli/jobs/jobs_plan.h"
#include "cli/listing.h"
#include "cli/schedds.h"

struct ad;
struct ad_context;
struct strbuf;

enum jobs_kind { JOBS_QUEUE, JOBS_FACTORIES, JOBS_GROUPED };

struct jobs_history { /* options that only `roost history` has */
    /* value of -since: a job id, a cluster or an expression; the listing ends before that job, or
     * before the first job for which the expression is true */
    const char *since;
    int64_t scan_limit; /* most jobs to examine; 0: no limit */
    bool forwards, summary;
};

struct jobs_question {
    struct cli *cli;
    struct listing listing;
    const struct jobs_layout *layout;
    struct terminal terminal; /* the terminal, for cutting lines */
    struct schedds_wish whom;
    const char *file; /* a file of ads to use instead of a schedd; NULL: none */
    struct vec words; /* job ids and owners, borrowed */
    enum jobs_kind kind;
    enum jobs_grouping grouping; /* how jobs are grouped, when kind is JOBS_GROUPED */
    enum jobs_time time;
    bool all_users;
    bool analyze;
    bool wide;
    int wide_columns; /* value of -wide:N; 0: no limit */
    /* true: all words are job ids, so the request names them and needs no constraint */
    bool ids_only;
    char me[256]; /* the owner whose jobs `q` without ids shows; "" shows everybody's */
    struct jobs_history history;
};

/* Parses argv[*at] when it is a job id, an owner, or an option that q and history share; then *took
 * is true, and *at becomes the index of its last argument.  Returns CLI_OK, or CLI_USAGE with the
 * error printed. */
int jobs_question_option(struct jobs_question *question, int *at, bool *took);
/* Call after all options: turns the words into a constraint and decides how wide lines are.
 * Returns CLI_OK, or CLI_USAGE with the error printed. */
int jobs_question_settle(struct jobs_question *question);
/* Makes the arguments of the request to the schedd; owned by the caller. */
struct ad *jobs_question_args(const struct jobs_question *question);
/* Reads the jobs of question->file that the question selects; the caller owns them.  *all (may be
 * NULL) gets the totals of all jobs in the file.  Returns 0 or -errno. */
int jobs_question_read(struct jobs_question *question, struct vec *jobs, struct jobs_totals *all,
                       struct err *err);
void jobs_question_fini(struct jobs_question *question);

#endif
