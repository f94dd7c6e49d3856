/* eventlog/event_text.c - see event_text.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "eventlog/event_text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "classad/ad.h"
#include "classad/ad_xml.h"

#define NAME_SIZE     96 /* most bytes of a name, with the terminating zero */
#define RESOURCES_MAX 64
#define CELL_SIZE     64 /* most bytes of a cell of the table, with the terminating zero */

/* ---- the formats ----------------------------------------------------------------------------- */

static bool apply_word(const char *word, struct event_format *format)
{
    bool on = word[0] != '!';
    const char *name = on ? word : word + 1;
    if (text_equal_nocase(name, "ISO_DATE")) {
        format->legacy = !on;
    } else if (text_equal_nocase(name, "LEGACY")) {
        format->legacy = on;
    } else if (text_equal_nocase(name, "UTC")) {
        format->utc = on;
    } else if (text_equal_nocase(name, "SUB_SECOND")) {
        format->sub_second = on;
    } else if (text_equal_nocase(name, "XML")) {
        format->form = on ? EVENT_AS_XML : EVENT_AS_TEXT;
    } else if (text_equal_nocase(name, "JSON")) {
        format->form = on ? EVENT_AS_JSON : EVENT_AS_TEXT;
    } else {
        return false;
    }
    return true;
}

int event_format_parse(const char *words, struct event_format *ret, struct err *err)
{
    static const char DIVIDERS[] = " \t\n,|";
    struct event_format format = {0};
    const char *at = words + strspn(words, DIVIDERS);
    while (*at != '\0') {
        char word[32];
        size_t length = strcspn(at, DIVIDERS);
        (void)snprintf(word, sizeof(word), "%.*s", (int)(length < 31 ? length : 31), at);
        if (length >= sizeof(word) || !apply_word(word, &format)) {
            return err_set(
                err, -EINVAL,
                "unknown word '%s'; expected ISO_DATE, LEGACY, UTC, SUB_SECOND, XML or JSON", word);
        }
        at += length;
        at += strspn(at, DIVIDERS);
    }
    *ret = format;
    return 0;
}

static const struct {
    enum event_type type;
    const char *name;
} TYPES[] = {
    {EVENT_SUBMIT, "SubmitEvent"},
    {EVENT_EXECUTE, "ExecuteEvent"},
    {EVENT_EXECUTABLE_ERROR, "ExecutableErrorEvent"},
    {EVENT_CHECKPOINTED, "CheckpointedEvent"},
    {EVENT_EVICTED, "JobEvictedEvent"},
    {EVENT_TERMINATED, "JobTerminatedEvent"},
    {EVENT_IMAGE_SIZE, "JobImageSizeEvent"},
    {EVENT_SHADOW_EXCEPTION, "ShadowExceptionEvent"},
    {EVENT_GENERIC, "GenericEvent"},
    {EVENT_ABORTED, "JobAbortedEvent"},
    {EVENT_SUSPENDED, "JobSuspendedEvent"},
    {EVENT_UNSUSPENDED, "JobUnsuspendedEvent"},
    {EVENT_HELD, "JobHeldEvent"},
    {EVENT_RELEASED, "JobReleaseEvent"},
    {EVENT_REMOTE_ERROR, "RemoteErrorEvent"},
    {EVENT_DISCONNECTED, "JobDisconnectedEvent"},
    {EVENT_RECONNECTED, "JobReconnectedEvent"},
    {EVENT_RECONNECT_FAILED, "JobReconnectFailedEvent"},
    {EVENT_AD_INFORMATION, "JobAdInformationEvent"},
    {EVENT_ATTRIBUTE_UPDATE, "AttributeUpdateEvent"},
    {EVENT_CLUSTER_SUBMIT, "ClusterSubmitEvent"},
    {EVENT_CLUSTER_REMOVE, "ClusterRemoveEvent"},
    {EVENT_FACTORY_PAUSED, "FactoryPausedEvent"},
    {EVENT_FACTORY_RESUMED, "FactoryResumedEvent"},
    {EVENT_FILE_TRANSFER, "FileTransferEvent"},
    {EVENT_DATAFLOW_SKIPPED, "DataflowJobSkippedEvent"},
};

