/* cli/factory_order.c - see factory_order.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/factory_order.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "cli/cli.h"
#include "cli/daemon_find.h"
#include "cli/factory_plan.h"
#include "cli/listing.h"
#include "cli/status/status_sort_plan.h"
#include "wire/wire.h"

/* The factory that was asked last: there is mostly one. */
struct asked_factory {
    char name[WIRE_NAME_MAX + 1], uplink[WIRE_NAME_MAX + 1];
};

static int find_uplink(struct cli *cli, const char *name, struct asked_factory *asked,
                       struct err *err)
{
    const struct daemon_find what = {.type = "Factory",
                                     .uplink = "FactoryUplink",
                                     .word = "factory",
                                     .knob = "FACTORY",
                                     .name = name};
    bool is_silent;
    if (strcmp(asked->name, name) == 0) {
        return 0;
    }
    int rc = daemon_find(cli, &what, asked->uplink, &is_silent, err);
    (void)snprintf(asked->name, sizeof(asked->name), "%s", rc == 0 ? name : "");
    return rc;
}

static bool is_named(const struct ad *site, const struct factory_order *order)
{
    bool named = order->sites.count == 0;
    for (size_t i = 0; i < order->sites.count; i++) {
        named = named || factory_plan_is_called(site, order->sites.items[i]);
    }
    return named;
}

/* Fails if a word names no site, or more than one where it must not. */
static int check_words(const struct factory_order *order, const struct vec *sites, struct err *err)
{
    for (size_t i = 0; i < order->sites.count; i++) {
        const char *word = order->sites.items[i];
        size_t count = 0;
        for (size_t j = 0; j < sites->count; j++) {
            count += factory_plan_is_called(sites->items[j], word) ? 1 : 0;
        }
        if (count == 0) {
            return err_set(err, -ENOENT, "no such site: %s; `roost factory sites` shows all", word);
        }
        if (count > 1 && order->one_site) {
            return err_set(err, -EINVAL,
                           "several factories have a site %s; name it as SITE@FACTORY", word);
        }
    }
    return 0;
}

/* Gets the ads of the sites that the order names, sorted, as the first *count of the reply. */
static int get_sites(struct cli *cli, const struct factory_order *order, struct cli_reply *reply,
                     size_t *count, struct err *err)
{
    const struct listing all = {0};
    *count = 0;
    int rc = listing_query(cli, cli->collector, NULL, "Site", &all, NULL, NULL, reply, err);
    rc = rc != 0 ? rc : check_words(order, &reply->ads, err);
    if (rc != 0) {
        return rc;
    }
    status_sort_default((const struct ad **)reply->ads.items, reply->ads.count);
    for (size_t i = 0; i < reply->ads.count; i++) {
        void *site = reply->ads.items[i];
        if (is_named(site, order)) {
            reply->ads.items[i] = reply->ads.items[*count]; /* none is lost */
            reply->ads.items[(*count)++] = site;
        }
    }
    return *count > 0 ? 0 : err_set(err, -ENOENT, "the factory has no sites");
}

/* Makes the arguments of the order, owned by the caller. */
static struct ad *make_args(const struct factory_order *order, const struct ad *site)
{
    struct ad *args = ad_create();
    ad_set_string(args, "Order", order->name);
    ad_set_string(args, "Site", ad_string_or(site, "Site", ""));
    if (order->reason != NULL) {
        ad_set_string(args, "Reason", order->reason);
    }
    if (order->count > 0) {
        ad_set_int(args, "Count", order->count);
    }
    if (order->timeout_s > 0) {
        ad_set_int(args, "Timeout", order->timeout_s);
    }
    if (order->force) {
        ad_set_bool(args, "Force", true);
    }
    return args;
}

