/* cli/cmd_q.c - `roost q`: the jobs in the schedd's queue; `roost history`: those that left it.
 *
 * What is printed is decided in jobs_plan.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "classad/ad.h"
#include "cli/cli.h"
#include "cli/history_plan.h"
#include "cli/jobs_plan.h"
#include "cli/listing.h"
#include "cli/why_ask.h"
#include "wire/wire.h"

struct question {
    struct cli *cli;
    struct listing listing;
    const struct jobs_layout *layout;
    struct vec words; /* ids and owners, borrowed */
    bool all_users;
    bool analyze;
    bool ids_only; /* the words are ids: the schedd looks nowhere else */
    /* history */
    const char *since;  /* stop at this job, cluster, or where this is true */
    int64_t scan_limit; /* 0: none */
    bool forwards, summary;
    char me[256]; /* q without ids shows this owner's jobs; "" everybody's */
};

/* The options that only the history has; false: arg is none of them. */
static bool take_history(struct question *question, int *at, int *status)
{
    struct cli *cli = question->cli;
    const char *arg = cli->argv[*at], *next = *at + 1 < cli->argc ? cli->argv[*at + 1] : NULL;
    bool match = listing_is(arg, "match", 2), scan = listing_is(arg, "scanlimit", 2);
    bool completed = listing_is(arg, "completedsince", 9), since = listing_is(arg, "since", 2);
    int64_t number = 0;
    *status = CLI_OK;
    if (listing_is(arg, "forwards", 3) || listing_is(arg, "backwards", 1)) {
        question->forwards = listing_is(arg, "forwards", 3);
        return true;
    }
    if (listing_is(arg, "summary", 2)) {
        question->summary = true;
        return true;
    }
    if (!match && !scan && !completed && !since) {
        return false;
    }
    ++*at;
    if (next == NULL) {
        *status = cli_usage(cli, "%s needs %s", arg, since ? "a job or an expression" : "a number");
    } else if (since) {
        question->since = next;
    } else if (text_parse_int64(next, &number, NULL) != 0 || number < 1) {
        *status = cli_usage(cli, "%s needs a number above 0, not '%s'", arg, next);
    } else if (match) {
        question->listing.limit = number;
    } else if (scan) {
        question->scan_limit = number;
    } else {
        char text[64];
        (void)snprintf(text, sizeof text, "CompletionDate >= %lld", (long long)number);
        listing_also(&question->listing, text);
    }
    return true;
}

static int parse_one(struct question *question, bool is_history, int *at)
{
    struct cli *cli = question->cli;
    char *arg = cli->argv[*at];
    struct err err;
    int status;
    const struct jobs_layout *layout = is_history ? NULL : jobs_layout_find(arg);
    if (arg[0] != '-') {
        vec_push(&question->words, arg);
    } else if (layout != NULL) {
        /* -idle -nobatch: the narrower one counts */
        if (jobs_layout_constraint(question->layout) == NULL) {
            question->layout = layout;
        }
    } else if (!is_history &&
               (listing_is(arg, "analyze", 3) || listing_is(arg, "better-analyze", 3))) {
        question->analyze = true;
    } else if (!is_history && listing_is(arg, "allusers", 3)) {
        question->all_users = true;
    } else if (!is_history && listing_is(arg, "wide", 1)) {
        /* nothing is ever cut */
    } else if (is_history && take_history(question, at, &status)) {
        return status;
    } else {
        int rc =
            listing_plan_option(&question->listing, cli->argc, cli->argv, at, &listing_zone, &err);
        if (rc < 0) {
            return cli_usage(cli, "%s", err.text);
        }
        if (rc == 0) {
            return cli_usage(cli, "'%s' is not understood", arg);
        }
    }
    return CLI_OK;
}

