/* cli/top_plan.c - see top_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/top_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "classad/ad_time.h"
#include "cli/jobs/jobs_cells_plan.h"
#include "cli/table_plan.h"
#include "cli/terminal_plan.h"
#include "offline_ads/offline_ads.h"

const char *const top_slot_names[] = {"Name",     "Machine",          "State",
                                      "Activity", "Offline",          "PowerState",
                                      "Cpus",     OFFLINE_ADS_SILENT, NULL};
const char *const top_job_names[] = {"ClusterId",
                                     "ProcId",
                                     "Owner",
                                     "JobStatus",
                                     "JobCurrentStartDate",
                                     "RemoteWallClockTime",
                                     "RemoteHost",
                                     "JobDisconnectedDate",
                                     "CpusUsage",
                                     "MemoryUsage",
                                     "ResidentSetSize",
                                     "ImageSize",
                                     "Cmd",
                                     "Args",
                                     "Arguments",
                                     "TransferringInput",
                                     "TransferringOutput",
                                     "TransferQueued",
                                     "TransferDoneBytes",
                                     "TransferTotalBytes",
                                     NULL};

/* ---- heads */

static void put_now(const struct ad_context *context, struct strbuf *out)
{
    struct ad_calendar at;
    int64_t now_s = context->now_s;
    now_s += context->zone_offset_s != NULL ? context->zone_offset_s(context->arg, now_s) : 0;
    ad_calendar_of(now_s, &at);
    strbuf_printf(out, "roost top - %02d:%02d:%02d", at.hour, at.minute, at.second);
}

static void put_slots(const struct top_facts *facts, struct strbuf *out)
{
    static const char *const STATES[] = {"Claimed", "Unclaimed",  "Owner",
                                         "Matched", "Preempting", "Drained"};
    static const char *const WORDS[] = {"claimed", "free",       "owner",
                                        "matched", "preempting", "drained"};
    size_t counts[ARRAY_COUNT(STATES)] = {0}, asleep = 0, waking = 0, silent = 0;
    for (size_t i = 0; i < facts->slot_count; i++) {
        const struct ad *slot = facts->slots[i];
        const char *power = ad_string_or(slot, "PowerState", "");
        const char *state = ad_string_or(slot, "State", "");
        if (offline_ads_is_silent(slot)) {
            silent++;
        } else if (strcmp(power, "Waking") == 0) {
            waking++;
        } else if (ad_bool_or(slot, "Offline", false)) {
            asleep++;
        } else {
            for (size_t k = 0; k < ARRAY_COUNT(STATES); k++) {
                counts[k] += strcmp(STATES[k], state) == 0 ? 1 : 0;
            }
        }
    }
    strbuf_printf(out, "Slots: %zu total", facts->slot_count);
    for (size_t k = 0; k < ARRAY_COUNT(STATES); k++) {
        if (counts[k] > 0 || k < 2) {
            strbuf_printf(out, ", %zu %s", counts[k], WORDS[k]);
        }
    }
    strbuf_printf(out, ", %zu asleep", asleep);
    if (waking > 0) {
        strbuf_printf(out, ", %zu waking", waking);
    }
    if (silent > 0) {
        strbuf_printf(out, ", %zu not responding", silent);
    }
    strbuf_putc(out, '\n');
}

static void put_totals(const struct jobs_totals *totals, struct strbuf *out)
{
    long long all = totals->completed + totals->removed + totals->idle + totals->running +
                    totals->held + totals->suspended;
    strbuf_printf(out, "Jobs: %lld total, %lld running, %lld idle, %lld held", all,
                  (long long)jobs_plan_running(totals), (long long)totals->idle,
                  (long long)totals->held);
    if (totals->suspended > 0) {
        strbuf_printf(out, ", %lld suspended", (long long)totals->suspended);
    }
    if (totals->disconnected > 0) {
        strbuf_printf(out, ", %lld disconnected", (long long)totals->disconnected);
    }
    strbuf_putc(out, '\n');
}

