/* cli/cmd_factory.c - `roost factory`: what the factories of the pool do, and orders to them.
 *
 * What they do is in ads that factories send to the collector, so a token that allows reading is
 * enough, and the factory itself is not asked.  Orders are sent by factory_order.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "cli/cli.h"
#include "cli/factory_order.h"
#include "cli/factory_plan.h"
#include "cli/listing.h"
#include "cli/status/status_sort_plan.h"

#define COUNT_MAX      1000000 /* glideins of one order */
#define NAME_MAX_BYTES 119     /* of a glidein's name */

/* Options that only some actions take. */
enum {
    SAID_REASON = 1 << 0,
    SAID_ALL = 1 << 1,
    SAID_SITE = 1 << 2,
    SAID_FORCE = 1 << 3,
    SAID_TIMEOUT = 1 << 4,
};

struct factory_command {
    struct cli *cli;
    struct listing listing;
    struct factory_order order;
    const char *glidein;
    const char *site; /* the first of the order's sites; NULL: none */
    const char *pool; /* value of -pool; NULL: our own pool */
    unsigned said;    /* SAID_ flags */
};

/* What an action has as its arguments. */
enum factory_words {
    WORDS_NONE,
    WORDS_SITE_MAYBE,
    WORDS_SITE,
    WORDS_SITES, /* at least one, or --all */
    WORDS_SITES_MAYBE,
    WORDS_COUNT, /* of glideins, and --site */
    WORDS_GLIDEIN,
};

static const struct {
    const char *name, *needs; /* needs: its value in messages; NULL: it has none */
    size_t min;
    unsigned flag;
} OPTIONS[] = {{"reason", "a text", 1, SAID_REASON},
               {"all", NULL, 3, SAID_ALL},
               {"site", "a site", 2, SAID_SITE},
               {"force", NULL, 5, SAID_FORCE},
               {"timeout", "a duration", 4, SAID_TIMEOUT}};

static int add_site(struct factory_command *factory, char *word)
{
    struct vec *sites = &factory->order.sites;
    if (word[0] == '\0' || strpbrk(word, "\"\\") != NULL) {
        return cli_usage(factory->cli, "'%s' is not a valid name of a site", word);
    }
    vec_push(sites, word);
    factory->site = sites->items[0];
    return CLI_OK;
}

static int take_value(struct factory_command *factory, unsigned flag, char *value)
{
    if (flag == SAID_SITE && factory->site != NULL) {
        return cli_usage(factory->cli, "--site is given twice");
    }
    if (flag == SAID_TIMEOUT &&
        (text_parse_duration_s(value, &factory->order.timeout_s, NULL) != 0 ||
         factory->order.timeout_s < 1)) {
        return cli_usage(factory->cli, "'%s' is not a duration such as 90s or 10m", value);
    }
    factory->order.reason = flag == SAID_REASON ? value : factory->order.reason;
    return flag == SAID_SITE ? add_site(factory, value) : CLI_OK;
}

/* Takes an option of an order, or -pool.  Returns CLI_OK, or CLI_USAGE with the error printed. */
static int take_option(struct factory_command *factory, int *at)
{
    struct cli *cli = factory->cli;
    const char *arg = cli->argv[*at];
    bool is_last = *at + 1 >= cli->argc;
    if (listing_is(arg, "pool", 2)) {
        if (is_last) {
            return cli_usage(cli, "-pool needs a host");
        }
        factory->pool = cli->argv[++*at];
        return CLI_OK;
    }
    for (size_t i = 0; i < ARRAY_COUNT(OPTIONS); i++) {
        if (listing_is(arg, OPTIONS[i].name, OPTIONS[i].min)) {
            factory->said |= OPTIONS[i].flag;
            if (OPTIONS[i].needs == NULL) {
                return CLI_OK;
            }
            return is_last ? cli_usage(cli, "%s needs %s", arg, OPTIONS[i].needs)
                           : take_value(factory, OPTIONS[i].flag, cli->argv[++*at]);
        }
    }
    return cli_unknown(cli, arg);
}

static int take_word(struct factory_command *factory, enum factory_words words, char *word)
{
    struct cli *cli = factory->cli;
    bool is_more = words != WORDS_SITES && words != WORDS_SITES_MAYBE && factory->site != NULL;
    switch (words) {
    case WORDS_NONE:
        break;
    case WORDS_COUNT:
        if (factory->order.count > 0) {
            break;
        }
        return text_parse_int64(word, &factory->order.count, NULL) != 0 ||
                       factory->order.count < 1 || factory->order.count > COUNT_MAX
                   ? cli_usage(cli, "'%s' is not a number of glideins from 1 to %d", word,
                               COUNT_MAX)
                   : CLI_OK;
    case WORDS_GLIDEIN:
        if (factory->glidein != NULL) {
            break;
        }
        factory->glidein = word;
        return strpbrk(word, "\"\\") != NULL || strlen(word) > NAME_MAX_BYTES
                   ? cli_usage(cli, "'%s' is not a valid name of a glidein", word)
                   : CLI_OK;
    case WORDS_SITE:
    case WORDS_SITE_MAYBE:
    case WORDS_SITES:
    case WORDS_SITES_MAYBE:
        if (is_more) {
            break;
        }
        return add_site(factory, word);
    }
    return cli_usage(cli, "unexpected argument '%s'", word);
}