/* Returns the MyType of an event, such as "SubmitEvent"; "FutureEvent" for an unknown number. */
static const char *event_type_name(int64_t type)
{
    for (size_t i = 0; i < ARRAY_COUNT(TYPES); i++) {
        if ((int64_t)TYPES[i].type == type) {
            return TYPES[i].name;
        }
    }
    return "FutureEvent";
}

struct ad *event_create(enum event_type type, int64_t cluster, int64_t proc)
{
    struct ad *event = ad_create();
    ad_set_string(event, "MyType", event_type_name(type));
    ad_set_int(event, "EventTypeNumber", type);
    ad_set_int(event, "Cluster", cluster);
    if (proc >= 0) {
        ad_set_int(event, "Proc", proc);
    }
    ad_set_int(event, "Subproc", 0);
    return event;
}

/* ---- small parts ----------------------------------------------------------------------------- */

/* Writes a time such as "2026-11-20T09:08:50.123": UTC plus the zone. */
static void date_text(int64_t utc_ms, int32_t zone_s, char ret[TEXT_UTC_MAX])
{
    text_utc_ms(utc_ms + (int64_t)zone_s * 1000, ret);
    size_t length = strlen(ret);
    if (length > 0 && ret[length - 1] == 'Z') {
        ret[length - 1] = '\0';
    }
}

/* Appends the beginning of an event, "000 (012.003.000) ".  Most events have numbers that are not
 * negative, and are written without printf(). */
static void put_ids(const struct ad *event, struct strbuf *out)
{
    static const char *const AFTER[] = {" (", ".", ".", ") "};
    const int64_t ids[] = {ad_int_or(event, "EventTypeNumber", 0), ad_int_or(event, "Cluster", -1),
                           ad_int_or(event, "Proc", -1), ad_int_or(event, "Subproc", 0)};
    if (ids[0] < 0 || ids[1] < 0 || ids[2] < 0 || ids[3] < 0) {
        strbuf_printf(out, "%03" PRId64 " (%03" PRId64 ".%03" PRId64 ".%03" PRId64 ") ", ids[0],
                      ids[1], ids[2], ids[3]);
        return;
    }
    for (size_t i = 0; i < ARRAY_COUNT(ids); i++) {
        char digits[TEXT_DECIMAL_MAX];
        strbuf_append(out, digits, text_put_decimal(digits, (uint64_t)ids[i], 3));
        strbuf_puts(out, AFTER[i]);
    }
}

static void print_header(const struct ad *event, int64_t utc_ms, int32_t zone_s,
                         const struct event_format *format, struct strbuf *out)
{
    char date[TEXT_UTC_MAX];
    date_text(utc_ms, format->utc ? 0 : zone_s, date);
    put_ids(event, out);
    if (format->legacy) {
        strbuf_printf(out, "%.2s/%.2s %.8s", date + 5, date + 8, date + 11);
    } else {
        date[10] = ' '; /* not the T */
        strbuf_append(out, date, 19);
    }
    if (format->sub_second) {
        strbuf_printf(out, "%.4s", date + 19);
    }
    strbuf_puts(out, format->utc ? "Z " : " ");
}

/* Appends a text that others have written: a line break in it must not start a line that looks like
 * an event. */
static void put_line(struct strbuf *out, const char *before, const char *text)
{
    strbuf_puts(out, before);
    for (;;) {
        size_t length = strcspn(text, "\n\r");
        strbuf_append(out, text, length);
        if (text[length] == '\0') {
            break;
        }
        strbuf_putc(out, ' ');
        text += length + 1;
    }
    strbuf_putc(out, '\n');
}

void event_usage_text(double user_s, double system_s, struct strbuf *out)
{
    const double times[2] = {user_s, system_s};
    for (int i = 0; i < 2; i++) {
        double seconds = times[i] > 0 && times[i] < 1e15 ? floor(times[i]) : 0;
        int64_t whole = (int64_t)seconds;
        strbuf_printf(out, "%s %" PRId64 " %02" PRId64 ":%02" PRId64 ":%02" PRId64,
                      i == 0 ? "Usr" : ", Sys", whole / 86400, whole / 3600 % 24, whole / 60 % 60,
                      whole % 60);
    }
}

static void put_usage(const struct ad *event, const char *name, const char *title,
                      struct strbuf *out)
{
    strbuf_printf(out, "\t\t%s  -  %s\n",
                  ad_string_or(event, name, "Usr 0 00:00:00, Sys 0 00:00:00"), title);
}