static int parse(struct question *question, bool is_history)
{
    struct cli *cli = question->cli;
    struct err err;
    for (int i = 1; i < cli->argc; i++) {
        int status = parse_one(question, is_history, &i);
        if (status != CLI_OK) {
            return status;
        }
    }
    question->ids_only = !is_history && question->words.count > 0;
    for (size_t i = 0; i < question->words.count; i++) {
        question->ids_only = question->ids_only && jobs_plan_is_id(question->words.items[i]);
    }
    if (!question->ids_only &&
        listing_jobs(&question->listing, (char *const *)question->words.items,
                     question->words.count, &err) != 0) {
        return cli_usage(cli, "%s", err.text);
    }
    return CLI_OK;
}

/* Without words the queue is that of who asks; the superuser sees all. */
static void restrict_to_me(struct question *question)
{
    struct cli *cli = question->cli;
    struct strbuf text;
    if (question->words.count > 0 || question->all_users || os_uid(cli->os) == 0 ||
        os_user_name(cli->os, os_uid(cli->os), question->me, sizeof question->me, NULL) != 0) {
        question->me[0] = '\0';
        return;
    }
    strbuf_init(&text, 0);
    if (jobs_plan_select(question->me, &text, NULL) == 0) {
        listing_also(&question->listing, strbuf_text(&text));
    } else {
        question->me[0] = '\0';
    }
    strbuf_fini(&text);
}

/* The first line; of what the schedd said of itself, or its ad. */
static int put_title(struct question *question, const struct ad *said,
                     const struct ad_context *context, struct strbuf *out, struct err *err)
{
    struct listing all = {0};
    struct cli_reply reply = {0};
    int rc = said != NULL ? 0
                          : listing_query(question->cli, question->cli->schedd, NULL, "Scheduler",
                                          &all, NULL, NULL, &reply, err);
    if (rc == 0) {
        const struct ad *schedd = said != NULL          ? said
                                  : reply.ads.count > 0 ? reply.ads.items[0]
                                                        : NULL;
        const char *address = schedd != NULL ? ad_string_or(schedd, "MyAddress", "?") : "?";
        jobs_plan_title(schedd != NULL ? ad_string_or(schedd, "Name", "?") : "?",
                        strncmp(address, "tcp:", 4) == 0 ? address + 4 : address, context, out);
    }
    cli_reply_fini(&reply);
    return rc;
}

/* ---- lines that are made while the schedd is still sending */

struct rows {
    struct ad_context context;
    struct jobs_rows *lines; /* of a table; NULL: values */
    struct ad *common;       /* of values: what the jobs share that come now */
    struct listing how;
    struct strbuf out;
};

static void put_values(struct rows *rows, struct ad *job)
{
    int64_t count = ad_int_or(job, "ProcCount", 1), proc = ad_int_or(job, "ProcId", 0);
    const struct ad *one = job;
    for (int64_t i = 0; i < count; i++) {
        if (i > 0) {
            ad_set_int(job, "ProcId", proc + i);
        }
        listing_plan_print(&rows->how, &one, 1, &rows->context, &rows->out);
    }
}

static void add_rows(void *arg, struct ad *const *ads, size_t count)
{
    struct rows *rows = arg;
    for (size_t i = 0; i < count; i++) {
        if (rows->lines != NULL) {
            jobs_rows_add(rows->lines, ads[i], &rows->out);
        } else if (!ad_has(ads[i], "ProcId")) {
            ad_destroy(rows->common);
            rows->common = ad_copy(ads[i]);
        } else {
            ad_chain(ads[i], rows->common);
            put_values(rows, ads[i]);
            ad_chain(ads[i], NULL);
        }
    }
}

static struct ad *arguments(const struct question *question)
{
    struct ad *args = ad_create();
    if (question->ids_only) {
        ad_set_strings(args, "Ids", (const char *const *)question->words.items,
                       question->words.count);
    }
    if (question->me[0] != '\0') {
        ad_set_string(args, "TotalsOf", question->me);
    }
    if (question->since != NULL) {
        ad_set_string(args, "Since", question->since);
    }
    if (question->scan_limit > 0) {
        ad_set_int(args, "ScanLimit", question->scan_limit);
    }
    if (question->forwards) {
        ad_set_bool(args, "Forwards", true);
    }
    return args;
}

