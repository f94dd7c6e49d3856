/* cli/cmd_userprio.c - `roost userprio`: shows and changes usage and priorities of users.
 *
 * Accounts are queried as accounts.h describes; changes go to the negotiator.  userprio_plan.c
 * decides what is printed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "classad/ad.h"
#include "classad/ad_time.h"
#include "cli/accounts.h"
#include "cli/cli.h"
#include "cli/listing.h"
#include "cli/options_plan.h"
#include "cli/userprio_plan.h"
#include "wire/wire.h"

enum show { SHOW_ACCOUNTS, SHOW_DAYS, SHOW_HOURS, SHOW_MACHINES };

static const struct edit {
    const char *option;
    size_t min; /* shortest accepted abbreviation, in letters */
    const char *action, *attribute;
    bool has_name, has_value;
    const char *done; /* message after success, with the name and the value */
} EDITS[] = {
    {"setprio", 4, "Set", "Priority", true, true, "The priority of %s was set to %s\n"},
    {"setfactor", 4, "Set", "PriorityFactor", true, true,
     "The priority factor of %s was set to %s\n"},
    {"setceil", 4, "Set", "Ceiling", true, true, "The ceiling of %s was set to %s\n"},
    {"setfloor", 5, "Set", "Floor", true, true, "The floor of %s was set to %s\n"},
    {"setaccum", 4, "Set", "AccumulatedUsage", true, true,
     "The accumulated usage of %s was set to %s\n"},
    {"setbegin", 4, "Set", "BeginUsageTime", true, true,
     "The begin usage time of %s was set to %s\n"},
    {"setlast", 4, "Set", "LastUsageTime", true, true, "The last usage time of %s was set to %s\n"},
    {"resetusage", 6, "ResetUsage", NULL, true, false, "The accumulated usage of %s was reset\n"},
    {"resetall", 6, "ResetAll", NULL, false, false,
     "The accumulated usage was reset for all users\n"},
    {"delete", 3, "Delete", NULL, true, false, "The accounting record of %s was deleted\n"},
};

struct userprio {
    struct cli *cli;
    struct listing listing;
    struct userprio_view view;
    enum show show;
    const struct edit *edit;
    const char *name; /* the account to edit or to show */
    const char *pool; /* value of -pool; NULL: our own pool */
    const char *file; /* value of -inputfile; NULL: none */
    const char *value_text;
    double value;
    struct accounts_negotiator negotiator;
};

/* ---- arguments */

static int parse_edit(struct userprio *userprio, const struct edit *edit, int *at)
{
    struct cli *cli = userprio->cli;
    int needed = (edit->has_name ? 1 : 0) + (edit->has_value ? 1 : 0);
    if (userprio->edit != NULL) {
        return cli_usage(cli,
                         "only one option that changes accounts is allowed (-set..., -reset..., "
                         "-delete)");
    }
    if (*at + needed >= cli->argc) {
        return cli_usage(cli, "%s needs a name%s", cli->argv[*at],
                         edit->has_value ? " and a number" : "");
    }
    userprio->edit = edit;
    if (edit->has_name) {
        userprio->name = cli->argv[++*at];
    }
    if (edit->has_value) {
        userprio->value_text = cli->argv[++*at];
        if (text_parse_double(userprio->value_text, &userprio->value, NULL) != 0) {
            return cli_usage(cli, "'%s' is not a number", userprio->value_text);
        }
    }
    return CLI_OK;
}

/* Takes -inputfile FILE and -name NEGOTIATOR. */
static int parse_source(struct userprio *userprio, int *at)
{
    struct cli *cli = userprio->cli;
    const char *arg = cli->argv[*at];
    bool file = listing_is(arg, "inputfile", 2);
    if (*at + 1 >= cli->argc) {
        return cli_usage(cli, "%s needs %s", arg, file ? "a file" : "the name of a negotiator");
    }
    const char *value = cli->argv[++*at];
    if (file) {
        userprio->file = value;
        return CLI_OK;
    }
    if (strpbrk(value, "\"\\\n") != NULL) {
        return cli_usage(cli, "'%s' is not a valid negotiator name", value);
    }
    struct strbuf only;
    strbuf_init(&only, 0);
    strbuf_printf(&only, "NegotiatorName == \"%s\"", value);
    listing_also(&userprio->listing, strbuf_text(&only));
    strbuf_fini(&only);
    return CLI_OK;
}