static int send_order(struct cli *cli, const struct factory_order *order, const struct ad *site,
                      struct asked_factory *asked, struct cli_reply *reply, struct err *err)
{
    struct ad *args = make_args(order, site);
    const struct wire_body body = {.args = args};
    int rc = find_uplink(cli, ad_string_or(site, "Factory", ""), asked, err);
    rc = rc != 0 ? rc
                 : cli_call(cli, cli->collector, asked->uplink, VERB_FACTORY_ORDER, &body, 0, reply,
                            err);
    ad_destroy(args);
    return rc;
}

/* Prints the answer, or keeps it for a listing. */
static void take_answer(const struct listing *listing, struct cli_reply *reply, struct vec *answers,
                        struct strbuf *text)
{
    if (reply->args == NULL) {
        return;
    }
    if (listing->style != LISTING_TABLE) {
        vec_push(answers, reply->args);
        reply->args = NULL;
        return;
    }
    factory_plan_answer(reply->args, text);
}

int factory_order_sites(struct cli *cli, const struct listing *listing,
                        const struct factory_order *order)
{
    struct asked_factory asked = {.name = ""};
    struct cli_reply sites = {0};
    struct vec answers = {0};
    struct strbuf text;
    struct err err;
    size_t count;
    int status = CLI_OK;
    strbuf_init(&text, LISTING_TEXT_MAX);
    if (get_sites(cli, order, &sites, &count, &err) != 0) {
        status = cli_fail(cli, "%s", err.text);
        count = 0;
    }
    for (size_t i = 0; i < count; i++) {
        const struct ad *site = sites.ads.items[i];
        struct cli_reply reply = {0};
        if (send_order(cli, order, site, &asked, &reply, &err) != 0) {
            status = cli_fail(cli, "%s: %s", ad_string_or(site, "Site", "?"), err.text);
        }
        take_answer(listing, &reply, &answers, &text);
        cli_reply_fini(&reply);
    }
    if (listing->style == LISTING_TABLE) {
        int written = listing_write(cli, &text);
        status = written != CLI_OK ? written : status;
    } else {
        strbuf_fini(&text);
        if (answers.count > 0) {
            int shown =
                listing_show(cli, listing, (const struct ad *const *)answers.items, answers.count);
            status = shown != CLI_OK ? shown : status;
        }
    }
    vec_fini(&answers, ad_destroy_item);
    cli_reply_fini(&sites);
    return status;
}

/* ---- test */

/* The steps of a test, as they come. */
struct test_steps {
    bool is_told;    /* each is printed at once */
    struct vec kept; /* struct ad *, of all */
};

static void take_steps(void *arg, struct ad *const *ads, size_t count)
{
    struct test_steps *steps = arg;
    for (size_t i = 0; i < count; i++) {
        struct strbuf line;
        strbuf_init(&line, 0);
        factory_plan_step(ads[i], &line);
        if (steps->is_told) {
            (void)fputs(strbuf_text(&line), stdout);
            (void)fflush(stdout);
        }
        strbuf_fini(&line);
        vec_push(&steps->kept, ad_copy(ads[i]));
    }
}

/* Prints how the test has ended. */
static int show_test(struct cli *cli, const struct listing *listing, struct test_steps *steps,
                     struct cli_reply *reply)
{
    struct strbuf text;
    int status;
    bool passed = reply->args != NULL && ad_bool_or(reply->args, "Passed", false);
    char *log = mem_strndup(reply->blob != NULL ? reply->blob : "", reply->blob_length);
    strbuf_init(&text, LISTING_TEXT_MAX);
    if (listing->style != LISTING_TABLE) {
        if (reply->args != NULL) {
            ad_set_string(reply->args, "Log", log);
            vec_push(&steps->kept, reply->args);
            reply->args = NULL;
        }
        status = listing_show(cli, listing, (const struct ad *const *)steps->kept.items,
                              steps->kept.count);
        strbuf_fini(&text);
    } else {
        factory_plan_test(reply->args, log, &text);
        status = listing_write(cli, &text);
    }
    mem_free(log);
    return status != CLI_OK ? status : passed ? CLI_OK : CLI_FAILED;
}

