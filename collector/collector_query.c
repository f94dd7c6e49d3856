/* collector/collector_query.c - QUERY: sends ads in parts, as fast as the caller reads them.
 *
 * A query answers from a snapshot (collector_ads.h): one moment, however long the answer takes.  It
 * works in slices (base/slices.h), which end after a counted amount of work.  A constraint that
 * matches nothing in 100,000 ads, or costs a millisecond in each, does not hold up others.  A
 * caller with many queries gets no more than a caller with one; only some of his queries run at a
 * time.  If an index tells which ads may meet the constraint, only these are examined.
 *
 * Constraints of ordinary callers are evaluated in ads without private attributes, because
 * otherwise a claim id could be found by comparing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/slices.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/text.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "classad/ad_clauses.h"
#include "classad/ad_expr.h"
#include "classad/ad_limits.h"
#include "classad/ad_project.h"
#include "collector/collector_ads.h"
#include "collector/collector_state.h"
#include "collector/collector_verbs.h"
#include "wire/wire.h"

#define PART_ADS       1000                /* in one message, at most */
#define PART_BYTES     ((size_t)128 << 10) /* about: one more ad may cross it */
#define BYTES_A_STEP   16     /* bytes of an answer that count as one step in a slice */
#define PROJECTION_MAX 1000   /* attribute names */
#define CALLER_QUERIES 16     /* queries of one caller that may hold a snapshot and an answer */
#define TEXT_SHOWN     200    /* bytes of a constraint in a line of the log */
#define STALL_MS       120000 /* after which a caller that takes nothing is left */

struct query {
    struct query *next;
    struct query **link;
    struct collector *collector;
    struct wire_request *request;
    struct slice_work *turn;
    struct ad_work work;
    struct loop_timer *stall;
    bool begun; /* what follows is there */
    struct ads_snapshot snapshot;
    bool selected; /* `few` are all that may meet the constraint; else all are looked at */
    struct vec few;
    size_t few_at;
    struct ads_cursor cursor;
    struct ad_expr *constraint;       /* NULL: all */
    struct ad_projection *projection; /* NULL: all */
    bool whole_if_computed;           /* send an ad whole if a wanted attribute is not a literal */
    bool with_secrets;
    bool with_absent; /* the constraint asks for Absent: such ads are not hidden */
    int64_t limit;
    int64_t count; /* sent */
    uint64_t begin_ms;
    struct strbuf part;          /* ads that are not sent yet, as they travel */
    size_t pending;              /* number of ads in part */
    struct secret_batch secrets; /* beside them */
};

static void query_destroy(struct query *query)
{
    struct collector *collector = query->collector;
    *query->link = query->next;
    if (query->next) {
        query->next->link = query->link;
    }
    collector->counts.queries_active--;
    strbuf_fini(&query->part);
    secret_batch_fini(&query->secrets);
    if (query->cursor.ads) {
        ads_cursor_fini(&query->cursor);
    }
    ads_snapshot_end(&query->snapshot);
    vec_fini(&query->few, NULL);
    slice_work_destroy(query->turn);
    loop_timer_destroy(query->stall);
    ad_expr_destroy(query->constraint);
    ad_projection_destroy(query->projection);
    mem_free(query);
}

static void caller_gone(void *arg)
{
    query_destroy(arg);
}

/* ---- answering ------------------------------------------------------------------------------- */

/* Appends an ad to the message, copied as bytes from the table and not taken apart.  There is no
 * secret in it.  Everything inside a value is shown, also a name that looks private (the Capability
 * of a GPU). */
static void add_seen(struct query *query, const struct ads_seen *seen)
{
    size_t begin = wire_ad_begin(&query->part);
    if (!query->projection ||
        !ad_project(query->projection, seen->ad, true, query->whole_if_computed, &query->part)) {
        ad_encode(seen->ad, true, &query->part);
    }
    wire_ad_end(&query->part, begin);
    if (query->with_secrets) { /* they live as long as the snapshot, or go in this turn */
        secret_batch_add(&query->secrets, seen->secrets, (uint32_t)query->pending);
    }
    query->pending++;
}

static void body_of(const struct query *query, struct wire_body *ret)
{
    *ret = (struct wire_body){.encoded = &query->part,
                              .encoded_count = query->pending,
                              .secrets = query->secrets.items,
                              .secret_count = query->secrets.count};
}

static void part_sent(struct query *query)
{
    query->work.steps += query->part.length / BYTES_A_STEP;
    strbuf_clear(&query->part);
    secret_batch_clear(&query->secrets);
    query->count += (int64_t)query->pending;
    query->pending = 0;
}

