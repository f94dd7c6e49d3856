/* cli/jobs/jobs_question.c - see jobs_question.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/jobs/jobs_question.h"

#include <string.h>

#include "base/text.h"
#include "classad/ad.h"
#include "cli/options_plan.h"
#include "cli/print_format_plan.h"

static int take_wide(struct jobs_question *question, const char *arg)
{
    const char *colon = strchr(arg, ':');
    int64_t columns = 0;
    if (colon != NULL &&
        (text_parse_int64(colon + 1, &columns, NULL) != 0 || columns < 1 || columns > 10000)) {
        return cli_usage(question->cli, "%s: -wide:N needs a number of columns", arg);
    }
    question->wide = true;
    question->wide_columns = (int)columns;
    return CLI_OK;
}

static bool is_wide(const char *arg)
{
    return listing_is(arg, "wide", 1) || strncmp(arg, "-wide:", 6) == 0 ||
           strncmp(arg, "--wide:", 7) == 0;
}

int jobs_question_option(struct jobs_question *question, int *at, bool *took)
{
    struct cli *cli = question->cli;
    const char *arg = cli->argv[*at];
    struct err err;
    *took = true;
    if (arg[0] != '-') {
        vec_push(&question->words, cli->argv[*at]);
        return CLI_OK;
    }
    if (is_wide(arg)) {
        return take_wide(question, arg);
    }
    int rc = schedds_option(&question->whom, cli, at, &err);
    rc = rc != 0 ? rc : listing_print_format(cli, &question->listing, at, &err);
    rc = rc != 0 ? rc
                 : listing_plan_option(&question->listing, cli->argc, cli->argv, at, &listing_zone,
                                       &err);
    if (rc < 0) {
        return cli_usage(cli, "%s", err.text);
    }
    *took = rc != 0 || options_ignored(cli->argv[0], arg);
    return CLI_OK;
}

int jobs_question_settle(struct jobs_question *question)
{
    struct err err;
    const char *submitter = question->whom.submitter;
    question->terminal = listing_terminal(question->cli, question->wide);
    question->terminal.columns =
        question->wide_columns > 0 ? question->wide_columns : question->terminal.columns;
    if (submitter != NULL) {
        char *word = (char *)(uintptr_t)submitter;
        if (listing_jobs(&question->listing, &word, 1, &err) != 0) {
            return cli_usage(question->cli, "-submitter: %s", err.text);
        }
    }
    if (!question->ids_only &&
        listing_jobs(&question->listing, (char *const *)question->words.items,
                     question->words.count, &err) != 0) {
        return cli_usage(question->cli, "%s", err.text);
    }
    return CLI_OK;
}

struct ad *jobs_question_args(const struct jobs_question *question)
{
    struct ad *args = ad_create();
    if (question->ids_only) {
        ad_set_strings(args, "Ids", (const char *const *)question->words.items,
                       question->words.count);
    }
    if (question->me[0] != '\0') {
        ad_set_string(args, "TotalsOf", question->me);
    }
    if (question->history.since != NULL) {
        ad_set_string(args, "Since", question->history.since);
    }
    if (question->history.scan_limit > 0) {
        ad_set_int(args, "ScanLimit", question->history.scan_limit);
    }
    if (question->history.forwards) {
        ad_set_bool(args, "Forwards", true);
    }
    return args;
}

int jobs_question_read(struct jobs_question *question, struct vec *jobs, struct jobs_totals *all,
                       struct err *err)
{
    int rc = listing_read_file(question->cli, question->file, jobs, err);
    if (rc == 0 && all != NULL) {
        jobs_plan_count((const struct ad *const *)jobs->items, jobs->count, all);
    }
    size_t kept = jobs->count;
    rc = rc != 0 ? rc
                 : listing_select(question->cli, &question->listing,
                                  (const struct ad **)jobs->items, &kept, err);
    for (size_t i = kept; rc == 0 && i < jobs->count; i++) {
        ad_destroy(jobs->items[i]);
    }
    jobs->count = rc == 0 ? kept : jobs->count;
    return rc;
}

void jobs_question_fini(struct jobs_question *question)
{
    vec_fini(&question->words, NULL);
    listing_fini(&question->listing);
}