static void put_bytes(const struct ad *event, const char *name, const char *title,
                      struct strbuf *out)
{
    strbuf_printf(out, "\t%.0f  -  %s By Job\n", ad_real_or(event, name, 0), title);
}

static void put_run(const struct ad *event, struct strbuf *out)
{
    put_usage(event, "RunRemoteUsage", "Run Remote Usage", out);
    put_usage(event, "RunLocalUsage", "Run Local Usage", out);
}

static void put_exit(const struct ad *event, struct strbuf *out)
{
    if (ad_bool_or(event, "TerminatedNormally", false)) {
        strbuf_printf(out, "\t(1) Normal termination (return value %" PRId64 ")\n",
                      ad_int_or(event, "ReturnValue", 0));
        return;
    }
    strbuf_printf(out, "\t(0) Abnormal termination (signal %" PRId64 ")\n",
                  ad_int_or(event, "TerminatedBySignal", 0));
    const char *core = ad_string_or(event, "CoreFile", "");
    if (core[0] != '\0') {
        put_line(out, "\t(1) Corefile in: ", core);
    } else {
        strbuf_puts(out, "\t(0) No core file\n");
    }
}

/* ---- the table of resources ------------------------------------------------------------------ */

struct resource_row {
    char name[NAME_SIZE];
    char label[NAME_SIZE];
    char cells[3][CELL_SIZE]; /* use, request, allocated */
    const char *assigned;
};

static void cell_text(const struct ad *event, const char *name, char ret[CELL_SIZE])
{
    double real = 0;
    ret[0] = '\0';
    if (ad_get_real(event, name, &real) == 0 && fabs(real) < 1e15) {
        bool is_whole = floor(real) == real;
        (void)snprintf(ret, CELL_SIZE, is_whole ? "%.0f" : "%.2f", real); /* fits */
    }
}

static void fill_row(const struct ad *event, struct resource_row *row)
{
    static const char *const UNITS[][2] = {{"Disk", "KB"},
                                           {"Energy", "J"},
                                           {"Memory", "MB"},
                                           {"TimeExecute", "s"},
                                           {"TimeSlotBusy", "s"}};
    char attribute[NAME_SIZE + 16];
    (void)snprintf(row->label, sizeof(row->label), "%.90s", row->name);
    for (size_t i = 0; i < ARRAY_COUNT(UNITS); i++) {
        if (text_equal_nocase(row->name, UNITS[i][0])) {
            (void)snprintf(row->label, sizeof(row->label), "%s (%s)", UNITS[i][0], UNITS[i][1]);
        }
    }
    (void)snprintf(attribute, sizeof(attribute), "%sUsage", row->name);
    cell_text(event, attribute, row->cells[0]);
    (void)snprintf(attribute, sizeof(attribute), "Request%s", row->name);
    cell_text(event, attribute, row->cells[1]);
    cell_text(event, row->name, row->cells[2]);
    (void)snprintf(attribute, sizeof(attribute), "Assigned%s", row->name);
    row->assigned = ad_string_or(event, attribute, "");
}

/* Collects the rows of the table of resources, sorted by name. */
static size_t find_rows(const struct ad *event, const char *names, struct resource_row *rows)
{
    size_t count = 0;
    const char *at = names + strspn(names, " ,");
    while (*at != '\0' && count < RESOURCES_MAX) {
        struct resource_row row = {.assigned = ""};
        size_t length = strcspn(at, " ,");
        (void)snprintf(row.name, sizeof(row.name), "%.*s",
                       (int)(length < NAME_SIZE ? length : NAME_SIZE - 1), at); /* cut if long */
        fill_row(event, &row);
        size_t place = count;
        while (place > 0 && text_compare_nocase(rows[place - 1].name, row.name) > 0) {
            rows[place] = rows[place - 1];
            place--;
        }
        rows[place] = row;
        count++;
        at += length;
        at += strspn(at, " ,");
    }
    return count;
}

