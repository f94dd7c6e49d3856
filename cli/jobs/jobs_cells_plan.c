/* cli/jobs/jobs_cells_plan.c - see jobs_cells_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/jobs/jobs_cells_plan.h"

#include <string.h>

#include "base/check.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "cli/table_plan.h"

void jobs_put_date(const struct ad *job, const char *name, const struct ad_context *context,
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

static bool jobs_is_running(int64_t status)
{
    return status == JOBS_RUNNING || status == JOBS_TRANSFERRING || status == JOBS_SUSPENDED;
}

double jobs_run_time_s(const struct ad *job, enum jobs_time time, const struct ad_context *context)
{
    if (time == JOBS_TIME_CPU) {
        return ad_real_or(job, "RemoteUserCpu", 0);
    }
    double seconds = ad_real_or(job, "RemoteWallClockTime", 0);
    int64_t since = ad_int_or(job, "JobCurrentStartDate", 0);
    bool running = jobs_is_running(ad_int_or(job, "JobStatus", 0)) && since > 0;
    if (time == JOBS_TIME_CURRENT_RUN) {
        seconds = running ? 0 : ad_real_or(job, "LastRemoteWallClockTime", seconds);
    }
    return running && context->now_s > since ? seconds + (double)(context->now_s - since) : seconds;
}

void jobs_put_time(const struct ad *job, enum jobs_time time, const struct ad_context *context,
                   struct strbuf *out)
{
    struct strbuf text;
    double seconds = jobs_run_time_s(job, time, context);
    strbuf_init(&text, 0);
    table_plan_duration(seconds < 1e15 ? (int64_t)seconds : 0, &text);
    table_plan_pad(strbuf_text(&text), 12, TABLE_RIGHT, out);
    strbuf_fini(&text);
}

const char *jobs_status_text(const struct ad *job)
{
    static const char *const TEXTS[] = {"U", "I", "R", "X", "C", "H", ">", "S"};
    int64_t status = ad_int_or(job, "JobStatus", 0);
    if (status == JOBS_RUNNING || status == JOBS_TRANSFERRING) {
        bool queued = ad_bool_or(job, "TransferQueued", false);
        if (ad_bool_or(job, "TransferringInput", false)) {
            return queued ? "<q" : "<";
        }
        if (status == JOBS_TRANSFERRING || ad_bool_or(job, "TransferringOutput", false)) {
            return queued ? "q>" : ">";
        }
    }
    return status >= 0 && status < (int64_t)ARRAY_COUNT(TEXTS) ? TEXTS[status] : "?";
}

const char *jobs_status_word(int64_t status)
{
    static const char *const WORDS[] = {
        "Unexpanded",          "Idle",     "Running", "Removed", "Completed", "Held",
        "Transferring Output", "Suspended"};
    return status >= 0 && status < (int64_t)ARRAY_COUNT(WORDS) ? WORDS[status] : "Unknown";
}

const char *jobs_transfer_text(const struct ad *job)
{
    static const struct {
        const char *status, *text;
    } TEXTS[] = {{"<", "input comes"},
                 {"<q", "input waits for its turn"},
                 {">", "output goes"},
                 {"q>", "output waits for its turn"}};
    const char *status = jobs_status_text(job);
    for (size_t i = 0; i < ARRAY_COUNT(TEXTS); i++) {
        if (strcmp(TEXTS[i].status, status) == 0) {
            return TEXTS[i].text;
        }
    }
    return "";
}

double jobs_size_mb(const struct ad *job)
{
    double size = ad_real_or(job, "MemoryUsage", -1);
    return size >= 0 ? size : ad_real_or(job, "ImageSize", 0) / 1024.0;
}

void jobs_put_bytes(double bytes, struct strbuf *out)
{
    static const char *const UNITS[] = {"B", "KB", "MB", "GB", "TB", "PB"};
    size_t unit = 0;
    while (bytes >= 1024 && unit + 1 < ARRAY_COUNT(UNITS)) {
        bytes /= 1024;
        unit++;
    }
    strbuf_printf(out, "%.1f %s", bytes > 0 ? bytes : 0, UNITS[unit]);
}

void jobs_put_moved(const struct ad *job, const char *before, const char *after, struct strbuf *out)
{
    double total = ad_real_or(job, "TransferTotalBytes", 0);
    double done = ad_real_or(job, "TransferDoneBytes", 0);
    bool moves =
        ad_bool_or(job, "TransferringInput", false) || ad_bool_or(job, "TransferringOutput", false);
    if (moves && !ad_bool_or(job, "TransferQueued", false) && total > 0) {
        double part = done > 0 ? done / total : 0;
        strbuf_printf(out, "%s%d%% of ", before, part < 1 ? (int)(100 * part) : 100);
        jobs_put_bytes(total, out);
        strbuf_puts(out, after);
    }
}

void jobs_put_progress(const struct ad *job, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    jobs_put_moved(job, "(", ") ", out);
}

/* Appends the text of a job as one line without control characters, so that it cannot move the
 * terminal's cursor. */
void jobs_put_clean(const char *text, struct strbuf *out)
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

void jobs_put_command(const struct ad *job, const struct ad_context *context, struct strbuf *out)
{
    const char *cmd = ad_string_or(job, "Cmd", "");
    const char *slash = strrchr(cmd, '/');
    (void)context;
    jobs_put_clean(slash != NULL ? slash + 1 : cmd, out);
}

void jobs_put_arguments(const struct ad *job, const struct ad_context *context, struct strbuf *out)
{
    const char *args = NULL;
    (void)context;
    if (ad_get_string(job, "Args", &args) != 0) {
        args = ad_string_or(job, "Arguments", "");
    }
    if (args[0] != '\0') {
        strbuf_putc(out, ' ');
        jobs_put_clean(args, out);
    }
}

/* A number in at least width columns. */
void jobs_put_number(int64_t number, size_t width, bool left, struct strbuf *out)
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

void jobs_put_owner(const struct ad *job, struct strbuf *out)
{
    table_plan_pad(ad_string_or(job, "Owner", ""), 14, TABLE_LEFT, out);
    strbuf_putc(out, ' ');
}

const char *jobs_universe(int64_t number)
{
    switch (number) {
    case 1:
        return "Standard";
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

void jobs_put_cut(const struct ad *job, const struct ad_context *context, struct strbuf *out)
{
    int64_t since_s;
    if (ad_get_int(job, "JobDisconnectedDate", &since_s) == 0) {
        strbuf_puts(out, " (not responding since ");
        table_plan_date(since_s, context, out);
        strbuf_putc(out, ')');
    }
}