static int parse_options(struct factory_command *factory, enum factory_words words)
{
    struct cli *cli = factory->cli;
    struct err err;
    int status = CLI_OK;
    for (int i = 2; i < cli->argc && status == CLI_OK; i++) {
        int rc =
            listing_plan_option(&factory->listing, cli->argc, cli->argv, &i, &listing_zone, &err);
        if (rc < 0) {
            return cli_usage(cli, "%s", err.text);
        }
        if (rc == 0) {
            status = cli->argv[i][0] == '-' ? take_option(factory, &i)
                                            : take_word(factory, words, cli->argv[i]);
        }
    }
    return status;
}

/* Refuses options that the action would ignore, and arguments that are missing. */
static int check_options(const struct factory_command *factory, enum factory_words words,
                         unsigned takes)
{
    struct cli *cli = factory->cli;
    bool all = (factory->said & SAID_ALL) != 0;
    for (size_t i = 0; i < ARRAY_COUNT(OPTIONS); i++) {
        if ((factory->said & ~takes & OPTIONS[i].flag) != 0) {
            return cli_usage(cli, "--%s does not go with %s", OPTIONS[i].name, cli->argv[1]);
        }
    }
    if (words == WORDS_SITES && factory->site != NULL && all) {
        return cli_usage(cli, "use either --all or names of sites");
    }
    if (words == WORDS_COUNT && (factory->order.count == 0 || factory->site == NULL)) {
        return cli_usage(cli, "%s needs a number of glideins, and --site SITE", cli->argv[1]);
    }
    if (words == WORDS_GLIDEIN && factory->glidein == NULL) {
        return cli_usage(cli, "no glidein named; `roost factory glideins` shows all");
    }
    if (factory->site == NULL && (words == WORDS_SITE || (words == WORDS_SITES && !all))) {
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

static int order_pause(struct factory_command *factory)
{
    factory->order.name = "Pause";
    return factory_order_sites(factory->cli, &factory->listing, &factory->order);
}

static int order_resume(struct factory_command *factory)
{
    factory->order.name = "Resume";
    return factory_order_sites(factory->cli, &factory->listing, &factory->order);
}

static int order_grow(struct factory_command *factory)
{
    factory->order.name = "Grow";
    factory->order.one_site = true;
    return factory_order_sites(factory->cli, &factory->listing, &factory->order);
}

static int order_shrink(struct factory_command *factory)
{
    factory->order.name = "Shrink";
    factory->order.one_site = true;
    factory->order.force = (factory->said & SAID_FORCE) != 0;
    return factory_order_sites(factory->cli, &factory->listing, &factory->order);
}

static int order_reconcile(struct factory_command *factory)
{
    factory->order.name = "Reconcile";
    return factory_order_sites(factory->cli, &factory->listing, &factory->order);
}

static int order_test(struct factory_command *factory)
{
    factory->order.name = "Test";
    factory->order.one_site = true;
    return factory_order_test(factory->cli, &factory->listing, &factory->order);
}

static int order_log(struct factory_command *factory)
{
    return factory_order_log(factory->cli, &factory->listing, factory->glidein);
}

/* Connects to the collector, and fails when the pool has no factory: empty tables would look as if
 * there were nothing to do. */
static int find_factory(struct cli *cli, const char *pool, struct err *err)
{
    const struct listing one = {.limit = 1};
    struct cli_reply reply = {0};
    int rc = pool != NULL ? cli_collector_at(cli, pool, err) : cli_collector(cli, err);
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
    enum factory_words words;
    int (*run)(struct factory_command *factory);
    unsigned takes; /* SAID_ flags of its options */
} VERBS[] = {{"status", WORDS_NONE, show_status, 0},
             {"sites", WORDS_NONE, show_sites, 0},
             {"glideins", WORDS_SITE_MAYBE, show_glideins, 0},
             {"why", WORDS_SITE, show_why, 0},
             {"grow", WORDS_COUNT, order_grow, SAID_SITE},
             {"shrink", WORDS_COUNT, order_shrink, SAID_SITE | SAID_FORCE},
             {"pause", WORDS_SITES, order_pause, SAID_REASON | SAID_ALL},
             {"resume", WORDS_SITES, order_resume, SAID_ALL},
             {"test", WORDS_SITE, order_test, SAID_TIMEOUT},
             {"log", WORDS_GLIDEIN, order_log, 0},
             {"reconcile", WORDS_SITES_MAYBE, order_reconcile, 0}};

/* Says which actions there are. */
static int explain_verbs(struct cli *cli, const char *word)
{
    struct strbuf names;
    strbuf_init(&names, 0);
    for (size_t i = 0; i < ARRAY_COUNT(VERBS); i++) {
        strbuf_printf(&names, "%s%s",
                      i == 0                       ? ""
                      : i + 1 < ARRAY_COUNT(VERBS) ? ", "
                                                   : " or ",
                      VERBS[i].name);
    }
    int status = word[0] != '\0'
                     ? cli_usage(cli, "unknown action '%s'; expected %s", word, strbuf_text(&names))
                     : cli_usage(cli, "the action is missing: %s", strbuf_text(&names));
    strbuf_fini(&names);
    return status;
}

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
        return explain_verbs(cli, word);
    }
    int status = parse_options(&factory, VERBS[verb].words);
    status =
        status != CLI_OK ? status : check_options(&factory, VERBS[verb].words, VERBS[verb].takes);
    if (status == CLI_OK) {
        status = find_factory(cli, factory.pool, &err) == 0 ? VERBS[verb].run(&factory)
                                                            : cli_fail(cli, "%s", err.text);
    }
    vec_fini(&factory.order.sites, NULL);
    listing_fini(&factory.listing);
    return status;
}
