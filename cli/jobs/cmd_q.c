/* cli/jobs/cmd_q.c - `roost q`: the jobs in the schedd's queue.
 *
 * jobs_plan.c decides what is printed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "classad/ad.h"
#include "cli/cli.h"
#include "cli/jobs/jobs_plan.h"
#include "cli/jobs/jobs_question.h"
#include "cli/print_format_plan.h"
#include "cli/listing.h"
#include "cli/why/why_ask.h"
#include "wire/wire.h"

/* Takes an option that only `roost q` has; false: arg is none of these. */
static bool take_queue(struct jobs_question *question, int *at, int *status)
{
    struct cli *cli = question->cli;
    const char *arg = cli->argv[*at];
    const struct jobs_layout *layout = jobs_layout_find(arg);
    *status = CLI_OK;
    if (listing_is(arg, "hold-codes", 5)) {
        question->kind = JOBS_GROUPED;
        question->grouping = JOBS_BY_HOLD_CODE;
        listing_also(&question->listing, "JobStatus == 5");
    } else if (layout != NULL) {
        /* -idle -nobatch: the narrower one counts */
        if (jobs_layout_constraint(question->layout) == NULL) {
            question->layout = layout;
        }
    } else if (listing_is(arg, "analyze", 3) || listing_is(arg, "better-analyze", 3)) {
        question->analyze = true;
    } else if (listing_is(arg, "allusers", 3)) {
        question->all_users = true;
    } else if (listing_is(arg, "batch", 3)) {
        question->layout = jobs_layout_find("");
    } else if (listing_is(arg, "currentrun", 4)) {
        question->time = JOBS_TIME_CURRENT_RUN;
    } else if (listing_is(arg, "cputime", 3)) {
        question->time = JOBS_TIME_CPU;
    } else if (listing_is(arg, "autocluster", 3)) {
        question->kind = JOBS_GROUPED;
        question->grouping = JOBS_BY_AUTOCLUSTER;
    } else if (listing_is(arg, "factory", 3)) {
        question->kind = JOBS_FACTORIES;
    } else if (listing_is(arg, "jobads", 4) || listing_is(arg, "jobs", 4)) {
        if (*at + 1 >= cli->argc) {
            *status = cli_usage(cli, "%s needs a file", arg);
        } else {
            question->file = cli->argv[++*at];
        }
    } else {
        return false;
    }
    return true;
}

static int parse_options(struct jobs_question *question)
{
    struct cli *cli = question->cli;
    int status = CLI_OK;
    for (int i = 1; i < cli->argc && status == CLI_OK; i++) {
        const char *arg = cli->argv[i];
        bool took = arg[0] == '-' && take_queue(question, &i, &status);
        if (!took && status == CLI_OK) {
            status = jobs_question_option(question, &i, &took);
        }
        if (!took && status == CLI_OK) {
            status = cli_unknown(cli, arg);
        }
    }
    question->ids_only = question->words.count > 0 && question->file == NULL;
    for (size_t i = 0; i < question->words.count; i++) {
        question->ids_only = question->ids_only && jobs_plan_is_id(question->words.items[i]);
    }
    question->layout = jobs_layout_timed(question->layout, question->time);
    return status == CLI_OK ? jobs_question_settle(question) : status;
}

/* Restricts the list to the caller's own jobs, unless users or jobs were named; root sees all
 * jobs. */
