/* schedd/questions/job_query.c - see job_query.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/questions/job_query.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/slices.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "classad/ad_expr.h"
#include "schedd/claim/claim_accounts.h"
#include "schedd/queue/job_ad.h"
#include "schedd/questions/job_batches.h"
#include "schedd/queue/job_change.h"
#include "schedd/queue/job_rows.h"
#include "schedd/questions/job_wanted.h"
#include "schedd/questions/job_filter.h"
#include "schedd/queue/queue_table.h"
#include "schedd/requests/request_ads.h"
#include "schedd/requests/request_work.h"
#include "schedd/schedd_state.h"
#include "store/store.h"
#include "wire/wire.h"

#define PROJECTION_MAX 1000                /* attribute names */
#define PART_ADS       256                 /* ads in one part of an answer */
#define PART_BYTES     ((size_t)128 << 10) /* bytes of jobs in one part of an answer */
#define HISTORY_PAGE   500                 /* rows of the history in one scan */
/* Bytes of the history in one part of an answer, but for the last ad. */
#define HISTORY_PART_BYTES ((size_t)512 << 10)
#define HISTORY_KEY_SIZE   64 /* bytes of a row's key, with the terminating zero */

/* The filter of a page.  It runs on the worker thread and touches only itself and the row.
 * Expressions and ads belong to one thread, so the constraint is parsed there from its text. */
struct history_filter {
    char *constraint;
    struct ad_expr *parsed;
    int64_t scan_limit, scanned; /* most rows to look at (0: no limit), and rows so far */
    struct ad_context context;
    struct ad_work work; /* steps of this page; the loop thread reads it after the page */
    /* steps after which commits have their turn; steps after which the query ends */
    uint64_t pause_at, stop_at;
};

struct query_form { /* the form of the answer */
    bool shared, whole_if_computed;
    bool batches;
};

struct query_history {
    /* where to stop: at this job, at any job of this cluster (proc -1), or at an ad for which the
     * expression is true; 0 and NULL: nowhere */
    int64_t since_cluster, since_proc;
    struct ad_expr *since;
    bool forwards;
    size_t page;                /* rows asked for in this page */
    char key[HISTORY_KEY_SIZE]; /* key of the last row that was looked at */
    struct vec ads;             /* ads of the answer */
    size_t sent;
    struct history_filter filter;
};

struct query {
    LIST_ENTRY(query) entry; /* in schedd->under_way.queries */
    struct schedd *schedd;
    struct wire_request *request;
    struct ad_expr *constraint; /* NULL: all jobs */
    struct vec projection;      /* names of the wanted attributes; empty: all */
    struct query_form form;
    struct job_filter *job_filter; /* for jobs in the queue */
    struct job_rows *rows;
    struct job_batches *batches; /* counts batches; NULL: the answer is rows */
    struct vec ids;              /* struct wanted: where to look, in order of id */
    size_t at;                   /* index in ids */
    uint32_t proc;               /* next ProcId of ids[at] */
    int64_t found;               /* number of jobs found */
    size_t batches_put;
    bool walked, last; /* the last part is being made */
    bool committing;   /* the store has the part, or is reading rows for it */
    bool gone;         /* the client is gone */
    struct strbuf part;
    size_t part_ads, sent_ads;
    struct request_work work; /* constraint and since; its turns call slice() */
    loop_f slice;
    const struct owner *of; /* owner whose totals are wanted, too; NULL: none */
    int64_t limit;          /* 0: none */
    struct query_history history;
};

static void query_destroy(struct query *query)
{
    LIST_REMOVE(query, entry);
    request_work_fini(&query->work);
    job_filter_destroy(query->job_filter);
    job_rows_destroy(query->rows);
    job_batches_destroy(query->batches);
    vec_fini(&query->ids, mem_free);
    strbuf_fini(&query->part);
    ad_expr_destroy(query->constraint);
    ad_expr_destroy(query->history.since);
    ad_expr_destroy(query->history.filter.parsed);
    mem_free(query->history.filter.constraint);
    vec_fini(&query->projection, mem_free);
    vec_fini(&query->history.ads, ad_destroy_item);
    mem_free(query);
}