static void put_resources(const struct ad *event, struct strbuf *out)
{
    const char *names = ad_string_or(event, EVENT_RESOURCES, "");
    if (names[0] == '\0') {
        return;
    }
    struct resource_row rows[RESOURCES_MAX];
    size_t count = find_rows(event, names, rows);
    int label = 23, widths[3] = {8, 8, 9};
    bool assigned = false;
    for (size_t i = 0; i < count; i++) {
        int length = (int)strlen(rows[i].label) + 3;
        label = length > label ? length : label;
        assigned = assigned || rows[i].assigned[0] != '\0';
        for (int c = 0; c < 3; c++) {
            length = (int)strlen(rows[i].cells[c]);
            widths[c] = length > widths[c] ? length : widths[c];
        }
    }
    strbuf_printf(out, "\t%-*s : %*s %*s %*s %s\n", label, "Partitionable Resources", widths[0],
                  "Usage", widths[1], "Request", widths[2], "Allocated",
                  assigned ? "Assigned" : "");
    for (size_t i = 0; i < count; i++) {
        strbuf_printf(out, "\t   %-*s : %*s %*s %*s ", label - 3, rows[i].label, widths[0],
                      rows[i].cells[0], widths[1], rows[i].cells[1], widths[2], rows[i].cells[2]);
        if (rows[i].assigned[0] != '\0') {
            strbuf_putc(out, '"');
            strbuf_puts(out, rows[i].assigned);
            strbuf_putc(out, '"');
        }
        strbuf_putc(out, '\n');
    }
}

/* ---- the events ------------------------------------------------------------------------------ */

static void print_submit(const struct ad *event, const char *what, struct strbuf *out)
{
    strbuf_puts(out, what);
    put_line(out, " submitted from host: ", ad_string_or(event, "SubmitHost", ""));
    static const char *const NOTES[] = {"LogNotes", "UserNotes", "Warnings"};
    for (size_t i = 0; i < ARRAY_COUNT(NOTES); i++) {
        const char *notes = ad_string_or(event, NOTES[i], "");
        if (notes[0] != '\0') {
            put_line(out,
                     i == 2 ? "    WARNING: Committed job submission into the queue with "
                              "the following warning(s): "
                            : "    ",
                     notes);
        }
    }
}

static void put_attribute(const char *name, const struct ad_expr *expr, struct strbuf *out)
{
    strbuf_printf(out, "\t%s = ", name);
    ad_expr_print(expr, AD_OLD, out);
    strbuf_putc(out, '\n');
}

static void print_execute(const struct ad *event, struct strbuf *out)
{
    put_line(out, "Job executing on host: ", ad_string_or(event, "ExecuteHost", ""));
    const char *slot = ad_string_or(event, "SlotName", "");
    if (slot[0] != '\0') {
        put_line(out, "\tSlotName: ", slot);
    }
    const struct ad *props = NULL;
    if (ad_get_ad(event, "ExecuteProps", &props) != 0) {
        return;
    }
    /* by name: attributes come in any order */
    const char *last = "";
    for (;;) {
        size_t at = 0;
        const char *name = NULL, *least = NULL;
        const struct ad_expr *expr = NULL, *chosen = NULL;
        while (ad_next(props, &at, &name, &expr)) {
            if (ad_name_compare(name, last) > 0 &&
                (least == NULL || ad_name_compare(name, least) < 0)) {
                least = name;
                chosen = expr;
            }
        }
        if (least == NULL) {
            break;
        }
        put_attribute(least, chosen, out);
        last = least;
    }
}

static void print_evicted(const struct ad *event, struct strbuf *out)
{
    bool requeued = ad_bool_or(event, "TerminatedAndRequeued", false);
    int64_t code = ad_int_or(event, "ReasonCode", 0);
    const char *reason = ad_string_or(event, "Reason", "");
    strbuf_puts(out, "Job was evicted.");
    if (!requeued && code != 0) {
        strbuf_printf(out, " Code %" PRId64 " Subcode %" PRId64, code,
                      ad_int_or(event, "ReasonSubCode", 0));
    }
    strbuf_putc(out, '\n');
    strbuf_puts(out, requeued ? "\t(0) Job terminated and was requeued\n"
                     : ad_bool_or(event, "Checkpointed", false) ? "\t(1) Job was checkpointed.\n"
                                                                : "\t(0) CPU times\n");
    put_run(event, out);
    put_bytes(event, "SentBytes", "Run Bytes Sent", out);
    put_bytes(event, "ReceivedBytes", "Run Bytes Received", out);
    if (requeued) {
        put_exit(event, out);
    }
    if (reason[0] != '\0') {
        put_line(out, requeued ? "\t" : "\tReason: ", reason);
    }
    if (!requeued) {
        put_resources(event, out);
    }
}

