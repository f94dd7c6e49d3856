/* base/log.c - turns an event into a line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/log.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"

#define REPEATS_MAX       64 /* lines whose repetitions are counted at a time */
#define REPEAT_FIRST_MS   UINT64_C(10000)
#define REPEAT_LONGEST_MS UINT64_C(600000)

/* A line that was written not long ago. */
struct repeat {
    uint64_t hash;     /* of all that makes it the same line; 0: not in use */
    uint64_t since_ms; /* when the present period began */
    uint64_t period_ms;
    uint64_t written, counted; /* in this period: lines written, lines only counted */
    char *last;                /* the last one that was only counted, without its time; or NULL */
};

struct log {
    char *daemon;
    enum log_level level;
    struct log_sink sink;
    struct log_clock clock;
    struct strbuf line;     /* kept from line to line */
    struct log_repeats how; /* now_ms NULL: each line is written */
    struct repeat repeats[REPEATS_MAX];
};

static const char *const LEVELS[] = {"error", "warn", "info", "debug"};
static const char CUT[] = " ...";

struct log *log_create(const char *daemon, enum log_level level, struct log_sink sink,
                       struct log_clock clock)
{
    CHECK(sink.write && clock.utc_ms);
    struct log *log = mem_zalloc(sizeof(*log));
    log->daemon = mem_strdup(daemon);
    log->level = level;
    log->sink = sink;
    log->clock = clock;
    strbuf_init(&log->line, LOG_LINE_MAX - sizeof(CUT)); /* room for CUT and the newline */
    return log;
}

/* ---- lines that repeat themselves ---- */

