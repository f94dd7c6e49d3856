/* cli/jobs/jobs_plan.c - see jobs_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/jobs/jobs_plan.h"

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
#include "cli/jobs/jobs_cells_plan.h"
#include "cli/listing_plan.h"
#include "cli/table_plan.h"
#include "cli/terminal_plan.h"

#define PARTS_MAX 4

/* A part of a line. names (NULL-terminated) are the attributes on which it depends, besides
 * JobStatus. */
struct part {
    void (*put)(const struct ad *job, const struct ad_context *context, struct strbuf *out);
    const char *names[14];
};

struct jobs_layout {
    const char *option; /* name without its dash */
    size_t letters;     /* shortest accepted abbreviation of the option, in letters */
    const char *constraint;
    bool totals;
    const char *heading;
    /* No parts: batches if there is a heading, else only totals. */
    struct part parts[PARTS_MAX + 1];
};

/* ---- a line for each job: the id, then parts; most parts are the same for all jobs of a cluster
 */

static void job_line(const struct ad *job, enum jobs_time time, const struct ad_context *context,
                     struct strbuf *out)
{
    jobs_put_owner(job, out);
    jobs_put_date(job, "QDate", context, out);
    strbuf_putc(out, ' ');
    jobs_put_time(job, time, context, out);
    strbuf_printf(out, " %-2s %-3lld %4.1f ", jobs_status_text(job),
                  (long long)ad_int_or(job, "JobPrio", 0), jobs_size_mb(job));
}

static void run_line(const struct ad *job, enum jobs_time time, const struct ad_context *context,
                     struct strbuf *out)
{
    jobs_put_owner(job, out);
    jobs_put_date(job, "QDate", context, out);
    strbuf_putc(out, ' ');
    jobs_put_time(job, time, context, out);
    strbuf_putc(out, ' ');
}

/* After the run time: the committed part of it, the use of the processor, and megabits transferred
 * per second. */
static void good_line(const struct ad *job, enum jobs_time time, const struct ad_context *context,
                      struct strbuf *out)
{
    double run = jobs_run_time_s(job, JOBS_TIME_ALL, context);
    double committed = ad_real_or(job, "CommittedTime", 0);
    double bytes = ad_real_or(job, "BytesSent", 0) + ad_real_or(job, "BytesRecvd", 0);
    run_line(job, time, context, out);
    if (run > 0) {
        strbuf_printf(out, "%6.1f%%", 100 * (committed < run ? committed : run) / run);
    } else {
        strbuf_puts(out, "[?????]");
    }
    if (committed > 0) {
        strbuf_printf(out, " %7.1f%%", 100 * ad_real_or(job, "RemoteUserCpu", 0) / committed);
    } else {
        strbuf_puts(out, " [??????]");
    }
    if (run > 0) {
        strbuf_printf(out, " %6.2f", bytes * 8 / 1e6 / run);
    } else {
        strbuf_puts(out, " [????]");
    }
}

#define TIMED(name, line)                                                                        \
    static void name(const struct ad *job, const struct ad_context *context, struct strbuf *out) \
    {                                                                                            \
        line(job, JOBS_TIME_ALL, context, out);                                                  \
    }                                                                                            \
    static void name##_current(const struct ad *job, const struct ad_context *context,           \
                               struct strbuf *out)                                               \
    {                                                                                            \
        line(job, JOBS_TIME_CURRENT_RUN, context, out);                                          \
    }                                                                                            \
    static void name##_cpu(const struct ad *job, const struct ad_context *context,               \
                           struct strbuf *out)                                                   \
    {                                                                                            \
        line(job, JOBS_TIME_CPU, context, out);                                                  \
    }
TIMED(job_middle, job_line)
TIMED(run_middle, run_line)
TIMED(good_middle, good_line)

static void put_right(const char *text, int width, struct strbuf *out)
{
    table_plan_pad(text, width, TABLE_RIGHT, out);
    strbuf_putc(out, ' ');
}

/* Appends the bytes that were sent to the job, those that it sent back, and both per second of run
 * time. */
static void io_middle(const struct ad *job, const struct ad_context *context, struct strbuf *out)
{
    double in = ad_real_or(job, "BytesRecvd", 0), sent = ad_real_or(job, "BytesSent", 0);
    double run = jobs_run_time_s(job, JOBS_TIME_ALL, context);
    const double numbers[] = {in, sent, run > 0 ? (in + sent) / run : 0};
    jobs_put_owner(job, out);
    strbuf_printf(out, "%4lld %-2s ", (long long)ad_int_or(job, "NumJobStarts", 0),
                  jobs_status_text(job));
    for (size_t i = 0; i < ARRAY_COUNT(numbers); i++) {
        struct strbuf text;
        strbuf_init(&text, 0);
        jobs_put_bytes(numbers[i], &text);
        strbuf_puts(&text, i == 2 ? "/s" : "");
        put_right(strbuf_text(&text), i == 2 ? 11 : 9, out);
        strbuf_fini(&text);
    }
}

