/* cli/cmd_edit.c - `roost edit`: changes attributes of jobs in the queue, like condor_qedit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "cli/act_plan.h"
#include "cli/cli.h"
#include "cli/jobs/jobs_plan.h"
#include "cli/listing.h"
#include "wire/wire.h"

struct edit {
    struct cli *cli;
    struct ad *args;    /* arguments that select the jobs */
    struct ad *changes; /* the new values of attributes */
    int at;             /* index in argv of the first attribute's name */
    struct vec names;   /* the attributes, as they were written; owned */
    struct strbuf what; /* the selected jobs, in words for messages */
};

/* Takes the arguments that select jobs: ids, an owner or a constraint.  Attributes and their values
 * follow them. */
static int read_jobs(struct edit *edit)
{
    struct cli *cli = edit->cli;
    struct vec ids = {0};
    int at = 1, status = CLI_OK;
    struct err err;
    if (at + 1 < cli->argc && cli->argv[at][0] == '-' &&
        listing_is(cli->argv[at], "constraint", 1)) {
        char *zoned = NULL;
        if (listing_plan_zoned(cli->argv[at + 1], &listing_zone, &zoned, &err) != 0) {
            return cli_usage(cli, "%s", err.text);
        }
        ad_set_string(edit->args, "Constraint", zoned);
        mem_free(zoned);
        strbuf_printf(&edit->what, "that match (%s)", cli->argv[at + 1]);
        edit->at = at + 2;
        return CLI_OK;
    }
    while (at < cli->argc && jobs_plan_is_id(cli->argv[at])) {
        strbuf_printf(&edit->what, "%s%s", ids.count > 0 ? " " : "", cli->argv[at]);
        vec_push(&ids, cli->argv[at++]);
    }
    if (ids.count > 0) {
        ad_set_strings(edit->args, "Ids", (const char *const *)ids.items, ids.count);
    } else if (at < cli->argc && cli->argv[at][0] != '-') {
        struct strbuf text;
        strbuf_init(&text, 0);
        if (jobs_plan_select(cli->argv[at], &text, &err) != 0) {
            status = cli_usage(cli, "%s", err.text);
        } else {
            ad_set_string(edit->args, "Constraint", strbuf_text(&text));
            strbuf_printf(&edit->what, "of user %s", cli->argv[at++]);
        }
        strbuf_fini(&text);
    } else {
        status = cli_usage(cli, "no jobs named; name ids, an owner or -constraint");
    }
    vec_fini(&ids, NULL);
    edit->at = at;
    return status;
}

static int read_changes(struct edit *edit)
{
    struct cli *cli = edit->cli;
    if (edit->at >= cli->argc) {
        return cli_usage(cli, "the attribute and its value are missing");
    }
    for (int i = edit->at; i < cli->argc; i++) {
        const char *word = cli->argv[i];
        size_t length = act_plan_assigned(word);
        struct err err;
        if (length == 0 && !ad_name_is_valid(word)) {
            return cli_usage(cli,
                             "'%s' is not a valid attribute name; expected ATTR VALUE or "
                             "ATTR=VALUE, as in `roost edit 12.0 JobPrio 3`",
                             word);
        }
        if (length == 0 && i + 1 >= cli->argc) {
            return cli_usage(cli, "%s: the value is missing", word);
        }
        char *name = mem_strndup(word, length > 0 ? length : strlen(word));
        const char *value = length > 0 ? word + length + 1 : cli->argv[++i];
        vec_push(&edit->names, name);
        if (ad_set_expr_old(edit->changes, name, value, &err) != 0) {
            return cli_usage(cli, "%s: %s (a text needs double quotes)", name, err.text);
        }
    }
    return CLI_OK;
}

static int report_edit(struct edit *edit, const struct ad *totals)
{
    struct cli *cli = edit->cli;
    long long changed = ad_int_or(totals, "Success", 0);
    long long denied = ad_int_or(totals, "PermissionDenied", 0);
    for (size_t i = 0; changed > 0 && i < edit->names.count; i++) {
        struct strbuf line;
        strbuf_init(&line, 0);
        act_plan_edited(edit->names.items[i], changed, &line);
        (void)fputs(strbuf_text(&line), stdout);
        strbuf_fini(&line);
    }
    if (denied > 0) {
        return cli_fail(cli,
                        "permission denied to edit %lld jobs %s: the jobs belong to other users",
                        denied, strbuf_text(&edit->what));
    }
    if (changed == 0 || ad_int_or(totals, "NotFound", 0) > 0) {
        return cli_fail(cli, "%sjobs %s are not in the queue", changed > 0 ? "some of " : "",
                        strbuf_text(&edit->what));
    }
    return CLI_OK;
}

static int send_edit(struct edit *edit)
{
    struct cli *cli = edit->cli;
    const struct ad *ads[] = {edit->changes};
    const struct wire_body body = {.args = edit->args, .ads = ads, .ad_count = 1};
    struct cli_reply reply;
    struct err err;
    if (cli_schedd(cli, &err) != 0) {
        return cli_fail(cli, "%s", err.text);
    }
    int result = cli_call(cli, cli->schedd, NULL, VERB_EDIT, &body, 0, &reply, &err);
    int status = result != 0 ? cli_fail(cli, "nothing was changed: %s", err.text)
                             : report_edit(edit, reply.args);
    cli_reply_fini(&reply);
    return status;
}

int cmd_edit(struct cli *cli)
{
    struct edit edit = {.cli = cli, .args = ad_create(), .changes = ad_create()};
    strbuf_init(&edit.what, 0);
    int status = read_jobs(&edit);
    if (status == CLI_OK) {
        status = read_changes(&edit);
    }
    if (status == CLI_OK) {
        status = send_edit(&edit);
    }
    ad_destroy(edit.args);
    ad_destroy(edit.changes);
    vec_fini(&edit.names, mem_free);
    strbuf_fini(&edit.what);
    return status;
}
