/* cli/cmd_transfer.c - `roost transfer-data`: fetches the output of spooled jobs to the directories
 * from which they were submitted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "cli/cli.h"
#include "cli/jobs/jobs_plan.h"
#include "cli/listing.h"
#include "cli/spool_send.h"
#include "submit/spool_plan.h"
#include "wire/wire.h"

struct transfer {
    struct cli *cli;
    struct vec words; /* borrowed */
    const char *constraint;
    bool all;
    size_t jobs, waiting, files;
};

static int parse_options(struct transfer *transfer)
{
    struct cli *cli = transfer->cli;
    for (int i = 1; i < cli->argc; i++) {
        char *arg = cli->argv[i];
        if (arg[0] != '-') {
            vec_push(&transfer->words, arg);
        } else if (listing_is(arg, "all", 1)) {
            transfer->all = true;
        } else if (listing_is(arg, "constraint", 1) && i + 1 < cli->argc) {
            transfer->constraint = cli->argv[++i];
        } else {
            return cli_usage(cli, "unknown argument '%s'", arg);
        }
    }
    if (!transfer->all && transfer->words.count == 0 && transfer->constraint == NULL) {
        return cli_usage(cli, "no jobs named; name ids, an owner, -constraint or -all");
    }
    return CLI_OK;
}

static int choose_jobs(const struct transfer *transfer, struct strbuf *out, struct err *err)
{
    int rc = 0;
    strbuf_puts(out, SPOOL_MARK " =!= undefined");
    if (transfer->constraint != NULL) {
        strbuf_printf(out, " && (%s)", transfer->constraint);
    }
    for (size_t i = 0; i < transfer->words.count && rc == 0; i++) {
        struct strbuf one;
        strbuf_init(&one, 0);
        rc = jobs_plan_select(transfer->words.items[i], &one, err);
        strbuf_printf(out, "%s(%s)", i == 0 ? " && (" : " || ", strbuf_text(&one));
        strbuf_fini(&one);
    }
    strbuf_puts(out, transfer->words.count > 0 ? ")" : "");
    return rc;
}

/* Fetches the output of jobs that have the same owner, because a ticket is for one owner. */
static int fetch_of_owner(struct transfer *transfer, const struct ad **jobs, size_t count,
                          struct err *err)
{
    size_t files = 0;
    int rc = spool_fetch(transfer->cli, jobs, count, &files, err);
    if (rc == -EPERM && transfer->all) {
        return 0; /* all that are ours */
    }
    transfer->files += files;
    for (size_t i = 0; rc == 0 && i < count; i++) {
        if (ad_int_or(jobs[i], "JobStatus", 0) == 4) {
            transfer->jobs++;
        } else {
            transfer->waiting++;
        }
    }
    return rc;
}

static int fetch_all(struct transfer *transfer, const struct vec *ads, struct err *err)
{
    struct vec done = {0};
    int rc = 0;
    for (size_t i = 0; i < ads->count && rc == 0; i++) {
        const char *owner = ad_string_or(ads->items[i], "Owner", "");
        struct vec some = {0};
        bool was = false;
        for (size_t k = 0; k < done.count; k++) {
            was = was || strcmp(done.items[k], owner) == 0;
        }
        for (size_t k = i; k < ads->count && !was; k++) {
            if (strcmp(ad_string_or(ads->items[k], "Owner", ""), owner) == 0) {
                vec_push(&some, ads->items[k]);
            }
        }
        if (some.count > 0) {
            vec_push(&done, mem_strdup(owner));
            rc = fetch_of_owner(transfer, (const struct ad **)some.items, some.count, err);
        }
        vec_fini(&some, NULL);
    }
    vec_fini(&done, mem_free);
    return rc;
}

static int run_transfer(struct transfer *transfer, struct err *err)
{
    struct cli *cli = transfer->cli;
    struct cli_reply reply = {0};
    struct strbuf constraint;
    size_t projected = 0;
    strbuf_init(&constraint, 0);
    int rc = choose_jobs(transfer, &constraint, err);
    while (spool_projection[projected] != NULL) {
        projected++;
    }
    struct ad *args = ad_create();
    ad_set_string(args, "Type", "Job");
    ad_set_string(args, "Constraint", strbuf_text(&constraint));
    ad_set_strings(args, "Projection", spool_projection, projected);
    const struct wire_body body = {.args = args};
    rc = rc != 0 ? rc : cli_schedd(cli, err);
    rc = rc != 0 ? rc : cli_call(cli, cli->schedd, NULL, VERB_QUERY, &body, 0, &reply, err);
    if (rc == 0 && reply.ads.count == 0 && !transfer->all) {
        rc = err_set(err, -ENOENT, "none of these jobs was submitted with -spool");
    }
    rc = rc != 0 ? rc : fetch_all(transfer, &reply.ads, err);
    cli_reply_fini(&reply);
    ad_destroy(args);
    strbuf_fini(&constraint);
    return rc;
}

int cmd_transfer(struct cli *cli)
{
    struct transfer transfer = {.cli = cli};
    struct err err;
    int status = parse_options(&transfer);
    if (status == CLI_OK && run_transfer(&transfer, &err) != 0) {
        status = cli_fail(cli, "%s", err.text);
    } else if (status == CLI_OK) {
        (void)printf("Fetched %zu file(s) of %zu completed job(s)", transfer.files, transfer.jobs);
        if (transfer.waiting > 0) {
            (void)printf("; %zu more are not completed yet", transfer.waiting);
        }
        (void)printf(".\n");
    }
    vec_fini(&transfer.words, NULL);
    return status;
}
