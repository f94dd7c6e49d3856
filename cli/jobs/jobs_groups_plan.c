/* cli/jobs/jobs_groups_plan.c - see jobs_groups_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/jobs/jobs_groups_plan.h"

#include <stdint.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "cli/jobs/jobs_cells_plan.h"

struct jobs_groups {
    enum jobs_grouping grouping;
    struct strmap *by_key; /* key of a group -> its struct ad */
    struct vec list;
};

static const char *const AUTOCLUSTER[] = {"AutoClusterId", "Owner",         "JobUniverse",
                                          "RequestCpus",   "RequestMemory", "RequestDisk",
                                          "RequestGpus",   "Requirements",  NULL};
static const char *const HOLD[] = {"Owner",      "HoldReasonCode",       "HoldReasonSubCode",
                                   "HoldReason", "EnteredCurrentStatus", NULL};
static const char *const BATCH[] = {"Owner",     "JobBatchName",     "QDate", "ClusterId", "ProcId",
                                    "JobStatus", "TotalSubmitProcs", NULL};

const char *const *jobs_groups_names(enum jobs_grouping grouping)
{
    return grouping == JOBS_BY_AUTOCLUSTER ? AUTOCLUSTER
           : grouping == JOBS_BY_HOLD_CODE ? HOLD
                                           : BATCH;
}

struct jobs_groups *jobs_groups_create(enum jobs_grouping grouping)
{
    struct jobs_groups *groups = mem_zalloc(sizeof *groups);
    groups->grouping = grouping;
    groups->by_key = strmap_create(STRMAP_CASE_SENSITIVE);
    return groups;
}

void jobs_groups_destroy(struct jobs_groups *groups)
{
    if (groups != NULL) {
        strmap_destroy(groups->by_key, NULL);
        vec_fini(&groups->list, ad_destroy_item);
        mem_free(groups);
    }
}

static void put_key(const struct jobs_groups *groups, const struct ad *job, struct strbuf *key)
{
    const char *owner = ad_string_or(job, "Owner", "");
    const char *batch = ad_string_or(job, "JobBatchName", "");
    switch (groups->grouping) {
    case JOBS_BY_AUTOCLUSTER:
        strbuf_printf(key, "%lld", (long long)ad_int_or(job, "AutoClusterId", -1));
        break;
    case JOBS_BY_HOLD_CODE:
        strbuf_printf(key, "%s\n%lld/%lld", owner, (long long)ad_int_or(job, "HoldReasonCode", 0),
                      (long long)ad_int_or(job, "HoldReasonSubCode", 0));
        break;
    case JOBS_BY_BATCH:
        if (batch[0] != '\0') {
            strbuf_printf(key, "%s\n%s", owner, batch);
        } else {
            strbuf_printf(key, "\n%lld", (long long)ad_int_or(job, "ClusterId", 0));
        }
        break;
    }
}

static void count_one(struct ad *group, const char *name)
{
    ad_set_int(group, name, ad_int_or(group, name, 0) + 1);
}

static void add_to_batch(struct ad *batch, const struct ad *job)
{
    static const char *const COUNTS[] = {NULL,          "IdleJobs",      "RunningJobs",
                                         "RemovedJobs", "CompletedJobs", "HeldJobs",
                                         "RunningJobs", "SuspendedJobs"};
    int64_t status = ad_int_or(job, "JobStatus", 0), cluster = ad_int_or(job, "ClusterId", 0);
    if (status > 0 && status < (int64_t)ARRAY_COUNT(COUNTS)) {
        count_one(batch, COUNTS[status]);
    }
    if (cluster != ad_int_or(batch, "LastClusterId", 0)) {
        ad_set_int(batch, "TotalSubmitProcs",
                   (ad_has(batch, "LastClusterId") ? ad_int_or(batch, "TotalSubmitProcs", 0) : 0) +
                       ad_int_or(job, "TotalSubmitProcs", 0));
    }
    ad_set_int(batch, "LastClusterId", cluster);
    ad_set_int(batch, "LastProcId", ad_int_or(job, "ProcId", 0));
}

void jobs_groups_add(struct jobs_groups *groups, const struct ad *job)
{
    struct strbuf key;
    strbuf_init(&key, 0);
    put_key(groups, job, &key);
    struct ad *group = strmap_get(groups->by_key, strbuf_text(&key));
    if (group == NULL) {
        const char *const *names = jobs_groups_names(groups->grouping);
        group = ad_create();
        for (size_t i = 0; names[i] != NULL; i++) {
            (void)ad_copy_attr(group, names[i], job, names[i]); /* absent: left out */
        }
        (void)strmap_set(groups->by_key, strbuf_text(&key), group); /* was absent */
        vec_push(&groups->list, group);
    }
    strbuf_fini(&key);
    if (groups->grouping == JOBS_BY_BATCH) {
        add_to_batch(group, job);
        return;
    }
    count_one(group, "JobCount");
    int64_t since = ad_int_or(job, "EnteredCurrentStatus", INT64_MAX);
    if (groups->grouping == JOBS_BY_HOLD_CODE &&
        since < ad_int_or(group, "EnteredCurrentStatus", 0)) {
        ad_set_int(group, "EnteredCurrentStatus", since);
    }
}