int factory_order_test(struct cli *cli, const struct listing *listing,
                       const struct factory_order *order)
{
    struct test_steps steps = {.is_told = listing->style == LISTING_TABLE};
    struct asked_factory asked = {.name = ""};
    struct cli_reply sites = {0}, reply = {0};
    struct err err;
    size_t count;
    int status = CLI_FAILED, rc = get_sites(cli, order, &sites, &count, &err);
    if (rc == 0) {
        const struct ad *site = sites.ads.items[0];
        struct ad *args = make_args(order, site);
        const struct wire_body body = {.args = args};
        rc = find_uplink(cli, ad_string_or(site, "Factory", ""), &asked, &err);
        rc = rc != 0 ? rc
                     : cli_relay_each(cli, asked.uplink, VERB_FACTORY_ORDER, &body, take_steps,
                                      &steps, &reply, &err);
        ad_destroy(args);
    }
    status = rc != 0 ? cli_fail(cli, "%s", err.text) : show_test(cli, listing, &steps, &reply);
    vec_fini(&steps.kept, ad_destroy_item);
    cli_reply_fini(&reply);
    cli_reply_fini(&sites);
    return status;
}

/* ---- log */

/* Finds the name of the glidein's factory: from its ad, or, when it is gone, from its own name. */
static void name_factory(struct cli *cli, const char *glidein, char *ret, size_t size)
{
    struct listing one = {.limit = 1};
    struct cli_reply reply = {0};
    struct strbuf only;
    strbuf_init(&only, 0);
    strbuf_printf(&only, "Name == \"%s\"", glidein);
    listing_also(&one, strbuf_text(&only));
    strbuf_fini(&only);
    bool found =
        listing_query(cli, cli->collector, NULL, "Glidein", &one, NULL, NULL, &reply, NULL) == 0 &&
        reply.ads.count > 0;
    (void)snprintf(ret, size, "%.*s", (int)strcspn(glidein, "-"), glidein);
    if (found) {
        (void)snprintf(ret, size, "%s", ad_string_or(reply.ads.items[0], "Factory", ret));
    }
    cli_reply_fini(&reply);
    listing_fini(&one);
}

/* Prints the log as it is; on a terminal without control characters, which could control it. */
static int print_log(struct cli *cli, const struct listing *listing, const char *glidein,
                     struct cli_reply *reply)
{
    struct strbuf text;
    strbuf_init(&text, LISTING_TEXT_MAX);
    strbuf_append(&text, reply->blob != NULL ? reply->blob : "", reply->blob_length);
    if (listing->style != LISTING_TABLE) {
        struct ad *ad = reply->args != NULL ? ad_copy(reply->args) : ad_create();
        const struct ad *const list[] = {ad};
        ad_set_string(ad, "Glidein", glidein);
        ad_set_string(ad, "Log", strbuf_text(&text));
        int status = listing_show(cli, listing, list, 1);
        strbuf_fini(&text);
        ad_destroy(ad);
        return status;
    }
    if (isatty(STDOUT_FILENO) == 1) {
        factory_plan_clean_lines(&text);
    }
    return listing_write(cli, &text);
}

int factory_order_log(struct cli *cli, const struct listing *listing, const char *glidein)
{
    struct asked_factory asked = {.name = ""};
    struct cli_reply reply = {0};
    struct err err;
    char factory[WIRE_NAME_MAX + 1];
    struct ad *args = ad_create();
    const struct wire_body body = {.args = args};
    ad_set_string(args, "Order", "Log");
    ad_set_string(args, "Glidein", glidein);
    name_factory(cli, glidein, factory, sizeof(factory));
    int rc = find_uplink(cli, factory, &asked, &err);
    rc = rc != 0 ? rc
                 : cli_call(cli, cli->collector, asked.uplink, VERB_FACTORY_ORDER, &body, 0, &reply,
                            &err);
    int status = rc != 0 ? cli_fail(cli, "%s", err.text) : print_log(cli, listing, glidein, &reply);
    cli_reply_fini(&reply);
    ad_destroy(args);
    return status;
}