static void io_misc(const struct ad *job, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    const char *transfer = jobs_transfer_text(job);
    strbuf_puts(out,
                transfer[0] != '\0' ? transfer : jobs_universe(ad_int_or(job, "JobUniverse", 5)));
}

static void run_host(const struct ad *job, const struct ad_context *context, struct strbuf *out)
{
    jobs_put_clean(ad_string_or(job, "RemoteHost", "[????????????????]"), out);
    jobs_put_cut(job, context, out);
}

static void hold_middle(const struct ad *job, const struct ad_context *context, struct strbuf *out)
{
    int64_t sub = ad_int_or(job, "HoldReasonSubCode", 0);
    jobs_put_owner(job, out);
    jobs_put_date(job, "EnteredCurrentStatus", context, out);
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
    jobs_put_clean(ad_string_or(job, "HoldReason", ""), out);
}

static void idle_middle(const struct ad *job, const struct ad_context *context, struct strbuf *out)
{
    struct ad_value memory;
    jobs_put_owner(job, out);
    (void)ad_eval_attr(job, NULL, "RequestMemory", context, &memory); /* absent: undefined */
    strbuf_printf(out, "%-9s %4lld %6lld %6lld ", jobs_universe(ad_int_or(job, "JobUniverse", 5)),
                  (long long)ad_int_or(job, "RequestCpus", 1),
                  memory.type == AD_TYPE_INT ? (long long)memory.integer : 0,
                  (long long)ad_int_or(job, "NumJobStarts", 0));
    ad_value_fini(&memory);
}

static void idle_host(const struct ad *job, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    jobs_put_clean(ad_string_or(job, "LastRemoteHost", "undefined"), out);
}

/* Appends the number of checkpoints, the age and size of the latest, and the committed time. */
static void ckpt_middle(const struct ad *job, const struct ad_context *context, struct strbuf *out)
{
    int64_t taken_s = ad_int_or(job, "LastCkptTime", 0);
    struct strbuf age, size;
    strbuf_init(&age, 0);
    strbuf_init(&size, 0);
    if (ad_int_or(job, "CkptSequence", 0) > 0) {
        int64_t age_s = context->now_s - taken_s;
        table_plan_duration(age_s > 0 ? age_s : 0, &age);
        jobs_put_bytes(ad_real_or(job, "CkptImageSize", 0) + ad_real_or(job, "CkptFilesSize", 0),
                       &size);
    }
    jobs_put_owner(job, out);
    strbuf_printf(out, "%5lld %-2s ", (long long)ad_int_or(job, "NumCkpts", 0),
                  jobs_status_text(job));
    put_right(age.length > 0 ? strbuf_text(&age) : "none", 11, out);
    put_right(size.length > 0 ? strbuf_text(&size) : "-", 9, out);
    strbuf_clear(&age);
    table_plan_duration(ad_int_or(job, "CommittedTime", 0), &age);
    put_right(strbuf_text(&age), 11, out);
    strbuf_fini(&size);
    strbuf_fini(&age);
}

static void history_middle(const struct ad *job, const struct ad_context *context,
                           struct strbuf *out)
{
    jobs_put_owner(job, out);
    jobs_put_date(job, "QDate", context, out);
    strbuf_putc(out, ' ');
    jobs_put_time(job, JOBS_TIME_ALL, context, out);
    strbuf_printf(out, " %-2s ", jobs_status_text(job));
    jobs_put_date(job, "CompletionDate", context, out);
    strbuf_putc(out, ' ');
}

/* ---- a line for each batch */

static char *batch_name(const struct ad *batch)
{
    struct strbuf text;
    const char *name = ad_string_or(batch, "JobBatchName", "");
    strbuf_init(&text, 0);
    if (name[0] != '\0') {
        jobs_put_clean(name, &text);
    } else {
        strbuf_printf(&text, "ID: %lld", (long long)ad_int_or(batch, "ClusterId", 0));
    }
    return strbuf_take(&text);
}

