/* schedd/requests/job_autocluster.c - see job_autocluster.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/requests/job_autocluster.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "schedd/requests/autocluster_plan.h"
#include "schedd/queue/job_ad.h"
#include "schedd/queue/queue_table.h"
#include "schedd/requests/request_news.h"
#include "schedd/schedd_plan.h"
#include "schedd/schedd_state.h"
#include "schedd/requests/submitters.h"

/* bytes of an autocluster's number as text, with the terminating zero */
#define ID_TEXT     24
#define LEARNED_MAX 500
/* most bytes of each text that is kept, without the terminating zero */
#define REJECTED_TEXT_MAX 2000
#define PRIO_STEPS_MAX    2000 /* steps of PRIO for one job; a PRIO that takes more counts as 0 */

static void id_text(int64_t id, char ret[ID_TEXT])
{
    (void)snprintf(ret, ID_TEXT, "%" PRId64, id); /* fits */
}

void autoclusters_init(struct schedd *schedd)
{
    schedd->groups.by_key = strmap_create(STRMAP_CASE_SENSITIVE);
    submitters_init(schedd);
    schedd->groups.by_id = strmap_create(STRMAP_CASE_SENSITIVE);
    schedd->groups.learned = strmap_create(STRMAP_CASE_IGNORED);
}

static void autocluster_destroy(void *value)
{
    struct autocluster *autocluster = value;
    strmap_destroy(autocluster->names, NULL);
    mem_free(autocluster->rejected_why);
    mem_free(autocluster->rejected_by);
    mem_free(autocluster->key);
    mem_free(autocluster->heap);
    vec_fini(&autocluster->waiting, NULL);
    mem_free(autocluster);
}

void autoclusters_fini(struct schedd *schedd)
{
    strmap_destroy(schedd->groups.by_id, NULL);
    strmap_destroy(schedd->groups.by_key, autocluster_destroy);
    submitters_fini(schedd);
    strmap_destroy(schedd->groups.learned, NULL);
    schedd->groups.learned = NULL;
    schedd->groups.by_id = NULL;
    schedd->groups.by_key = NULL;
}

struct autocluster *autocluster_find(const struct schedd *schedd, int64_t id)
{
    char text[ID_TEXT];
    id_text(id, text);
    return strmap_get(schedd->groups.by_id, text);
}

static struct autocluster *make_autocluster(struct schedd *schedd, struct owner *owner,
                                            const struct ad *view, const char *key,
                                            struct strmap *names, int64_t wanted_id)
{
    struct autocluster *autocluster = mem_zalloc(sizeof(*autocluster));
    bool free_id = wanted_id > 0 && autocluster_find(schedd, wanted_id) == NULL;
    autocluster->id = free_id ? wanted_id : schedd->groups.next_id;
    if (autocluster->id >= schedd->groups.next_id) {
        schedd->groups.next_id = autocluster->id + 1;
    }
    autocluster->key = mem_strdup(key);
    autocluster->owner = owner;
    autocluster->names = names;
    autocluster->submitter = submitter_of(schedd, owner, view);
    autocluster->weight = submitter_weight(view);
    (void)strmap_set(schedd->groups.by_key, autocluster->key, autocluster); /* was absent */
    char text[ID_TEXT];
    id_text(autocluster->id, text);
    (void)strmap_set(schedd->groups.by_id, text, autocluster); /* was absent */
    return autocluster;
}

/* Adds the names learned from the negotiator to the names of an autocluster. */
static void add_learned(const struct schedd *schedd, struct strmap *names)
{
    size_t at = 0;
    const char *name;
    while (strmap_next(schedd->groups.learned, &at, &name, NULL)) {
        (void)strmap_set(names, name, schedd->groups.learned); /* only presence counts */
    }
}

static struct autocluster *find_or_make(struct schedd *schedd, const struct job *job,
                                        int64_t wanted_id)
{
    struct ad *view = job_view(schedd, job);
    struct strmap *names = strmap_create(STRMAP_CASE_IGNORED);
    autocluster_plan_names(view, schedd->settings.significant, names);
    add_learned(schedd, names);
    autocluster_plan_requests(job->cluster->ad, names);
    autocluster_plan_requests(job->own, names);
    struct strbuf key;
    strbuf_init(&key, 0);
    autocluster_plan_key(view, names, &key);
    struct autocluster *found = strmap_get(schedd->groups.by_key, strbuf_text(&key));
    if (found == NULL) {
        found = make_autocluster(schedd, job->cluster->owner, view, strbuf_text(&key), names,
                                 wanted_id);
    } else {
        strmap_destroy(names, NULL);
    }
    strbuf_fini(&key);
    ad_destroy(view);
    return found;
}

