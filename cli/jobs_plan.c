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

struct jobs_layout {
    const char *option; /* without dash */
    size_t letters;     /* at least, of the option */
    const char *constraint;
    bool totals;
    const char *heading;
    /* NULL: batches, or nothing but totals when there is no heading either */
    void (*job)(const struct ad *job, const struct ad_context *context, struct strbuf *out);
    const char *const *projection;
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
    for (; *text != '\0'; text++) {
        strbuf_putc(out, (unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text);
    }
}

static void put_command(const struct ad *job, struct strbuf *out)
{
    const char *cmd = ad_string_or(job, "Cmd", "");
    const char *slash = strrchr(cmd, '/');
    const char *args = ad_string_or(job, "Args", ad_string_or(job, "Arguments", ""));
    put_clean(slash != NULL ? slash + 1 : cmd, out);
    if (args[0] != '\0') {
        strbuf_putc(out, ' ');
        put_clean(args, out);
    }
    strbuf_putc(out, '\n');
}

static void put_id_and_owner(const struct ad *job, struct strbuf *out)
{
    strbuf_printf(out, "%4lld.%-3lld %-14s ", (long long)ad_int_or(job, "ClusterId", 0),
                  (long long)ad_int_or(job, "ProcId", 0), ad_string_or(job, "Owner", ""));
}

/* ---- a line for each job */

static void job_line(const struct ad *job, const struct ad_context *context, struct strbuf *out)
{
    put_id_and_owner(job, out);
    put_date(job, "QDate", context, out);
    strbuf_putc(out, ' ');
    put_run_time(job, context, out);
    strbuf_printf(out, " %-2c %-3lld %4.1f ", status_letter(ad_int_or(job, "JobStatus", 0)),
                  (long long)ad_int_or(job, "JobPrio", 0), size_mb(job));
    put_command(job, out);
}

static void run_line(const struct ad *job, const struct ad_context *context, struct strbuf *out)
{
    put_id_and_owner(job, out);
    put_date(job, "QDate", context, out);
    strbuf_putc(out, ' ');
    put_run_time(job, context, out);
    strbuf_putc(out, ' ');
    put_clean(ad_string_or(job, "RemoteHost", "[????????????????]"), out);
    strbuf_putc(out, '\n');
}

static void hold_line(const struct ad *job, const struct ad_context *context, struct strbuf *out)
{
    int64_t sub = ad_int_or(job, "HoldReasonSubCode", 0);
    put_id_and_owner(job, out);
    put_date(job, "EnteredCurrentStatus", context, out);
    strbuf_printf(out, " %4lld", (long long)ad_int_or(job, "HoldReasonCode", 0));
    if (sub != 0) {
        strbuf_printf(out, "/%-3lld ", (long long)sub);
    } else {
        strbuf_puts(out, "     ");
    }
    put_clean(ad_string_or(job, "HoldReason", ""), out);
    strbuf_putc(out, '\n');
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

static void idle_line(const struct ad *job, const struct ad_context *context, struct strbuf *out)
{
    struct ad_value memory;
    put_id_and_owner(job, out);
    (void)ad_eval_attr(job, NULL, "RequestMemory", context, &memory); /* absent: undefined */
    strbuf_printf(out, "%-9s %4lld %6lld %6lld ", universe(ad_int_or(job, "JobUniverse", 5)),
                  (long long)ad_int_or(job, "RequestCpus", 1),
                  memory.type == AD_TYPE_INT ? (long long)memory.integer : 0,
                  (long long)ad_int_or(job, "NumJobStarts", 0));
    ad_value_fini(&memory);
    put_clean(ad_string_or(job, "LastRemoteHost", "undefined"), out);
    strbuf_putc(out, '\n');
}

static void history_line(const struct ad *job, const struct ad_context *context, struct strbuf *out)
{
    struct strbuf id;
    strbuf_init(&id, 0);
    strbuf_printf(&id, "%lld.%lld", (long long)ad_int_or(job, "ClusterId", 0),
                  (long long)ad_int_or(job, "ProcId", 0));
    strbuf_printf(out, "%-12s %-14s ", strbuf_text(&id), ad_string_or(job, "Owner", ""));
    strbuf_fini(&id);
    put_date(job, "QDate", context, out);
    strbuf_putc(out, ' ');
    put_run_time(job, context, out);
    strbuf_printf(out, " %-2c ", status_letter(ad_int_or(job, "JobStatus", 0)));
    put_date(job, "CompletionDate", context, out);
    strbuf_putc(out, ' ');
    put_command(job, out);
}

/* ---- a line for each batch */

struct batch {
    char *owner, *name;
    int64_t since_s;
    struct jobs_totals counts;
    int64_t first_cluster, first_proc, last_cluster, last_proc; /* order of ids */
    int64_t submitted; /* jobs that its clusters had in the beginning */
};

static void batch_destroy(void *arg)
{
    struct batch *batch = arg;
    mem_free(batch->owner);
    mem_free(batch->name);
    mem_free(batch);
}

static char *batch_name(const struct ad *job)
{
    struct strbuf text;
    const char *name = ad_string_or(job, "JobBatchName", "");
    strbuf_init(&text, 0);
    if (name[0] != '\0') {
        put_clean(name, &text);
    } else {
        strbuf_printf(&text, "ID: %lld", (long long)ad_int_or(job, "ClusterId", 0));
    }
    return strbuf_take(&text);
}

static void count_job(struct jobs_totals *totals, int64_t status)
{
    totals->idle += status == IDLE ? 1 : 0;
    totals->running += status == RUNNING || status == TRANSFERRING ? 1 : 0;
    totals->removed += status == REMOVED ? 1 : 0;
    totals->completed += status == COMPLETED ? 1 : 0;
    totals->held += status == HELD ? 1 : 0;
    totals->suspended += status == SUSPENDED ? 1 : 0;
}

static void add_to_batch(struct strmap *by_key, struct vec *batches, const struct ad *job)
{
    struct strbuf key;
    char *name = batch_name(job);
    const char *owner = ad_string_or(job, "Owner", "");
    int64_t cluster = ad_int_or(job, "ClusterId", 0), proc = ad_int_or(job, "ProcId", 0);
    strbuf_init(&key, 0);
    strbuf_printf(&key, "%s\n%s", owner, name);
    struct batch *batch = strmap_get(by_key, strbuf_text(&key));
    if (batch == NULL) {
        batch = mem_zalloc(sizeof *batch);
        batch->owner = mem_strdup(owner);
        batch->name = mem_strdup(name);
        batch->since_s = ad_int_or(job, "QDate", 0);
        batch->first_cluster = cluster;
        batch->first_proc = proc;
        vec_push(batches, batch);
        (void)strmap_set(by_key, strbuf_text(&key), batch); /* was absent */
    }
    if (cluster != batch->last_cluster) {
        batch->submitted += ad_int_or(job, "TotalSubmitProcs", 0);
    }
    batch->last_cluster = cluster;
    batch->last_proc = proc;
    count_job(&batch->counts, ad_int_or(job, "JobStatus", 0));
    strbuf_fini(&key);
    mem_free(name);
}

static void put_count(int64_t count, struct strbuf *out)
{
    if (count > 0) {
        strbuf_printf(out, " %6lld", (long long)count);
    } else {
        strbuf_puts(out, "      _");
    }
}

static void batch_line(const struct batch *batch, int owner_width, int name_width,
                       const struct ad_context *context, struct strbuf *out)
{
    const struct jobs_totals *counts = &batch->counts;
    int64_t here = counts->idle + counts->running + counts->suspended + counts->held;
    int64_t total = here + counts->completed + counts->removed;
    total = batch->submitted > total ? batch->submitted : total;
    table_plan_pad(batch->owner, owner_width, TABLE_LEFT, out);
    strbuf_putc(out, ' ');
    table_plan_pad(batch->name, name_width, TABLE_LEFT, out);
    strbuf_putc(out, ' ');
    table_plan_date(batch->since_s, context, out);
    put_count(total - here, out);
    put_count(counts->running + counts->suspended, out);
    put_count(counts->idle, out);
    put_count(counts->held, out);
    put_count(total, out);
    strbuf_printf(out, " %lld.%lld", (long long)batch->first_cluster, (long long)batch->first_proc);
    if (batch->last_cluster != batch->first_cluster) {
        strbuf_printf(out, " ... %lld.%lld", (long long)batch->last_cluster,
                      (long long)batch->last_proc);
    } else if (batch->last_proc != batch->first_proc) {
        strbuf_printf(out, "-%lld", (long long)batch->last_proc);
    }
    strbuf_putc(out, '\n');
}

static void print_batches(const struct ad *const *jobs, size_t count,
                          const struct ad_context *context, struct strbuf *out)
{
    struct strmap *by_key = strmap_create(STRMAP_CASE_SENSITIVE);
    struct vec batches = {0};
    size_t owner_width = count > 0 ? 8 : 5, name_width = count > 0 ? 11 : 13;
    for (size_t i = 0; i < count; i++) {
        add_to_batch(by_key, &batches, jobs[i]);
    }
    for (size_t i = 0; i < batches.count; i++) {
        const struct batch *batch = batches.items[i];
        size_t owner = strlen(batch->owner), name = strlen(batch->name);
        owner_width = owner > owner_width ? owner : owner_width;
        name_width = name > name_width ? name : name_width;
    }
    table_plan_pad("OWNER", (int)owner_width, TABLE_LEFT, out);
    strbuf_putc(out, ' ');
    table_plan_pad("BATCH_NAME", (int)name_width, TABLE_LEFT, out);
    strbuf_puts(out, "   SUBMITTED   DONE   RUN    IDLE   HOLD  TOTAL JOB_IDS\n");
    for (size_t i = 0; i < batches.count; i++) {
        batch_line(batches.items[i], (int)owner_width, (int)name_width, context, out);
    }
    strmap_destroy(by_key, NULL);
    vec_fini(&batches, batch_destroy);
}

/* ---- layouts: a new one is one row here */

static const char *const JOB_ATTRIBUTES[] = {
    "ClusterId",           "ProcId",    "Owner",   "QDate",
    "RemoteWallClockTime", "JobStatus", "JobPrio", "MemoryUsage",
    "ImageSize",           "Cmd",       "Args",    "Arguments",
    "JobCurrentStartDate", NULL};
static const char *const RUN_ATTRIBUTES[] = {
    "ClusterId",           "ProcId",     "Owner", "QDate", "JobStatus", "RemoteWallClockTime",
    "JobCurrentStartDate", "RemoteHost", NULL};
static const char *const HOLD_ATTRIBUTES[] = {"ClusterId",
                                              "ProcId",
                                              "Owner",
                                              "JobStatus",
                                              "EnteredCurrentStatus",
                                              "HoldReasonCode",
                                              "HoldReasonSubCode",
                                              "HoldReason",
                                              NULL};
static const char *const BATCH_ATTRIBUTES[] = {
    "ClusterId", "ProcId", "Owner", "QDate", "JobStatus", "JobBatchName", "TotalSubmitProcs", NULL};
static const char *const TOTAL_ATTRIBUTES[] = {"JobStatus", NULL};
static const char *const ALL_ATTRIBUTES[] = {NULL};

static const struct jobs_layout LAYOUTS[] = {
    {"", 1, NULL, true, NULL, NULL, BATCH_ATTRIBUTES},
    {"nobatch", 3, NULL, true, " ID      OWNER            SUBMITTED     RUN_TIME ST PRI SIZE CMD\n",
     job_line, JOB_ATTRIBUTES},
    {"run", 1, "JobStatus == 2 || JobStatus == 6 || JobStatus == 7", false,
     " ID      OWNER            SUBMITTED     RUN_TIME HOST(S)\n", run_line, RUN_ATTRIBUTES},
    {"hold", 3, "JobStatus == 5", true,
     " ID      OWNER          HELD_SINCE  CODE/SUB HOLD_REASON\n", hold_line, HOLD_ATTRIBUTES},
    {"idle", 2, "JobStatus == 1", false,
     " ID      OWNER          UNIVERSE  CPUS MEMORY STARTS LAST_HOST\n", idle_line, ALL_ATTRIBUTES},
    {"totals", 3, NULL, true, NULL, NULL, TOTAL_ATTRIBUTES},
};
enum { LAYOUT_BATCHES = 0, LAYOUT_TOTALS = 5 };

static const struct jobs_layout HISTORY = {
    "",
    1,
    NULL,
    false,
    " ID          OWNER            SUBMITTED   RUN_TIME   ST   COMPLETED CMD\n",
    history_line,
    ALL_ATTRIBUTES};

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

const char *const *jobs_layout_projection(const struct jobs_layout *layout)
{
    return layout->projection[0] != NULL ? layout->projection : NULL;
}

bool jobs_layout_totals(const struct jobs_layout *layout)
{
    return layout->totals;
}

bool jobs_layout_is_bare(const struct jobs_layout *layout)
{
    return layout == &LAYOUTS[LAYOUT_TOTALS];
}

void jobs_plan_print(const struct jobs_layout *layout, const struct ad *const *jobs, size_t count,
                     const struct ad_context *context, struct strbuf *out)
{
    if (layout == &LAYOUTS[LAYOUT_BATCHES]) {
        print_batches(jobs, count, context, out);
        return;
    }
    strbuf_puts(out, layout->heading != NULL ? layout->heading : "");
    for (size_t i = 0; i < count && layout->job != NULL; i++) {
        layout->job(jobs[i], context, out);
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
        count_job(ret, ad_int_or(jobs[i], "JobStatus", 0));
    }
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