static void print_terminated(const struct ad *event, struct strbuf *out)
{
    strbuf_puts(out, "Job terminated.\n");
    put_exit(event, out);
    put_run(event, out);
    put_usage(event, "TotalRemoteUsage", "Total Remote Usage", out);
    put_usage(event, "TotalLocalUsage", "Total Local Usage", out);
    put_bytes(event, "SentBytes", "Run Bytes Sent", out);
    put_bytes(event, "ReceivedBytes", "Run Bytes Received", out);
    put_bytes(event, "TotalSentBytes", "Total Bytes Sent", out);
    put_bytes(event, "TotalReceivedBytes", "Total Bytes Received", out);
    put_resources(event, out);
}

static void print_image_size(const struct ad *event, struct strbuf *out)
{
    static const char *const PARTS[][2] = {
        {"MemoryUsage", "MemoryUsage of job (MB)"},
        {"ResidentSetSize", "ResidentSetSize of job (KB)"},
        {"ProportionalSetSize", "ProportionalSetSize of job (KB)"},
    };
    strbuf_printf(out, "Image size of job updated: %" PRId64 "\n", ad_int_or(event, "Size", 0));
    for (size_t i = 0; i < ARRAY_COUNT(PARTS); i++) {
        int64_t value = 0;
        if (ad_get_int(event, PARTS[i][0], &value) == 0 && value >= 0) {
            strbuf_printf(out, "\t%" PRId64 "  -  %s\n", value, PARTS[i][1]);
        }
    }
}

static void print_held(const struct ad *event, struct strbuf *out)
{
    const char *reason = ad_string_or(event, "HoldReason", "");
    strbuf_puts(out, "Job was held.\n");
    put_line(out, "\t", reason[0] != '\0' ? reason : "Reason unspecified");
    strbuf_printf(out, "\tCode %" PRId64 " Subcode %" PRId64 "\n",
                  ad_int_or(event, "HoldReasonCode", 0), ad_int_or(event, "HoldReasonSubCode", 0));
}

static void print_with_reason(const struct ad *event, const char *title, struct strbuf *out)
{
    const char *reason = ad_string_or(event, "Reason", "");
    strbuf_puts(out, title);
    if (reason[0] != '\0') {
        put_line(out, "\t", reason);
    }
}

static void print_remote_error(const struct ad *event, struct strbuf *out)
{
    int64_t code = ad_int_or(event, "HoldReasonCode", 0);
    strbuf_printf(out, "%s from %s on ",
                  ad_bool_or(event, "CriticalError", true) ? "Error" : "Warning",
                  ad_string_or(event, "Daemon", "starter"));
    const char *host = ad_string_or(event, "ExecuteHost", "");
    for (const char *at = host; *at != '\0'; at++) {
        strbuf_putc(out, *at == '\n' ? ' ' : *at);
    }
    strbuf_puts(out, ":\n");
    put_line(out, "\t", ad_string_or(event, "ErrorMsg", ""));
    if (code != 0) {
        strbuf_printf(out, "\tCode %" PRId64 " Subcode %" PRId64 "\n", code,
                      ad_int_or(event, "HoldReasonSubCode", 0));
    }
}

static void print_connection(const struct ad *event, int64_t type, struct strbuf *out)
{
    const char *name = ad_string_or(event, "StartdName", "");
    const char *address = ad_string_or(event, "StartdAddr", "");
    const char *reason =
        ad_string_or(event, type == EVENT_DISCONNECTED ? "DisconnectReason" : "Reason", "");
    if (type == EVENT_DISCONNECTED) {
        strbuf_puts(out, "Job disconnected, attempting to reconnect\n");
        put_line(out, "    ", reason);
        strbuf_printf(out, "    Trying to reconnect to %s ", name);
        put_line(out, "", address);
    } else if (type == EVENT_RECONNECTED) {
        put_line(out, "Job reconnected to ", name);
        put_line(out, "    startd address: ", address);
        put_line(out, "    starter address: ", ad_string_or(event, "StarterAddr", ""));
    } else {
        strbuf_puts(out, "Job reconnection failed\n");
        put_line(out, "    ", reason);
        strbuf_printf(out, "    Can not reconnect to %s, rescheduling job\n", name);
    }
}