/* Takes -activefrom MONTH DAY YEAR, in the local time zone: shows who used something since that
 * day. */
static int parse_active(struct userprio *userprio, int *at)
{
    struct cli *cli = userprio->cli;
    int64_t numbers[3] = {0};
    bool good = *at + 3 < cli->argc;
    for (int i = 0; i < 3 && good; i++) {
        good = text_parse_int64(cli->argv[*at + 1 + i], &numbers[i], NULL) == 0;
    }
    if (!good || numbers[0] < 1 || numbers[0] > 12 || numbers[1] < 1 || numbers[1] > 31 ||
        numbers[2] < 1970 || numbers[2] > 9999) {
        return cli_usage(cli, "%s needs a month, a day and a year, as in 11 20 2026",
                         cli->argv[*at]);
    }
    const struct ad_calendar day = {.year = numbers[2],
                                    .month = (int)numbers[0],
                                    .day = (int)numbers[1]};
    int64_t since = ad_calendar_seconds(&day);
    char text[64];
    since -= listing_zone.zone_offset_s(listing_zone.arg, since);
    (void)snprintf(text, sizeof text, "LastUsageTime >= %lld", (long long)since);
    listing_also(&userprio->listing, text);
    userprio->view.all_users = true;
    *at += 3;
    return CLI_OK;
}

/* -quotas, -surplus, -priority, -usage */
static bool take_choice(struct userprio_view *view, const char *arg)
{
    if (listing_is(arg, "quotas", 1)) {
        view->quotas = USERPRIO_QUOTAS;
    } else if (listing_is(arg, "surplus", 2)) {
        view->quotas = view->quotas == USERPRIO_QUOTAS ? USERPRIO_QUOTAS : USERPRIO_SURPLUS;
    } else if (listing_is(arg, "priority", 2)) {
        view->columns = view->columns == USERPRIO_USAGE ? USERPRIO_USAGE : USERPRIO_PRIORITY;
    } else if (listing_is(arg, "usage", 3)) {
        view->columns = USERPRIO_USAGE;
    } else {
        return false;
    }
    return true;
}

static int parse_one(struct userprio *userprio, int *at)
{
    struct cli *cli = userprio->cli;
    const char *arg = cli->argv[*at];
    const struct {
        const char *option;
        size_t min;
        bool *flag;
    } FLAGS[] = {
        {"allusers", 4, &userprio->view.all_users},
        {"all", 3, &userprio->view.all},
        {"grouporder", 6, &userprio->view.group_order},
        {"grouprollup", 6, &userprio->view.rollup},
    };
    for (size_t i = 0; i < ARRAY_COUNT(EDITS); i++) {
        if (listing_is(arg, EDITS[i].option, EDITS[i].min)) {
            return parse_edit(userprio, &EDITS[i], at);
        }
    }
    for (size_t i = 0; i < ARRAY_COUNT(FLAGS); i++) {
        if (listing_is(arg, FLAGS[i].option, FLAGS[i].min)) {
            *FLAGS[i].flag = true;
            return CLI_OK;
        }
    }
    if (take_choice(&userprio->view, arg)) {
        return CLI_OK;
    }
    if (listing_is(arg, "negotiator", 2)) {
        return CLI_OK; /* it is asked in any case */
    }
    if (listing_is(arg, "inputfile", 2) || listing_is(arg, "name", 2)) {
        return parse_source(userprio, at);
    }
    if (listing_is(arg, "activefrom", 7)) {
        return parse_active(userprio, at);
    }
    if (listing_is(arg, "pool", 2)) {
        userprio->pool = *at + 1 < cli->argc ? cli->argv[++*at] : NULL;
        return userprio->pool != NULL ? CLI_OK : cli_usage(cli, "-pool needs a host");
    }
    if (listing_is(arg, "history", 4) || listing_is(arg, "usage-history", 5)) {
        userprio->show = userprio->show == SHOW_HOURS ? SHOW_HOURS : SHOW_DAYS;
    } else if (listing_is(arg, "hours", 4)) {
        userprio->show = SHOW_HOURS;
    } else if (listing_is(arg, "machines", 4)) {
        userprio->show = SHOW_MACHINES;
    } else if (arg[0] == '-' || userprio->name != NULL || strpbrk(arg, "\"\\ \t\n") != NULL) {
        return options_ignored("userprio", arg) ? CLI_OK : cli_unknown(cli, arg);
    } else {
        userprio->name = arg;
    }
    return CLI_OK;
}

