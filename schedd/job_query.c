/* schedd/job_query.c - see job_query.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/job_query.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "schedd/job_queue.h"
#include "schedd/request_ads.h"
#include "schedd/schedd_state.h"
#include "store/store.h"
#include "wire/watch.h"
#include "wire/wire.h"

#define PART_ADS           256 /* ads in one part of an answer */
#define HISTORY_ROWS_MAX   100000
#define WATCH_BARRIERS_MAX 50

/* On the worker thread: touches nothing but the filter and the row.  Expressions and ads belong to
 * one thread, so the constraint that is used here is parsed here, from its text. */
struct history_filter {
    char *constraint;
    struct ad_expr *parsed;
    int64_t limit;
    int64_t kept;
    struct ad_context context;
};

struct query {
    LIST_ENTRY(query) entry; /* in schedd->queries */
    struct schedd *schedd;
    struct wire_request *request;
    struct ad_expr *constraint; /* NULL: all */
    struct vec projection;      /* names; empty: all */
    int64_t limit;              /* 0: none */
    char since[JOB_ID_SIZE];    /* history stops there; "" none */
    struct ad_context context;
    struct vec ads; /* the answer */
    size_t sent;
    bool totals;
    int64_t idle, running, held, completed; /* of the whole queue, at the time of the question */
    struct history_filter filter;
};

static void destroy_ad(void *ad)
{
    ad_destroy(ad);
}

static void query_destroy(struct query *query)
{
    LIST_REMOVE(query, entry);
    ad_expr_destroy(query->constraint);
    ad_expr_destroy(query->filter.parsed);
    mem_free(query->filter.constraint);
    vec_fini(&query->projection, mem_free);
    vec_fini(&query->ads, destroy_ad);
    mem_free(query);
}

static int read_projection(struct query *query, const struct ad *args, struct err *err)
{
    struct ad_value list;
    int result = 0;
    (void)ad_eval_attr(args, NULL, "Projection", NULL, &list); /* absent: undefined, no elements */
    for (size_t i = 0; i < ad_value_count(&list); i++) {
        struct ad_value item;
        ad_value_item(&list, i, &item);
        if (item.type == AD_TYPE_STRING && ad_name_is_valid(item.string.text)) {
            vec_push(&query->projection, mem_strdup(item.string.text));
        } else {
            result = err_set(err, -EINVAL, "Projection is not a list of attribute names");
        }
        ad_value_fini(&item);
    }
    ad_value_fini(&list);
    return result;
}

static int query_create(struct schedd *schedd, struct wire_request *request, struct query **ret,
                        struct err *err)
{
    const struct ad *args = wire_request_args(request);
    struct query *query = mem_zalloc(sizeof(*query));
    LIST_INSERT_HEAD(&schedd->queries, query, entry);
    query->schedd = schedd;
    query->request = request;
    query->limit = ad_int_or(args, "Limit", 0);
    query->context.now_s = loop_wall_s(schedd->loop);
    (void)snprintf(query->since, sizeof(query->since), "%s",
                   ad_string_or(args, "Since", "")); /* a longer one is no id */
    const char *text = ad_string_or(args, "Constraint", "");
    int result = 0;
    if (text[0] != '\0') {
        result = ad_expr_parse(text, strlen(text), AD_OLD, &query->constraint, err);
        if (result != 0) {
            result = err_prefix(err, -EINVAL, "Constraint");
        }
    }
    if (result == 0) {
        result = read_projection(query, args, err);
    }
    if (result != 0) {
        query_destroy(query);
        return result;
    }
    *ret = query;
    return 0;
}

static bool wants(const struct query *query, const struct ad *ad)
{
    return query->constraint == NULL ||
           ad_eval_bool(query->constraint, ad, NULL, &query->context) == AD_TRUE;
}

static bool is_full(const struct query *query)
{
    return query->limit > 0 && (int64_t)query->ads.count >= query->limit;
}