static void tell_costly(const struct collector *collector, const struct wire_request *request,
                        const struct ad_work *work, const char *event, const char *what)
{
    const struct wire_peer *peer = wire_request_peer(request);
    char text[TEXT_SHOWN + 1];
    (void)snprintf(text, sizeof(text), "%s",
                   ad_string_or(wire_request_args(request), "Constraint", "")); /* cut */
    log_warn(collector->env.log, event, what, LOG_TEXT("identity", peer->identity),
             LOG_TEXT("peer", peer->address),
             LOG_TEXT("verb", wire_verb_name(wire_request_verb(request))),
             LOG_INT("steps", work->steps), LOG_INT("over_limit", work->over),
             LOG_TEXT("constraint", text));
}

bool collector_is_too_costly(const struct collector *collector, const struct ad_work *work)
{
    return collector->settings.constraint_steps_max != 0 &&
           work->steps > collector->settings.constraint_steps_max;
}

void collector_refuse_costly(const struct collector *collector, struct wire_request *request,
                             const struct ad_work *work)
{
    tell_costly(collector, request, work, "request.too_costly",
                "evaluating a request's constraint took more steps than MAX_CONSTRAINT_STEPS");
    wire_request_logged(request);
    wire_reply_error(request, -EDQUOT,
                     "evaluating the constraint '%.*s' took more than %llu steps "
                     "(MAX_CONSTRAINT_STEPS); use a cheaper one, or name the ads",
                     TEXT_SHOWN, ad_string_or(wire_request_args(request), "Constraint", ""),
                     (unsigned long long)collector->settings.constraint_steps_max);
}

static void finish_query(struct query *query)
{
    struct collector *collector = query->collector;
    struct ad *args = ad_create();
    struct wire_body body;
    body_of(query, &body);
    ad_set_int(args, "Count", query->count + (int64_t)query->pending);
    if (query->work.over > 0) {
        tell_costly(collector, query->request, &query->work, "request.costly",
                    "evaluations of a constraint exceeded their limit and count as error");
        ad_set_int(args, "TooCostly", (int64_t)query->work.over);
    }
    body.args = args;
    wire_reply_ok(query->request, &body);
    ad_destroy(args);
    collector->counts.queries_ms += (int64_t)(loop_now_ms(collector->env.loop) - query->begin_ms);
    collector->counts.ads_sent += query->count + (int64_t)query->pending;
    query_destroy(query);
}

/* The caller has read nothing for so long that what is kept for him is freed. */
static void caller_stalled(void *arg)
{
    struct query *query = arg;
    wire_reply_error(query->request, -ETIMEDOUT, "the caller read nothing of the answer for %d s",
                     STALL_MS / 1000);
    query_destroy(query);
}

/* ---- looking --------------------------------------------------------------------------------- */

static bool next_entry(struct query *query, struct ads_entry **ret)
{
    if (query->selected) {
        *ret = query->few_at < query->few.count ? query->few.items[query->few_at++] : NULL;
    } else {
        *ret = ads_cursor_next(&query->cursor);
    }
    return *ret != NULL;
}

static bool query_wants(struct query *query, const struct ads_entry *entry, struct ads_seen *ret)
{
    if (!ads_snapshot_see(&query->snapshot, entry, ret) || (ret->absent && !query->with_absent)) {
        return false;
    }
    if (!query->constraint) {
        return true;
    }
    struct ad_context context = collector_context(query->collector);
    context.work = &query->work;
    return ad_eval_bool(query->constraint, ret->ad, NULL, &context) == AD_TRUE;
}

/* Fills a part of the answer, as far as the slice allows.  False: no ads are left. */
static bool fill_part(struct query *query, uint64_t end)
{
    while (query->work.steps < end && query->part.length < PART_BYTES &&
           query->pending < PART_ADS) {
        struct ads_entry *entry;
        struct ads_seen seen;
        bool full = query->limit >= 0 && query->count + (int64_t)query->pending >= query->limit;
        if (full || !next_entry(query, &entry)) {
            return false;
        }
        query->collector->counts.ads_looked_at++;
        query->work.steps += AD_LOOK_STEPS;
        if (query_wants(query, entry, &seen)) {
            add_seen(query, &seen);
        }
    }
    return true;
}

/* Takes the snapshot, and finds which entries are to be examined. */
static void begin_query(struct query *query)
{
    struct collector *collector = query->collector;
    const char *type = ad_string_or(wire_request_args(query->request), "Type", "Any");
    query->begun = true;
    if (ad_name_compare(type, "Collector") == 0) {
        collector_renew_figures(collector);
    }
    bool any = text_equal_nocase(type, "Any");
    ads_snapshot_begin(&query->snapshot, collector->ads);
    if (query->constraint && !any) {
        struct ad_clauses *clauses = ad_clauses_create(query->constraint, NULL);
        query->selected = collector_ads_select(collector->ads, type, clauses,
                                               loop_now_ms(collector->env.loop), &query->few);
        ad_clauses_destroy(clauses);
        collector->counts.queries_indexed += query->selected;
        loop_timer_set(collector->indexing, 0);
    }
    if (!query->selected) {
        ads_cursor_init(&query->cursor, collector->ads, any ? NULL : type);
    }
}