static void restrict_to_me(struct jobs_question *question)
{
    struct cli *cli = question->cli;
    struct strbuf text;
    if (question->words.count > 0 || question->all_users || question->whom.submitter != NULL ||
        os_uid(cli->os) == 0 ||
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

/* Appends the first line. said is the schedd's description of itself; NULL: its ad is queried. */
static int put_title(struct jobs_question *question, const struct ad *said,
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
    struct jobs_rows *lines; /* lines of a table; NULL: values are printed */
    struct ad *common;       /* for values: the common attributes of the jobs that are arriving */
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

/* On a terminal, appends the machines that wake up for waiting jobs.  Elsewhere this would only
 * cost a connection to the collector. */
static void add_waking(const struct jobs_question *question, struct strbuf *out)
{
    static const char *const NAMES[] = {"Machine", "EnteredPowerState", NULL};
    struct cli *cli = question->cli;
    struct listing waking = {0};
    struct cli_reply reply = {0};
    listing_also(&waking, "PowerState =?= \"Waking\"");
    if (cli_collector(cli, NULL) == 0 && listing_query(cli, cli->collector, NULL, "Machine",
                                                       &waking, NAMES, NULL, &reply, NULL) == 0) {
        const struct ad_context context = listing_context(cli);
        jobs_groups_waking((const struct ad *const *)reply.ads.items, reply.ads.count, &context,
                           out);
    }
    cli_reply_fini(&reply);
    listing_fini(&waking);
}

static void add_footer(const struct jobs_question *question, const struct ad *said,
                       const struct jobs_totals *query, struct strbuf *out)
{
    struct jobs_totals mine = {0}, all = {0};
    const char *me = question->me[0] != '\0' ? question->me : NULL;
    if (said != NULL) {
        jobs_plan_read_totals(said, "", &all);
        jobs_plan_read_totals(said, "Owner", &mine);
    }
    jobs_plan_footer(question->layout, query, me, &mine, &all, out);
    if (question->terminal.rows > 0 && query->idle > 0) {
        add_waking(question, out);
    }
}

/* Prints a table, or values without headings, while the jobs arrive; names are the attributes that
 * are needed.  Returns the exit status. */
static int show_rows(struct jobs_question *question, const char *const *names, size_t count)
{
    struct cli *cli = question->cli;
    struct rows rows = {.context = listing_context(cli), .how = question->listing};
    struct ad *args = jobs_question_args(question), *said = NULL;
    struct strbuf head;
    struct err err;
    bool is_table = rows.how.style == LISTING_TABLE;
    strbuf_init(&head, 0);
    strbuf_init(&rows.out, LISTING_TEXT_MAX);
    rows.lines = is_table
                     ? jobs_rows_create(question->layout, question->terminal.columns, &rows.context)
                     : NULL;
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

/* Prints lines of batches, or only totals; the schedd does the counting.  Returns the exit
 * status. */
static int show_batches(struct jobs_question *question)
{
    struct cli *cli = question->cli;
    struct cli_reply reply;
    struct strbuf out;
    struct err err;
    struct jobs_totals totals = {0};
    const struct ad_context context = listing_context(cli);
    struct ad *args = jobs_question_args(question);
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

/* Prints the analysis of each job in HTCondor's form.  Returns the exit status. */
static int analyze_jobs(struct jobs_question *question, const struct cli_reply *reply)
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

/* Prints whole ads, or the ads of -print-format between title and totals.  Returns the exit
 * status. */
static int show_ads(struct jobs_question *question)
{
    struct cli *cli = question->cli;
    const struct listing *listing = &question->listing;
    struct cli_reply reply;
    struct err err;
    struct ad *args = jobs_question_args(question);
    int status = CLI_OK;
    bool custom = listing->style == LISTING_CUSTOM;
    if (listing_query(cli, cli->schedd, NULL, "Job", listing, NULL, args, &reply, &err) != 0) {
        status = cli_fail(cli, "%s", err.text);
    } else if (question->analyze) {
        status = analyze_jobs(question, &reply);
    } else {
        const struct ad *const *ads = (const struct ad *const *)reply.ads.items;
        struct strbuf foot;
        strbuf_init(&foot, 0);
        if (custom && print_format_has_title(listing->custom)) {
            const struct ad_context context = listing_context(cli);
            struct strbuf head;
            strbuf_init(&head, 0);
            status = put_title(question, reply.args, &context, &head, &err) == 0
                         ? listing_write(cli, &head)
                         : cli_fail(cli, "%s", err.text);
        }
        status = status == CLI_OK ? listing_show(cli, listing, ads, reply.ads.count) : status;
        if (custom && print_format_has_summary(listing->custom) && status == CLI_OK) {
            struct jobs_totals totals;
            jobs_plan_count(ads, reply.ads.count, &totals);
            add_footer(question, reply.args, &totals, &foot);
        }
        status = status == CLI_OK ? listing_write(cli, &foot) : status;
    }
    cli_reply_fini(&reply);
    ad_destroy(args);
    return status;
}

/* ---- counting jobs in groups */

static void add_to_groups(void *arg, struct ad *const *ads, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        jobs_groups_add(arg, ads[i]);
    }
}

static int print_groups(struct jobs_question *question, struct jobs_groups *groups,
                        const struct strbuf *head)
{
    struct cli *cli = question->cli;
    if (question->listing.style != LISTING_TABLE) {
        size_t count;
        const struct ad *const *list = jobs_groups_list(groups, &count);
        return listing_show(cli, &question->listing, list, count);
    }
    struct strbuf out;
    const struct ad_context context = listing_context(cli);
    strbuf_init(&out, LISTING_TEXT_MAX);
    strbuf_append(&out, head->data, head->length);
    jobs_groups_print(groups, &context, &out);
    return listing_write(cli, &out);
}

static int show_groups(struct jobs_question *question)
{
    struct cli *cli = question->cli;
    struct jobs_groups *groups = jobs_groups_create(question->grouping);
    struct ad *args = jobs_question_args(question), *said = NULL;
    struct strbuf head;
    struct err err;
    const char *const *names = jobs_groups_names(question->grouping);
    const struct ad_context context = listing_context(cli);
    size_t count = 0;
    strbuf_init(&head, 0);
    while (names[count] != NULL) {
        count++;
    }
    ad_set_strings(args, "Projection", names, count);
    int rc = listing_query_each(cli, cli->schedd, "Job", &question->listing, args, add_to_groups,
                                groups, &said, &err);
    rc = rc != 0 ? rc : put_title(question, said, &context, &head, &err);
    int status = rc == 0 ? print_groups(question, groups, &head) : cli_fail(cli, "%s", err.text);
    strbuf_fini(&head);
    jobs_groups_destroy(groups);
    ad_destroy(args);
    ad_destroy(said);
    return status;
}

static int show_factories(struct jobs_question *question)
{
    struct cli *cli = question->cli;
    const struct ad_context context = listing_context(cli);
    struct cli_reply reply;
    struct strbuf out;
    struct err err;
    strbuf_init(&out, LISTING_TEXT_MAX);
    int rc = listing_query(cli, cli->schedd, NULL, "JobFactory", &question->listing, NULL, NULL,
                           &reply, &err);
    const struct ad *const *ads = (const struct ad *const *)reply.ads.items;
    bool table = question->listing.style == LISTING_TABLE;
    rc = rc == 0 && table ? put_title(question, NULL, &context, &out, &err) : rc;
    int status = CLI_OK;
    if (rc != 0) {
        status = cli_fail(cli, "%s", err.text);
    } else if (table) {
        jobs_groups_factories(ads, reply.ads.count, &context, &out);
        status = listing_write(cli, &out);
    } else {
        status = listing_show(cli, &question->listing, ads, reply.ads.count);
    }
    strbuf_fini(&out);
    cli_reply_fini(&reply);
    return status;
}

/* ---- jobs from a file */

static void print_file(struct jobs_question *question, const struct vec *jobs,
                       const struct jobs_totals *all, const struct ad_context *context,
                       struct strbuf *out)
{
    const struct ad *const *ads = (const struct ad *const *)jobs->items;
    struct jobs_totals query;
    jobs_plan_count(ads, jobs->count, &query);
    strbuf_printf(out, "\n\n-- Jobs: %s\n", question->file);
    if (jobs_layout_is_rows(question->layout)) {
        jobs_plan_print(question->layout, NULL, 0, context, out);
        jobs_plan_lines(question->layout, ads, jobs->count, question->terminal.columns, context,
                        out);
    } else {
        struct jobs_groups *batches = jobs_groups_create(JOBS_BY_BATCH);
        size_t count;
        add_to_groups(batches, (struct ad *const *)jobs->items, jobs->count);
        const struct ad *const *list = jobs_groups_list(batches, &count);
        jobs_plan_print(question->layout, list, count, context, out);
        jobs_groups_destroy(batches);
    }
    if (jobs_layout_totals(question->layout)) {
        jobs_plan_footer(question->layout, &query, NULL, NULL, all, out);
    }
}

static int show_file(struct jobs_question *question)
{
    struct cli *cli = question->cli;
    struct vec jobs = {0};
    struct jobs_totals all = {0};
    struct strbuf out;
    struct err err;
    const struct ad_context context = listing_context(cli);
    int status = CLI_OK;
    strbuf_init(&out, LISTING_TEXT_MAX);
    if (jobs_question_read(question, &jobs, &all, &err) != 0) {
        status = cli_fail(cli, "%s", err.text);
    } else if (question->kind == JOBS_GROUPED) {
        struct jobs_groups *groups = jobs_groups_create(question->grouping);
        add_to_groups(groups, (struct ad *const *)jobs.items, jobs.count);
        status = print_groups(question, groups, &out);
        jobs_groups_destroy(groups);
    } else if (question->listing.style != LISTING_TABLE) {
        status =
            listing_show(cli, &question->listing, (const struct ad *const *)jobs.items, jobs.count);
    } else {
        print_file(question, &jobs, &all, &context, &out);
        status = listing_write(cli, &out);
    }
    strbuf_fini(&out);
    vec_fini(&jobs, ad_destroy_item);
    return status;
}

/* ---- */

static int ask_schedd(struct jobs_question *question)
{
    const struct listing *listing = &question->listing;
    struct vec names = {0};
    int status;
    bool table = listing->style == LISTING_TABLE;
    bool values = (listing->style == LISTING_AUTO || listing->style == LISTING_FORMAT) &&
                  !listing->autoformat.headings && listing_plan_names(listing, &names);
    if (question->kind == JOBS_GROUPED) {
        status = show_groups(question);
    } else if (question->kind == JOBS_FACTORIES) {
        status = show_factories(question);
    } else if (question->analyze) {
        status = show_ads(question);
    } else if (table && !jobs_layout_is_rows(question->layout)) {
        status = show_batches(question);
    } else if (table) {
        jobs_layout_names(question->layout, &names);
        status = show_rows(question, (const char *const *)names.items, names.count);
    } else if (values) {
        status = show_rows(question, (const char *const *)names.items, names.count);
    } else {
        status = show_ads(question);
    }
    vec_fini(&names, mem_free);
    return status;
}

static int ask_all(struct jobs_question *question)
{
    struct cli *cli = question->cli;
    struct vec schedds = {0};
    struct err err;
    int status = CLI_OK;
    if (schedds_find(cli, &schedds, &err) != 0) {
        status = cli_fail(cli, "%s", err.text);
    }
    for (size_t i = 0; i < schedds.count; i++) {
        int one = schedds_dial(cli, schedds.items[i], &err) == 0 ? ask_schedd(question)
                                                                 : cli_fail(cli, "%s", err.text);
        status = one != CLI_OK ? one : status; /* the others are asked, too */
    }
    vec_fini(&schedds, ad_destroy_item);
    return status;
}

int cmd_q(struct cli *cli)
{
    struct jobs_question question = {.cli = cli, .layout = jobs_layout_find("")};
    struct err err;
    int status = parse_options(&question);
    if (status == CLI_OK) {
        if (question.file == NULL) {
            restrict_to_me(&question);
        }
        if (jobs_layout_constraint(question.layout) != NULL) {
            listing_also(&question.listing, jobs_layout_constraint(question.layout));
        }
        status = question.file != NULL                  ? show_file(&question)
                 : !schedds_is_one(cli, &question.whom) ? ask_all(&question)
                 : cli_schedd(cli, &err) == 0           ? ask_schedd(&question)
                                                        : cli_fail(cli, "%s", err.text);
    }
    jobs_question_fini(&question);
    return status;
}
