/* cli/cmd_status.c - `roost status`: the ads of the collector.
 *
 * What is printed is decided in status_plan.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "base/strbuf.h"
#include "classad/ad.h"
#include "cli/cli.h"
#include "cli/listing.h"
#include "cli/status_plan.h"
#include "wire/wire.h"

/* A machine or the name of an ad, a slot for example. */
static int add_name(const char *word, struct strbuf *names, struct err *err)
{
    if (word[0] == '\0' || strpbrk(word, "\"\\ \t\n") != NULL) {
        return err_set(err, -EINVAL, "'%s' is no name of a machine or slot", word);
    }
    strbuf_printf(names, "%sName == \"%s\" || Machine == \"%s\"", names->length > 0 ? " || " : "",
                  word, word);
    return 0;
}

static int parse(struct cli *cli, struct listing *listing, const struct status_view **view,
                 struct strbuf *names)
{
    struct err err;
    *view = status_view_find("");
    for (int i = 1; i < cli->argc; i++) {
        const char *arg = cli->argv[i];
        int rc = listing_plan_option(listing, cli->argc, cli->argv, &i, &err);
        if (rc == 1) {
            continue;
        }
        if (rc == 0 && arg[0] == '-') {
            *view = status_view_find(arg);
            if (*view == NULL) {
                return cli_usage(cli, "'%s' is not understood", arg);
            }
            continue;
        }
        rc = rc != 0 ? rc : add_name(arg, names, &err);
        if (rc != 0) {
            return cli_usage(cli, "%s", err.text);
        }
    }
    if (names->length > 0) {
        listing_also(listing, strbuf_text(names));
    }
    if (status_view_constraint(*view) != NULL) {
        listing_also(listing, status_view_constraint(*view));
    }
    return CLI_OK;
}

static int show(struct cli *cli, const struct listing *listing, const struct status_view *view)
{
    struct cli_reply reply;
    struct err err;
    int status = CLI_OK;
    if (cli_collector(cli, &err) != 0) {
        return cli_fail(cli, "%s", err.text);
    }
    if (listing_query(cli, cli->collector, NULL, status_view_type(view), listing, NULL, NULL,
                      &reply, &err) != 0) {
        status = cli_fail(cli, "%s", err.text);
    } else {
        const struct ad **ads = (const struct ad **)reply.ads.items;
        status_plan_sort(ads, reply.ads.count);
        if (listing->style != LISTING_TABLE) {
            status = listing_show(cli, listing, ads, reply.ads.count);
        } else {
            struct strbuf out;
            const struct ad_context context = listing_context(cli);
            strbuf_init(&out, 0);
            status_plan_print(view, ads, reply.ads.count, &context, &out);
            status = listing_write(cli, &out);
        }
    }
    cli_reply_fini(&reply);
    return status;
}

int cmd_status(struct cli *cli)
{
    struct listing listing = {0};
    const struct status_view *view;
    struct strbuf names;
    strbuf_init(&names, 0);
    int status = parse(cli, &listing, &view, &names);
    if (status == CLI_OK) {
        status = show(cli, &listing, view);
    }
    strbuf_fini(&names);
    listing_fini(&listing);
    return status;
}