/* ---- running jobs */

/* Appends the job's line without its newline; *status_at is the position of the status in it. */
static void put_job(const struct ad *job, const struct ad_context *context, size_t *status_at,
                    struct strbuf *out)
{
    struct strbuf host;
    double cpus = ad_real_or(job, "CpusUsage", 0);
    jobs_put_number(ad_int_or(job, "ClusterId", 0), 4, false, out);
    strbuf_putc(out, '.');
    jobs_put_number(ad_int_or(job, "ProcId", 0), 3, true, out);
    strbuf_putc(out, ' ');
    jobs_put_owner(job, out);
    *status_at = out->length;
    strbuf_printf(out, "%-2s", jobs_status_text(job));
    jobs_put_time(job, JOBS_TIME_CURRENT_RUN, context, out);
    strbuf_printf(out, " %6.1f %8.1f ", 100 * (cpus > 0 ? cpus : 0), jobs_size_mb(job));
    strbuf_init(&host, 0);
    jobs_put_clean(ad_string_or(job, "RemoteHost", ""), &host);
    jobs_put_cut(job, context, &host);
    table_plan_pad(strbuf_text(&host), 16, TABLE_LEFT, out);
    strbuf_fini(&host);
    strbuf_putc(out, ' ');
    jobs_put_progress(job, context, out);
    jobs_put_command(job, context, out);
    jobs_put_arguments(job, context, out);
}

/* ---- lines that fit */

struct frame {
    const struct terminal *terminal;
    struct strbuf *out;
    size_t lines;
};

static bool is_full(const struct frame *frame)
{
    return frame->terminal->rows > 0 && frame->lines >= (size_t)frame->terminal->rows;
}

/* Adds as many lines of text as fit, but leaves `keep` lines of the frame free. */
static void add_lines(struct frame *frame, struct strbuf *text, size_t keep, const char *paint)
{
    const char *at = strbuf_text(text);
    for (size_t room = frame->lines + keep;
         *at != '\0' && (frame->terminal->rows == 0 || room < (size_t)frame->terminal->rows);
         room++) {
        size_t length = strcspn(at, "\n");
        strbuf_puts(frame->out, paint);
        size_t columns = (size_t)frame->terminal->columns;
        strbuf_append(frame->out, at, columns > 0 ? terminal_fit(at, length, columns) : length);
        strbuf_puts(frame->out, paint[0] != '\0' ? terminal_plain : "");
        strbuf_putc(frame->out, '\n');
        frame->lines++;
        at += length + (at[length] == '\n' ? 1 : 0);
    }
    strbuf_clear(text);
}

static int by_run_time(const void *a, const void *b)
{
    const struct ad *left = *(const struct ad *const *)a, *right = *(const struct ad *const *)b;
    int64_t first = ad_int_or(left, "JobCurrentStartDate", 0);
    int64_t second = ad_int_or(right, "JobCurrentStartDate", 0);
    if (first != second) {
        return first > second ? -1 : 1; /* the youngest first: that is what changes */
    }
    first = ad_int_or(left, "ClusterId", 0) * 1000000 + ad_int_or(left, "ProcId", 0);
    second = ad_int_or(right, "ClusterId", 0) * 1000000 + ad_int_or(right, "ProcId", 0);
    return first < second ? -1 : first > second;
}

