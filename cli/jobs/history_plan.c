/* cli/jobs/history_plan.c - see history_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/jobs/history_plan.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "cli/table_plan.h"

enum { REMOVED = 3, COMPLETED = 4 }; /* values of JobStatus */

const char *const history_summary_names[] = {"Owner",
                                             "JobStatus",
                                             "ExitCode",
                                             "ExitBySignal",
                                             "RemoteWallClockTime",
                                             "RemoteUserCpu",
                                             "RemoteSysCpu",
                                             "NumJobStarts",
                                             "CompletionDate",
                                             "EnteredCurrentStatus",
                                             "RequestCpus",
                                             "CommittedTime",
                                             NULL};

struct sum {
    char *owner;
    int64_t jobs, good, bad, removed, runs, last_s;
    /* lost_s: run time that was neither checkpointed nor led to a result */
    double wall_s, lost_s, cpu_s, core_s;
};

struct history_summary {
    struct strmap *by_owner;
    struct vec list;
    struct sum all;
};

static void sum_destroy(void *arg)
{
    struct sum *sum = arg;
    mem_free(sum->owner);
    mem_free(sum);
}

struct history_summary *history_summary_create(void)
{
    struct history_summary *summary = mem_zalloc(sizeof *summary);
    summary->by_owner = strmap_create(STRMAP_CASE_SENSITIVE);
    return summary;
}

void history_summary_destroy(struct history_summary *summary)
{
    if (summary != NULL) {
        strmap_destroy(summary->by_owner, NULL);
        vec_fini(&summary->list, sum_destroy);
        mem_free(summary);
    }
}

static void add_job(struct sum *sum, const struct ad *job)
{
    int64_t status = ad_int_or(job, "JobStatus", 0);
    int64_t ended_s = ad_int_or(job, "EnteredCurrentStatus", 0);
    double wall_s = ad_real_or(job, "RemoteWallClockTime", 0);
    bool bad = ad_bool_or(job, "ExitBySignal", false) || ad_int_or(job, "ExitCode", 0) != 0;
    sum->jobs++;
    sum->good += status == COMPLETED && !bad ? 1 : 0;
    sum->bad += status == COMPLETED && bad ? 1 : 0;
    sum->removed += status == REMOVED ? 1 : 0;
    sum->runs += ad_int_or(job, "NumJobStarts", 0);
    sum->wall_s += wall_s;
    double lost_s = wall_s - ad_real_or(job, "CommittedTime", 0);
    sum->lost_s += lost_s > 0 ? lost_s : 0;
    sum->core_s += wall_s * ad_real_or(job, "RequestCpus", 1);
    sum->cpu_s += ad_real_or(job, "RemoteUserCpu", 0) + ad_real_or(job, "RemoteSysCpu", 0);
    ended_s =
        ad_int_or(job, "CompletionDate", 0) > 0 ? ad_int_or(job, "CompletionDate", 0) : ended_s;
    sum->last_s = ended_s > sum->last_s ? ended_s : sum->last_s;
}

void history_summary_add(struct history_summary *summary, const struct ad *job)
{
    const char *owner = ad_string_or(job, "Owner", "?");
    struct sum *sum = strmap_get(summary->by_owner, owner);
    if (sum == NULL) {
        sum = mem_zalloc(sizeof *sum);
        sum->owner = mem_strdup(owner);
        (void)strmap_set(summary->by_owner, owner, sum); /* was absent */
        vec_push(&summary->list, sum);
    }
    add_job(sum, job);
    add_job(&summary->all, job);
}

static int by_hours(const void *a, const void *b)
{
    const struct sum *left = *(struct sum *const *)a, *right = *(struct sum *const *)b;
    if (left->wall_s != right->wall_s) {
        return left->wall_s > right->wall_s ? -1 : 1;
    }
    return strcmp(left->owner, right->owner);
}

static void print_line(const char *name, const struct sum *sum, const struct ad_context *context,
                       struct strbuf *out)
{
    table_plan_pad(name, 14, TABLE_LEFT, out);
    strbuf_printf(out, " %7lld %7lld %6lld %7lld %7lld %10.2f %10.2f %9.2f ", (long long)sum->jobs,
                  (long long)sum->good, (long long)sum->bad, (long long)sum->removed,
                  (long long)sum->runs, sum->wall_s / 3600, sum->lost_s / 3600, sum->cpu_s / 3600);
    if (sum->core_s > 0) {
        strbuf_printf(out, "%3.0f", 100 * sum->cpu_s / sum->core_s);
    } else {
        strbuf_puts(out, "  _");
    }
    if (context != NULL && sum->last_s > 0) {
        strbuf_putc(out, ' ');
        table_plan_date(sum->last_s, context, out);
    }
    strbuf_putc(out, '\n');
}

void history_summary_print(struct history_summary *summary, const struct ad_context *context,
                           struct strbuf *out)
{
    if (summary->list.count > 1) {
        qsort(summary->list.items, summary->list.count, sizeof *summary->list.items, by_hours);
    }
    strbuf_puts(
        out,
        "OWNER             JOBS    DONE FAILED REMOVED    RUNS WALL_HOURS LOST_HOURS CPU_HOURS   "
        "%        LAST\n");
    for (size_t i = 0; i < summary->list.count; i++) {
        const struct sum *sum = summary->list.items[i];
        print_line(sum->owner, sum, context, out);
    }
    print_line("Total", &summary->all, context, out);
}
