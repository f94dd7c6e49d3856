/* cli/status/cmd_status.c - `roost status`: the ads of the collector.
 *
 * status_plan.c and listing_plan.c decide what is printed.  The query asks only for the attributes
 * that will be printed: a table needs a dozen attributes of ads that have hundreds.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "classad/ad.h"
#include "cli/cli.h"
#include "cli/listing.h"
#include "cli/options_plan.h"
#include "cli/status/status_plan.h"
#include "cli/status/status_sort_plan.h"
#include "wire/wire.h"

struct status {
    struct listing listing;
    struct status_how how;
    const struct status_view *view;
    const char *type;      /* type of -generic or -subsystem; NULL: the type of the view */
    const char *file;      /* file of -ads; NULL: query the collector */
    const char *pool;      /* value of -pool; NULL: our own pool */
    bool natural;          /* -natural: no sorting */
    struct vec sort;       /* struct ad_expr: the keys of -sort */
    struct vec sort_names; /* the keys that are plain attribute names; borrowed from argv */
    bool sort_needs_more;
    struct strbuf names; /* constraint that the arguments make */
    const char *name;    /* the first argument; NULL: none */
};

static void destroy_expr(void *expr)
{
    ad_expr_destroy(expr);
}

static void status_fini(struct status *status)
{
    listing_fini(&status->listing);
    vec_fini(&status->sort, destroy_expr);
    vec_fini(&status->sort_names, NULL);
    strbuf_fini(&status->names);
}

/* ---- arguments */

/* Adds an argument to the constraint: the name of a machine, or the Name of an ad such as a
 * slot's. */
static int add_name(const char *word, struct strbuf *names, struct err *err)
{
    if (word[0] == '\0' || strpbrk(word, "\"\\ \t\n") != NULL) {
        return err_set(err, -EINVAL, "'%s' is not a valid name of a machine or slot", word);
    }
    strbuf_printf(names, "%sName == \"%s\" || Machine == \"%s\"", names->length > 0 ? " || " : "",
                  word, word);
    return 0;
}

static int add_sort(struct status *status, const char *text, struct err *err)
{
    struct ad_expr *expr;
    int rc = ad_expr_parse_in(text, strlen(text), AD_OLD, &listing_zone, &expr, NULL, err);
    if (rc != 0) {
        return err_prefix(err, rc, "-sort %s", text);
    }
    vec_push(&status->sort, expr);
    if (ad_name_is_valid(text)) {
        vec_push(&status->sort_names, (char *)(uintptr_t)text);
    } else {
        status->sort_needs_more = true;
    }
    return 0;
}

/* For -subsystem TYPE: selects the view of that daemon or type, otherwise shows ads of that
 * type. */
static void set_type(struct status *status, const char *type)
{
    static const struct {
        const char *type, *option;
    } VIEWS[] = {{"Machine", ""},
                 {"startd", ""},
                 {"Scheduler", "-schedd"},
                 {"schedd", "-schedd"},
                 {"Submitter", "-submitters"},
                 {"Negotiator", "-negotiator"},
                 {"Collector", "-collector"},
                 {"DaemonMaster", "-master"},
                 {"master", "-master"},
                 {"Rooster", "-rooster"},
                 {"Factory", "-factory"},
                 {"Site", "-site"},
                 {"Glidein", "-glidein"},
                 {"Request", "-requests"}};
    for (size_t i = 0; i < ARRAY_COUNT(VIEWS); i++) {
        if (text_equal_nocase(VIEWS[i].type, type)) {
            status->view = status_view_find(VIEWS[i].option);
            status->type = NULL;
            return;
        }
    }
    status->view = status_view_find("-any");
    status->type = type;
}

/* For -target FILE: the first ad of the file becomes the target. */
static int read_target(struct status *status, struct cli *cli, const char *path, struct err *err)
{
    struct vec ads = {0};
    int rc = listing_read_file(cli, path, &ads, err);
    rc =
        rc == 0 && ads.count == 0 ? err_set(err, -EINVAL, "%s: the file contains no ad", path) : rc;
    if (rc == 0) {
        ad_destroy(status->listing.target);
        status->listing.target = ads.items[0];
        ads.items[0] = NULL; /* ad_destroy() allows it */
    }
    vec_fini(&ads, ad_destroy_item);
    return rc != 0 ? rc : 1;
}