static void count_job(struct jobs_totals *totals, int64_t status, int64_t jobs)
{
    totals->idle += status == JOBS_IDLE ? jobs : 0;
    totals->running += status == JOBS_RUNNING || status == JOBS_TRANSFERRING ? jobs : 0;
    totals->removed += status == JOBS_REMOVED ? jobs : 0;
    totals->completed += status == JOBS_COMPLETED ? jobs : 0;
    totals->held += status == JOBS_HELD ? jobs : 0;
    totals->suspended += status == JOBS_SUSPENDED ? jobs : 0;
}

static void count_ad(struct jobs_totals *totals, const struct ad *job, int64_t jobs)
{
    int64_t status = ad_int_or(job, "JobStatus", 0);
    count_job(totals, status, jobs);
    if (status == JOBS_RUNNING || status == JOBS_TRANSFERRING || status == JOBS_SUSPENDED) {
        totals->disconnected += ad_has(job, "JobDisconnectedDate") ? jobs : 0;
    }
}

int64_t jobs_plan_running(const struct jobs_totals *totals)
{
    return totals->running > totals->disconnected ? totals->running - totals->disconnected : 0;
}

static void put_count(int64_t count, struct strbuf *out)
{
    if (count > 0) {
        strbuf_printf(out, " %6lld", (long long)count);
    } else {
        strbuf_puts(out, "      _");
    }
}

static void batch_line(const struct ad *batch, int owner_width, int name_width, bool hold,
                       const struct ad_context *context, struct strbuf *out)
{
    struct jobs_totals counts = {0};
    jobs_plan_read_totals(batch, "", &counts);
    int64_t here = counts.idle + counts.running + counts.suspended + counts.held;
    int64_t total = here + counts.completed + counts.removed;
    int64_t submitted = ad_int_or(batch, "TotalSubmitProcs", 0);
    int64_t later = ad_int_or(batch, "UnmaterializedJobs", 0); /* are still to be made */
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
    put_count(total - here - later, out);
    put_count(counts.running + counts.suspended, out);
    put_count(counts.idle, out);
    if (hold) {
        put_count(counts.held, out);
    }
    put_count(total, out);
    if (here + counts.completed + counts.removed == 0 && ad_has(batch, "UnmaterializedJobs")) {
        strbuf_printf(out, " %lld", (long long)first); /* no job of it is there yet */
        last = first;
        last_proc = proc;
    } else {
        strbuf_printf(out, " %lld.%lld", (long long)first, (long long)proc);
    }
    if (last != first) {
        strbuf_printf(out, " ... %lld.%lld", (long long)last, (long long)last_proc);
    } else if (last_proc != proc) {
        strbuf_printf(out, "-%lld", (long long)last_proc);
    }
    strbuf_puts(out, ad_int_or(batch, "JobMaterializePaused", 0) != 0 ? " (paused)" : "");
    strbuf_putc(out, '\n');
    mem_free(name);
}

static void print_batches(const struct ad *const *batches, size_t count,
                          const struct ad_context *context, struct strbuf *out)
{
    size_t owner_width = count > 0 ? 8 : 5, name_width = count > 0 ? 11 : 13;
    bool hold = count == 0; /* a column for it where some are held */
    for (size_t i = 0; i < count; i++) {
        char *text = batch_name(batches[i]);
        const char *user = ad_string_or(batches[i], "Owner", "");
        size_t owner = terminal_width(user, strlen(user)),
               name = terminal_width(text, strlen(text));
        hold = hold || ad_int_or(batches[i], "HeldJobs", 0) > 0;
        owner_width = owner > owner_width ? owner : owner_width;
        name_width = name > name_width ? name : name_width;
        mem_free(text);
    }
    table_plan_pad("OWNER", (int)owner_width, TABLE_LEFT, out);
    strbuf_putc(out, ' ');
    table_plan_pad("BATCH_NAME", (int)name_width, TABLE_LEFT, out);
    strbuf_puts(out, hold ? "   SUBMITTED   DONE   RUN    IDLE   HOLD  TOTAL JOB_IDS\n"
                          : "   SUBMITTED   DONE   RUN    IDLE  TOTAL JOB_IDS\n");
    for (size_t i = 0; i < count; i++) {
        batch_line(batches[i], (int)owner_width, (int)name_width, hold, context, out);
    }
}

/* ---- layouts: a new one is one row here */

#define COMMAND           \
    {                     \
        jobs_put_command, \
        {                 \
            "Cmd"         \
        }                 \
    }
#define ARGUMENTS               \
    {                           \
        jobs_put_arguments,     \
        {                       \
            "Args", "Arguments" \
        }                       \
    }