/* Takes flat. */
static void add(struct query *query, struct ad *flat)
{
    if (query->projection.count == 0) {
        vec_push(&query->ads, flat);
        return;
    }
    struct ad *part = ad_create();
    for (size_t i = 0; i < query->projection.count; i++) {
        const char *name = query->projection.items[i];
        (void)ad_copy_attr(part, name, flat, name); /* absent: left out */
    }
    ad_destroy(flat);
    vec_push(&query->ads, part);
}

/* ---- sending: parts as the window allows ----------------------------------------------------- */

static void send_more(void *arg)
{
    struct query *query = arg;
    while (query->ads.count - query->sent > PART_ADS) {
        const struct wire_body part = {
            .ads = (const struct ad *const *)query->ads.items + query->sent,
            .ad_count = PART_ADS,
        };
        query->sent += PART_ADS;
        if (!wire_reply_part(query->request, &part)) {
            return; /* drained calls again */
        }
    }
    struct ad *args = ad_create();
    ad_set_int(args, "Count", (int64_t)query->ads.count);
    if (query->totals) {
        ad_set_int(args, "IdleJobs", query->idle);
        ad_set_int(args, "RunningJobs", query->running);
        ad_set_int(args, "HeldJobs", query->held);
        ad_set_int(args, "CompletedJobs", query->completed);
        ad_set_int(args, "RemovedJobs", 0); /* a removed job leaves at once */
    }
    const struct wire_body last = {
        .args = args,
        .ads = (const struct ad *const *)query->ads.items + query->sent,
        .ad_count = query->ads.count - query->sent,
    };
    wire_reply_ok(query->request, &last);
    ad_destroy(args);
    query_destroy(query);
}

static void gone(void *arg)
{
    query_destroy(arg);
}

