/* schedd/queue/job_rows.c - see job_rows.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/queue/job_rows.h"

#include <stdint.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "schedd/queue/job_ad.h"
#include "schedd/queue/queue_table.h"
#include "wire/wire.h"

struct job_rows {
    const struct schedd *schedd;
    bool shared, whole_if_computed;
    struct vec names;      /* wanted attributes; empty: all */
    struct strmap *wanted; /* the same names, for look-ups */
    struct vec fixed; /* fixed attributes among the names, each as its number + 1; not ProcId */
    /* jobs may be joined in one ad: the fixed ones are only those that a run of jobs compares */
    bool may_run;
    int64_t cluster; /* cluster whose common ad was sent; 0: none */
    bool whole;      /* all attributes of that cluster are sent */
    struct ad *row;
    struct {
        const struct job *job; /* first job of the run that is kept back; NULL: none */
        uint32_t proc, count;
        enum job_status status;
        int64_t entered_s;
    } run;
    size_t ads;
};

struct job_rows *job_rows_create(const struct schedd *schedd, const char *const *names,
                                 size_t count, bool shared, bool whole_if_computed)
{
    struct job_rows *rows = mem_zalloc(sizeof(*rows));
    rows->schedd = schedd;
    rows->shared = shared && count > 0;
    rows->whole_if_computed = whole_if_computed;
    rows->wanted = strmap_create(STRMAP_CASE_IGNORED);
    rows->row = ad_create();
    rows->may_run = true;
    for (size_t i = 0; i < count; i++) {
        int fixed = job_fixed_find(names[i]);
        if (strmap_set(rows->wanted, names[i], rows) != NULL || ad_attr_is_private(names[i])) {
            continue;
        }
        vec_push(&rows->names, mem_strdup(names[i]));
        if (fixed >= 0 && ad_name_compare(names[i], "ProcId") != 0) {
            vec_push(&rows->fixed, (void *)(intptr_t)(fixed + 1));
            rows->may_run =
                rows->may_run && (ad_name_compare(names[i], "JobStatus") == 0 ||
                                  ad_name_compare(names[i], "EnteredCurrentStatus") == 0);
        }
    }
    return rows;
}

void job_rows_destroy(struct job_rows *rows)
{
    if (rows != NULL) {
        vec_fini(&rows->names, mem_free);
        vec_fini(&rows->fixed, NULL);
        strmap_destroy(rows->wanted, NULL);
        ad_destroy(rows->row);
        mem_free(rows);
    }
}

size_t job_rows_ads(struct job_rows *rows)
{
    size_t ads = rows->ads;
    rows->ads = 0;
    return ads;
}

static void put_ad(struct job_rows *rows, const struct ad *ad, struct strbuf *out)
{
    size_t begin = wire_ad_begin(out);
    ad_encode(ad, false, out);
    wire_ad_end(out, begin);
    rows->ads++;
}

static void merge_public(struct ad *into, const struct ad *from)
{
    size_t at = 0;
    const char *name = NULL;
    while (ad_next(from, &at, &name, NULL)) {
        if (!ad_attr_is_private(name)) {
            (void)ad_copy_attr(into, name, from, name); /* it is there */
        }
    }
}

/* Copies the wanted attributes of from, without chained ones.  Returns true when one of them is an
 * expression and not a literal. */
static bool pick_wanted(const struct job_rows *rows, struct ad *into, const struct ad *from)
{
    bool computed = false;
    size_t at = 0;
    const char *name = NULL;
    const struct ad_expr *expr = NULL;
    while (ad_next(from, &at, &name, &expr)) {
        if (strmap_get(rows->wanted, name) != NULL && !ad_attr_is_private(name)) {
            (void)ad_copy_attr(into, name, from, name); /* it is there */
            computed = computed || !ad_expr_is_literal(expr);
        }
    }
    return computed;
}

/* ---- each job alone -------------------------------------------------------------------------- */