void autocluster_join(struct schedd *schedd, struct job *job, int64_t wanted_id)
{
    CHECK(job->autocluster == NULL);
    struct cluster *cluster = job->cluster;
    /* Most jobs of a cluster differ in nothing that matters: they share the first one's. */
    if (cluster->common != NULL && !autocluster_plan_differs(job->own, cluster->common->names)) {
        job->autocluster = cluster->common;
    } else {
        job->autocluster = find_or_make(schedd, job, wanted_id);
        if (cluster->common == NULL &&
            !autocluster_plan_differs(job->own, job->autocluster->names)) {
            cluster->common = job->autocluster;
            autocluster_hold(cluster->common);
        }
    }
    job->autocluster->jobs++;
    submitter_count(schedd, job, job_status(job), 1);
}

void autocluster_leave(struct schedd *schedd, struct job *job)
{
    struct autocluster *autocluster = job->autocluster;
    CHECK(autocluster != NULL && job->heap_at == HEAP_NOWHERE && autocluster->jobs > 0);
    submitter_count(schedd, job, job_status(job), -1);
    job->autocluster = NULL;
    autocluster->jobs--;
    autocluster_sweep(schedd, autocluster);
}

void autocluster_hold(struct autocluster *autocluster)
{
    autocluster->claims++;
}

void autocluster_release(struct schedd *schedd, struct autocluster *autocluster)
{
    CHECK(autocluster->claims > 0);
    autocluster->claims--;
    autocluster_sweep(schedd, autocluster);
}

void autocluster_sweep(struct schedd *schedd, struct autocluster *autocluster)
{
    if (autocluster->jobs > 0 || autocluster->claims > 0 || autocluster->published ||
        autocluster->dirty) {
        return;
    }
    char text[ID_TEXT];
    id_text(autocluster->id, text);
    CHECK(strmap_remove(schedd->groups.by_id, text) == autocluster);
    CHECK(strmap_remove(schedd->groups.by_key, autocluster->key) == autocluster);
    submitter_release(schedd, autocluster->submitter);
    autocluster_destroy(autocluster);
}

/* ---- the order of the idle jobs: a binary heap, best first ----------------------------------- */

static bool job_before(const struct job *a, const struct job *b)
{
    struct plan_order pa = {a->prio, a->cluster->id, a->proc};
    struct plan_order pb = {b->prio, b->cluster->id, b->proc};
    return schedd_plan_before(&pa, &pb);
}

static void heap_put(struct autocluster *autocluster, uint32_t at, struct job *job)
{
    autocluster->heap[at] = job;
    job->heap_at = at;
}

static void heap_rise(struct autocluster *autocluster, uint32_t at, struct job *job)
{
    while (at > 0 && job_before(job, autocluster->heap[(at - 1) / 2])) {
        heap_put(autocluster, at, autocluster->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    heap_put(autocluster, at, job);
}

static void heap_sink(struct autocluster *autocluster, uint32_t at, struct job *job)
{
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= autocluster->idle_count) {
            break;
        }
        if (child + 1 < autocluster->idle_count &&
            job_before(autocluster->heap[child + 1], autocluster->heap[child])) {
            child++;
        }
        if (!job_before(autocluster->heap[child], job)) {
            break;
        }
        heap_put(autocluster, at, autocluster->heap[child]);
        at = child;
    }
    heap_put(autocluster, at, job);
}

static void mark_changed(struct schedd *schedd, struct autocluster *autocluster)
{
    autocluster->dirty = true;
    request_news_changed(schedd);
}

/* Evaluates the knob PRIO for a job. */
static double job_prio(const struct schedd *schedd, const struct job *job)
{
    int64_t user_prio = job_int(job, "JobPrio", 0);
    bool expanded = job_int(job, "NumJobStarts", 0) > 0;
    if (schedd->settings.prio == NULL) {
        return schedd_plan_prio(user_prio, expanded, job->cluster->qdate_s);
    }
    struct ad *view = job_view(schedd, job);
    ad_set_int(view, "UserPrio", user_prio);
    ad_set_int(view, "Expanded", expanded ? 1 : 0);
    struct ad_work work = {.steps_max = PRIO_STEPS_MAX};
    struct ad_context context = {.now_s = loop_wall_s(schedd->loop), .work = &work};
    double prio = ad_eval_rank(schedd->settings.prio, view, NULL, &context);
    ad_destroy(view);
    return prio;
}