static void begin_sending(void *arg)
{
    struct query *query = arg;
    wire_request_on_drained(query->request, send_more, query);
    wire_request_on_gone(query->request, gone, query);
    send_more(query);
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static bool each_job(void *arg, struct job *job)
{
    struct query *query = arg;
    struct ad *view = job_view(query->schedd, job);
    if (wants(query, view)) {
        struct ad *flat = ad_create();
        ad_merge(flat, job->cluster->ad);
        ad_merge(flat, view);
        add(query, flat);
    }
    ad_destroy(view);
    return !is_full(query);
}

static void query_jobs(struct query *query)
{
    struct schedd *schedd = query->schedd;
    query->totals = true;
    query->idle = schedd->idle;
    query->running = schedd->running;
    query->held = schedd->held;
    query->completed = schedd->completed;
    queue_walk(schedd, each_job, query);
    change_commit(change_begin(schedd), begin_sending, NULL, query); /* dropped: queries_fini() */
}

/* ---- history --------------------------------------------------------------------------------- */

static bool filter_row(void *arg, const struct store_row *row)
{
    struct history_filter *filter = arg;
    if (filter->constraint == NULL) {
        return true;
    }
    if (filter->parsed == NULL && ad_expr_parse(filter->constraint, strlen(filter->constraint),
                                                AD_OLD, &filter->parsed, NULL) != 0) {
        return false;
    }
    struct ad *ad = NULL;
    if (ad_decode(row->value, row->length, NULL, &ad, NULL) != 0) {
        return false;
    }
    bool keep = ad_eval_bool(filter->parsed, ad, NULL, &filter->context) == AD_TRUE;
    ad_destroy(ad);
    return keep;
}

static void history_found(void *arg, int result, const struct store_row *rows, size_t count)
{
    struct query *query = arg;
    for (size_t i = 0; result == 0 && i < count && !is_full(query); i++) {
        struct ad *ad = NULL;
        if (ad_decode(rows[i].value, rows[i].length, NULL, &ad, NULL) != 0) {
            continue; /* a damaged row is left out */
        }
        char id[JOB_ID_SIZE];
        (void)snprintf(id, sizeof(id), "%" PRId64 ".%" PRId64, ad_int_or(ad, "ClusterId", 0),
                       ad_int_or(ad, "ProcId", 0)); /* fits */
        if (strcmp(id, query->since) == 0) {
            ad_destroy(ad);
            break;
        }
        add(query, ad);
    }
    if (result != 0) {
        wire_reply_error(query->request, result, "the history cannot be read");
        query_destroy(query);
        return;
    }
    begin_sending(query);
}

static void query_history(struct query *query)
{
    const char *text = ad_string_or(wire_request_args(query->request), "Constraint", "");
    query->filter.constraint = text[0] != '\0' ? mem_strdup(text) : NULL;
    query->filter.context = query->context;
    size_t limit = query->limit > 0 && query->limit < HISTORY_ROWS_MAX ? (size_t)query->limit
                                                                       : HISTORY_ROWS_MAX;
    store_scan(query->schedd->store, "history", NULL, NULL, true, limit, filter_row, &query->filter,
               history_found, query);
}

static void query_scheduler(struct query *query)
{
    struct ad *ad = request_ads_scheduler(query->schedd);
    if (wants(query, ad)) {
        add(query, ad);
    } else {
        ad_destroy(ad);
    }
    begin_sending(query);
}

void query_handle(struct schedd *schedd, struct wire_request *request)
{
    struct err err = {{0}};
    struct query *query = NULL;
    int result = query_create(schedd, request, &query, &err);
    if (result != 0) {
        wire_reply_error(request, result, "%s", err.text);
        return;
    }
    const char *type = ad_string_or(wire_request_args(request), "Type", "Job");
    if (strcmp(type, "Job") == 0) {
        query_jobs(query);
    } else if (strcmp(type, "History") == 0) {
        query_history(query);
    } else if (strcmp(type, "Scheduler") == 0) {
        query_scheduler(query);
    } else {
        query_destroy(query);
        wire_reply_error(request, -EINVAL, "a schedd has ads of type Job, History, Scheduler");
    }
}

void queries_fini(struct schedd *schedd)
{
    while (!LIST_EMPTY(&schedd->queries)) {
        struct query *query = LIST_FIRST(&schedd->queries);
        wire_reply_error(query->request, -ESHUTDOWN, "the schedd ends");
        query_destroy(query);
    }
}

/* ---- watching -------------------------------------------------------------------------------- */

struct walk {
    struct schedd *schedd;
    watch_each_f each;
    void *arg;
};

static bool walk_one(void *arg, struct job *job)
{
    struct walk *walk = arg;
    char id[JOB_ID_SIZE];
    job_id(job, id);
    struct ad *flat = job_flat(walk->schedd, job);
    bool more = walk->each(walk->arg, id, flat);
    ad_destroy(flat);
    return more;
}

static void walk_jobs(void *arg, const char *type, watch_each_f each, void *each_arg)
{
    struct schedd *schedd = arg;
    if (strcmp(type, "Job") == 0) {
        struct walk walk = {schedd, each, each_arg};
        queue_walk(schedd, walk_one, &walk);
    }
}

static const struct ad *get_job(void *arg, const char *type, const char *key)
{
    return strcmp(type, "Job") == 0 ? queue_show(arg, key) : NULL;
}

struct watch_server *query_watchers_create(struct schedd *schedd)
{
    static const struct watch_server_source SOURCE = {.walk = walk_jobs, .get = get_job};
    return watch_server_create(schedd->loop, &SOURCE, schedd);
}

/* The snapshot is of the memory, so it is taken when the memory is durable: at a moment without a
 * commit under way.  A store that never rests is waited for a bounded number of commits. */
struct watcher {
    struct schedd *schedd;
    struct wire_request *request;
    int barriers;
};

static void drop_watcher(void *arg)
{
    struct watcher *watcher = arg;
    wire_reply_error(watcher->request, -ESHUTDOWN, "the schedd ends");
    mem_free(watcher);
}

static void add_watcher(void *arg)
{
    struct watcher *watcher = arg;
    if (!store_is_idle(watcher->schedd->store) && watcher->barriers++ < WATCH_BARRIERS_MAX) {
        change_commit(change_begin(watcher->schedd), add_watcher, drop_watcher, watcher);
        return;
    }
    watch_server_add(watcher->schedd->watchers, watcher->request);
    mem_free(watcher);
}

void query_watch(struct schedd *schedd, struct wire_request *request)
{
    struct watcher *watcher = mem_zalloc(sizeof(*watcher));
    watcher->schedd = schedd;
    watcher->request = request;
    add_watcher(watcher);
}