/* Takes an option that has a value.  Returns 1; 0: not such an option; -EINVAL. */
static int take_pair(struct status *status, struct cli *cli, int *at, struct err *err)
{
    const char *arg = cli->argv[*at];
    const char *next = *at + 1 < cli->argc ? cli->argv[*at + 1] : NULL;
    bool sort = listing_is(arg, "sort", 2);
    bool generic = listing_is(arg, "generic", 3);
    bool subsystem = listing_is(arg, "subsystem", 5);
    bool ads = listing_is(arg, "ads", 2);
    bool pool = listing_is(arg, "pool", 1);
    bool target = listing_is(arg, "target", 2);
    if (!sort && !generic && !subsystem && !ads && !pool && !target) {
        return 0;
    }
    if (next == NULL) {
        return err_set(err, -EINVAL, "%s needs %s", arg,
                       sort              ? "an expression"
                       : (ads || target) ? "a file"
                       : pool            ? "a host"
                                         : "a type of ads");
    }
    ++*at;
    if (sort) {
        int rc = add_sort(status, next, err);
        return rc != 0 ? rc : 1;
    }
    if (target) {
        return read_target(status, cli, next, err);
    }
    if (generic) {
        status->view = status_view_find("-any");
        status->type = next;
    } else if (subsystem) {
        set_type(status, next);
    } else if (ads) {
        status->file = next;
    } else {
        status->pool = next;
    }
    return 1;
}

static bool take_flag(struct status *status, const char *arg)
{
    if (listing_is(arg, "totals", 2)) {
        status->how.totals_only = true;
    } else if (listing_is(arg, "wide", 1)) {
        status->how.wide = true;
    } else if (listing_is(arg, "verbose", 1)) {
        status->listing.style = LISTING_LONG;
    } else if (listing_is(arg, "natural", 3)) {
        status->natural = true;
    } else if (listing_is(arg, "nocompact", 3)) {
        status->view = status_view_find("");
    } else {
        const struct status_view *view = status_view_find(arg);
        status->view = view != NULL ? view : status->view;
        status->type = NULL;
        return view != NULL;
    }
    return true;
}

static int parse_options(struct cli *cli, struct status *status)
{
    struct err err;
    status->view = status_view_find("");
    for (int i = 1; i < cli->argc; i++) {
        const char *arg = cli->argv[i];
        int rc = take_pair(status, cli, &i, &err);
        rc = rc != 0 ? rc : listing_print_format(cli, &status->listing, &i, &err);
        rc = rc != 0 ? rc
                     : listing_plan_option(&status->listing, cli->argc, cli->argv, &i,
                                           &listing_zone, &err);
        if (rc == 1) {
            continue;
        }
        if (rc == 0 && arg[0] == '-') {
            if (!take_flag(status, arg) && !options_ignored("status", arg)) {
                return cli_unknown(cli, arg);
            }
            continue;
        }
        rc = rc != 0 ? rc : add_name(arg, &status->names, &err);
        status->name = status->name != NULL ? status->name : arg;
        if (rc != 0) {
            return cli_usage(cli, "%s", err.text);
        }
    }
    status->how.terminal = listing_terminal(cli, status->how.wide);
    if (status->names.length > 0) {
        listing_also(&status->listing, strbuf_text(&status->names));
    }
    if (status_view_constraint(status->view) != NULL) {
        listing_also(&status->listing, status_view_constraint(status->view));
    }
    return CLI_OK;
}

/* ---- asking */

static const char *type_of(const struct status *status)
{
    return status->type != NULL ? status->type : status_view_type(status->view);
}

/* Makes the further arguments of the query: the attributes that are wanted.  Owned by the
 * caller. */
static struct ad *query_arguments(const struct status *status)
{
    static const char *const ORDER[] = {"Machine", "SlotID", "Name", NULL};
    struct ad *args = ad_create();
    struct vec names = {0};
    bool known = listing_plan_names(&status->listing, &names) && !status->sort_needs_more;
    const char *const *more =
        status->listing.style == LISTING_TABLE ? status_view_attributes(status->view) : ORDER;
    for (size_t i = 0; more[i] != NULL; i++) {
        vec_push(&names, mem_strdup(more[i]));
    }
    for (size_t i = 0; i < status->sort_names.count; i++) {
        vec_push(&names, mem_strdup(status->sort_names.items[i]));
    }
    if (known && status->listing.target == NULL) {
        ad_set_strings(args, "Projection", (const char *const *)names.items, names.count);
        ad_set_bool(args, "WholeIfComputed", true);
    }
    vec_fini(&names, mem_free);
    return args;
}

static int connect_to(struct cli *cli, const struct status *status, struct err *err)
{
    return status->pool != NULL ? cli_collector_at(cli, status->pool, err)
                                : cli_collector(cli, err);
}

static int from_collector(struct cli *cli, const struct status *status, struct cli_reply *reply,
                          struct err *err)
{
    *reply = (struct cli_reply){0};
    int rc = connect_to(cli, status, err);
    if (rc != 0) {
        return rc;
    }
    struct ad *args = query_arguments(status);
    rc = listing_query(cli, cli->collector, NULL, type_of(status), &status->listing, NULL, args,
                       reply, err);
    ad_destroy(args);
    return rc;
}

static bool is_of_type(const struct ad *ad, const char *type)
{
    return text_equal_nocase(type, "Any") ||
           text_equal_nocase(type, ad_string_or(ad, "MyType", type));
}