#define TIME_ATTRIBUTES                                                                        \
    "Owner", "QDate", "RemoteWallClockTime", "JobCurrentStartDate", "LastRemoteWallClockTime", \
        "RemoteUserCpu", "JobDisconnectedDate"
#define TRANSFER_ATTRIBUTES "TransferringInput", "TransferringOutput", "TransferQueued"
#define PROGRESS                                                           \
    {                                                                      \
        jobs_put_progress,                                                 \
        {                                                                  \
            "TransferDoneBytes", "TransferTotalBytes", TRANSFER_ATTRIBUTES \
        }                                                                  \
    }
#define JOB_HEADING(time) " ID      OWNER            SUBMITTED     " time " ST PRI SIZE CMD\n"
#define JOB_PARTS(middle)                                                                        \
    {                                                                                            \
        {middle, {TIME_ATTRIBUTES, "JobPrio", "MemoryUsage", "ImageSize", TRANSFER_ATTRIBUTES}}, \
            PROGRESS, COMMAND, ARGUMENTS                                                         \
    }
#define RUN_HEADING(time) " ID      OWNER            SUBMITTED     " time " HOST(S)\n"
#define RUN_PARTS(middle)                           \
    {                                               \
        {middle, {TIME_ATTRIBUTES}},                \
        {                                           \
            run_host,                               \
            {                                       \
                "RemoteHost", "JobDisconnectedDate" \
            }                                       \
        }                                           \
    }
#define RUNNING "JobStatus == 2 || JobStatus == 6 || JobStatus == 7"
#define GOOD_HEADING(time) \
    " ID      OWNER            SUBMITTED     " time " GOODPUT CPU_UTIL   Mb/s\n"
#define GOOD_PARTS(middle)                                                       \
    {                                                                            \
        {middle, {TIME_ATTRIBUTES, "CommittedTime", "BytesSent", "BytesRecvd"}}, \
    }

static const struct jobs_layout LAYOUTS[] = {
    {.option = "", .letters = 1, .totals = true},
    {"nobatch", 3, NULL, true, JOB_HEADING("RUN_TIME"), JOB_PARTS(job_middle)},
    {"run", 1, RUNNING, false, RUN_HEADING("RUN_TIME"), RUN_PARTS(run_middle)},
    {"goodput", 4, NULL, false, GOOD_HEADING("RUN_TIME"), GOOD_PARTS(good_middle)},
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
    {"io",
     2,
     NULL,
     true,
     " ID      OWNER          RUNS ST     INPUT    OUTPUT        RATE MISC\n",
     {{io_middle,
       {"Owner", "NumJobStarts", "BytesRecvd", "BytesSent", "RemoteWallClockTime",
        "JobCurrentStartDate", TRANSFER_ATTRIBUTES}},
      {io_misc, {"JobUniverse", TRANSFER_ATTRIBUTES}}}},
    {.option = "totals", .letters = 3, .totals = true},
    {"ckpt",
     2,
     "WantCheckpoint =?= true",
     true,
     " ID      OWNER          CKPTS ST   LAST_CKPT      SIZE   COMMITTED CMD\n",
     {{ckpt_middle,
       {"Owner", "NumCkpts", "LastCkptTime", "CkptSequence", "CkptImageSize", "CkptFilesSize",
        "CommittedTime", TRANSFER_ATTRIBUTES}},
      COMMAND,
      ARGUMENTS}},
};
enum { LAYOUT_BATCHES = 0, LAYOUT_NOBATCH, LAYOUT_RUN, LAYOUT_GOODPUT, LAYOUT_TOTALS = 7 };

/* Variants of layouts that show another time as RUN_TIME, in the order of enum jobs_time. */
static const struct {
    int layout;
    struct jobs_layout timed[2];
} TIMES[] = {
    {LAYOUT_NOBATCH,
     {{"nobatch", 3, NULL, true, JOB_HEADING("RUN_TIME"), JOB_PARTS(job_middle_current)},
      {"nobatch", 3, NULL, true, JOB_HEADING("CPU_TIME"), JOB_PARTS(job_middle_cpu)}}},
    {LAYOUT_RUN,
     {{"run", 1, RUNNING, false, RUN_HEADING("RUN_TIME"), RUN_PARTS(run_middle_current)},
      {"run", 1, RUNNING, false, RUN_HEADING("CPU_TIME"), RUN_PARTS(run_middle_cpu)}}},
    {LAYOUT_GOODPUT,
     {{"goodput", 4, NULL, false, GOOD_HEADING("RUN_TIME"), GOOD_PARTS(good_middle_current)},
      {"goodput", 4, NULL, false, GOOD_HEADING("CPU_TIME"), GOOD_PARTS(good_middle_cpu)}}},
};