static void add_footer(const struct question *question, const struct ad *said,
                       const struct jobs_totals *query, struct strbuf *out)
{
    struct jobs_totals mine = {0}, all = {0};
    const char *me = question->me[0] != '\0' ? question->me : NULL;
    if (said != NULL) {
        jobs_plan_read_totals(said, "", &all);
        jobs_plan_read_totals(said, "Owner", &mine);
    }
    jobs_plan_footer(question->layout, query, me, &mine, &all, out);
}

/* A table, or values without headings: names is what they need. */
static int show_rows(struct question *question, const char *const *names, size_t count)
{
    struct cli *cli = question->cli;
    struct rows rows = {.context = listing_context(cli), .how = question->listing};
    struct ad *args = arguments(question), *said = NULL;
    struct strbuf head;
    struct err err;
    bool is_table = rows.how.style == LISTING_TABLE;
    strbuf_init(&head, 0);
    strbuf_init(&rows.out, LISTING_TEXT_MAX);
    rows.lines = is_table ? jobs_rows_create(question->layout, &rows.context) : NULL;
    ad_set_strings(args, "Projection", names, count);
    ad_set_bool(args, "Shared", true);
    ad_set_bool(args, "WholeIfComputed", true);
    int rc = listing_query_each(cli, cli->schedd, "Job", &question->listing, args, add_rows, &rows,
                                &said, &err);
    if (rc == 0 && is_table) {
        rc = put_title(question, said, &rows.context, &head, &err);
        jobs_plan_print(question->layout, NULL, 0, &rows.context, &head);
    }
    if (rc == 0 && is_table && jobs_layout_totals(question->layout)) {
        add_footer(question, said, jobs_rows_totals(rows.lines), &rows.out);
    }
    ad_destroy(said);
    ad_destroy(args);
    ad_destroy(rows.common);
    jobs_rows_destroy(rows.lines);
    if (rc != 0) {
        strbuf_fini(&head);
        strbuf_fini(&rows.out);
        return cli_fail(cli, "%s", err.text);
    }
    int status = listing_write(cli, &head);
    if (status == CLI_OK) {
        return listing_write(cli, &rows.out);
    }
    strbuf_fini(&rows.out);
    return status;
}

/* Lines of batches, or totals: the schedd counts. */
static int show_batches(struct question *question)
{
    struct cli *cli = question->cli;
    struct cli_reply reply;
    struct strbuf out;
    struct err err;
    struct jobs_totals totals = {0};
    const struct ad_context context = listing_context(cli);
    struct ad *args = arguments(question);
    strbuf_init(&out, LISTING_TEXT_MAX);
    int rc = listing_query(cli, cli->schedd, NULL, "JobBatch", &question->listing, NULL, args,
                           &reply, &err);
    rc = rc != 0 ? rc : put_title(question, reply.args, &context, &out, &err);
    for (size_t i = 0; rc == 0 && i < reply.ads.count; i++) {
        jobs_plan_read_totals(reply.ads.items[i], "", &totals);
    }
    if (rc == 0) {
        jobs_plan_print(question->layout, (const struct ad *const *)reply.ads.items,
                        reply.ads.count, &context, &out);
        add_footer(question, reply.args, &totals, &out);
    }
    cli_reply_fini(&reply);
    ad_destroy(args);
    if (rc != 0) {
        strbuf_fini(&out);
        return cli_fail(cli, "%s", err.text);
    }
    return listing_write(cli, &out);
}

/* ---- history */

struct past {
    struct ad_context context;
    struct history_summary *summary; /* NULL: a line for each job */
    const struct jobs_layout *layout;
    struct listing_output output;
    struct strbuf out;
};

static void add_past(void *arg, struct ad *const *ads, size_t count)
{
    struct past *past = arg;
    for (size_t i = 0; past->summary != NULL && i < count; i++) {
        history_summary_add(past->summary, ads[i]);
    }
    if (past->summary == NULL) {
        jobs_plan_lines(past->layout, (const struct ad *const *)ads, count, &past->context,
                        &past->out);
        listing_write_some(&past->output, &past->out);
    }
}

