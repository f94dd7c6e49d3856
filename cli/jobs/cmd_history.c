/* cli/jobs/cmd_history.c - `roost history`: the jobs that left the queue.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "classad/ad.h"
#include "cli/cli.h"
#include "cli/jobs/history_plan.h"
#include "cli/jobs/jobs_plan.h"
#include "cli/jobs/jobs_question.h"
#include "cli/listing.h"

/* Takes the value of -completedsince, an expression that is usually a number of seconds since
 * 1970. */
static int take_completed(struct jobs_question *question, const char *text, struct err *err)
{
    char *zoned;
    int rc = listing_plan_zoned(text, &listing_zone, &zoned, err);
    if (rc == 0) {
        struct strbuf constraint;
        strbuf_init(&constraint, 0);
        strbuf_printf(&constraint, "CompletionDate >= (%s)", zoned);
        listing_also(&question->listing, strbuf_text(&constraint));
        strbuf_fini(&constraint);
        mem_free(zoned);
    }
    return rc;
}

/* Takes an option that only `roost history` has; false: arg is none of these. */
static bool take_history(struct jobs_question *question, int *at, int *status)
{
    struct cli *cli = question->cli;
    const char *arg = cli->argv[*at], *next = *at + 1 < cli->argc ? cli->argv[*at + 1] : NULL;
    bool match = listing_is(arg, "match", 2), scan = listing_is(arg, "scanlimit", 2);
    bool completed = listing_is(arg, "completedsince", 9), since = listing_is(arg, "since", 2);
    bool file = listing_is(arg, "file", 2);
    int64_t number = 0;
    *status = CLI_OK;
    if (listing_is(arg, "forwards", 3) || listing_is(arg, "backwards", 1)) {
        question->history.forwards = listing_is(arg, "forwards", 3);
        return true;
    }
    if (listing_is(arg, "summary", 2)) {
        question->history.summary = true;
        return true;
    }
    if (!match && !scan && !completed && !since && !file) {
        return false;
    }
    ++*at;
    struct err err;
    if (next == NULL) {
        *status = cli_usage(cli, "%s needs %s", arg,
                            since       ? "a job or an expression"
                            : file      ? "the name of a file"
                            : completed ? "a time"
                                        : "a number");
    } else if (since) {
        question->history.since = next;
    } else if (file) {
        question->file = next;
    } else if (completed) {
        *status = take_completed(question, next, &err) == 0
                      ? CLI_OK
                      : cli_usage(cli, "%s %s: %s", arg, next, err.text);
    } else if (text_parse_int64(next, &number, NULL) != 0 || number < 1) {
        *status = cli_usage(cli, "%s needs a number above 0, not '%s'", arg, next);
    } else if (match) {
        question->listing.limit = number;
    } else {
        question->history.scan_limit = number;
    }
    return true;
}

/* ---- showing */

struct past {
    struct ad_context context;
    struct history_summary *summary; /* NULL: print a line for each job */
    const struct jobs_layout *layout;
    struct listing_output output;
    struct strbuf out;
    int columns; /* lines are cut to this width; 0: not cut */
};

static void add_past(void *arg, struct ad *const *ads, size_t count)
{
    struct past *past = arg;
    for (size_t i = 0; past->summary != NULL && i < count; i++) {
        history_summary_add(past->summary, ads[i]);
    }
    if (past->summary == NULL) {
        jobs_plan_lines(past->layout, (const struct ad *const *)ads, count, past->columns,
                        &past->context, &past->out);
        listing_write_some(&past->output, &past->out);
    }
}

/* Prints a line for each job while further jobs arrive, or the sums of all jobs.  Returns the exit
 * status. */
static int show_past(struct jobs_question *question)
{
    struct cli *cli = question->cli;
    struct past past = {.context = listing_context(cli),
                        .layout = question->layout,
                        .columns = question->terminal.columns,
                        .output = {cli, CLI_OK}};
    struct ad *args = jobs_question_args(question);
    struct vec names = {0};
    struct err err;
    strbuf_init(&past.out, LISTING_TEXT_MAX);
    if (question->history.summary) {
        past.summary = history_summary_create();
        for (size_t i = 0; history_summary_names[i] != NULL; i++) {
            vec_push(&names, mem_strdup(history_summary_names[i]));
        }
    } else {
        jobs_layout_names(question->layout, &names);
        jobs_plan_print(question->layout, NULL, 0, &past.context, &past.out);
    }
    ad_set_strings(args, "Projection", (const char *const *)names.items, names.count);
    int rc = listing_query_each(cli, cli->schedd, "History", &question->listing, args, add_past,
                                &past, NULL, &err);
    if (rc == 0 && past.summary != NULL) {
        history_summary_print(past.summary, &past.context, &past.out);
    }
    history_summary_destroy(past.summary);
    vec_fini(&names, mem_free);
    ad_destroy(args);
    if (rc != 0 || past.output.status != CLI_OK) {
        strbuf_fini(&past.out);
        return rc != 0 ? cli_fail(cli, "%s", err.text) : past.output.status;
    }
    return listing_write(cli, &past.out);
}

