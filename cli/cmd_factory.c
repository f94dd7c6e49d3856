/* cli/cmd_factory.c - `roost factory status|sites|glideins|why`: what the factories of the pool do.
 *
 * All of it is in ads that factories send to the collector, so a token that allows reading is
 * enough, and the factory itself is not asked.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "cli/cli.h"
#include "cli/factory_plan.h"
#include "cli/listing.h"
#include "cli/status/status_sort_plan.h"

struct factory_command {
    struct cli *cli;
    struct listing listing;
    const char *site; /* the argument; NULL: none */
};

/* Whether an action has the name of a site as its argument. */
enum site_argument { SITE_NEVER, SITE_MAYBE, SITE_ALWAYS };

static int parse_options(struct factory_command *factory, enum site_argument argument)
{
    struct cli *cli = factory->cli;
    struct err err;
    for (int i = 2; i < cli->argc; i++) {
        const char *arg = cli->argv[i];
        int rc =
            listing_plan_option(&factory->listing, cli->argc, cli->argv, &i, &listing_zone, &err);
        if (rc < 0) {
            return cli_usage(cli, "%s", err.text);
        }
        if (rc == 1) {
            continue;
        }
        if (arg[0] == '-') {
            return cli_unknown(cli, arg);
        }
        if (argument == SITE_NEVER || factory->site != NULL) {
            return cli_usage(cli, "unexpected argument '%s'", arg);
        }
        if (arg[0] == '\0' || strpbrk(arg, "\"\\") != NULL) {
            return cli_usage(cli, "'%s' is not a valid name of a site", arg);
        }
        factory->site = arg;
    }
    if (argument == SITE_ALWAYS && factory->site == NULL) {
        return cli_usage(cli, "no site named; `roost factory sites` shows all");
    }
    return CLI_OK;
}

/* Gets all ads of the type that the listing selects, sorted. */
static int query_ads(const struct factory_command *factory, const char *type,
                     const struct listing *listing, struct cli_reply *reply, struct err *err)
{
    struct cli *cli = factory->cli;
    int rc = listing_query(cli, cli->collector, NULL, type, listing, NULL, NULL, reply, err);
    if (rc == 0) {
        status_sort_default((const struct ad **)reply->ads.items, reply->ads.count);
    }
    return rc;
}

/* Prints as the listing says; text: what is printed as LISTING_TABLE, released here. */
static int print_ads(const struct factory_command *factory, const struct vec *ads,
                     struct strbuf *text)
{
    if (factory->listing.style == LISTING_TABLE) {
        return listing_write(factory->cli, text);
    }
    strbuf_fini(text);
    return listing_show(factory->cli, &factory->listing, (const struct ad *const *)ads->items,
                        ads->count);
}

static int show_status(struct factory_command *factory)
{
    struct cli *cli = factory->cli;
    const struct ad_context context = listing_context(cli);
    const struct terminal terminal = listing_terminal(cli, false);
    struct cli_reply factories = {0}, sites = {0};
    struct strbuf text;
    struct vec both = {0};
    struct err err;
    int status;
    strbuf_init(&text, LISTING_TEXT_MAX);
    int rc = query_ads(factory, "Factory", &factory->listing, &factories, &err);
    rc = rc != 0 ? rc : query_ads(factory, "Site", &factory->listing, &sites, &err);
    const struct ad *const *ads = (const struct ad *const *)sites.ads.items;
    if (rc == 0) {
        factory_plan_factories((const struct ad *const *)factories.ads.items, factories.ads.count,
                               &context, &text);
        strbuf_puts(&text, text.length > 0 && sites.ads.count > 0 ? "\n" : "");
        factory_plan_sites(ads, sites.ads.count, &terminal, &context, &text);
        factory_plan_troubles(ads, sites.ads.count, &context, &text);
        for (size_t i = 0; i < factories.ads.count; i++) {
            vec_push(&both, factories.ads.items[i]);
        }
        for (size_t i = 0; i < sites.ads.count; i++) {
            vec_push(&both, sites.ads.items[i]);
        }
        status = print_ads(factory, &both, &text);
    } else {
        strbuf_fini(&text);
        status = cli_fail(cli, "%s", err.text);
    }
    vec_fini(&both, NULL);
    cli_reply_fini(&factories);
    cli_reply_fini(&sites);
    return status;
}

typedef void (*put_table_f)(const struct ad *const *ads, size_t count,
                            const struct terminal *terminal, const struct ad_context *context,
                            struct strbuf *out);

/* Prints a listing of ads of one type. */
static int show_ads(struct factory_command *factory, const char *type, put_table_f put_table)
{
    struct cli *cli = factory->cli;
    const struct ad_context context = listing_context(cli);
    const struct terminal terminal = listing_terminal(cli, false);
    struct cli_reply reply = {0};
    struct strbuf text;
    struct err err;
    int status;
    if (query_ads(factory, type, &factory->listing, &reply, &err) != 0) {
        status = cli_fail(cli, "%s", err.text);
    } else {
        strbuf_init(&text, LISTING_TEXT_MAX);
        put_table((const struct ad *const *)reply.ads.items, reply.ads.count, &terminal, &context,
                  &text);
        status = print_ads(factory, &reply.ads, &text);
    }
    cli_reply_fini(&reply);
    return status;
}

static int show_sites(struct factory_command *factory)
{
    return show_ads(factory, "Site", factory_plan_sites);
}

/* Gets all sites, and moves those that the argument names to the front.  Returns their number;
 * fails when there are none. */