const struct ad *const *jobs_groups_list(struct jobs_groups *groups, size_t *count)
{
    *count = groups->list.count;
    return (const struct ad *const *)groups->list.items;
}

static void put_held(const struct ad *group, const struct ad_context *context, struct strbuf *out)
{
    int64_t sub = ad_int_or(group, "HoldReasonSubCode", 0);
    struct strbuf code;
    strbuf_init(&code, 0);
    strbuf_printf(&code, sub != 0 ? "%lld/%lld" : "%lld",
                  (long long)ad_int_or(group, "HoldReasonCode", 0), (long long)sub);
    jobs_put_owner(group, out);
    strbuf_printf(out, "%8s %6lld ", strbuf_text(&code),
                  (long long)ad_int_or(group, "JobCount", 0));
    jobs_put_date(group, "EnteredCurrentStatus", context, out);
    strbuf_putc(out, ' ');
    jobs_put_clean(ad_string_or(group, "HoldReason", ""), out);
    strbuf_putc(out, '\n');
    strbuf_fini(&code);
}

void jobs_groups_print(struct jobs_groups *groups, const struct ad_context *context,
                       struct strbuf *out)
{
    bool held = groups->grouping == JOBS_BY_HOLD_CODE;
    strbuf_puts(out, held ? "OWNER          CODE/SUB  COUNT  HELD_SINCE HOLD_REASON\n"
                          : " AUTO_ID JOB_COUNT\n");
    for (size_t i = 0; i < groups->list.count; i++) {
        const struct ad *group = groups->list.items[i];
        if (held) {
            put_held(group, context, out);
        } else {
            strbuf_printf(out, "%8lld %9lld\n", (long long)ad_int_or(group, "AutoClusterId", -1),
                          (long long)ad_int_or(group, "JobCount", 0));
        }
    }
}

/* Appends the state of a job factory, from JobMaterializePaused, and its reason. */
static void put_mode(const struct ad *factory, struct strbuf *out)
{
    const char *why = ad_string_or(factory, "JobMaterializePauseReason", "");
    int64_t paused = ad_int_or(factory, "JobMaterializePaused", 0);
    strbuf_puts(out, paused == 0 ? "run" : paused > 0 ? "held" : "error");
    if (paused != 0 && why[0] != '\0') {
        strbuf_puts(out, ": ");
        jobs_put_clean(why, out);
    }
}

void jobs_groups_factories(const struct ad *const *factories, size_t count,
                           const struct ad_context *context, struct strbuf *out)
{
    static const char *const NUMBERS[] = {
        "PresentJobs",     "RunningJobs", "IdleJobs", "HeldJobs", "JobMaterializeNextProcId",
        "TotalSubmitProcs"};
    strbuf_puts(out, " ID    OWNER            SUBMITTED  LIMIT PRESNT    RUN   IDLE   HOLD NEXTID"
                     "  TOTAL MODE\n");
    for (size_t i = 0; i < count; i++) {
        const struct ad *factory = factories[i];
        int64_t limit = ad_int_or(factory, "JobMaterializeLimit", -1);
        jobs_put_number(ad_int_or(factory, "ClusterId", 0), 6, true, out);
        strbuf_putc(out, ' ');
        jobs_put_owner(factory, out);
        jobs_put_date(factory, "QDate", context, out);
        strbuf_putc(out, ' ');
        jobs_put_number(limit >= 0 ? limit : ad_int_or(factory, "JobMaterializeMaxIdle", 0), 6,
                        false, out);
        for (size_t k = 0; k < ARRAY_COUNT(NUMBERS); k++) {
            strbuf_putc(out, ' ');
            jobs_put_number(ad_int_or(factory, NUMBERS[k], 0), 6, false, out);
        }
        strbuf_putc(out, ' ');
        put_mode(factory, out);
        strbuf_putc(out, '\n');
    }
}

#define WAKING_NAMED 5

void jobs_groups_waking(const struct ad *const *slots, size_t count,
                        const struct ad_context *context, struct strbuf *out)
{
    struct strmap *seen = strmap_create(STRMAP_CASE_IGNORED);
    size_t machines = 0;
    for (size_t i = 0; i < count; i++) {
        const char *machine = ad_string_or(slots[i], "Machine", "?");
        int64_t since = ad_int_or(slots[i], "EnteredPowerState", context->now_s);
        if (strmap_get(seen, machine) != NULL) {
            continue;
        }
        (void)strmap_set(seen, machine, (void *)(uintptr_t)slots[i]);
        if (machines++ < WAKING_NAMED) {
            strbuf_puts(out, machines == 1 ? "Being woken: " : ", ");
            jobs_put_clean(machine, out);
            strbuf_printf(out, " (%lld s)",
                          (long long)(context->now_s > since ? context->now_s - since : 0));
        }
    }
    if (machines > WAKING_NAMED) {
        strbuf_printf(out, " and %zu more", machines - WAKING_NAMED);
    }
    strbuf_puts(out, machines > 0 ? "\n\n" : "");
    strmap_destroy(seen, NULL);
}