/* Prints whole ads.  Returns the exit status. */
static int show_ads(struct jobs_question *question)
{
    struct cli *cli = question->cli;
    struct cli_reply reply;
    struct err err;
    struct ad *args = jobs_question_args(question);
    int status;
    if (listing_query(cli, cli->schedd, NULL, "History", &question->listing, NULL, args, &reply,
                      &err) != 0) {
        status = cli_fail(cli, "%s", err.text);
    } else {
        status = listing_show(cli, &question->listing, (const struct ad *const *)reply.ads.items,
                              reply.ads.count);
    }
    cli_reply_fini(&reply);
    ad_destroy(args);
    return status;
}

/* Prints the ads of a file, the last one first unless -forwards, as condor_history does.  Returns
 * the exit status. */
static int show_file(struct jobs_question *question)
{
    struct cli *cli = question->cli;
    struct vec jobs = {0};
    struct err err;
    int status = CLI_OK, rc = jobs_question_read(question, &jobs, NULL, &err);
    for (size_t i = 0, k = jobs.count; !question->history.forwards && i + 1 < k; i++) {
        void *other = jobs.items[--k];
        jobs.items[k] = jobs.items[i];
        jobs.items[i] = other;
    }
    if (rc != 0) {
        status = cli_fail(cli, "%s", err.text);
    } else if (question->listing.style != LISTING_TABLE) {
        status =
            listing_show(cli, &question->listing, (const struct ad *const *)jobs.items, jobs.count);
    } else {
        struct past past = {.context = listing_context(cli),
                            .layout = question->layout,
                            .columns = question->terminal.columns,
                            .output = {cli, CLI_OK}};
        strbuf_init(&past.out, LISTING_TEXT_MAX);
        past.summary = question->history.summary ? history_summary_create() : NULL;
        if (past.summary == NULL) {
            jobs_plan_print(question->layout, NULL, 0, &past.context, &past.out);
        }
        add_past(&past, (struct ad *const *)jobs.items, jobs.count);
        if (past.summary != NULL) {
            history_summary_print(past.summary, &past.context, &past.out);
        }
        history_summary_destroy(past.summary);
        status = past.output.status;
        status = status == CLI_OK ? listing_write(cli, &past.out) : status;
    }
    vec_fini(&jobs, ad_destroy_item);
    return status;
}

static int show_jobs(struct jobs_question *question)
{
    bool table = question->listing.style == LISTING_TABLE;
    return question->file != NULL               ? show_file(question)
           : table || question->history.summary ? show_past(question)
                                                : show_ads(question);
}

static int parse_options(struct jobs_question *question)
{
    struct cli *cli = question->cli;
    int status = CLI_OK;
    for (int i = 1; i < cli->argc && status == CLI_OK; i++) {
        const char *arg = cli->argv[i];
        bool took = arg[0] == '-' && take_history(question, &i, &status);
        if (!took && status == CLI_OK) {
            status = jobs_question_option(question, &i, &took);
        }
        if (!took && status == CLI_OK) {
            status = cli_unknown(cli, arg);
        }
    }
    return status == CLI_OK ? jobs_question_settle(question) : status;
}

int cmd_history(struct cli *cli)
{
    struct jobs_question question = {.cli = cli, .layout = jobs_layout_history()};
    struct vec schedds = {0};
    struct err err;
    int status = parse_options(&question), rc = 0;
    bool plain = question.file != NULL || schedds_is_one(cli, &question.whom);
    if (status == CLI_OK && !plain) {
        rc = schedds_find(cli, &schedds, &err);
    } else if (status == CLI_OK && question.file == NULL) {
        rc = cli_schedd(cli, &err);
    }
    if (rc != 0) {
        status = cli_fail(cli, "%s", err.text);
    } else if (status == CLI_OK && plain) {
        status = show_jobs(&question);
    }
    for (size_t i = 0; i < schedds.count && status == CLI_OK; i++) {
        status = schedds_dial(cli, schedds.items[i], &err) == 0 ? show_jobs(&question)
                                                                : cli_fail(cli, "%s", err.text);
    }
    vec_fini(&schedds, ad_destroy_item);
    jobs_question_fini(&question);
    return status;
}