static int from_file(struct cli *cli, const struct status *status, struct cli_reply *reply,
                     struct err *err)
{
    *reply = (struct cli_reply){0};
    int rc = listing_read_file(cli, status->file, &reply->ads, err);
    if (rc != 0) {
        return rc;
    }
    size_t kept = 0;
    for (size_t i = 0; i < reply->ads.count; i++) {
        if (is_of_type(reply->ads.items[i], type_of(status))) {
            reply->ads.items[kept++] = reply->ads.items[i];
        } else {
            ad_destroy(reply->ads.items[i]);
        }
    }
    reply->ads.count = kept;
    return 0;
}

/* ---- showing */

static void sort_ads(const struct status *status, const struct ad **ads, size_t count,
                     const struct ad_context *context)
{
    if (status->sort.count > 0) {
        status_sort_by(ads, count, (struct ad_expr *const *)status->sort.items, status->sort.count,
                       context);
    } else if (!status->natural) {
        status_sort_default(ads, count);
    }
}

/* Prints warnings about ads of the table to standard error. */
static void print_warnings(const struct status *status, const struct ad *const *ads, size_t count,
                           const struct ad_context *context)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    if (status_plan_warn(status->view, ads, count, context, &text) > 0) {
        (void)fputs(strbuf_text(&text), stderr);
    }
    strbuf_fini(&text);
}

/* Fails when no named machine exists, because an empty table would look as if all were well. */
static int fail_without_ads(const struct cli *cli, const struct status *status)
{
    return cli_fail(cli, "no matching %s '%s'; `roost status -any` shows all ads",
                    strcmp(type_of(status), "Machine") == 0 ? "machine or slot" : type_of(status),
                    status->name);
}

static void add_rows(void *arg, struct ad *const *ads, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        status_rows_add(arg, ads[i]);
    }
}

/* Prints a table; its lines are made while further ads arrive.  Returns the exit status. */
static int show_rows(struct cli *cli, const struct status *status, struct status_rows *rows)
{
    struct err err;
    int rc = connect_to(cli, status, &err);
    if (rc == 0) {
        struct ad *args = query_arguments(status);
        rc = listing_query_each(cli, cli->collector, type_of(status), &status->listing, args,
                                add_rows, rows, NULL, &err);
        ad_destroy(args);
    }
    if (rc != 0) {
        return cli_fail(cli, "%s", err.text);
    }
    if (status_rows_count(rows) == 0 && status->name != NULL) {
        return fail_without_ads(cli, status);
    }
    struct listing_output output = {cli, CLI_OK};
    struct strbuf out, warnings;
    strbuf_init(&out, LISTING_TEXT_MAX);
    strbuf_init(&warnings, 0);
    status_rows_end(rows, status->natural, listing_write_some, &output, &out, &warnings);
    listing_write_some(&output, &out);
    if (warnings.length > 0) {
        (void)fputs(strbuf_text(&warnings), stderr);
    }
    strbuf_fini(&out);
    strbuf_fini(&warnings);
    return output.status;
}

static int show_ads(struct cli *cli, const struct status *status)
{
    struct cli_reply reply;
    struct err err;
    int rc = status->file != NULL ? from_file(cli, status, &reply, &err)
                                  : from_collector(cli, status, &reply, &err);
    const struct ad **ads = (const struct ad **)reply.ads.items;
    size_t count = reply.ads.count;
    if (rc == 0 && (status->file != NULL || status->listing.target != NULL)) {
        rc = listing_select(cli, &status->listing, ads, &count, &err);
    }
    int code = CLI_OK;
    if (rc != 0) {
        code = cli_fail(cli, "%s", err.text);
    } else if (count == 0 && status->name != NULL) {
        code = fail_without_ads(cli, status);
    } else {
        const struct ad_context context = listing_context(cli);
        sort_ads(status, ads, count, &context);
        if (status->listing.style != LISTING_TABLE) {
            code = listing_show(cli, &status->listing, ads, count);
        } else {
            struct strbuf out;
            strbuf_init(&out, LISTING_TEXT_MAX);
            status_plan_print(status->view, &status->how, ads, count, &context, &out);
            code = listing_write(cli, &out);
            print_warnings(status, ads, count, &context);
        }
    }
    cli_reply_fini(&reply);
    return code;
}

int cmd_status(struct cli *cli)
{
    struct status status = {0};
    strbuf_init(&status.names, 0);
    int code = parse_options(cli, &status);
    if (code == CLI_OK) {
        const struct ad_context context = listing_context(cli);
        bool as_they_come = status.listing.style == LISTING_TABLE && status.file == NULL &&
                            status.sort.count == 0 && status.listing.target == NULL;
        struct status_rows *rows =
            as_they_come ? status_rows_begin(status.view, &status.how, &context) : NULL;
        code = rows != NULL ? show_rows(cli, &status, rows) : show_ads(cli, &status);
        status_rows_destroy(rows);
    }
    status_fini(&status);
    return code;
}