const struct jobs_layout *jobs_layout_timed(const struct jobs_layout *layout, enum jobs_time time)
{
    for (size_t i = 0; time != JOBS_TIME_ALL && i < ARRAY_COUNT(TIMES); i++) {
        if (layout == &LAYOUTS[TIMES[i].layout]) {
            return &TIMES[i].timed[time - 1];
        }
    }
    return layout;
}

#define JOBS_ALIKE_MAX 10000000 /* most jobs that one ad may stand for */

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
    jobs_put_number(cluster, layout == &HISTORY ? 0 : 4, false, out);
    strbuf_putc(out, '.');
    jobs_put_number(proc, layout == &HISTORY ? 0 : 3, true, out);
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
    int columns; /* lines are cut to this width; 0: not cut */
    struct jobs_totals totals;
    struct strmap *parts_of; /* name of an attribute -> bit mask of the parts that show it */
    struct ad *common;       /* common attributes of the jobs that are arriving; NULL: none */
    int64_t cluster;
    bool computed; /* a shown attribute is an expression, so its value may differ from job to job */
    /* text of each part for a job without own attributes in it, for each JobStatus */
    struct strbuf parts[PARTS_MAX][STATUSES];
    bool made[PARTS_MAX][STATUSES];
};

struct jobs_rows *jobs_rows_create(const struct jobs_layout *layout, int columns,
                                   const struct ad_context *context)
{
    struct jobs_rows *rows = mem_zalloc(sizeof *rows);
    rows->layout = layout;
    rows->context = context;
    rows->columns = columns;
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

/* Returns the bit mask of the parts that show an attribute of the job's own. */
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
    count_ad(&rows->totals, job, count);
    for (int64_t i = 0; i < count; i++) {
        size_t begin = out->length;
        put_id(rows->layout, rows->common != NULL ? rows->cluster : ad_int_or(job, "ClusterId", 0),
               proc + i, out);
        for (size_t k = 0; rows->layout->parts[k].put != NULL; k++) {
            put_part(rows, k, (own >> k & 1) != 0, status >= 0 ? (size_t)status : STATUSES, job,
                     out);
        }
        terminal_cut(out, begin, rows->columns);
        strbuf_putc(out, '\n');
    }
    ad_chain(job, NULL);
}

void jobs_plan_lines(const struct jobs_layout *layout, const struct ad *const *ads, size_t count,
                     int columns, const struct ad_context *context, struct strbuf *out)
{
    for (size_t i = 0; i < count; i++) {
        size_t begin = out->length;
        put_id(layout, ad_int_or(ads[i], "ClusterId", 0), ad_int_or(ads[i], "ProcId", 0), out);
        for (const struct part *part = layout->parts; part->put != NULL; part++) {
            part->put(ads[i], context, out);
        }
        terminal_cut(out, begin, columns);
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
        jobs_plan_lines(layout, ads, count, 0, context, out);
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
        count_ad(ret, jobs[i], 1);
    }
}

void jobs_plan_read_totals(const struct ad *ad, const char *prefix, struct jobs_totals *ret)
{
    static const char *const NAMES[] = {"CompletedJobs",   "RemovedJobs", "IdleJobs",
                                        "RunningJobs",     "HeldJobs",    "SuspendedJobs",
                                        "DisconnectedJobs"};
    int64_t *const numbers[] = {&ret->completed, &ret->removed,   &ret->idle,        &ret->running,
                                &ret->held,      &ret->suspended, &ret->disconnected};
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
    int64_t running = jobs_plan_running(totals), cut = totals->running - running;
    strbuf_printf(out,
                  "Total for %s: %lld jobs; %lld completed, %lld removed, %lld idle, %lld running, "
                  "%lld held, %lld suspended",
                  what, (long long)all, (long long)totals->completed, (long long)totals->removed,
                  (long long)totals->idle, (long long)running, (long long)totals->held,
                  (long long)(totals->suspended - (totals->disconnected - cut)));
    if (totals->disconnected > 0) { /* what HTCondor's line does not have, stands at its end */
        strbuf_printf(out, ", %lld disconnected", (long long)totals->disconnected);
    }
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
        return err_set(err, -EINVAL, "'%s' is neither a job (12 or 12.3) nor a user name", word);
    }
    strbuf_printf(out, strchr(word, '@') != NULL ? "User == \"%s\"" : "Owner == \"%s\"", word);
    return 0;
}