/* Lines that are written while the next jobs come, or sums of all. */
static int show_past(struct question *question)
{
    struct cli *cli = question->cli;
    struct past past = {.context = listing_context(cli),
                        .layout = question->layout,
                        .output = {cli, CLI_OK}};
    struct ad *args = arguments(question);
    struct vec names = {0};
    struct err err;
    strbuf_init(&past.out, LISTING_TEXT_MAX);
    if (question->summary) {
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

/* Each job in the form of HTCondor's analysis. */
static int analyze(struct question *question, const struct cli_reply *reply)
{
    struct cli *cli = question->cli;
    struct why_view view;
    struct strbuf out;
    struct err err;
    why_view_init(&view, cli);
    strbuf_init(&out, 0);
    int rc = put_title(question, NULL, NULL, &out, &err);
    rc = rc != 0 ? rc : why_view_load(&view, &err);
    for (size_t i = 0; i < reply->ads.count && rc == 0; i++) {
        why_view_analyze(&view, reply->ads.items[i], &out);
    }
    why_view_fini(&view);
    if (rc != 0) {
        strbuf_fini(&out);
        return cli_fail(cli, "%s", err.text);
    }
    return listing_write(cli, &out);
}

/* Whole ads. */
static int show_ads(struct question *question, bool is_history)
{
    struct cli *cli = question->cli;
    struct cli_reply reply;
    struct err err;
    struct ad *args = arguments(question);
    int status = CLI_OK;
    if (listing_query(cli, cli->schedd, NULL, is_history ? "History" : "Job", &question->listing,
                      NULL, args, &reply, &err) != 0) {
        status = cli_fail(cli, "%s", err.text);
    } else if (question->analyze) {
        status = analyze(question, &reply);
    } else {
        status = listing_show(cli, &question->listing, (const struct ad *const *)reply.ads.items,
                              reply.ads.count);
    }
    cli_reply_fini(&reply);
    ad_destroy(args);
    return status;
}

static int ask(struct question *question, bool is_history)
{
    const struct listing *listing = &question->listing;
    struct vec names = {0};
    int status;
    bool table = listing->style == LISTING_TABLE;
    bool values = (listing->style == LISTING_AUTO || listing->style == LISTING_FORMAT) &&
                  !listing->headings && listing_plan_names(listing, &names);
    if (is_history && (table || question->summary)) {
        status = show_past(question);
    } else if (is_history || question->analyze) {
        status = show_ads(question, is_history);
    } else if (table && !jobs_layout_is_rows(question->layout)) {
        status = show_batches(question);
    } else if (table) {
        jobs_layout_names(question->layout, &names);
        status = show_rows(question, (const char *const *)names.items, names.count);
    } else if (values) {
        status = show_rows(question, (const char *const *)names.items, names.count);
    } else {
        status = show_ads(question, false);
    }
    vec_fini(&names, mem_free);
    return status;
}

static int run(struct cli *cli, bool is_history)
{
    struct question question = {.cli = cli,
                                .layout =
                                    is_history ? jobs_layout_history() : jobs_layout_find("")};
    struct err err;
    int status = parse(&question, is_history);
    if (status == CLI_OK && cli_schedd(cli, &err) != 0) {
        status = cli_fail(cli, "%s", err.text);
    }
    if (status == CLI_OK) {
        if (!is_history) {
            restrict_to_me(&question);
        }
        if (jobs_layout_constraint(question.layout) != NULL) {
            listing_also(&question.listing, jobs_layout_constraint(question.layout));
        }
        status = ask(&question, is_history);
    }
    vec_fini(&question.words, NULL);
    listing_fini(&question.listing);
    return status;
}

int cmd_q(struct cli *cli)
{
    return run(cli, false);
}

int cmd_history(struct cli *cli)
{
    return run(cli, true);
}