void autocluster_push(struct schedd *schedd, struct job *job)
{
    struct autocluster *autocluster = job->autocluster;
    CHECK(job->heap_at == HEAP_NOWHERE);
    if (autocluster->idle_count == autocluster->idle_capacity) {
        autocluster->idle_capacity =
            autocluster->idle_capacity == 0 ? 8 : autocluster->idle_capacity * 2;
        autocluster->heap = mem_realloc(autocluster->heap,
                                        (size_t)autocluster->idle_capacity * sizeof(struct job *));
    }
    job->prio = job_prio(schedd, job);
    heap_rise(autocluster, autocluster->idle_count++, job);
    mark_changed(schedd, autocluster);
}

void autocluster_pull(struct schedd *schedd, struct job *job, bool by_claim)
{
    struct autocluster *autocluster = job->autocluster;
    uint32_t at = job->heap_at;
    CHECK(at < autocluster->idle_count && autocluster->heap[at] == job);
    job->heap_at = HEAP_NOWHERE;
    struct job *last = autocluster->heap[--autocluster->idle_count];
    if (last != job) {
        heap_rise(autocluster, at, last);
        heap_sink(autocluster, last->heap_at, last);
    }
    if (by_claim && autocluster->idle_count > 0) {
        autocluster->dirty = true;
        request_news_drained(schedd);
    } else {
        mark_changed(schedd, autocluster);
    }
}

struct job *autocluster_best(const struct autocluster *autocluster)
{
    return autocluster->idle_count == 0 ? NULL : autocluster->heap[0];
}

void autocluster_waits(struct schedd *schedd, struct autocluster *autocluster, struct job *job,
                       bool waits)
{
    bool changed = waits;
    if (waits) {
        vec_push(&autocluster->waiting, job);
    }
    for (size_t i = 0; !changed && i < autocluster->waiting.count; i++) {
        if (autocluster->waiting.items[i] == job) {
            vec_remove_at(&autocluster->waiting, i);
            changed = true;
        }
    }
    if (changed) {
        mark_changed(schedd, autocluster);
    }
}

void autocluster_rejected(struct schedd *schedd, struct autocluster *autocluster, const char *why,
                          const char *by)
{
    mem_free(autocluster->rejected_why);
    mem_free(autocluster->rejected_by);
    autocluster->rejected_why =
        why[0] != '\0' ? mem_strndup(why, strnlen(why, REJECTED_TEXT_MAX)) : NULL;
    autocluster->rejected_by = mem_strndup(by, strnlen(by, REJECTED_TEXT_MAX));
    autocluster->rejected_s = loop_wall_s(schedd->loop);
}

/* ---- attributes that begin to matter --------------------------------------------------------- */

bool autoclusters_learn(struct schedd *schedd, const char *name)
{
    if (!autocluster_plan_may_matter(name) || strmap_get(schedd->groups.learned, name) != NULL ||
        strmap_count(schedd->groups.learned) >= LEARNED_MAX) {
        return false;
    }
    (void)strmap_set(schedd->groups.learned, name, schedd); /* was absent */
    return true;
}

static bool has_any_name(const struct ad *ad, const char *const *names, size_t count)
{
    for (size_t i = 0; ad != NULL && i < count; i++) {
        if (ad_has(ad, names[i])) {
            return true;
        }
    }
    return false;
}

void autocluster_rejoin(struct schedd *schedd, struct job *job)
{
    bool idle = job->heap_at != HEAP_NOWHERE;
    if (idle) {
        autocluster_pull(schedd, job, false);
    }
    autocluster_waits(schedd, job->autocluster, job, false); /* its claim is not of the new one */
    autocluster_leave(schedd, job);
    autocluster_join(schedd, job, 0);
    if (idle) {
        autocluster_push(schedd, job);
    }
}

size_t autoclusters_divide(struct schedd *schedd, const char *const *names, size_t count)
{
    size_t at = 0, moved = 0;
    void *value = NULL;
    while (strmap_next(schedd->queue.clusters, &at, NULL, &value)) {
        struct cluster *cluster = value;
        bool all = has_any_name(cluster->ad, names, count);
        if (cluster->common != NULL) { /* its names are not all any more */
            struct autocluster *common = cluster->common;
            cluster->common = NULL;
            autocluster_release(schedd, common);
        }
        for (uint32_t i = 0; i < cluster->proc_count; i++) {
            struct job *job = cluster->procs[i];
            if (job != NULL && (all || has_any_name(job->own, names, count))) {
                autocluster_rejoin(schedd, job);
                moved++;
            }
        }
    }
    return moved;
}