static void print_cluster_remove(const struct ad *event, struct strbuf *out)
{
    int64_t completion = ad_int_or(event, "Completion", 0);
    strbuf_printf(out, "Cluster removed\n\tMaterialized %" PRId64 " jobs from %" PRId64 " items.\t",
                  ad_int_or(event, "NextProcId", 0), ad_int_or(event, "NextRow", 0));
    if (completion < 0) {
        strbuf_printf(out, "Error %" PRId64 "\n", completion);
    } else {
        strbuf_puts(out, completion == 1   ? "Complete\n"
                         : completion == 2 ? "Paused\n"
                                           : "Incomplete\n");
    }
    const char *notes = ad_string_or(event, "Notes", "");
    if (notes[0] != '\0') {
        put_line(out, "\t", notes);
    }
}

static void print_factory(const struct ad *event, int64_t type, struct strbuf *out)
{
    print_with_reason(event,
                      type == EVENT_FACTORY_PAUSED ? "Job Materialization Paused\n"
                                                   : "Job Materialization Resumed\n",
                      out);
    int64_t code = 0;
    if (type == EVENT_FACTORY_PAUSED && ad_get_int(event, "PauseCode", &code) == 0) {
        strbuf_printf(out, "\tPauseCode %" PRId64 "\n", code);
    }
    if (type == EVENT_FACTORY_PAUSED && ad_get_int(event, "HoldCode", &code) == 0 && code != 0) {
        strbuf_printf(out, "\tHoldCode %" PRId64 "\n", code);
    }
}

static void print_transfer(const struct ad *event, struct strbuf *out)
{
    static const char *const TITLES[] = {
        "Unknown file transfer event",
        "Entered queue to transfer input files",
        "Started transferring input files",
        "Finished transferring input files",
        "Entered queue to transfer output files",
        "Started transferring output files",
        "Finished transferring output files",
    };
    int64_t type = ad_int_or(event, "Type", 0);
    bool known = type > 0 && type < (int64_t)ARRAY_COUNT(TITLES);
    strbuf_printf(out, "%s\n", TITLES[known ? type : 0]);
    int64_t queued_s = 0;
    if (ad_get_int(event, "QueueingDelay", &queued_s) == 0) {
        strbuf_printf(out, "\tSeconds spent in queue: %" PRId64 "\n", queued_s);
    }
    const char *host = ad_string_or(event, "Host", "");
    if (host[0] != '\0') {
        put_line(out, "\tTransferring to host: ", host);
    }
}

/* Prints the attributes that the job's owner asked for (event 028). */
static void print_information(const struct ad *event, struct strbuf *out)
{
    static const char *const OURS[] = {"MyType", "EventTypeNumber", "Cluster",
                                       "Proc",   "Subproc",         "EventTime"};
    strbuf_puts(out, "Job ad information event triggered.\n");
    size_t at = 0;
    const char *name = NULL;
    const struct ad_expr *expr = NULL;
    while (ad_next(event, &at, &name, &expr)) {
        bool ours = false;
        for (size_t i = 0; i < ARRAY_COUNT(OURS); i++) {
            ours = ours || text_equal_nocase(name, OURS[i]);
        }
        if (!ours) {
            strbuf_printf(out, "%s = ", name);
            ad_expr_print(expr, AD_OLD, out);
            strbuf_putc(out, '\n');
        }
    }
}

static void print_attribute_update(const struct ad *event, struct strbuf *out)
{
    const char *name = ad_string_or(event, "Attribute", "");
    const char *before = ad_string_or(event, "OldValue", "");
    struct strbuf line;
    strbuf_init(&line, 0);
    if (before[0] != '\0') {
        strbuf_printf(&line, "Changing job attribute %s from %s to ", name, before);
    } else {
        strbuf_printf(&line, "Setting job attribute %s to ", name);
    }
    put_line(out, strbuf_text(&line), ad_string_or(event, "Value", ""));
    strbuf_fini(&line);
}