/* Does one slice: sends parts until the caller's window is full or the slice's work is used up. */
static void take_slice(void *arg)
{
    struct query *query = arg;
    uint64_t end = query->work.steps + AD_SLICE_STEPS;
    bool open = true;
    if (!slice_work_enter(query->turn, CALLER_QUERIES)) {
        return;
    }
    if (!query->begun) {
        begin_query(query);
    }
    loop_timer_stop(query->stall);
    do {
        if (!fill_part(query, end)) {
            finish_query(query);
            return;
        }
        if (query->pending > 0) {
            struct wire_body body;
            body_of(query, &body);
            open = wire_reply_part(query->request, &body);
            part_sent(query);
        }
    } while (open && query->work.steps < end);
    if (query->constraint && collector_is_too_costly(query->collector, &query->work)) {
        collector_refuse_costly(query->collector, query->request, &query->work);
        query_destroy(query);
    } else if (open) {
        slice_work_want(query->turn);
    } else {
        loop_timer_set(query->stall, STALL_MS);
    }
}

static void want_slice(void *arg)
{
    slice_work_want(((struct query *)arg)->turn);
}

/* ---- asking ---------------------------------------------------------------------------------- */

static int read_projection(struct query *query, const struct ad *args, struct err *err)
{
    struct ad_value names;
    (void)ad_eval_attr(args, NULL, "Projection", NULL, &names); /* absent: all */
    size_t count = ad_value_count(&names);
    struct vec list = {0};
    int code = count <= PROJECTION_MAX
                   ? 0
                   : err_set(err, -E2BIG, "Projection has more than %d names", PROJECTION_MAX);
    for (size_t i = 0; i < count && !code; i++) {
        struct ad_value name;
        ad_value_item(&names, i, &name);
        if (name.type == AD_TYPE_STRING) {
            vec_push(&list, mem_strdup(name.string.text));
        } else {
            code = err_set(err, -EINVAL, "Projection: item %zu is not a string", i + 1);
        }
        ad_value_fini(&name);
    }
    ad_value_fini(&names);
    if (!code && count > 0) {
        query->projection = ad_projection_create((const char *const *)list.items, count);
    }
    vec_fini(&list, mem_free);
    return code;
}

/* Returns whether the constraint reads that attribute of the ad. */
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

static int read_args(struct query *query, const struct ad *args, struct err *err)
{
    query->limit = ad_int_or(args, "Limit", -1);
    query->with_secrets = ad_bool_or(args, "Private", false);
    query->whole_if_computed = ad_bool_or(args, "WholeIfComputed", false);
    if (query->with_secrets && !(wire_request_peer(query->request)->scopes & SCOPE_NEGOTIATOR)) {
        return err_set(err, -EACCES, "claim ids are only for the negotiator");
    }
    int code = read_constraint(query, args, err);
    code = code ? code : read_projection(query, args, err);
    if (!code) {
        size_t bytes = query->constraint ? ad_expr_bytes(query->constraint) : 0;
        code = wire_request_charge(query->request, sizeof(*query) + bytes, err);
    }
    return code;
}

void collector_query(struct collector *collector, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    struct query *query = mem_zalloc(sizeof(*query));
    query->collector = collector;
    query->request = request;
    query->begin_ms = loop_now_ms(collector->env.loop);
    query->link = &collector->queries;
    query->next = collector->queries;
    if (query->next) {
        query->next->link = &query->next;
    }
    collector->queries = query;
    collector->counts.queries_active++;
    strbuf_init(&query->part, WIRE_FRAME_MAX);
    query->turn = slice_work_create(collector->slices, wire_request_peer(request)->identity,
                                    take_slice, query);
    query->stall = loop_timer_create(collector->env.loop, caller_stalled, query);
    struct err err = {""};
    int code = read_args(query, args, &err);
    if (code) {
        wire_reply_error(request, code, "%s", err.text);
        query_destroy(query);
        return;
    }
    collector->counts.queries++;
    wire_request_on_gone(request, caller_gone, query);
    wire_request_on_drained(request, want_slice, query);
    slice_work_want(query->turn);
}

void collector_queries_drop(struct collector *collector)
{
    while (collector->queries) {
        query_destroy(collector->queries);
    }
}