static bool is_amount(const char *key)
{
    static const char *const ENDINGS[] = {"count", "_ms", "_s", "_bytes"};
    size_t length = strlen(key);
    for (size_t i = 0; i < ARRAY_COUNT(ENDINGS); i++) {
        size_t end = strlen(ENDINGS[i]);
        if (length >= end && strcmp(key + length - end, ENDINGS[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* FNV-1a; the zero between two texts counts, too. */
static uint64_t hash_bytes(uint64_t hash, const void *data, size_t length)
{
    const unsigned char *at = data;
    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    return text ? hash_bytes(hash, text, strlen(text) + 1) : hash_bytes(hash, "\1", 2);
}

static uint64_t hash_line(enum log_level level, const char *event, const char *message,
                          const struct log_field *fields, size_t field_count)
{
    uint64_t hash = hash_bytes(UINT64_C(0xcbf29ce484222325), &level, sizeof(level));
    hash = hash_text(hash_text(hash, event), message);
    for (size_t i = 0; i < field_count; i++) {
        hash = hash_text(hash, fields[i].key);
        if (fields[i].type == LOG_FIELD_TEXT) {
            hash = hash_text(hash, fields[i].text);
        } else if (fields[i].type != LOG_FIELD_REAL && !is_amount(fields[i].key)) {
            hash = hash_bytes(hash, &fields[i].integer, sizeof(fields[i].integer));
        }
    }
    return hash == 0 ? 1 : hash;
}

static void forget_repeat(struct repeat *repeat)
{
    mem_free(repeat->last);
    *repeat = (struct repeat){.hash = 0};
}

/* Writes how often the line came in the period that has ended. */
static void write_count(struct log *log, const struct repeat *repeat, uint64_t now_ms)
{
    char time[TEXT_UTC_MAX];
    struct strbuf line;
    text_utc_ms(log->clock.utc_ms(log->clock.context), time);
    strbuf_init(&line, 0);
    strbuf_printf(&line, "%s %s repeated=%llu in_s=%llu\n", time, repeat->last,
                  (unsigned long long)repeat->counted,
                  (unsigned long long)((now_ms - repeat->since_ms + 500) / 1000));
    log->sink.write(log->sink.context, strbuf_text(&line), line.length);
    strbuf_fini(&line);
}

/* Ends the periods that are over, or all.  A line that did not come again is forgotten. */
static void end_periods(struct log *log, uint64_t now_ms, bool all)
{
    for (size_t i = 0; i < REPEATS_MAX; i++) {
        struct repeat *repeat = &log->repeats[i];
        if (repeat->hash == 0 || (!all && now_ms - repeat->since_ms < repeat->period_ms)) {
            continue;
        }
        if (repeat->counted == 0) {
            forget_repeat(repeat);
            continue;
        }
        write_count(log, repeat, now_ms);
        mem_free(repeat->last);
        repeat->last = NULL;
        repeat->counted = 0;
        repeat->since_ms = now_ms;
        repeat->period_ms =
            repeat->period_ms < REPEAT_LONGEST_MS / 2 ? repeat->period_ms * 2 : REPEAT_LONGEST_MS;
    }
}

/* Returns the entry of this line; a new one takes the place of the one that began first. */
static struct repeat *find_repeat(struct log *log, uint64_t hash, uint64_t now_ms)
{
    struct repeat *oldest = &log->repeats[0];
    for (size_t i = 0; i < REPEATS_MAX; i++) {
        struct repeat *repeat = &log->repeats[i];
        if (repeat->hash == hash) {
            return repeat;
        }
        if (oldest->hash != 0 && (repeat->hash == 0 || repeat->since_ms < oldest->since_ms)) {
            oldest = repeat;
        }
    }
    if (oldest->counted > 0) {
        write_count(log, oldest, now_ms);
    }
    forget_repeat(oldest);
    *oldest = (struct repeat){.hash = hash, .since_ms = now_ms, .period_ms = REPEAT_FIRST_MS};
    return oldest;
}

/* Returns whether the line, whose text is in log->line, is only to be counted. */
static bool is_counted(struct log *log, enum log_level level, uint64_t hash)
{
    uint64_t now_ms = log->how.now_ms(log->how.context);
    end_periods(log, now_ms, false);
    struct repeat *repeat = find_repeat(log, hash, now_ms);
    uint64_t most = level <= LOG_LEVEL_WARN ? LOG_REPEAT_WARN : LOG_REPEAT_INFO;
    if (repeat->written < most) {
        repeat->written++;
        return false;
    }
    const char *text = strbuf_text(&log->line);
    const char *after_time = strchr(text, ' ');
    mem_free(repeat->last);
    repeat->last = mem_strdup(after_time ? after_time + 1 : text);
    if (repeat->counted++ == 0) {
        log->how.wake_at(log->how.context, repeat->since_ms + repeat->period_ms);
    }
    return true;
}

void log_collapse(struct log *log, const struct log_repeats *how)
{
    log->how = *how;
}

void log_flush(struct log *log)
{
    uint64_t now_ms = log->how.now_ms ? log->how.now_ms(log->how.context) : 0;
    uint64_t next_ms = UINT64_MAX;
    end_periods(log, now_ms, false);
    for (size_t i = 0; i < REPEATS_MAX; i++) {
        const struct repeat *repeat = &log->repeats[i];
        uint64_t end_ms = repeat->since_ms + repeat->period_ms;
        next_ms = repeat->counted > 0 && end_ms < next_ms ? end_ms : next_ms;
    }
    if (next_ms != UINT64_MAX) {
        log->how.wake_at(log->how.context, next_ms);
    }
}

void log_destroy(struct log *log)
{
    if (!log) {
        return;
    }
    if (log->how.now_ms) {
        end_periods(log, log->how.now_ms(log->how.context), true);
        for (size_t i = 0; i < REPEATS_MAX; i++) {
            forget_repeat(&log->repeats[i]);
        }
    }
    if (log->sink.close) {
        log->sink.close(log->sink.context);
    }
    strbuf_fini(&log->line);
    mem_free(log->daemon);
    mem_free(log);
}

void log_set_level(struct log *log, enum log_level level)
{
    if (log) {
        log->level = level;
    }
}

bool log_wants(const struct log *log, enum log_level level)
{
    return log && level <= log->level;
}

static void append_field(struct strbuf *line, const struct log_field *field)
{
    strbuf_putc(line, ' ');
    strbuf_puts(line, field->key);
    strbuf_putc(line, '=');
    switch (field->type) {
    case LOG_FIELD_TEXT:
        if (field->text) {
            text_append_quoted(line, field->text);
        } else {
            strbuf_putc(line, '-');
        }
        break;
    case LOG_FIELD_INT:
        strbuf_printf(line, "%lld", (long long)field->integer);
        break;
    case LOG_FIELD_REAL:
        strbuf_printf(line, "%.6g", field->real);
        break;
    case LOG_FIELD_BOOL:
        strbuf_puts(line, field->integer ? "true" : "false");
        break;
    case LOG_FIELD_NONE:
        break;
    }
}

/* Appends the message, always in quotes, so that fields begin after the second quote. */
static void append_message(struct strbuf *line, const char *message)
{
    size_t before = line->length;
    text_append_quoted(line, message);
    if (!line->failed && line->length > before && line->data[before] != '"') {
        line->length = before;
        strbuf_putc(line, '"');
        strbuf_puts(line, message);
        strbuf_putc(line, '"');
    }
}

void log_write(struct log *log, enum log_level level, const char *event, const char *message,
               const struct log_field *fields, size_t field_count)
{
    if (!log_wants(log, level)) {
        return;
    }
    struct strbuf *line = &log->line;
    strbuf_clear(line);
    char time[TEXT_UTC_MAX];
    text_utc_ms(log->clock.utc_ms(log->clock.context), time);
    strbuf_printf(line, "%s %s %s %s ", time, log->daemon, log_level_name(level), event);
    append_message(line, message);
    size_t whole = line->length;
    for (size_t i = 0; i < field_count && !line->failed; i++) {
        append_field(line, &fields[i]);
        if (!line->failed) {
            whole = line->length;
        }
    }
    if (log->how.now_ms && log->level < LOG_LEVEL_DEBUG && !line->failed &&
        is_counted(log, level, hash_line(level, event, message, fields, field_count))) {
        return;
    }
    char text[LOG_LINE_MAX + 1];
    size_t length = whole < line->length && line->failed ? whole : line->length;
    memcpy(text, strbuf_text(line), length);
    if (line->failed) {
        memcpy(text + length, CUT, sizeof(CUT) - 1);
        length += sizeof(CUT) - 1;
    }
    text[length++] = '\n';
    text[length] = '\0';
    log->sink.write(log->sink.context, text, length);
}

int log_level_parse(const char *text, enum log_level *ret, struct err *err)
{
    static const struct {
        const char *word;
        enum log_level level;
    } WORDS[] = {{"error", LOG_LEVEL_ERROR},      {"warn", LOG_LEVEL_WARN},
                 {"info", LOG_LEVEL_INFO},        {"debug", LOG_LEVEL_DEBUG},
                 {"D_ERROR", LOG_LEVEL_ERROR},    {"D_ALWAYS", LOG_LEVEL_INFO},
                 {"D_FULLDEBUG", LOG_LEVEL_DEBUG}};
    for (size_t i = 0; i < ARRAY_COUNT(WORDS); i++) {
        if (text_equal_nocase(text, WORDS[i].word)) {
            *ret = WORDS[i].level;
            return 0;
        }
    }
    return err_set(err, -EINVAL, "'%s' is not a log level: error, warn, info or debug", text);
}

const char *log_level_name(enum log_level level)
{
    CHECK((size_t)level < ARRAY_COUNT(LEVELS));
    return LEVELS[level];
}
