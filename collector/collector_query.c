/* collector/collector_query.c - QUERY: ads in parts, as fast as the caller takes them.
 *
 * A query walks the table with a cursor that outlives changes, a slice in each turn of the loop: a
 * constraint that matches nothing in 100,000 ads does not hold up the others.  Ordinary callers'
 * constraints are evaluated in ads without private attributes, or a claim id could be found out by
 * comparing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "base/text.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "collector/collector_ads.h"
#include "collector/collector_state.h"
#include "collector/collector_verbs.h"
#include "wire/wire.h"

#define PART_ADS       64
#define SLICE_ADS      500  /* looked at in one turn of the loop */
#define PROJECTION_MAX 1000 /* attribute names */

struct query {
    struct query *next;
    struct query **link;
    struct collector *collector;
    struct wire_request *request;
    struct loop_timer *turn;
    struct ads_cursor cursor;
    struct ad_expr *constraint; /* NULL: all */
    struct vec projection;      /* empty: all */
    bool whole_if_computed;     /* an ad with a wanted attribute that is no literal comes whole */
    bool with_private;
    bool with_absent; /* the constraint asks for Absent: such ads are not hidden */
    int64_t limit;
    int64_t count; /* sent */
    const struct ad *ads[PART_ADS];
    struct ad *owned[PART_ADS]; /* projections; NULL where the ad is the table's */
    size_t pending;
};

static void query_destroy(struct query *query)
{
    *query->link = query->next;
    if (query->next) {
        query->next->link = query->link;
    }
    for (size_t i = 0; i < query->pending; i++) {
        ad_destroy(query->owned[i]);
    }
    ads_cursor_fini(&query->cursor);
    loop_timer_destroy(query->turn);
    ad_expr_destroy(query->constraint);
    vec_fini(&query->projection, mem_free);
    mem_free(query);
}

static void gone(void *arg)
{
    query_destroy(arg);
}

static const struct ad *project(const struct query *query, const struct ad *ad, struct ad **owned)
{
    *owned = NULL;
    if (query->projection.count == 0) {
        return ad;
    }
    *owned = ad_create();
    for (size_t i = 0; i < query->projection.count; i++) {
        const char *name = query->projection.items[i];
        const struct ad_expr *expr = ad_lookup(ad, name);
        if (expr && query->whole_if_computed && !ad_expr_is_literal(expr)) {
            ad_destroy(*owned);
            *owned = NULL;
            return ad;
        }
        if (expr) {
            ad_set(*owned, name, ad_expr_ref(expr));
        }
    }
    return *owned;
}

static void body_of(struct query *query, struct wire_body *ret)
{
    *ret = (struct wire_body){.ads = query->ads,
                              .ad_count = query->pending,
                              .with_private = query->with_private};
}

static void sent(struct query *query)
{
    for (size_t i = 0; i < query->pending; i++) {
        ad_destroy(query->owned[i]);
    }
    query->count += (int64_t)query->pending;
    query->pending = 0;
}

static void finish(struct query *query)
{
    struct ad *args = ad_create();
    struct wire_body body;
    body_of(query, &body);
    ad_set_int(args, "Count", query->count + (int64_t)query->pending);
    body.args = args;
    wire_reply_ok(query->request, &body);
    ad_destroy(args);
    query_destroy(query);
}

static bool wants(const struct query *query, struct ads_entry *entry, const struct ad **ret)
{
    if (!entry->shown || (entry->shown_absent && !query->with_absent)) {
        return false;
    }
    const struct ad *ad = query->with_private ? entry->shown : collector_ads_bare(entry);
    *ret = ad;
    if (!query->constraint) {
        return true;
    }
    const struct ad_context context = {.now_s = loop_wall_s(query->collector->env.loop)};
    return ad_eval_bool(query->constraint, ad, NULL, &context) == AD_TRUE;
}

