/* cli/drain_status.c - see drain_status.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/drain_status.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "cli/cli.h"
#include "cli/drain_show_plan.h"
#include "cli/drain_words_plan.h"
#include "cli/listing.h"

int drain_status_connect(struct cli *cli, const struct drain_words *words, struct err *err)
{
    return words->pool != NULL ? cli_collector_at(cli, words->pool, err) : cli_collector(cli, err);
}

int drain_status_slots(struct cli *cli, const char *constraint, struct cli_reply *reply,
                       struct err *err)
{
    struct listing slots = {0};
    listing_also(&slots, constraint);
    int rc = listing_query(cli, cli->collector, NULL, "Machine", &slots, NULL, NULL, reply, err);
    listing_fini(&slots);
    return rc;
}

/* Prints an error that names the machines of the command line that do not drain.  Returns the exit
 * status. */
static int complain_of_rest(const struct cli *cli, const struct vec *nodes,
                            const struct vec *machines)
{
    struct strmap *known = strmap_create(STRMAP_CASE_IGNORED);
    struct vec rest = {0};
    struct strbuf line;
    for (size_t i = 0; i < machines->count; i++) {
        (void)strmap_set(known, ad_string_or(machines->items[i], "Machine", ""),
                         machines->items[i]);
    }
    for (size_t i = 0; i < nodes->count; i++) {
        if (strmap_get(known, nodes->items[i]) == NULL) {
            vec_push(&rest, nodes->items[i]);
        }
    }
    strbuf_init(&line, 0);
    drain_show_names((const char *const *)rest.items, rest.count, "not draining", &line);
    int status = rest.count == 0
                     ? CLI_OK
                     : cli_fail(cli, "%.*s", (int)(line.length - 1), strbuf_text(&line));
    strbuf_fini(&line);
    vec_fini(&rest, NULL);
    strmap_destroy(known, NULL);
    return status;
}

static void keep_named(const struct vec *nodes, struct vec *machines)
{
    struct strmap *named = strmap_create(STRMAP_CASE_IGNORED);
    size_t kept = 0;
    for (size_t i = 0; i < nodes->count; i++) {
        (void)strmap_set(named, nodes->items[i], nodes->items[i]);
    }
    for (size_t i = 0; i < machines->count; i++) {
        struct ad *ad = machines->items[i];
        if (nodes->count == 0 || strmap_get(named, ad_string_or(ad, "Machine", "")) != NULL) {
            machines->items[kept++] = ad;
        } else {
            ad_destroy(ad);
        }
    }
    machines->count = kept;
    strmap_destroy(named, NULL);
}

int drain_status(struct cli *cli, const struct drain_words *words)
{
    struct cli_reply reply = {0};
    struct vec machines = {0};
    struct err err;
    int status = CLI_OK;
    int rc = drain_status_connect(cli, words, &err);
    rc = rc != 0 ? rc
                 : drain_status_slots(cli, "Draining =?= true || PowerLockedByDrain =?= true",
                                      &reply, &err);
    drain_show_machines((const struct ad *const *)reply.ads.items, reply.ads.count, &machines);
    keep_named(&words->nodes, &machines);
    size_t count = machines.count;
    const struct ad **shown = mem_alloc((count + 1) * sizeof(const struct ad *));
    for (size_t i = 0; i < count; i++) {
        shown[i] = machines.items[i];
    }
    rc = rc != 0 ? rc : listing_select(cli, &words->listing, shown, &count, &err);
    if (rc != 0) {
        status = cli_fail(cli, "%s", err.text);
    } else if (words->listing.style != LISTING_TABLE) {
        status = listing_show(cli, &words->listing, shown, count);
    } else {
        struct strbuf out;
        const struct ad_context context = listing_context(cli);
        strbuf_init(&out, 0);
        drain_show_status(shown, count, &context, &out);
        status = listing_write(cli, &out);
    }
    if (rc == 0) {
        int rest = complain_of_rest(cli, &words->nodes, &machines);
        status = status != CLI_OK ? status : rest;
    }
    mem_free(shown);
    drain_show_machines_free(&machines);
    cli_reply_fini(&reply);
    return status;
}