static int find_sites(const struct factory_command *factory, struct cli_reply *sites, size_t *count,
                      struct err *err)
{
    const struct listing all = {0};
    int rc = query_ads(factory, "Site", &all, sites, err);
    *count = 0;
    for (size_t i = 0; rc == 0 && i < sites->ads.count; i++) {
        void *site = sites->ads.items[i];
        if (factory_plan_is_called(site, factory->site)) {
            sites->ads.items[i] = sites->ads.items[*count]; /* none is lost */
            sites->ads.items[(*count)++] = site;
        }
    }
    if (rc == 0 && *count == 0) {
        rc = err_set(err, -ENOENT, "no such site: %s; `roost factory sites` shows all",
                     factory->site);
    }
    return rc;
}

static int show_glideins(struct factory_command *factory)
{
    struct cli_reply sites = {0};
    struct err err;
    size_t count;
    if (factory->site == NULL) {
        return show_ads(factory, "Glidein", factory_plan_glideins);
    }
    int rc = find_sites(factory, &sites, &count, &err);
    if (rc == 0) {
        struct strbuf only;
        strbuf_init(&only, 0);
        strbuf_printf(&only, "Site == \"%s\" || strcat(Site, \"@\", Factory) == \"%s\"",
                      factory->site, factory->site);
        listing_also(&factory->listing, strbuf_text(&only));
        strbuf_fini(&only);
    }
    cli_reply_fini(&sites);
    return rc != 0 ? cli_fail(factory->cli, "%s", err.text)
                   : show_ads(factory, "Glidein", factory_plan_glideins);
}

/* Adds the answer about one site: to text, or as an ad. */
static void answer_site(struct factory_command *factory, const struct ad *site,
                        const struct cli_reply *machines, struct vec *answers, struct strbuf *text)
{
    const struct ad_context context = listing_context(factory->cli);
    struct vec samples = {0};
    for (size_t i = 0; i < machines->ads.count; i++) {
        if (factory_plan_is_sample_of(site, machines->ads.items[i])) {
            vec_push(&samples, machines->ads.items[i]);
        }
    }
    const struct ad *const *list = (const struct ad *const *)samples.items;
    if (factory->listing.style == LISTING_TABLE) {
        strbuf_puts(text, text->length > 0 ? "\n" : "");
        factory_plan_why(site, list, samples.count, &context, text);
    } else {
        vec_push(answers, factory_plan_why_ad(site, list, samples.count, &context));
    }
    vec_fini(&samples, NULL);
}

static int show_why(struct factory_command *factory)
{
    struct cli *cli = factory->cli;
    struct listing offline = {0};
    struct cli_reply sites = {0}, machines = {0};
    struct vec answers = {0};
    struct strbuf text;
    struct err err;
    size_t count;
    int status;
    listing_also(&offline, "Offline =?= true && GLIDEIN_Site =!= undefined");
    strbuf_init(&text, LISTING_TEXT_MAX);
    int rc = find_sites(factory, &sites, &count, &err);
    rc = rc != 0 ? rc : query_ads(factory, "Machine", &offline, &machines, &err);
    if (rc != 0) {
        strbuf_fini(&text);
        status = cli_fail(cli, "%s", err.text);
    } else {
        for (size_t i = 0; i < count; i++) {
            answer_site(factory, sites.ads.items[i], &machines, &answers, &text);
        }
        status = print_ads(factory, &answers, &text);
    }
    listing_fini(&offline);
    vec_fini(&answers, ad_destroy_item);
    cli_reply_fini(&sites);
    cli_reply_fini(&machines);
    return status;
}

/* Connects to the collector, and fails when the pool has no factory: empty tables would look as if
 * there were nothing to do. */
static int find_factory(struct cli *cli, struct err *err)
{
    const struct listing one = {.limit = 1};
    struct cli_reply reply = {0};
    int rc = cli_collector(cli, err);
    rc = rc != 0
             ? rc
             : listing_query(cli, cli->collector, NULL, "Factory", &one, NULL, NULL, &reply, err);
    if (rc == 0 && reply.ads.count == 0) {
        rc = err_set(
            err, -ENOENT,
            "the pool has no factory now; check that FACTORY is in DAEMON_LIST and running");
    }
    cli_reply_fini(&reply);
    return rc;
}

static const struct {
    const char *name;
    enum site_argument argument;
    int (*show)(struct factory_command *factory);
} VERBS[] = {{"status", SITE_NEVER, show_status},
             {"sites", SITE_NEVER, show_sites},
             {"glideins", SITE_MAYBE, show_glideins},
             {"why", SITE_ALWAYS, show_why}};

int cmd_factory(struct cli *cli)
{
    struct factory_command factory = {.cli = cli};
    struct err err;
    size_t verb = 0;
    const char *word = cli->argc > 1 ? cli->argv[1] : "";
    while (verb < ARRAY_COUNT(VERBS) && strcmp(VERBS[verb].name, word) != 0) {
        verb++;
    }
    if (verb == ARRAY_COUNT(VERBS)) {
        return word[0] != '\0'
                   ? cli_usage(cli, "unknown action '%s'; expected status, sites, glideins or why",
                               word)
                   : cli_usage(cli, "the action is missing: status, sites, glideins or why");
    }
    int status = parse_options(&factory, VERBS[verb].argument);
    if (status == CLI_OK) {
        status = find_factory(cli, &err) == 0 ? VERBS[verb].show(&factory)
                                              : cli_fail(cli, "%s", err.text);
    }
    listing_fini(&factory.listing);
    return status;
}
