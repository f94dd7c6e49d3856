/* schedd/requests/autocluster_plan.c - see autocluster_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/requests/autocluster_plan.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/text.h"
#include "classad/ad.h"
#include "wire/checkpoint_attrs.h"

/* Names that are always significant.  JobPrio is not: it only orders the jobs of one autocluster or
 * owner. */
static const char *const ALWAYS[] = {
    "Owner",         "User",
    "Requirements",  "Rank",
    "RequestCpus",   "RequestMemory",
    "RequestDisk",   "RequestGPUs",
    "JobUniverse",   "NiceUser",
    "AcctGroup",     "AccountingGroup",
    "AcctGroupUser", "ConcurrencyLimits",
    CKPT_ARCH,       CKPT_OPSYS, /* these come while a job runs: no expression shows them before */
    CKPT_FEATURES,   CKPT_ANYWHERE,
};

bool autocluster_plan_may_matter(const char *name)
{
    static const char *const NEVER[] = {
        "ProcId",        "GlobalJobId",        "JobStatus",        "EnteredCurrentStatus",
        "AutoClusterId", "ClaimEpoch",         "ClaimState",       "LastJobStatus",
        "LastMatchTime", "NumJobMatches",      "JobCount",         "JobPrio",
        "CurrentTime",   "LastRejMatchReason", "LastRejMatchTime", "LastRejMatchNegotiator",
        "ShadowError",
    };
    for (size_t i = 0; i < ARRAY_COUNT(NEVER); i++) {
        if (ad_name_compare(NEVER[i], name) == 0) {
            return false;
        }
    }
    return ad_name_is_valid(name);
}

static void add_name(struct strmap *names, const char *name)
{
    static const char present = 1;
    if (strmap_get(names, name) == NULL) {
        (void)strmap_set(names, name, (void *)(uintptr_t)&present); /* it was not there */
    }
}

/* Adds the attributes of the job that this attribute's expression reads. */
static void add_refs(const struct ad *job, const char *name, struct strmap *names)
{
    const struct ad_expr *expr = ad_lookup(job, name);
    if (expr == NULL) {
        return;
    }
    struct strmap *external = strmap_create(STRMAP_CASE_IGNORED);
    struct strmap *internal = strmap_create(STRMAP_CASE_IGNORED);
    ad_refs(expr, job, external, internal);
    const char *key = NULL;
    size_t at = 0;
    while (strmap_next(internal, &at, &key, NULL)) {
        add_name(names, key);
    }
    strmap_destroy(internal, NULL);
    strmap_destroy(external, NULL);
}

void autocluster_plan_names(const struct ad *job, const char *const *extra, struct strmap *names)
{
    for (size_t i = 0; i < ARRAY_COUNT(ALWAYS); i++) {
        add_name(names, ALWAYS[i]);
    }
    for (size_t i = 0; extra != NULL && extra[i] != NULL; i++) {
        add_name(names, extra[i]);
    }
    add_refs(job, "Requirements", names);
    add_refs(job, "Rank", names);
    add_refs(job, "RequestCpus", names);
    add_refs(job, "RequestMemory", names);
    add_refs(job, "RequestDisk", names);
}

static bool is_request(const char *name)
{
    static const char PREFIX[] = "request";
    size_t same = 0;
    while (same < sizeof(PREFIX) - 1 && text_lower(name[same]) == PREFIX[same]) {
        same++;
    }
    return same == sizeof(PREFIX) - 1 && name[same] != '\0';
}

void autocluster_plan_requests(const struct ad *ad, struct strmap *names)
{
    size_t at = 0;
    const char *name = NULL;
    while (ad != NULL && ad_next(ad, &at, &name, NULL)) {
        if (is_request(name)) {
            add_name(names, name);
        }
    }
}

static int by_name(const void *a, const void *b)
{
    return ad_name_compare(*(const char *const *)a, *(const char *const *)b);
}

void autocluster_plan_key(const struct ad *job, const struct strmap *names, struct strbuf *key)
{
    size_t count = strmap_count(names);
    const char **sorted = mem_alloc((count + 1) * sizeof(*sorted));
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        bool more = strmap_next(names, &at, &sorted[i], NULL);
        CHECK(more);
    }
    qsort(sorted, count, sizeof(*sorted), by_name);
    for (size_t i = 0; i < count; i++) {
        const struct ad_expr *expr = ad_lookup(job, sorted[i]);
        if (expr == NULL) {
            continue; /* the same as undefined */
        }
        for (const char *p = sorted[i]; *p != '\0'; p++) {
            strbuf_putc(key, (*p >= 'A' && *p <= 'Z') ? (char)(*p - 'A' + 'a') : *p);
        }
        strbuf_putc(key, '=');
        ad_expr_print(expr, AD_NEW, key);
        strbuf_putc(key, '\n');
    }
    mem_free(sorted);
}

bool autocluster_plan_differs(const struct ad *own, const struct strmap *names)
{
    if (own == NULL) {
        return false;
    }
    size_t at = 0;
    const char *name = NULL;
    while (ad_next(own, &at, &name, NULL)) {
        if (strmap_get(names, name) != NULL || is_request(name)) {
            return true;
        }
    }
    return false;
}
