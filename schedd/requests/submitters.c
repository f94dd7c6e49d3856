/* schedd/requests/submitters.c - see submitters.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/requests/submitters.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "schedd/queue/job_ad.h"
#include "schedd/requests/job_autocluster.h"
#include "schedd/requests/request_news.h"
#include "schedd/schedd_state.h"

#define GROUP_NAME_MAX 400 /* most bytes of a group's name, without the terminating zero */

void submitters_init(struct schedd *schedd)
{
    schedd->groups.submitters = strmap_create(STRMAP_CASE_SENSITIVE);
}

static void submitter_destroy(void *value)
{
    struct submitter *submitter = value;
    mem_free(submitter->name);
    mem_free(submitter);
}

void submitters_fini(struct schedd *schedd)
{
    strmap_destroy(schedd->groups.submitters, submitter_destroy);
    schedd->groups.submitters = NULL;
}

/* Returns whether this is a usable AccountingGroup: one word without a domain. */
static bool is_group_name(const char *name)
{
    for (const char *at = name; *at != '\0'; at++) {
        if ((unsigned char)*at <= ' ' || *at == 0x7f || *at == '@' || *at == '#') {
            return false;
        }
    }
    return name[0] != '\0' && strlen(name) <= GROUP_NAME_MAX;
}

struct submitter *submitter_of(struct schedd *schedd, struct owner *owner, const struct ad *view)
{
    const char *group = ad_string_or(view, "AccountingGroup", "");
    struct strbuf name;
    strbuf_init(&name, 0);
    if (is_group_name(group)) {
        strbuf_printf(&name, "%s@%s", group, schedd->self.uid_domain);
    } else {
        strbuf_puts(&name, owner->user);
    }
    struct submitter *submitter = strmap_get(schedd->groups.submitters, strbuf_text(&name));
    if (submitter == NULL) {
        submitter = mem_zalloc(sizeof *submitter);
        submitter->name = mem_strdup(strbuf_text(&name));
        submitter->owner = owner;
        (void)strmap_set(schedd->groups.submitters, submitter->name, submitter); /* was absent */
    }
    strbuf_fini(&name);
    submitter->autoclusters++;
    return submitter;
}

/* Frees the submitter if no autocluster uses it and the collector has no ad of it. */
static void sweep_submitter(struct schedd *schedd, struct submitter *submitter)
{
    if (submitter->autoclusters == 0 && !submitter->published) {
        CHECK(strmap_remove(schedd->groups.submitters, submitter->name) == submitter);
        submitter_destroy(submitter);
    }
}

void submitter_release(struct schedd *schedd, struct submitter *submitter)
{
    CHECK(submitter->autoclusters > 0);
    submitter->autoclusters--;
    sweep_submitter(schedd, submitter);
}

double submitter_weight(const struct ad *view)
{
    double cpus = ad_real_or(view, "RequestCpus", 1);
    return cpus > 0 && cpus < 1e6 ? cpus : 1;
}

void submitter_count(struct schedd *schedd, const struct job *job, enum job_status status,
                     int64_t by)
{
    struct submitter *submitter = job->autocluster->submitter;
    double weight = job->autocluster->weight * (double)by;
    switch (status) {
    case STATUS_IDLE:
        submitter->idle += by;
        submitter->weighted_idle += weight;
        break;
    case STATUS_RUNNING:
    case STATUS_TRANSFERRING:
    case STATUS_SUSPENDED:
        submitter->running += by;
        submitter->weighted_running += weight;
        break;
    case STATUS_HELD:
        submitter->held += by;
        break;
    case STATUS_COMPLETED:
        break; /* wants nothing */
    default:
        CHECK(status == STATUS_IDLE); /* no job in the queue has another */
    }
    submitter->dirty = true;
    if (submitter->published && submitter->idle + submitter->running + submitter->held > 0) {
        request_news_drained(schedd); /* a need for more slots is told by the request ad */
    } else {
        request_news_changed(schedd);
    }
}

/* ---- the ads */

static char *ad_name(const struct schedd *schedd, const struct submitter *submitter)
{
    struct strbuf name;
    strbuf_init(&name, 0);
    strbuf_printf(&name, "%s#%s", submitter->name, schedd->self.name);
    return strbuf_take(&name);
}

static struct ad *submitter_ad(const struct schedd *schedd, const struct submitter *submitter)
{
    struct ad *ad = ad_create();
    char *name = ad_name(schedd, submitter);
    ad_set_string(ad, "MyType", "Submitter");
    ad_set_string(ad, "Name", name);
    ad_set_string(ad, "User", submitter->name);
    ad_set_string(ad, "ScheddName", schedd->self.name);
    ad_set_string(ad, "Machine", schedd->self.machine);
    ad_set_string(ad, "MyAddress", schedd->self.address);
    ad_set_string(ad, "SubmitterTag", ""); /* this pool; flocking names another */
    ad_set_int(ad, "IdleJobs", submitter->idle);
    ad_set_int(ad, "RunningJobs", submitter->running);
    ad_set_int(ad, "HeldJobs", submitter->held);
    ad_set_int(ad, "WantedJobs", submitter->idle + submitter->running);
    ad_set_real(ad, "WeightedIdleJobs", submitter->weighted_idle);
    ad_set_real(ad, "WeightedRunningJobs", submitter->weighted_running);
    mem_free(name);
    return ad;
}

void submitters_publish(struct schedd *schedd, struct vec *ads, struct vec *gone)
{
    size_t at = 0;
    void *value = NULL;
    while (strmap_next(schedd->groups.submitters, &at, NULL, &value)) {
        struct submitter *submitter = value;
        if (!submitter->dirty) {
            continue;
        }
        submitter->dirty = false;
        if (submitter->idle + submitter->running + submitter->held > 0) {
            submitter->published = true;
            vec_push(ads, submitter_ad(schedd, submitter));
        } else if (submitter->published) {
            submitter->published = false;
            vec_push(gone, ad_name(schedd, submitter));
            sweep_submitter(schedd, submitter); /* the walk allows that of the entry at hand */
        }
    }
}

bool submitter_is_published(const struct schedd *schedd, const char *name)
{
    const char *end = strrchr(name, '#');
    char *key = mem_strndup(name, end != NULL ? (size_t)(end - name) : strlen(name));
    const struct submitter *submitter = strmap_get(schedd->groups.submitters, key);
    mem_free(key);
    return submitter != NULL && submitter->published;
}
