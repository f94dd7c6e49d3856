/* cli/jobs_plan.c - see jobs_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/jobs_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/text.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "classad/ad_time.h"
#include "cli/listing_plan.h"
#include "cli/table_plan.h"

enum { IDLE = 1, RUNNING, REMOVED, COMPLETED, HELD, TRANSFERRING, SUSPENDED }; /* JobStatus */

#define PARTS_MAX 3

/* A piece of a line; beside JobStatus it depends on what is named, NULL-terminated. */
struct part {
    void (*put)(const struct ad *job, const struct ad_context *context, struct strbuf *out);
    const char *names[10];
};

struct jobs_layout {
    const char *option; /* without dash */
    size_t letters;     /* at least, of the option */
    const char *constraint;
    bool totals;
    const char *heading;
    /* None: batches, or nothing but totals when there is no heading either. */
    struct part parts[PARTS_MAX + 1];
};

/* ---- parts of a line */

static void put_date(const struct ad *job, const char *name, const struct ad_context *context,
                     struct strbuf *out)
{
    struct strbuf text;
    int64_t at;
    strbuf_init(&text, 0);
    if (ad_get_int(job, name, &at) == 0 && at > 0) {
        table_plan_date(at, context, &text);
    }
    table_plan_pad(strbuf_text(&text), 11, TABLE_RIGHT, out);
    strbuf_fini(&text);
}

static bool is_running(int64_t status)
{
    return status == RUNNING || status == TRANSFERRING || status == SUSPENDED;
}

static void put_run_time(const struct ad *job, const struct ad_context *context, struct strbuf *out)
{
    struct strbuf text;
    double seconds = ad_real_or(job, "RemoteWallClockTime", 0);
    int64_t since = ad_int_or(job, "JobCurrentStartDate", 0);
    strbuf_init(&text, 0);
    if (is_running(ad_int_or(job, "JobStatus", 0)) && since > 0 && context->now_s > since) {
        seconds += (double)(context->now_s - since);
    }
    table_plan_duration(seconds < 1e15 ? (int64_t)seconds : 0, &text);
    table_plan_pad(strbuf_text(&text), 12, TABLE_RIGHT, out);
    strbuf_fini(&text);
}

static char status_letter(int64_t status)
{
    static const char LETTERS[] = "UIRXCH>S";
    return status >= 0 && status < (int64_t)sizeof LETTERS - 1 ? LETTERS[status] : '?';
}

static double size_mb(const struct ad *job)
{
    double size = ad_real_or(job, "MemoryUsage", -1);
    return size >= 0 ? size : ad_real_or(job, "ImageSize", 0) / 1024.0;
}

/* What came from a job is one line, and cannot move the cursor of a terminal. */
static void put_clean(const char *text, struct strbuf *out)
{
    while (*text != '\0') {
        size_t clean = 0;
        while ((unsigned char)text[clean] >= ' ' && text[clean] != 0x7f) {
            clean++;
        }
        strbuf_append(out, text, clean);
        text += clean;
        if (*text != '\0') {
            strbuf_putc(out, '?');
            text++;
        }
    }
}

static void put_command(const struct ad *job, const struct ad_context *context, struct strbuf *out)
{
    const char *cmd = ad_string_or(job, "Cmd", "");
    const char *slash = strrchr(cmd, '/');
    (void)context;
    put_clean(slash != NULL ? slash + 1 : cmd, out);
}

static void put_arguments(const struct ad *job, const struct ad_context *context,
                          struct strbuf *out)
{
    const char *args = NULL;
    (void)context;
    if (ad_get_string(job, "Args", &args) != 0) {
        args = ad_string_or(job, "Arguments", "");
    }
    if (args[0] != '\0') {
        strbuf_putc(out, ' ');
        put_clean(args, out);
    }
}