static void print_body(const struct ad *event, int64_t type, struct strbuf *out)
{
    switch (type) {
    case EVENT_SUBMIT:
        print_submit(event, "Job", out);
        break;
    case EVENT_CLUSTER_SUBMIT:
        print_submit(event, "Cluster", out);
        break;
    case EVENT_EXECUTE:
        print_execute(event, out);
        break;
    case EVENT_EXECUTABLE_ERROR:
        strbuf_puts(out, ad_int_or(event, "ExecuteErrorType", 0) == 1
                             ? "(1) Job not properly linked for HTCondor.\n"
                             : "(0) Job file not executable.\n");
        break;
    case EVENT_CHECKPOINTED:
        strbuf_puts(out, "Job was checkpointed.\n");
        put_run(event, out);
        strbuf_printf(out, "\t%.0f  -  Run Bytes Sent By Job For Checkpoint\n",
                      ad_real_or(event, "SentBytes", 0));
        break;
    case EVENT_EVICTED:
        print_evicted(event, out);
        break;
    case EVENT_TERMINATED:
        print_terminated(event, out);
        break;
    case EVENT_IMAGE_SIZE:
        print_image_size(event, out);
        break;
    case EVENT_SHADOW_EXCEPTION:
        put_line(out, "Shadow exception!\n\t", ad_string_or(event, "Message", ""));
        put_bytes(event, "SentBytes", "Run Bytes Sent", out);
        put_bytes(event, "ReceivedBytes", "Run Bytes Received", out);
        break;
    case EVENT_ABORTED:
        print_with_reason(event, "Job was aborted.\n", out);
        break;
    case EVENT_DATAFLOW_SKIPPED:
        print_with_reason(event, "Dataflow job was skipped.\n", out);
        break;
    case EVENT_SUSPENDED:
        strbuf_printf(out,
                      "Job was suspended.\n\tNumber of processes actually suspended: %" PRId64 "\n",
                      ad_int_or(event, "NumberOfPIDs", 0));
        break;
    case EVENT_UNSUSPENDED:
        strbuf_puts(out, "Job was unsuspended.\n");
        break;
    case EVENT_HELD:
        print_held(event, out);
        break;
    case EVENT_RELEASED:
        print_with_reason(event, "Job was released.\n", out);
        break;
    case EVENT_REMOTE_ERROR:
        print_remote_error(event, out);
        break;
    case EVENT_DISCONNECTED:
    case EVENT_RECONNECTED:
    case EVENT_RECONNECT_FAILED:
        print_connection(event, type, out);
        break;
    case EVENT_AD_INFORMATION:
        print_information(event, out);
        break;
    case EVENT_ATTRIBUTE_UPDATE:
        print_attribute_update(event, out);
        break;
    case EVENT_CLUSTER_REMOVE:
        print_cluster_remove(event, out);
        break;
    case EVENT_FACTORY_PAUSED:
    case EVENT_FACTORY_RESUMED:
        print_factory(event, type, out);
        break;
    case EVENT_FILE_TRANSFER:
        print_transfer(event, out);
        break;
    default:
        put_line(out, "", ad_string_or(event, "Info", ""));
        break;
    }
}

static void print_as_ad(const struct ad *event, int64_t utc_ms, int32_t zone_s,
                        const struct event_format *format, struct strbuf *out)
{
    char date[TEXT_UTC_MAX];
    date_text(utc_ms, format->utc ? 0 : zone_s, date);
    struct ad *shown = ad_copy(event);
    ad_remove(shown, EVENT_RESOURCES);
    ad_set_string(shown, "EventTime", date);
    /* A buffer that failed has said so: the caller looks. */
    if (format->form == EVENT_AS_JSON) {
        (void)ad_print_json_lines(shown, false, out);
        strbuf_putc(out, '\n');
    } else {
        (void)ad_print_xml(shown, false, out);
    }
    ad_destroy(shown);
}

void event_print(const struct ad *event, int64_t utc_ms, int32_t zone_s,
                 const struct event_format *format, struct strbuf *out)
{
    if (format->form != EVENT_AS_TEXT) {
        print_as_ad(event, utc_ms, zone_s, format, out);
        return;
    }
    print_header(event, utc_ms, zone_s, format, out);
    print_body(event, ad_int_or(event, "EventTypeNumber", 0), out);
    strbuf_puts(out, EVENT_END);
}
