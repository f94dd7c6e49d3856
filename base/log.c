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

struct log {
    char *daemon;
    enum log_level level;
    struct log_sink sink;
    struct log_clock clock;
    struct strbuf line; /* kept from line to line */
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

void log_destroy(struct log *log)
{
    if (!log) {
        return;
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