static void put_flat(struct job_rows *rows, const struct job *job, struct strbuf *out)
{
    struct ad *flat = job_flat(rows->schedd, job);
    ad_clear(rows->row);
    bool whole = rows->names.count == 0;
    for (size_t i = 0; i < rows->names.count; i++) {
        const char *name = rows->names.items[i];
        const struct ad_expr *expr = ad_lookup(flat, name);
        (void)ad_copy_attr(rows->row, name, flat, name); /* absent: left out */
        whole = whole || (rows->whole_if_computed && expr != NULL && !ad_expr_is_literal(expr));
    }
    if (whole) {
        merge_public(rows->row, flat);
    }
    ad_destroy(flat);
    put_ad(rows, rows->row, out);
}

/* ---- what jobs share is said once ------------------------------------------------------------ */

static void put_common(struct job_rows *rows, const struct cluster *cluster, struct strbuf *out)
{
    struct ad *common = ad_create();
    rows->cluster = cluster->id;
    rows->whole = pick_wanted(rows, common, cluster->ad) && rows->whole_if_computed;
    if (rows->whole) {
        merge_public(common, cluster->ad);
    }
    ad_set_int(common, "ClusterId", cluster->id);
    ad_remove(common, "ProcId");
    put_ad(rows, common, out);
    ad_destroy(common);
}

static void put_run(struct job_rows *rows, struct strbuf *out)
{
    if (rows->run.job == NULL) {
        return;
    }
    if (rows->run.count > 1) {
        ad_set_int(rows->row, "ProcCount", rows->run.count);
    }
    put_ad(rows, rows->row, out);
    rows->run.job = NULL;
}

/* Returns whether the job's own ad has a wanted attribute. */
static bool has_own(const struct job_rows *rows, const struct job *job)
{
    size_t at = 0;
    const char *name = NULL;
    while (job->own != NULL && ad_next(job->own, &at, &name, NULL)) {
        if (strmap_get(rows->wanted, name) != NULL) {
            return true;
        }
    }
    return false;
}

static bool continues_run(const struct job_rows *rows, const struct job *job)
{
    return rows->run.job != NULL && job->proc == rows->run.proc + rows->run.count &&
           job_status(job) == rows->run.status && job->entered_s == rows->run.entered_s;
}

static void put_shared(struct job_rows *rows, const struct job *job, struct strbuf *out)
{
    if (rows->cluster != job->cluster->id) {
        put_run(rows, out);
        put_common(rows, job->cluster, out);
    }
    bool alike = rows->may_run && !rows->whole && !has_own(rows, job);
    if (alike && continues_run(rows, job)) {
        rows->run.count++;
        return;
    }
    put_run(rows, out);
    ad_clear(rows->row);
    ad_set_int(rows->row, "ProcId", job->proc);
    bool whole = rows->whole;
    if (job->own != NULL) {
        whole = (pick_wanted(rows, rows->row, job->own) && rows->whole_if_computed) || whole;
    }
    if (whole) {
        struct ad *all = rows->whole ? job_view(rows->schedd, job) : job_flat(rows->schedd, job);
        merge_public(rows->row, all);
        ad_destroy(all);
    }
    for (size_t i = 0; !whole && i < rows->fixed.count; i++) {
        job_fixed_put(rows->schedd, job, (int)(intptr_t)rows->fixed.items[i] - 1, rows->row);
    }
    if (alike) {
        rows->run.job = job;
        rows->run.proc = job->proc;
        rows->run.count = 1;
        rows->run.status = job_status(job);
        rows->run.entered_s = job->entered_s;
        return; /* until the next is known */
    }
    put_ad(rows, rows->row, out);
}

void job_rows_add(struct job_rows *rows, const struct job *job, struct strbuf *out)
{
    if (rows->shared) {
        put_shared(rows, job, out);
    } else {
        put_flat(rows, job, out);
    }
}

void job_rows_flush(struct job_rows *rows, struct strbuf *out)
{
    put_run(rows, out);
    rows->cluster = 0;
}
