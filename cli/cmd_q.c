/* cli/cmd_q.c - `roost q`: the jobs in the schedd's queue; `roost history`: those that left it.
 *
 * What is printed is decided in jobs_plan.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "cli/cli.h"
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
    const char *since; /* history: stop at this job */
    char me[256];      /* q without ids shows this owner's jobs; "" everybody's */
};

static int parse_one(struct question *question, bool is_history, int *at)
{
    struct cli *cli = question->cli;
    char *arg = cli->argv[*at];
    struct err err;
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
    } else if (is_history && listing_is(arg, "since", 2) && *at + 1 < cli->argc) {
        question->since = cli->argv[++*at];
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
    if (listing_jobs(&question->listing, (char *const *)question->words.items,
                     question->words.count, &err) != 0) {
        return cli_usage(cli, "%s", err.text);
    }
    if (question->since != NULL &&
        (!jobs_plan_is_id(question->since) || strchr(question->since, '.') == NULL)) {
        return cli_usage(cli, "-since needs a job, as 12.0, not '%s'", question->since);
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

/* How many jobs of ours there are, whatever else was asked for. */
static int count_mine(struct question *question, struct jobs_totals *ret, struct err *err)
{
    static const char *const PROJECTION[] = {"JobStatus", NULL};
    struct listing mine = {0};
    struct cli_reply reply = {0};
    char *words[1] = {question->me};
    int rc = listing_jobs(&mine, words, 1, err);
    rc = rc != 0 ? rc
                 : listing_query(question->cli, question->cli->schedd, NULL, "Job", &mine,
                                 PROJECTION, NULL, &reply, err);
    if (rc == 0) {
        jobs_plan_count((const struct ad *const *)reply.ads.items, reply.ads.count, ret);
    }
    cli_reply_fini(&reply);
    listing_fini(&mine);
    return rc;
}

static int put_title(struct question *question, const struct ad_context *context,
                     struct strbuf *out, struct err *err)
{
    struct listing all = {0};
    struct cli_reply reply;
    int rc = listing_query(question->cli, question->cli->schedd, NULL, "Scheduler", &all, NULL,
                           NULL, &reply, err);
    if (rc == 0) {
        const struct ad *schedd = reply.ads.count > 0 ? reply.ads.items[0] : NULL;
        const char *address = schedd != NULL ? ad_string_or(schedd, "MyAddress", "?") : "?";
        jobs_plan_title(schedd != NULL ? ad_string_or(schedd, "Name", "?") : "?",
                        strncmp(address, "tcp:", 4) == 0 ? address + 4 : address, context, out);
    }
    cli_reply_fini(&reply);
    return rc;
}

static int put_totals(struct question *question, const struct cli_reply *reply, struct strbuf *out,
                      struct err *err)
{
    struct jobs_totals query, mine = {0}, all = {0};
    const struct ad *args = reply->args;
    jobs_plan_count((const struct ad *const *)reply->ads.items, reply->ads.count, &query);
    if (args != NULL) {
        all = (struct jobs_totals){.completed = ad_int_or(args, "CompletedJobs", 0),
                                   .removed = ad_int_or(args, "RemovedJobs", 0),
                                   .idle = ad_int_or(args, "IdleJobs", 0),
                                   .running = ad_int_or(args, "RunningJobs", 0),
                                   .held = ad_int_or(args, "HeldJobs", 0)};
    }
    const char *me = question->me[0] != '\0' ? question->me : NULL;
    int rc = me != NULL ? count_mine(question, &mine, err) : 0;
    if (rc == 0) {
        jobs_plan_footer(question->layout, &query, me, &mine, &all, out);
    }
    return rc;
}

static int print_table(struct question *question, const struct cli_reply *reply, bool is_history)
{
    struct cli *cli = question->cli;
    struct strbuf out;
    struct err err;
    const struct ad_context context = listing_context(cli);
    const struct jobs_layout *layout = question->layout;
    strbuf_init(&out, (size_t)1 << 30);
    int rc = is_history ? 0 : put_title(question, &context, &out, &err);
    if (rc == 0) {
        jobs_plan_print(layout, (const struct ad *const *)reply->ads.items, reply->ads.count,
                        &context, &out);
    }
    if (rc == 0 && jobs_layout_totals(layout)) {
        rc = put_totals(question, reply, &out, &err);
    }
    if (rc != 0) {
        strbuf_fini(&out);
        return cli_fail(cli, "%s", err.text);
    }
    return listing_write(cli, &out);
}

static int by_id(const void *a, const void *b)
{
    const struct ad *left = *(const struct ad *const *)a, *right = *(const struct ad *const *)b;
    static const char *const KEYS[] = {"ClusterId", "ProcId"};
    for (size_t i = 0; i < 2; i++) {
        int64_t one = ad_int_or(left, KEYS[i], 0), other = ad_int_or(right, KEYS[i], 0);
        if (one != other) {
            return one < other ? -1 : 1;
        }
    }
    return 0;
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
    int rc = put_title(question, NULL, &out, &err);
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

static int ask(struct question *question, bool is_history)
{
    struct cli *cli = question->cli;
    struct cli_reply reply;
    struct err err;
    struct ad *more = ad_create();
    int status = CLI_OK;
    if (question->since != NULL) {
        ad_set_string(more, "Since", question->since);
    }
    if (listing_query(cli, cli->schedd, NULL, is_history ? "History" : "Job", &question->listing,
                      question->analyze ? NULL : jobs_layout_projection(question->layout), more,
                      &reply, &err) != 0) {
        status = cli_fail(cli, "%s", err.text);
        cli_reply_fini(&reply);
        ad_destroy(more);
        return status;
    }
    if (!is_history && reply.ads.count > 1) {
        qsort(reply.ads.items, reply.ads.count, sizeof *reply.ads.items, by_id);
    }
    if (question->analyze) {
        status = analyze(question, &reply);
    } else if (question->listing.style != LISTING_TABLE) {
        status = listing_show(cli, &question->listing, (const struct ad *const *)reply.ads.items,
                              reply.ads.count);
    } else {
        status = print_table(question, &reply, is_history);
    }
    cli_reply_fini(&reply);
    ad_destroy(more);
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
