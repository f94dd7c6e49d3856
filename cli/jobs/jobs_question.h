/* cli/jobs/jobs_question.h - what `roost q` and `roost history` ask of a schedd.  Their options are
 * read in cmd_q.c and cmd_history.c, what is printed is decided in jobs_plan.c.
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

struct jobs_question {
    struct cli *cli;
    struct listing listing;
    const struct jobs_layout *layout;
    struct terminal terminal; /* lines are cut there */
    struct schedds_wish whom;
    const char *file; /* of ads, instead of a schedd's; NULL: none */
    struct vec words; /* ids and owners, borrowed */
    enum jobs_kind kind;
    enum jobs_grouping grouping; /* of JOBS_GROUPED */
    enum jobs_time time;
    bool all_users;
    bool analyze;
    bool wide;
    int wide_columns; /* -wide:N; 0: as wide as need be */
    bool ids_only;    /* the words are ids: the schedd looks nowhere else */
    char me[256];     /* q without ids shows this owner's jobs; "" everybody's */
    /* history */
    const char *since;  /* stop at this job, cluster, or where this is true */
    int64_t scan_limit; /* 0: none */
    bool forwards, summary;
};

/* An option that both have: CLI_OK with *took set, or CLI_USAGE. */
int jobs_question_option(struct jobs_question *question, int *at, bool *took);
/* What the words name becomes a constraint; how wide lines are is settled. */
int jobs_question_settle(struct jobs_question *question);
struct ad *jobs_question_args(const struct jobs_question *question); /* owned by the caller */
/* The jobs of question->file that it selects, the caller's; *all (may be NULL) counts all in it. */
int jobs_question_read(struct jobs_question *question, struct vec *jobs, struct jobs_totals *all,
                       struct err *err);
void jobs_question_fini(struct jobs_question *question);

#endif