static void add_jobs(struct frame *frame, const struct top_facts *facts,
                     const struct ad_context *context, struct strbuf *text)
{
    const struct ad **jobs = mem_alloc((facts->job_count + 1) * sizeof *jobs);
    bool bold = frame->terminal->colour;
    memcpy(jobs, facts->jobs, facts->job_count * sizeof *jobs);
    qsort(jobs, facts->job_count, sizeof *jobs, by_run_time);
    strbuf_puts(text,
                " ID      OWNER          ST  RUN_TIME    CPU%   MEM_MB HOST             CMD\n");
    add_lines(frame, text, 0, bold ? terminal_bold : "");
    for (size_t i = 0; i < facts->job_count && !is_full(frame); i++) {
        const char *status = jobs_status_text(jobs[i]);
        const char *paint = bold ? terminal_colour("ST", status, strlen(status)) : "";
        size_t at, end;
        put_job(jobs[i], context, &at, text);
        terminal_cut(text, 0, frame->terminal->columns);
        end = at + strlen(status);
        if (paint[0] != '\0' && end <= text->length) {
            strbuf_append(frame->out, text->data, at);
            strbuf_printf(frame->out, "%s%s%s%s", paint, status, terminal_plain,
                          strbuf_text(text) + end);
        } else {
            strbuf_puts(frame->out, strbuf_text(text));
        }
        strbuf_putc(frame->out, '\n');
        strbuf_clear(text);
        frame->lines++;
    }
    mem_free(jobs);
}

void top_plan_frame(const struct top_facts *facts, const struct terminal *terminal,
                    const struct ad_context *context, struct strbuf *out)
{
    struct frame frame = {.terminal = terminal, .out = out};
    struct strbuf text;
    strbuf_init(&text, 0);
    put_now(context, &text);
    strbuf_printf(&text, ", pool %s\n", facts->pool);
    put_slots(facts, &text);
    put_totals(&facts->totals, &text);
    if (facts->trouble != NULL) {
        strbuf_printf(&text, "%s\n", facts->trouble);
    }
    strbuf_putc(&text, '\n');
    add_lines(&frame, &text, 0, "");
    if (facts->batch_count > 0) {
        /* running jobs get half of what is left, if they need it */
        size_t rows = (size_t)terminal->rows, left = rows > frame.lines ? rows - frame.lines : 0;
        size_t wanted = facts->job_count > 0 ? facts->job_count + 2 : 0;
        size_t keep = wanted < left / 2 ? wanted : left / 2;
        jobs_plan_print(jobs_layout_find(""), facts->batches, facts->batch_count, context, &text);
        add_lines(&frame, &text, keep, "");
    }
    if (facts->job_count > 0 && !is_full(&frame)) {
        strbuf_putc(&text, '\n');
        add_lines(&frame, &text, 0, "");
        add_jobs(&frame, facts, context, &text);
    }
    strbuf_fini(&text);
}

void top_plan_daemons(const struct top_daemon *daemons, size_t count,
                      const struct terminal *terminal, const struct ad_context *context,
                      struct strbuf *out)
{
    struct frame frame = {.terminal = terminal, .out = out};
    struct strbuf text;
    strbuf_init(&text, 0);
    put_now(context, &text);
    strbuf_puts(&text, ", daemons of this host\n\n");
    add_lines(&frame, &text, 0, "");
    strbuf_puts(
        &text,
        "NODE           DAEMON                   PID   CPU%   MEM_MB THREADS       UPTIME\n");
    add_lines(&frame, &text, 0, terminal->colour ? terminal_bold : "");
    for (size_t i = 0; i < count && !is_full(&frame); i++) {
        const struct top_daemon *daemon = &daemons[i];
        table_plan_pad(daemon->node[0] != '\0' ? daemon->node : "-", 14, TABLE_LEFT, &text);
        strbuf_putc(&text, ' ');
        table_plan_pad(daemon->name, 20, TABLE_LEFT, &text);
        strbuf_printf(&text, " %7lld %6.1f %8.1f %7lld ", (long long)daemon->pid,
                      daemon->cpu_percent, (double)daemon->memory_kib / 1024,
                      (long long)daemon->threads);
        struct strbuf age;
        strbuf_init(&age, 0);
        table_plan_duration((int64_t)daemon->age_s, &age);
        table_plan_pad(strbuf_text(&age), 12, TABLE_RIGHT, &text);
        strbuf_fini(&age);
        strbuf_putc(&text, '\n');
        add_lines(&frame, &text, 0, "");
    }
    strbuf_fini(&text);
}