/* A number in at least width columns. */
static void put_number(int64_t number, size_t width, bool left, struct strbuf *out)
{
    char digits[32];
    size_t at = sizeof digits;
    uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    do {
        digits[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (number < 0) {
        digits[--at] = '-';
    }
    size_t length = sizeof digits - at;
    for (size_t i = length; !left && i < width; i++) {
        strbuf_putc(out, ' ');
    }
    strbuf_append(out, digits + at, length);
    for (size_t i = length; left && i < width; i++) {
        strbuf_putc(out, ' ');
    }
}

static void put_owner(const struct ad *job, struct strbuf *out)
{
    strbuf_printf(out, "%-14s ", ad_string_or(job, "Owner", ""));
}

/* ---- a line for each job: its id, then parts, of which most are the same for all jobs of a
 * cluster
 */

static void job_middle(const struct ad *job, const struct ad_context *context, struct strbuf *out)
{
    put_owner(job, out);
    put_date(job, "QDate", context, out);
    strbuf_putc(out, ' ');
    put_run_time(job, context, out);
    strbuf_printf(out, " %-2c %-3lld %4.1f ", status_letter(ad_int_or(job, "JobStatus", 0)),
                  (long long)ad_int_or(job, "JobPrio", 0), size_mb(job));
}

static void run_middle(const struct ad *job, const struct ad_context *context, struct strbuf *out)
{
    put_owner(job, out);
    put_date(job, "QDate", context, out);
    strbuf_putc(out, ' ');
    put_run_time(job, context, out);
    strbuf_putc(out, ' ');
}

static void run_host(const struct ad *job, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    put_clean(ad_string_or(job, "RemoteHost", "[????????????????]"), out);
}

static void hold_middle(const struct ad *job, const struct ad_context *context, struct strbuf *out)
{
    int64_t sub = ad_int_or(job, "HoldReasonSubCode", 0);
    put_owner(job, out);
    put_date(job, "EnteredCurrentStatus", context, out);
    strbuf_printf(out, " %4lld", (long long)ad_int_or(job, "HoldReasonCode", 0));
    if (sub != 0) {
        strbuf_printf(out, "/%-3lld ", (long long)sub);
    } else {
        strbuf_puts(out, "     ");
    }
}

static void hold_reason(const struct ad *job, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    put_clean(ad_string_or(job, "HoldReason", ""), out);
}

static const char *universe(int64_t number)
{
    switch (number) {
    case 5:
        return "Vanilla";
    case 7:
        return "Scheduler";
    case 12:
        return "Local";
    default:
        return "Unknown";
    }
}

static void idle_middle(const struct ad *job, const struct ad_context *context, struct strbuf *out)
{
    struct ad_value memory;
    put_owner(job, out);
    (void)ad_eval_attr(job, NULL, "RequestMemory", context, &memory); /* absent: undefined */
    strbuf_printf(out, "%-9s %4lld %6lld %6lld ", universe(ad_int_or(job, "JobUniverse", 5)),
                  (long long)ad_int_or(job, "RequestCpus", 1),
                  memory.type == AD_TYPE_INT ? (long long)memory.integer : 0,
                  (long long)ad_int_or(job, "NumJobStarts", 0));
    ad_value_fini(&memory);
}

static void idle_host(const struct ad *job, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    put_clean(ad_string_or(job, "LastRemoteHost", "undefined"), out);
}

static void history_middle(const struct ad *job, const struct ad_context *context,
                           struct strbuf *out)
{
    put_owner(job, out);
    put_date(job, "QDate", context, out);
    strbuf_putc(out, ' ');
    put_run_time(job, context, out);
    strbuf_printf(out, " %-2c ", status_letter(ad_int_or(job, "JobStatus", 0)));
    put_date(job, "CompletionDate", context, out);
    strbuf_putc(out, ' ');
}

/* ---- a line for each batch */

static char *batch_name(const struct ad *batch)
{
    struct strbuf text;
    const char *name = ad_string_or(batch, "JobBatchName", "");
    strbuf_init(&text, 0);
    if (name[0] != '\0') {
        put_clean(name, &text);
    } else {
        strbuf_printf(&text, "ID: %lld", (long long)ad_int_or(batch, "ClusterId", 0));
    }
    return strbuf_take(&text);
}

static void count_job(struct jobs_totals *totals, int64_t status, int64_t jobs)
{
    totals->idle += status == IDLE ? jobs : 0;
    totals->running += status == RUNNING || status == TRANSFERRING ? jobs : 0;
    totals->removed += status == REMOVED ? jobs : 0;
    totals->completed += status == COMPLETED ? jobs : 0;
    totals->held += status == HELD ? jobs : 0;
    totals->suspended += status == SUSPENDED ? jobs : 0;
}

static void put_count(int64_t count, struct strbuf *out)
{
    if (count > 0) {
        strbuf_printf(out, " %6lld", (long long)count);
    } else {
        strbuf_puts(out, "      _");
    }
}

static void batch_line(const struct ad *batch, int owner_width, int name_width,
                       const struct ad_context *context, struct strbuf *out)
{
    struct jobs_totals counts = {0};
    jobs_plan_read_totals(batch, "", &counts);
    int64_t here = counts.idle + counts.running + counts.suspended + counts.held;
    int64_t total = here + counts.completed + counts.removed;
    int64_t submitted = ad_int_or(batch, "TotalSubmitProcs", 0);
    int64_t first = ad_int_or(batch, "ClusterId", 0), proc = ad_int_or(batch, "ProcId", 0);
    int64_t last = ad_int_or(batch, "LastClusterId", first);
    int64_t last_proc = ad_int_or(batch, "LastProcId", proc);
    char *name = batch_name(batch);
    total = submitted > total ? submitted : total;
    table_plan_pad(ad_string_or(batch, "Owner", ""), owner_width, TABLE_LEFT, out);
    strbuf_putc(out, ' ');
    table_plan_pad(name, name_width, TABLE_LEFT, out);
    strbuf_putc(out, ' ');
    table_plan_date(ad_int_or(batch, "QDate", 0), context, out);
    put_count(total - here, out);
    put_count(counts.running + counts.suspended, out);
    put_count(counts.idle, out);
    put_count(counts.held, out);
    put_count(total, out);
    strbuf_printf(out, " %lld.%lld", (long long)first, (long long)proc);
    if (last != first) {
        strbuf_printf(out, " ... %lld.%lld", (long long)last, (long long)last_proc);
    } else if (last_proc != proc) {
        strbuf_printf(out, "-%lld", (long long)last_proc);
    }
    strbuf_putc(out, '\n');
    mem_free(name);
}

static void print_batches(const struct ad *const *batches, size_t count,
                          const struct ad_context *context, struct strbuf *out)
{
    size_t owner_width = count > 0 ? 8 : 5, name_width = count > 0 ? 11 : 13;
    for (size_t i = 0; i < count; i++) {
        char *text = batch_name(batches[i]);
        size_t owner = strlen(ad_string_or(batches[i], "Owner", "")), name = strlen(text);
        owner_width = owner > owner_width ? owner : owner_width;
        name_width = name > name_width ? name : name_width;
        mem_free(text);
    }
    table_plan_pad("OWNER", (int)owner_width, TABLE_LEFT, out);
    strbuf_putc(out, ' ');
    table_plan_pad("BATCH_NAME", (int)name_width, TABLE_LEFT, out);
    strbuf_puts(out, "   SUBMITTED   DONE   RUN    IDLE   HOLD  TOTAL JOB_IDS\n");
    for (size_t i = 0; i < count; i++) {
        batch_line(batches[i], (int)owner_width, (int)name_width, context, out);
    }
}

/* ---- layouts: a new one is one row here */

#define COMMAND      \
    {                \
        put_command, \
        {            \
            "Cmd"    \
        }            \
    }
#define ARGUMENTS               \
    {                           \
        put_arguments,          \
        {                       \
            "Args", "Arguments" \
        }                       \
    }

static const struct jobs_layout LAYOUTS[] = {
    {.option = "", .letters = 1, .totals = true},
    {"nobatch",
     3,
     NULL,
     true,
     " ID      OWNER            SUBMITTED     RUN_TIME ST PRI SIZE CMD\n",
     {{job_middle,
       {"Owner", "QDate", "RemoteWallClockTime", "JobCurrentStartDate", "JobPrio", "MemoryUsage",
        "ImageSize"}},
      COMMAND,
      ARGUMENTS}},
    {"run",
     1,
     "JobStatus == 2 || JobStatus == 6 || JobStatus == 7",
     false,
     " ID      OWNER            SUBMITTED     RUN_TIME HOST(S)\n",
     {{run_middle, {"Owner", "QDate", "RemoteWallClockTime", "JobCurrentStartDate"}},
      {run_host, {"RemoteHost"}}}},
    {"hold",
     3,
     "JobStatus == 5",
     true,
     " ID      OWNER          HELD_SINCE  CODE/SUB HOLD_REASON\n",
     {{hold_middle, {"Owner", "EnteredCurrentStatus", "HoldReasonCode", "HoldReasonSubCode"}},
      {hold_reason, {"HoldReason"}}}},
    {"idle",
     2,
     "JobStatus == 1",
     false,
     " ID      OWNER          UNIVERSE  CPUS MEMORY STARTS LAST_HOST\n",
     {{idle_middle, {"Owner", "JobUniverse", "RequestCpus", "RequestMemory", "NumJobStarts"}},
      {idle_host, {"LastRemoteHost"}}}},
    {.option = "totals", .letters = 3, .totals = true},
};
enum { LAYOUT_BATCHES = 0, LAYOUT_TOTALS = 5 };

#define JOBS_ALIKE_MAX 10000000 /* that one ad stands for */

static const struct jobs_layout HISTORY = {
    .option = "",
    .heading = " ID          OWNER            SUBMITTED   RUN_TIME   ST   COMPLETED CMD\n",
    .parts = {{history_middle,
               {"Owner", "QDate", "RemoteWallClockTime", "JobCurrentStartDate", "CompletionDate"}},
              COMMAND,
              ARGUMENTS}};

const struct jobs_layout *jobs_layout_find(const char *option)
{
    for (size_t i = 1; i < ARRAY_COUNT(LAYOUTS); i++) {
        if (listing_is(option, LAYOUTS[i].option, LAYOUTS[i].letters)) {
            return &LAYOUTS[i];
        }
    }
    if (listing_is(option, "held", 4)) {
        return jobs_layout_find("-hold");
    }
    return option[0] == '\0' ? &LAYOUTS[LAYOUT_BATCHES] : NULL;
}

const struct jobs_layout *jobs_layout_history(void)
{
    return &HISTORY;
}

const char *jobs_layout_constraint(const struct jobs_layout *layout)
{
    return layout->constraint;
}

void jobs_layout_names(const struct jobs_layout *layout, struct vec *names)
{
    static const char *const ALWAYS[] = {"ClusterId", "ProcId", "JobStatus"};
    for (size_t i = 0; i < ARRAY_COUNT(ALWAYS); i++) {
        vec_push(names, mem_strdup(ALWAYS[i]));
    }
    for (const struct part *part = layout->parts; part->put != NULL; part++) {
        for (size_t i = 0; part->names[i] != NULL; i++) {
            vec_push(names, mem_strdup(part->names[i]));
        }
    }
}

bool jobs_layout_totals(const struct jobs_layout *layout)
{
    return layout->totals;
}

bool jobs_layout_is_bare(const struct jobs_layout *layout)
{
    return layout == &LAYOUTS[LAYOUT_TOTALS];
}

bool jobs_layout_is_rows(const struct jobs_layout *layout)
{
    return layout->parts[0].put != NULL;
}

static void put_id(const struct jobs_layout *layout, int64_t cluster, int64_t proc,
                   struct strbuf *out)
{
    size_t begin = out->length;
    put_number(cluster, layout == &HISTORY ? 0 : 4, false, out);
    strbuf_putc(out, '.');
    put_number(proc, layout == &HISTORY ? 0 : 3, true, out);
    for (size_t i = out->length - begin; layout == &HISTORY && i < 12; i++) {
        strbuf_putc(out, ' ');
    }
    strbuf_putc(out, ' ');
}

/* ---- rows that share */

#define STATUSES 8

struct jobs_rows {
    const struct jobs_layout *layout;
    const struct ad_context *context;
    struct jobs_totals totals;
    struct strmap *parts_of; /* name of an attribute -> bits of the parts that show it */
    struct ad *common;       /* what the jobs share that come now; NULL: nothing */
    int64_t cluster;
    bool computed; /* something shown is more than a literal: it may depend on the job */
    struct strbuf parts[PARTS_MAX][STATUSES]; /* of a job that has nothing of its own */
    bool made[PARTS_MAX][STATUSES];
};

struct jobs_rows *jobs_rows_create(const struct jobs_layout *layout,
                                   const struct ad_context *context)
{
    struct jobs_rows *rows = mem_zalloc(sizeof *rows);
    rows->layout = layout;
    rows->context = context;
    rows->parts_of = strmap_create(STRMAP_CASE_IGNORED);
    for (size_t i = 0; i < PARTS_MAX; i++) {
        const struct part *part = &layout->parts[i];
        for (size_t k = 0; part->put != NULL && part->names[k] != NULL; k++) {
            uintptr_t bits = (uintptr_t)strmap_get(rows->parts_of, part->names[k]);
            (void)strmap_set(rows->parts_of, part->names[k], (void *)(bits | (uintptr_t)1 << i));
        }
        for (size_t k = 0; k < STATUSES; k++) {
            strbuf_init(&rows->parts[i][k], 0);
        }
    }
    return rows;
}

void jobs_rows_destroy(struct jobs_rows *rows)
{
    if (rows == NULL) {
        return;
    }
    for (size_t i = 0; i < PARTS_MAX * STATUSES; i++) {
        strbuf_fini(&rows->parts[i / STATUSES][i % STATUSES]);
    }
    strmap_destroy(rows->parts_of, NULL);
    ad_destroy(rows->common);
    mem_free(rows);
}

const struct jobs_totals *jobs_rows_totals(const struct jobs_rows *rows)
{
    return &rows->totals;
}

static void begin_common(struct jobs_rows *rows, const struct ad *common)
{
    ad_destroy(rows->common);
    rows->common = ad_copy(common);
    rows->cluster = ad_int_or(common, "ClusterId", 0);
    rows->computed = false;
    memset(rows->made, 0, sizeof rows->made);
    size_t at = 0;
    const char *name;
    while (strmap_next(rows->parts_of, &at, &name, NULL)) {
        const struct ad_expr *expr = ad_lookup(rows->common, name);
        rows->computed = rows->computed || (expr != NULL && !ad_expr_is_literal(expr));
    }
}

/* The bits of parts that show something of the job's own. */
static uintptr_t own_parts(const struct jobs_rows *rows, const struct ad *job)
{
    uintptr_t bits = 0;
    size_t at = 0;
    const char *name;
    while (ad_next(job, &at, &name, NULL)) {
        bits |= (uintptr_t)strmap_get(rows->parts_of, name);
    }
    return bits;
}

static void put_part(struct jobs_rows *rows, size_t index, bool own, size_t status,
                     const struct ad *job, struct strbuf *out)
{
    const struct part *part = &rows->layout->parts[index];
    if (own || status >= STATUSES || rows->common == NULL || rows->computed) {
        part->put(job, rows->context, out);
        return;
    }
    struct strbuf *kept = &rows->parts[index][status];
    if (!rows->made[index][status]) {
        strbuf_clear(kept);
        part->put(job, rows->context, kept);
        rows->made[index][status] = true;
    }
    strbuf_append(out, kept->data, kept->length);
}

void jobs_rows_add(struct jobs_rows *rows, struct ad *job, struct strbuf *out)
{
    int64_t proc;
    if (ad_get_int(job, "ProcId", &proc) != 0) {
        begin_common(rows, job);
        return;
    }
    uintptr_t own = own_parts(rows, job);
    ad_chain(job, rows->common);
    int64_t count = ad_int_or(job, "ProcCount", 1), status = ad_int_or(job, "JobStatus", 0);
    count = count < 1 || count > JOBS_ALIKE_MAX ? 1 : count;
    count_job(&rows->totals, status, count);
    for (int64_t i = 0; i < count; i++) {
        put_id(rows->layout, rows->common != NULL ? rows->cluster : ad_int_or(job, "ClusterId", 0),
               proc + i, out);
        for (size_t k = 0; rows->layout->parts[k].put != NULL; k++) {
            put_part(rows, k, (own >> k & 1) != 0, status >= 0 ? (size_t)status : STATUSES, job,
                     out);
        }
        strbuf_putc(out, '\n');
    }
    ad_chain(job, NULL);
}

void jobs_plan_lines(const struct jobs_layout *layout, const struct ad *const *ads, size_t count,
                     const struct ad_context *context, struct strbuf *out)
{
    for (size_t i = 0; i < count; i++) {
        put_id(layout, ad_int_or(ads[i], "ClusterId", 0), ad_int_or(ads[i], "ProcId", 0), out);
        for (const struct part *part = layout->parts; part->put != NULL; part++) {
            part->put(ads[i], context, out);
        }
        strbuf_putc(out, '\n');
    }
}

void jobs_plan_print(const struct jobs_layout *layout, const struct ad *const *ads, size_t count,
                     const struct ad_context *context, struct strbuf *out)
{
    if (layout == &LAYOUTS[LAYOUT_BATCHES]) {
        print_batches(ads, count, context, out);
        return;
    }
    strbuf_puts(out, layout->heading != NULL ? layout->heading : "");
    if (jobs_layout_is_rows(layout)) {
        jobs_plan_lines(layout, ads, count, context, out);
    }
}

/* ---- titles, totals, ids */

void jobs_plan_title(const char *schedd, const char *address, const struct ad_context *context,
                     struct strbuf *out)
{
    struct ad_calendar at;
    if (context == NULL) {
        strbuf_printf(out, "\n\n-- Schedd: %s : <%s>\n", schedd, address);
        return;
    }
    int64_t now_s = context->now_s;
    if (context->zone_offset_s != NULL) {
        now_s += context->zone_offset_s(context->arg, now_s);
    }
    ad_calendar_of(now_s, &at);
    strbuf_printf(out, "\n\n-- Schedd: %s : <%s> @ %02d/%02d/%02d %02d:%02d:%02d\n", schedd,
                  address, at.month, at.day, (int)(at.year % 100), at.hour, at.minute, at.second);
}

void jobs_plan_count(const struct ad *const *jobs, size_t count, struct jobs_totals *ret)
{
    *ret = (struct jobs_totals){0};
    for (size_t i = 0; i < count; i++) {
        count_job(ret, ad_int_or(jobs[i], "JobStatus", 0), 1);
    }
}

void jobs_plan_read_totals(const struct ad *ad, const char *prefix, struct jobs_totals *ret)
{
    static const char *const NAMES[] = {"CompletedJobs", "RemovedJobs", "IdleJobs",
                                        "RunningJobs",   "HeldJobs",    "SuspendedJobs"};
    int64_t *const numbers[] = {&ret->completed, &ret->removed, &ret->idle,
                                &ret->running,   &ret->held,    &ret->suspended};
    struct strbuf name;
    strbuf_init(&name, 0);
    for (size_t i = 0; i < ARRAY_COUNT(NAMES); i++) {
        strbuf_clear(&name);
        strbuf_printf(&name, "%s%s", prefix, NAMES[i]);
        *numbers[i] += ad_int_or(ad, strbuf_text(&name), 0);
    }
    strbuf_fini(&name);
}

void jobs_plan_totals(const char *what, const struct jobs_totals *totals, struct strbuf *out)
{
    int64_t all = totals->completed + totals->removed + totals->idle + totals->running +
                  totals->held + totals->suspended;
    strbuf_printf(out,
                  "Total for %s: %lld jobs; %lld completed, %lld removed, %lld idle, %lld running, "
                  "%lld held, %lld suspended",
                  what, (long long)all, (long long)totals->completed, (long long)totals->removed,
                  (long long)totals->idle, (long long)totals->running, (long long)totals->held,
                  (long long)totals->suspended);
}

void jobs_plan_footer(const struct jobs_layout *layout, const struct jobs_totals *query,
                      const char *user, const struct jobs_totals *mine,
                      const struct jobs_totals *all, struct strbuf *out)
{
    strbuf_puts(out, jobs_layout_is_bare(layout) ? "" : "\n");
    jobs_plan_totals("query", query, out);
    strbuf_puts(out, " \n");
    if (user != NULL) {
        jobs_plan_totals(user, mine, out);
        strbuf_puts(out, " \n");
    }
    jobs_plan_totals("all users", all, out);
    strbuf_puts(out, "\n\n");
}

bool jobs_plan_is_id(const char *word)
{
    size_t digits = strspn(word, "0123456789");
    if (digits == 0 || digits > 15) {
        return false;
    }
    if (word[digits] == '.') {
        size_t more = strspn(word + digits + 1, "0123456789");
        return more > 0 && more <= 15 && word[digits + 1 + more] == '\0';
    }
    return word[digits] == '\0';
}

int jobs_plan_select(const char *word, struct strbuf *out, struct err *err)
{
    if (jobs_plan_is_id(word)) {
        const char *dot = strchr(word, '.');
        int cluster = (int)(dot != NULL ? (size_t)(dot - word) : strlen(word));
        strbuf_printf(out, "ClusterId == %.*s", cluster, word);
        if (dot != NULL) {
            strbuf_printf(out, " && ProcId == %s", dot + 1);
        }
        return 0;
    }
    if (word[0] == '\0' || strpbrk(word, "\"\\ \t\n(),;'") != NULL ||
        (word[0] >= '0' && word[0] <= '9')) {
        return err_set(err, -EINVAL, "'%s' is neither a job (12 or 12.3) nor an owner", word);
    }
    strbuf_printf(out, strchr(word, '@') != NULL ? "User == \"%s\"" : "Owner == \"%s\"", word);
    return 0;
}