static int parse_options(struct userprio *userprio)
{
    struct cli *cli = userprio->cli;
    int status = CLI_OK;
    for (int i = 1; i < cli->argc && status == CLI_OK; i++) {
        struct err err;
        int rc = listing_print_format(cli, &userprio->listing, &i, &err);
        rc = rc != 0 ? rc
                     : listing_plan_option(&userprio->listing, cli->argc, cli->argv, &i,
                                           &listing_zone, &err);
        if (rc < 0) {
            return cli_usage(cli, "%s", err.text);
        }
        status = rc == 1 ? CLI_OK : parse_one(userprio, &i);
    }
    return status;
}

/* ---- asking */

static int ask_negotiator(struct userprio *userprio, struct cli_reply *reply, struct err *err)
{
    static const char *const TYPES[] = {"Accounting", "Usage", "Usage", "SubmittingMachine"};
    struct cli *cli = userprio->cli;
    if (userprio->file != NULL) {
        int read = listing_read_file(cli, userprio->file, &reply->ads, err);
        const struct ad **ads = (const struct ad **)reply->ads.items;
        size_t count = reply->ads.count;
        read = read != 0 ? read : listing_select(cli, &userprio->listing, ads, &count, err);
        for (size_t i = count; read == 0 && i < reply->ads.count; i++) {
            ad_destroy(reply->ads.items[i]);
        }
        reply->ads.count = read == 0 ? count : reply->ads.count;
        return read;
    }
    if (userprio->show == SHOW_ACCOUNTS) {
        return accounts_query(cli, &userprio->listing, reply, err);
    }
    struct ad *more = ad_create();
    ad_set_bool(more, "ByHour", userprio->show == SHOW_HOURS);
    if (userprio->name != NULL) {
        ad_set_string(more, "Name", userprio->name);
    }
    int rc = accounts_find(cli, &userprio->negotiator, err);
    rc = rc != 0 ? rc
                 : listing_query(cli, cli->collector, userprio->negotiator.uplink,
                                 TYPES[userprio->show], &userprio->listing, NULL, more, reply, err);
    ad_destroy(more);
    return rc;
}

/* Completes a name without a domain: it is the group of that name if there is one, else a user of
 * this pool's UID_DOMAIN. */
static int full_name(struct userprio *userprio, struct strbuf *ret, struct err *err)
{
    struct cli *cli = userprio->cli;
    struct cli_reply reply = {0};
    struct listing all = {0};
    strbuf_puts(ret, userprio->name);
    if (strchr(userprio->name, '@') != NULL) {
        return 0;
    }
    bool group = false;
    int rc = listing_query(cli, cli->collector, userprio->negotiator.uplink, "Accounting", &all,
                           NULL, NULL, &reply, err);
    for (size_t i = 0; i < reply.ads.count; i++) {
        const char *name = ad_string_or(reply.ads.items[i], "Name", "");
        group = group || (ad_bool_or(reply.ads.items[i], "IsAccountingGroup", false) &&
                          strcmp(name, userprio->name) == 0);
    }
    if (rc == 0 && !group) {
        strbuf_printf(ret, "@%s", config_string(cli->config, "UID_DOMAIN"));
    }
    cli_reply_fini(&reply);
    return rc;
}

/* ---- doing */