static int read_projection(struct query *query, const struct ad *args, struct err *err)
{
    struct ad_value list;
    int result = 0;
    (void)ad_eval_attr(args, NULL, "Projection", NULL, &list); /* absent: undefined, no elements */
    size_t count = ad_value_count(&list);
    if (count > PROJECTION_MAX) {
        result = err_set(err, -E2BIG, "Projection has more than %d names", PROJECTION_MAX);
    }
    for (size_t i = 0; i < count && result == 0; i++) {
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

static int read_since(struct query *query, const char *text, struct err *err)
{
    query->history.since_proc = -1;
    if (text[0] == '\0' ||
        job_id_parse(text, &query->history.since_cluster, &query->history.since_proc)) {
        return 0;
    }
    int result = ad_expr_parse(text, strlen(text), AD_OLD, &query->history.since, err);
    return result != 0 ? err_prefix(err, -EINVAL, "Since") : 0;
}

static void want_slice(void *arg)
{
    slice_work_want(((struct query *)arg)->work.turn);
}

static void take_slice(void *arg)
{
    struct query *query = arg;
    request_work_begin(&query->work);
    query->slice(query);
}

/* Starts the answer: slice is called from the loop, and again whenever the client has taken
 * data. */
static void begin_slices(struct query *query, loop_f slice, void (*gone)(void *arg))
{
    query->slice = slice;
    wire_request_on_drained(query->request, want_slice, query);
    wire_request_on_gone(query->request, gone, query);
    slice_work_want(query->work.turn);
}

/* Returns how many bytes the query holds while it waits for its turn. */
static size_t query_bytes(const struct query *query)
{
    size_t bytes = sizeof(*query);
    bytes += query->constraint != NULL ? ad_expr_bytes(query->constraint) : 0;
    return bytes + (query->history.since != NULL ? ad_expr_bytes(query->history.since) : 0);
}

static int query_create(struct schedd *schedd, struct wire_request *request, struct query **ret,
                        struct err *err)
{
    const struct ad *args = wire_request_args(request);
    struct query *query = mem_zalloc(sizeof(*query));
    LIST_INSERT_HEAD(&schedd->under_way.queries, query, entry);
    query->schedd = schedd;
    query->request = request;
    query->limit = ad_int_or(args, "Limit", 0);
    query->form.shared = ad_bool_or(args, "Shared", false);
    query->form.whole_if_computed = ad_bool_or(args, "WholeIfComputed", false);
    strbuf_init(&query->part, 0);
    query->history.forwards = ad_bool_or(args, "Forwards", false);
    const char *text = ad_string_or(args, "Constraint", "");
    request_work_init(&query->work, schedd, request, text, take_slice, query);
    int result = text[0] != '\0' ? request_constraint(text, &query->constraint, err) : 0;
    if (result == 0) {
        result = read_projection(query, args, err);
    }
    if (result == 0) {
        result = read_since(query, ad_string_or(args, "Since", ""), err);
    }
    if (result == 0) {
        result = wire_request_charge(request, query_bytes(query), err);
    }
    if (result != 0) {
        query_destroy(query);
        return result;
    }
    *ret = query;
    return 0;
}

static bool wants_ad(const struct query *query, const struct ad *ad)
{
    return query->constraint == NULL ||
           ad_eval_bool(query->constraint, ad, NULL, &query->work.context) == AD_TRUE;
}

/* Adds a job to the answer about the history, with the wanted attributes only.  Takes over flat. */
static void add_history(struct query *query, struct ad *flat)
{
    if (query->projection.count == 0) {
        vec_push(&query->history.ads, flat);
        return;
    }
    struct ad *part = ad_create();
    for (size_t i = 0; i < query->projection.count; i++) {
        const char *name = query->projection.items[i];
        (void)ad_copy_attr(part, name, flat, name); /* absent: left out */
    }
    ad_destroy(flat);
    vec_push(&query->history.ads, part);
}

/* ---- sending: parts as the window allows ----------------------------------------------------- */

static void send_more(void *arg)
{
    struct query *query = arg;
    while (query->history.ads.count - query->history.sent > PART_ADS) {
        const struct wire_body part = {
            .ads = (const struct ad *const *)query->history.ads.items + query->history.sent,
            .ad_count = PART_ADS,
        };
        query->history.sent += PART_ADS;
        if (!wire_reply_part(query->request, &part)) {
            return; /* drained calls again */
        }
    }
    struct ad *args = ad_create();
    ad_set_int(args, "Count", (int64_t)query->history.ads.count);
    const struct wire_body last = {
        .args = args,
        .ads = (const struct ad *const *)query->history.ads.items + query->history.sent,
        .ad_count = query->history.ads.count - query->history.sent,
    };
    wire_reply_ok(query->request, &last);
    ad_destroy(args);
    query_destroy(query);
}

static void client_gone(void *arg)
{
    query_destroy(arg);
}

static void begin_sending(void *arg)
{
    struct query *query = arg;
    wire_request_on_drained(query->request, send_more, query);
    wire_request_on_gone(query->request, client_gone, query);
    send_more(query);
}

/* ---- jobs: in slices, so that nobody waits for a long queue ------------------------------------
 *
 * A slice ends with the work that it may do (request_work.h), or with a full part.
 * Each part holds jobs as they were at one moment, and is sent when that moment is durable.  A job
 * that changes between two parts is seen as before or as after; none is seen twice.
 */

static bool is_found(const struct query *query)
{
    return query->limit > 0 && query->found >= query->limit;
}

static void look_at(struct query *query, const struct job *job)
{
    if (job == NULL || !job_filter_wants(query->job_filter, job)) {
        return;
    }
    query->found++;
    query->work.work.steps += WORK_ROW_STEPS;
    if (query->batches != NULL) {
        job_batches_add(query->batches, job);
    } else {
        job_rows_add(query->rows, job, &query->part);
    }
}

/* Returns a cluster's ad with the attributes that a constraint may need, for a cluster that has no
 * job yet.  Owned by the caller. */
static struct ad *factory_ad(const struct cluster *cluster)
{
    struct ad *ad = ad_copy_public(cluster->ad);
    ad_set_string(ad, "MyType", "JobFactory");
    ad_set_int(ad, "ClusterId", cluster->id);
    ad_set_string(ad, "Owner", cluster->owner->name);
    ad_set_int(ad, "QDate", cluster->qdate_s);
    return ad;
}

static void look_at_factory(struct query *query, const struct cluster *cluster)
{
    if (query->batches == NULL || cluster == NULL || cluster->factory == NULL) {
        return;
    }
    struct ad *ad = factory_ad(cluster);
    query->work.work.steps += WORK_VIEW_STEPS;
    if (wants_ad(query, ad)) {
        job_batches_add_factory(query->batches, cluster);
    }
    ad_destroy(ad);
}

static bool may_look(const struct query *query)
{
    return !is_found(query) && query->part.length < PART_BYTES &&
           request_work_goes_on(&query->work);
}

/* Looks at the jobs of one slice. */
static void walk_slice(struct query *query)
{
    uint64_t *steps = &query->work.work.steps;
    while (query->at < query->ids.count && may_look(query)) {
        const struct wanted *wanted = query->ids.items[query->at];
        const struct cluster *cluster = queue_cluster(query->schedd, wanted->cluster);
        uint32_t end = cluster != NULL ? cluster->proc_count : 0;
        *steps += WORK_LOOK_STEPS; /* a cluster costs something, too */
        if (wanted->proc >= 0) {
            look_at(query, queue_job(query->schedd, wanted->cluster, wanted->proc));
            query->proc = end;
        }
        while (query->proc < end && may_look(query)) {
            *steps += WORK_LOOK_STEPS;
            look_at(query, cluster->procs[query->proc++]);
        }
        if (query->proc >= end) {
            if (wanted->proc < 0) {
                look_at_factory(query, cluster);
            }
            query->at++;
            query->proc = 0;
        }
    }
    query->walked = query->at >= query->ids.count || is_found(query);
}

static void put_batches(struct query *query)
{
    size_t count = job_batches_count(query->batches);
    while (query->batches_put < count && query->part.length < PART_BYTES) {
        struct ad *ad = job_batches_ad(query->batches, query->batches_put++);
        size_t begin = wire_ad_begin(&query->part);
        ad_encode(ad, false, &query->part);
        wire_ad_end(&query->part, begin);
        query->part_ads++;
        ad_destroy(ad);
    }
    query->last = query->batches_put == count;
}

static void put_totals(const struct query *query, struct ad *args)
{
    const struct schedd *schedd = query->schedd;
    ad_set_string(args, "Name", schedd->self.name);
    ad_set_string(args, "MyAddress", schedd->self.address);
    ad_set_int(args, "IdleJobs", schedd->queue.idle);
    ad_set_int(args, "RunningJobs", schedd->queue.running);
    ad_set_int(args, "HeldJobs", schedd->queue.held);
    ad_set_int(args, "SuspendedJobs", schedd->queue.suspended);
    ad_set_int(args, "DisconnectedJobs", schedd->queue.disconnected);
    ad_set_int(args, "CompletedJobs", schedd->queue.completed); /* a removed one leaves at once */
    if (query->of != NULL) {
        ad_set_int(args, "OwnerIdleJobs", query->of->idle);
        ad_set_int(args, "OwnerRunningJobs", query->of->running);
        ad_set_int(args, "OwnerHeldJobs", query->of->held);
        ad_set_int(args, "OwnerSuspendedJobs", query->of->suspended);
        ad_set_int(args, "OwnerDisconnectedJobs", query->of->disconnected);
    }
}

/* Sets in args how many evaluations failed because they exceeded their limit. */
static void put_work(const struct query *query, struct ad *args)
{
    int64_t over = request_work_end(&query->work);
    if (over > 0) {
        ad_set_int(args, "TooCostly", over);
    }
}

/* Returns true when the query has used up MAX_CONSTRAINT_STEPS; it was then answered with the error
 * and freed. */
static bool is_refused(struct query *query)
{
    struct err err = {{0}};
    int result = request_work_check(&query->work, &err);
    if (result != 0) {
        wire_reply_error(query->request, result, "%s", err.text);
        query_destroy(query);
    }
    return result != 0;
}

static void send_part(void *arg)
{
    struct query *query = arg;
    if (query->gone) {
        query_destroy(query);
        return;
    }
    struct wire_body body = {.encoded = &query->part, .encoded_count = query->part_ads};
    query->sent_ads += query->part_ads;
    if (query->part.failed) {
        wire_reply_error(query->request, -ENOMEM, "not enough memory for the answer");
        query_destroy(query);
        return;
    }
    if (query->last) {
        struct ad *args = ad_create();
        ad_set_int(args, "Count", query->found);
        put_work(query, args);
        if (query->job_filter != NULL) {
            put_totals(query, args);
        }
        body.args = args;
        wire_reply_ok(query->request, &body);
        ad_destroy(args);
        query_destroy(query);
        return;
    }
    bool open = query->part_ads == 0 || wire_reply_part(query->request, &body);
    query->part_ads = 0;
    strbuf_clear(&query->part);
    if (open) {
        slice_work_want(query->work.turn); /* others have their turn; drained calls otherwise */
    }
}

static void send_made(void *arg)
{
    struct query *query = arg;
    query->committing = false;
    send_part(query);
}

static void make_part(void *arg)
{
    struct query *query = arg;
    struct schedd *schedd = query->schedd;
    if (!query->walked) {
        walk_slice(query);
        if (!query->walked && is_refused(query)) {
            return;
        }
        job_rows_flush(query->rows, &query->part);
        query->part_ads += job_rows_ads(query->rows);
        query->last = query->walked && query->batches == NULL;
    }
    if (query->walked && query->batches != NULL) {
        put_batches(query);
    }
    /* A full disk may keep the store busy for long; what is shown then is what will be stored. */
    query->committing = !store_is_idle(schedd->store) && store_full(schedd->store) == 0;
    if (query->committing) {
        change_commit(change_begin(schedd), send_made, NULL, query); /* dropped: queries_fini() */
    } else {
        send_part(query);
    }
}

static void slices_gone(void *arg)
{
    struct query *query = arg;
    query->gone = true;
    query->request = NULL;
    slice_work_stop(query->work.turn);
    if (!query->committing) {
        query_destroy(query);
    }
}

/* The first slice of a query for jobs.  Only CALLER_WORKS_MAX works of one caller may hold lists at
 * a time. */
static void begin_jobs(void *arg)
{
    struct query *query = arg;
    struct schedd *schedd = query->schedd;
    const struct ad *args = wire_request_args(query->request);
    struct err err = {{0}};
    if (!slice_work_enter(query->work.turn, CALLER_WORKS_MAX)) {
        return;
    }
    int result = wanted_read(schedd, args, &query->ids, &err);
    if (result != 0) {
        wire_reply_error(query->request, result, "%s", err.text);
        query_destroy(query);
        return;
    }
    query->of = strmap_get(schedd->queue.owners, ad_string_or(args, "TotalsOf", ""));
    query->job_filter = job_filter_create(schedd, query->constraint, &query->work.context);
    query->rows =
        job_rows_create(schedd, (const char *const *)query->projection.items,
                        query->projection.count, query->form.shared, query->form.whole_if_computed);
    query->batches = query->form.batches ? job_batches_create() : NULL;
    query->slice = make_part;
    make_part(query);
}

static void query_jobs(struct query *query, bool batches)
{
    query->form.batches = batches;
    begin_slices(query, begin_jobs, slices_gone);
}

/* ---- history --------------------------------------------------------------------------------- */

static enum store_verdict filter_row(void *arg, const struct store_row *row)
{
    struct history_filter *filter = arg;
    if (filter->scan_limit > 0 && filter->scanned++ >= filter->scan_limit) {
        return STORE_LEAVE;
    }
    if (filter->constraint == NULL) {
        return STORE_KEEP;
    }
    if (filter->work.steps > filter->stop_at) {
        return STORE_LEAVE; /* the rest of the scan costs nothing; then it is refused */
    }
    if (filter->parsed == NULL && ad_expr_parse(filter->constraint, strlen(filter->constraint),
                                                AD_OLD, &filter->parsed, NULL) != 0) {
        return STORE_LEAVE;
    }
    struct ad *ad = NULL;
    if (ad_decode(row->value, row->length, NULL, &ad, NULL) != 0) {
        return STORE_LEAVE;
    }
    bool keep = ad_eval_bool(filter->parsed, ad, NULL, &filter->context) == AD_TRUE;
    ad_destroy(ad);
    filter->work.steps += WORK_VIEW_STEPS;
    if (filter->work.steps >= filter->pause_at) {
        filter->pause_at = filter->work.steps + AD_SLICE_STEPS;
        return keep ? STORE_KEEP_AND_PAUSE : STORE_LEAVE_AND_PAUSE;
    }
    return keep ? STORE_KEEP : STORE_LEAVE;
}

static bool is_since(const struct query *query, const struct ad *ad)
{
    if (query->history.since != NULL) {
        return ad_eval_bool(query->history.since, ad, NULL, &query->work.context) == AD_TRUE;
    }
    return query->history.since_cluster > 0 &&
           ad_int_or(ad, "ClusterId", 0) == query->history.since_cluster &&
           (query->history.since_proc < 0 ||
            ad_int_or(ad, "ProcId", 0) == query->history.since_proc);
}

static void put_past(struct query *query, const struct ad *ad)
{
    struct ad *part = query->projection.count > 0 ? ad_create() : ad_copy_public(ad);
    for (size_t i = 0; i < query->projection.count; i++) {
        const char *name = query->projection.items[i];
        if (!ad_attr_is_private(name)) {
            (void)ad_copy_attr(part, name, ad, name); /* absent: left out */
        }
    }
    size_t begin = wire_ad_begin(&query->part);
    ad_encode(part, false, &query->part);
    wire_ad_end(&query->part, begin);
    query->part_ads++;
    query->found++;
    ad_destroy(part);
}

static void history_found(void *arg, int result, const struct store_row *rows, size_t count)
{
    struct query *query = arg;
    bool stopped = false;
    size_t i = 0;
    query->committing = false;
    query->work.work.steps += query->history.filter.work.steps;
    query->work.work.over += query->history.filter.work.over;
    request_work_begin(&query->work);
    if (!query->gone && is_refused(query)) {
        return;
    }
    for (; result == 0 && !query->gone && i < count && query->part.length < HISTORY_PART_BYTES &&
           (i == 0 || request_work_goes_on(&query->work));
         i++) {
        struct ad *ad = NULL;
        (void)snprintf(query->history.key, sizeof(query->history.key), "%s",
                       rows[i].key); /* fits */
        if (ad_decode(rows[i].value, rows[i].length, NULL, &ad, NULL) != 0) {
            continue; /* a damaged row is left out */
        }
        stopped = is_since(query, ad);
        query->work.work.steps += WORK_LOOK_STEPS;
        if (!stopped) {
            put_past(query, ad);
        }
        ad_destroy(ad);
        if (stopped) {
            break;
        }
    }
    if (result != 0 && !query->gone) {
        wire_reply_error(query->request, result, "cannot read the history: %s",
                         err_code_text(result));
        query_destroy(query);
        return;
    }
    query->last = stopped || is_found(query) || (i == count && count < query->history.page);
    send_part(query);
}

/* Reads one page of the history: the rows after the last one that was looked at. */
static void history_page(void *arg)
{
    struct query *query = arg;
    char from[HISTORY_KEY_SIZE + 1];
    if (!slice_work_enter(query->work.turn, CALLER_WORKS_MAX)) {
        return;
    }
    (void)snprintf(from, sizeof(from), "%s!", query->history.key); /* behind it, before the next */
    const char *behind = query->history.key[0] != '\0' ? query->history.key : NULL;
    query->history.page = HISTORY_PAGE;
    if (query->limit > 0 && query->limit - query->found < HISTORY_PAGE) {
        query->history.page = (size_t)(query->limit - query->found);
    }
    query->history.filter.work = (struct ad_work){0};
    query->history.filter.pause_at = AD_SLICE_STEPS;
    query->history.filter.stop_at = request_work_left(&query->work);
    query->committing = true; /* not ours to free until it is done */
    store_scan(query->schedd->store, "history",
               query->history.forwards && behind != NULL ? from : NULL,
               query->history.forwards ? NULL : behind, !query->history.forwards,
               query->history.page, filter_row, &query->history.filter, history_found, query);
}

static void query_history(struct query *query)
{
    const struct ad *args = wire_request_args(query->request);
    const char *text = ad_string_or(args, "Constraint", "");
    query->history.filter.constraint = text[0] != '\0' ? mem_strdup(text) : NULL;
    query->history.filter.context = query->work.context;
    query->history.filter.context.work = &query->history.filter.work;
    query->history.filter.scan_limit = ad_int_or(args, "ScanLimit", 0);
    begin_slices(query, history_page, slices_gone);
}

/* One slice of a query for factories: clusters whose jobs are made later, and how many are made. */
static void look_at_factories(void *arg)
{
    struct query *query = arg;
    while (query->at < query->ids.count && request_work_goes_on(&query->work)) {
        const struct wanted *wanted = query->ids.items[query->at++];
        const struct cluster *cluster = queue_cluster(query->schedd, wanted->cluster);
        int64_t jobs[STATUS_SUSPENDED + 1] = {0};
        bool full = query->limit > 0 && (int64_t)query->history.ads.count >= query->limit;
        query->work.work.steps += WORK_LOOK_STEPS;
        if (cluster == NULL || cluster->factory == NULL || full) {
            continue;
        }
        struct ad *ad = factory_ad(cluster);
        query->work.work.steps += WORK_VIEW_STEPS + cluster->proc_count;
        for (uint32_t i = 0; i < cluster->proc_count; i++) {
            int64_t status = cluster->procs[i] != NULL ? job_status(cluster->procs[i]) : 0;
            jobs[status >= 0 && status <= STATUS_SUSPENDED ? status : 0]++;
        }
        ad_set_int(ad, "PresentJobs", cluster->alive);
        ad_set_int(ad, "IdleJobs", jobs[STATUS_IDLE]);
        ad_set_int(ad, "RunningJobs", jobs[STATUS_RUNNING] + jobs[STATUS_TRANSFERRING]);
        ad_set_int(ad, "HeldJobs", jobs[STATUS_HELD]);
        ad_set_int(ad, "SuspendedJobs", jobs[STATUS_SUSPENDED]);
        if (wants_ad(query, ad)) {
            add_history(query, ad);
        } else {
            ad_destroy(ad);
        }
    }
    if (query->at == query->ids.count) {
        begin_sending(query);
    } else if (!is_refused(query)) {
        slice_work_want(query->work.turn);
    }
}

static void begin_factories(void *arg)
{
    struct query *query = arg;
    if (slice_work_enter(query->work.turn, CALLER_WORKS_MAX)) {
        wanted_all(query->schedd, &query->ids);
        query->slice = look_at_factories;
        look_at_factories(query);
    }
}

static void query_factories(struct query *query)
{
    begin_slices(query, begin_factories, client_gone);
}

static void query_scheduler(struct query *query)
{
    struct ad *ad = request_ads_scheduler(query->schedd);
    if (wants_ad(query, ad)) {
        add_history(query, ad);
    } else {
        ad_destroy(ad);
    }
    begin_sending(query);
}

void query_handle(struct schedd *schedd, struct wire_request *request)
{
    struct err err = {{0}};
    struct query *query = NULL;
    claim_stamps_follow(schedd);
    int result = query_create(schedd, request, &query, &err);
    if (result != 0) {
        wire_reply_error(request, result, "%s", err.text);
        return;
    }
    const char *type = ad_string_or(wire_request_args(request), "Type", "Job");
    if (strcmp(type, "Job") == 0) {
        query_jobs(query, false);
    } else if (strcmp(type, "JobBatch") == 0) {
        query_jobs(query, true);
    } else if (strcmp(type, "History") == 0) {
        query_history(query);
    } else if (strcmp(type, "JobFactory") == 0) {
        query_factories(query);
    } else if (strcmp(type, "Scheduler") == 0) {
        query_scheduler(query);
    } else {
        query_destroy(query);
        wire_reply_error(request, -EINVAL,
                         "unknown type of ad '%.100s'; a schedd has Job, JobBatch, JobFactory, "
                         "History and Scheduler",
                         type);
    }
}

void queries_fini(struct schedd *schedd)
{
    while (!LIST_EMPTY(&schedd->under_way.queries)) {
        struct query *query = LIST_FIRST(&schedd->under_way.queries);
        if (query->request != NULL) {
            wire_reply_error(query->request, -ESHUTDOWN, "the schedd is stopping");
        }
        query_destroy(query);
    }
}
