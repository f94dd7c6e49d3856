/* schedd/questions/job_filter.c - see job_filter.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/questions/job_filter.h"

#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "classad/ad_depends.h"
#include "schedd/queue/job_ad.h"
#include "schedd/queue/queue_table.h"
#include "schedd/requests/request_work.h"

#define STATUSES    16  /* larger than each JobStatus */
#define LOOK_STEPS  100 /* steps for looking at a cluster, besides the bytes of the constraint */
#define FIXED_STEPS 10  /* steps for a fixed attribute that is put into an ad */

enum how { BY_CLUSTER, BY_STATUS, BY_FIXED, BY_WHOLE };
enum verdict { UNKNOWN, NO, YES };

struct job_filter {
    const struct schedd *schedd;
    const struct ad_expr *constraint;
    const struct ad_context *context;
    bool odd;             /* it computes names or uses random numbers: evaluate it for each job */
    uint64_t look_steps;  /* steps for looking at a cluster */
    int64_t cluster;      /* the members below are about this cluster; 0: none */
    uint32_t revision;    /* revision of that cluster's ad */
    enum how how;         /* how to evaluate a job whose own ad has none of the names */
    struct strmap *names; /* names that the constraint may read there */
    struct vec fixed;     /* fixed attributes among the names, each as its number + 1 */
    uint8_t verdict[STATUSES];
    struct ad *scratch;
};

static void ignore_name(void *arg, const char *name, bool in_my, bool in_target)
{
    (void)arg;
    (void)name;
    (void)in_my;
    (void)in_target;
}

/* Returns whether the expression computes names or uses random numbers. *bytes, unless NULL: the
 * length of its text. */
static bool is_odd(const struct ad_expr *expr, size_t *bytes)
{
    struct strbuf text;
    if (ad_expr_is_literal(expr)) {
        return false;
    }
    strbuf_init(&text, 0);
    ad_expr_print(expr, AD_NEW, &text);
    bool odd = ad_depends(expr, ignore_name, NULL) || text.failed ||
               strcasestr(strbuf_text(&text), "random") != NULL;
    if (bytes != NULL) {
        *bytes = text.length;
    }
    strbuf_fini(&text);
    return odd;
}

struct job_filter *job_filter_create(const struct schedd *schedd, const struct ad_expr *constraint,
                                     const struct ad_context *context)
{
    struct job_filter *filter = mem_zalloc(sizeof(*filter));
    filter->schedd = schedd;
    filter->constraint = constraint;
    filter->context = context;
    size_t bytes = 0;
    filter->odd = constraint != NULL && is_odd(constraint, &bytes);
    filter->look_steps = bytes + LOOK_STEPS;
    filter->scratch = ad_create();
    return filter;
}

static void forget_cluster(struct job_filter *filter)
{
    strmap_destroy(filter->names, NULL);
    filter->names = NULL;
    filter->fixed.count = 0; /* these are numbers */
    filter->cluster = 0;
}

void job_filter_destroy(struct job_filter *filter)
{
    if (filter != NULL) {
        forget_cluster(filter);
        vec_fini(&filter->fixed, NULL);
        ad_destroy(filter->scratch);
        mem_free(filter);
    }
}

static void count_steps(const struct job_filter *filter, uint64_t steps)
{
    if (filter->context->work != NULL) {
        filter->context->work->steps += steps;
    }
}

static void look_at(struct job_filter *filter, const struct cluster *cluster)
{
    size_t at = 0;
    const char *name = NULL;
    forget_cluster(filter);
    filter->cluster = cluster->id;
    filter->revision = cluster->revision;
    count_steps(filter, filter->look_steps);
    filter->how = filter->odd ? BY_WHOLE : BY_CLUSTER;
    filter->names = strmap_create(STRMAP_CASE_IGNORED);
    memset(filter->verdict, UNKNOWN, sizeof(filter->verdict));
    struct strmap *found = strmap_create(STRMAP_CASE_IGNORED);
    ad_refs(filter->constraint, cluster->ad, filter->names, found);
    while (strmap_next(found, &at, &name, NULL)) {
        (void)strmap_set(filter->names, name, filter);
    }
    strmap_destroy(found, NULL);
    at = 0;
    while (filter->how != BY_WHOLE && strmap_next(filter->names, &at, &name, NULL)) {
        const struct ad_expr *expr = ad_lookup(cluster->ad, name);
        int fixed = job_fixed_find(name);
        if (expr != NULL && is_odd(expr, NULL)) {
            filter->how = BY_WHOLE;
        } else if (fixed >= 0) {
            bool status = ad_name_compare(name, "JobStatus") == 0;
            filter->how = status && filter->how != BY_FIXED ? BY_STATUS : BY_FIXED;
            vec_push(&filter->fixed, (void *)(intptr_t)(fixed + 1));
        }
    }
}

/* Returns whether the job's own ad has a name that the constraint reads. */
static bool is_special(const struct job_filter *filter, const struct job *job)
{
    size_t at = 0;
    const char *name = NULL;
    while (job->own != NULL && ad_next(job->own, &at, &name, NULL)) {
        if (strmap_get(filter->names, name) != NULL) {
            return true;
        }
    }
    return false;
}

static bool is_true(const struct job_filter *filter, const struct ad *ad)
{
    return ad_eval_bool(filter->constraint, ad, NULL, filter->context) == AD_TRUE;
}

static bool ask_fixed(struct job_filter *filter, const struct job *job)
{
    ad_clear(filter->scratch);
    count_steps(filter, filter->fixed.count * FIXED_STEPS);
    for (size_t i = 0; i < filter->fixed.count; i++) {
        job_fixed_put(filter->schedd, job, (int)(intptr_t)filter->fixed.items[i] - 1,
                      filter->scratch);
    }
    ad_chain(filter->scratch, job->cluster->ad);
    bool wants = is_true(filter, filter->scratch);
    ad_chain(filter->scratch, NULL);
    return wants;
}

static bool ask_whole(const struct job_filter *filter, const struct job *job)
{
    struct ad *view = job_view(filter->schedd, job);
    count_steps(filter, WORK_VIEW_STEPS + ad_count(view));
    bool wants = is_true(filter, view);
    ad_destroy(view);
    return wants;
}

bool job_filter_wants(struct job_filter *filter, const struct job *job)
{
    if (filter->constraint == NULL) {
        return true;
    }
    if (filter->cluster != job->cluster->id || filter->revision != job->cluster->revision) {
        look_at(filter, job->cluster);
    }
    if (filter->how == BY_WHOLE || is_special(filter, job)) {
        return ask_whole(filter, job);
    }
    if (filter->how == BY_FIXED) {
        return ask_fixed(filter, job);
    }
    enum job_status status = job_status(job);
    uint8_t *verdict = &filter->verdict[filter->how == BY_STATUS ? (int)status : 0];
    if (*verdict == UNKNOWN) {
        *verdict = ask_fixed(filter, job) ? YES : NO;
    }
    return *verdict == YES;
}