/* Ads in query->ads are the table's: they are sent before the turn ends. */
static void take_turn(void *arg)
{
    struct query *query = arg;
    for (int looked = 0; looked < SLICE_ADS; looked++) {
        if (query->limit >= 0 && query->count + (int64_t)query->pending >= query->limit) {
            finish(query);
            return;
        }
        struct ads_entry *entry = ads_cursor_next(&query->cursor);
        if (!entry) {
            finish(query);
            return;
        }
        const struct ad *ad;
        if (!wants(query, entry, &ad)) {
            continue;
        }
        query->ads[query->pending] = project(query, ad, &query->owned[query->pending]);
        if (++query->pending == PART_ADS) {
            break;
        }
    }
    bool open = true;
    if (query->pending > 0) {
        struct wire_body body;
        body_of(query, &body);
        open = wire_reply_part(query->request, &body);
        sent(query);
    }
    if (open) {
        loop_timer_set(query->turn, 0);
    }
}

static int read_projection(struct query *query, const struct ad *args, struct err *err)
{
    struct ad_value names;
    (void)ad_eval_attr(args, NULL, "Projection", NULL, &names); /* absent: all */
    size_t count = ad_value_count(&names);
    int code = count <= PROJECTION_MAX
                   ? 0
                   : err_set(err, -E2BIG, "Projection has more than %d names", PROJECTION_MAX);
    for (size_t i = 0; i < count && !code; i++) {
        struct ad_value name;
        ad_value_item(&names, i, &name);
        if (name.type == AD_TYPE_STRING) {
            vec_push(&query->projection, mem_strdup(name.string.text));
        } else {
            code = err_set(err, -EINVAL, "Projection: item %zu is no string", i + 1);
        }
        ad_value_fini(&name);
    }
    ad_value_fini(&names);
    return code;
}

/* Does the constraint look at that attribute of the ad? */
static bool asks_for(const struct ad_expr *constraint, const char *name)
{
    struct ad *has_it = ad_create();
    struct strmap *others = strmap_create(STRMAP_CASE_IGNORED);
    struct strmap *own = strmap_create(STRMAP_CASE_IGNORED);
    ad_set_bool(has_it, name, true);
    ad_refs(constraint, has_it, others, own);
    bool asks = strmap_get(own, name) != NULL;
    strmap_destroy(own, NULL);
    strmap_destroy(others, NULL);
    ad_destroy(has_it);
    return asks;
}

static int read_constraint(struct query *query, const struct ad *args, struct err *err)
{
    const char *text = ad_string_or(args, "Constraint", "");
    if (!*text) {
        return 0;
    }
    int code = ad_expr_parse(text, strlen(text), AD_OLD, &query->constraint, err);
    if (code) {
        return err_prefix(err, -EINVAL, "Constraint");
    }
    query->with_absent = asks_for(query->constraint, "Absent");
    return 0;
}

void collector_query(struct collector *collector, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    const char *type = ad_string_or(args, "Type", "Any");
    struct query *query = mem_zalloc(sizeof(*query));
    query->collector = collector;
    query->request = request;
    query->link = &collector->queries;
    query->next = collector->queries;
    if (query->next) {
        query->next->link = &query->next;
    }
    collector->queries = query;
    query->limit = ad_int_or(args, "Limit", -1);
    query->with_private = ad_bool_or(args, "Private", false);
    query->whole_if_computed = ad_bool_or(args, "WholeIfComputed", false);
    query->turn = loop_timer_create(collector->env.loop, take_turn, query);
    ads_cursor_init(&query->cursor, collector->ads, text_equal_nocase(type, "Any") ? NULL : type);
    struct err err = {""};
    int code = 0;
    if (query->with_private && !(wire_request_peer(request)->scopes & SCOPE_NEGOTIATOR)) {
        code = err_set(&err, -EACCES, "private attributes are for the negotiator");
    }
    if (!code) {
        code = read_constraint(query, args, &err);
    }
    if (!code) {
        code = read_projection(query, args, &err);
    }
    if (code) {
        wire_reply_error(request, code, "%s", err.text);
        query_destroy(query);
        return;
    }
    collector->counts.queries++;
    wire_request_on_gone(request, gone, query);
    wire_request_on_drained(request, take_turn, query);
    take_turn(query);
}

void collector_queries_drop(struct collector *collector)
{
    while (collector->queries) {
        query_destroy(collector->queries);
    }
}