static int change_accounts(struct userprio *userprio)
{
    struct cli *cli = userprio->cli;
    const struct edit *edit = userprio->edit;
    struct cli_reply reply = {0};
    struct err err;
    struct strbuf name;
    int status = CLI_OK;
    strbuf_init(&name, 0);
    int rc = accounts_find(cli, &userprio->negotiator, &err);
    rc = rc == 0 && edit->has_name ? full_name(userprio, &name, &err) : rc;
    if (rc == 0) {
        struct ad *args = ad_create();
        ad_set_string(args, "Action", edit->action);
        ad_set_string(args, "Name", strbuf_text(&name));
        if (edit->has_value) {
            ad_set_string(args, "Attribute", edit->attribute);
            ad_set_real(args, "Value", userprio->value);
        }
        const struct wire_body body = {.args = args};
        rc = cli_call(cli, cli->collector, userprio->negotiator.uplink, VERB_USERPRIO, &body, 0,
                      &reply, &err);
        ad_destroy(args);
    }
    if (rc != 0) {
        status = cli_fail(cli, "%s", err.text);
    } else {
        struct strbuf out;
        strbuf_init(&out, 0);
        const char *at = strstr(edit->done, "%s");
        strbuf_append(&out, edit->done,
                      at != NULL ? (size_t)(at - edit->done) : strlen(edit->done));
        if (at != NULL) {
            const char *second = strstr(at + 2, "%s");
            strbuf_puts(&out, strbuf_text(&name));
            strbuf_append(&out, at + 2,
                          second != NULL ? (size_t)(second - at - 2) : strlen(at + 2));
            if (second != NULL) {
                strbuf_printf(&out, "%s%s", userprio->value_text, second + 2);
            }
        }
        status = listing_write(cli, &out);
    }
    strbuf_fini(&name);
    cli_reply_fini(&reply);
    return status;
}

static int print_accounts(struct userprio *userprio, const struct ad **ads, size_t count)
{
    struct cli *cli = userprio->cli;
    if (userprio->show == SHOW_ACCOUNTS) {
        userprio_plan_sort(ads, count);
    }
    if (userprio->listing.style != LISTING_TABLE) {
        return listing_show(cli, &userprio->listing, ads, count);
    }
    struct strbuf out;
    const struct ad_context context = listing_context(cli);
    strbuf_init(&out, 0);
    if (userprio->show == SHOW_ACCOUNTS) {
        userprio_plan_print(&userprio->view, ads, count, &context, &out);
    } else if (userprio->show == SHOW_MACHINES) {
        userprio_plan_machines(ads, count, &context, &out);
    } else {
        userprio_plan_history(ads, count, userprio->show == SHOW_HOURS, &context, &out);
    }
    return listing_write(cli, &out);
}

static int show_accounts(struct userprio *userprio)
{
    struct cli *cli = userprio->cli;
    struct cli_reply reply = {0};
    struct err err;
    int status = CLI_OK;
    if (userprio->name != NULL && userprio->show == SHOW_ACCOUNTS) {
        struct strbuf only;
        strbuf_init(&only, 0);
        strbuf_printf(&only, "Name == \"%s\" || substr(Name, 0, %zu) == \"%s@\"", userprio->name,
                      strlen(userprio->name) + 1, userprio->name);
        listing_also(&userprio->listing, strbuf_text(&only));
        userprio->view.all_users = true;
        strbuf_fini(&only);
    }
    if (ask_negotiator(userprio, &reply, &err) != 0) {
        status = cli_fail(cli, "%s", err.text);
    } else if (userprio->name != NULL && userprio->show == SHOW_ACCOUNTS && reply.ads.count == 0) {
        status =
            cli_fail(cli, "no such account: '%s'; `roost userprio -allusers` lists all accounts",
                     userprio->name);
    } else {
        status = print_accounts(userprio, (const struct ad **)reply.ads.items, reply.ads.count);
    }
    cli_reply_fini(&reply);
    return status;
}

int cmd_userprio(struct cli *cli)
{
    struct userprio userprio = {.cli = cli};
    struct err err;
    int status = parse_options(&userprio);
    int rc = status != CLI_OK || userprio.file != NULL ? 0
             : userprio.pool != NULL                   ? cli_collector_at(cli, userprio.pool, &err)
                                                       : cli_collector(cli, &err);
    if (rc != 0) {
        status = cli_fail(cli, "%s", err.text);
    } else if (status == CLI_OK) {
        status = userprio.edit != NULL ? change_accounts(&userprio) : show_accounts(&userprio);
    }
    listing_fini(&userprio.listing);
    return status;
}
