/* cli/print_format_plan.c - see print_format_plan.h.
 *
 * A line is split into words first; an expression ends before the first word that is a keyword.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/print_format_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "classad/ad_format.h"
#include "cli/jobs/jobs_cells_plan.h"
#include "cli/status/status_sort_plan.h"
#include "cli/table_plan.h"
#include "cli/terminal_plan.h"

#define COLUMNS_MAX 200
#define WIDTH_MAX   10000

typedef void (*print_as_f)(const struct ad *ad, const struct ad_value *value,
                           const struct ad_context *context, struct strbuf *out);

struct substitute { /* OR: what a column shows instead of an undefined value */
    char letter;    /* 0: the word undefined */
    bool fills;     /* the width of the column */
};

struct field {
    char *expr_text, *heading, *format;
    struct ad_expr *expr;
    print_as_f print_as;
    int width; /* width of the column; 0: as wide as its longest cell (auto_width), or any width */
    struct substitute substitute;
    bool auto_width, left, truncate, no_prefix, no_suffix;
};

struct print_format {
    struct vec fields; /* struct field */
    struct vec keys;   /* struct ad_expr of GROUP BY */
    struct strbuf where;
    char *record_prefix, *record_suffix, *field_prefix, *field_suffix, *separator;
    bool labels, no_title, no_header, no_summary;
};

/* ---- PRINTAS */

static void as_job_id(const struct ad *ad, const struct ad_value *value,
                      const struct ad_context *context, struct strbuf *out)
{
    (void)value, (void)context;
    jobs_put_number(ad_int_or(ad, "ClusterId", 0), 4, false, out);
    strbuf_putc(out, '.');
    jobs_put_number(ad_int_or(ad, "ProcId", 0), 3, true, out);
}

static double number_of(const struct ad_value *value)
{
    return value->type == AD_TYPE_INT    ? (double)value->integer
           : value->type == AD_TYPE_REAL ? value->real
                                         : 0;
}

static void as_date(const struct ad *ad, const struct ad_value *value,
                    const struct ad_context *context, struct strbuf *out)
{
    (void)ad;
    double at = number_of(value);
    if (at > 0 && at < 1e15) {
        table_plan_date((int64_t)at, context, out);
    }
}

static void as_time(const struct ad *ad, const struct ad_value *value,
                    const struct ad_context *context, struct strbuf *out)
{
    (void)ad, (void)context;
    double seconds = number_of(value);
    table_plan_duration(seconds < 1e15 ? (int64_t)seconds : 0, out);
}

static void as_elapsed(const struct ad *ad, const struct ad_value *value,
                       const struct ad_context *context, struct strbuf *out)
{
    (void)ad;
    double at = number_of(value);
    table_plan_duration(at > 0 && at < 1e15 ? context->now_s - (int64_t)at : 0, out);
}

static void as_cpu_time(const struct ad *ad, const struct ad_value *value,
                        const struct ad_context *context, struct strbuf *out)
{
    (void)value;
    double seconds = jobs_run_time_s(ad, JOBS_TIME_ALL, context);
    table_plan_duration(seconds < 1e15 ? (int64_t)seconds : 0, out);
}

static void as_status(const struct ad *ad, const struct ad_value *value,
                      const struct ad_context *context, struct strbuf *out)
{
    (void)value, (void)context;
    strbuf_puts(out, jobs_status_text(ad));
}

static void as_status_word(const struct ad *ad, const struct ad_value *value,
                           const struct ad_context *context, struct strbuf *out)
{
    (void)ad, (void)context;
    strbuf_puts(out, jobs_status_word(value->type == AD_TYPE_INT ? value->integer : -1));
}

static void as_universe(const struct ad *ad, const struct ad_value *value,
                        const struct ad_context *context, struct strbuf *out)
{
    (void)ad, (void)context;
    strbuf_puts(out, jobs_universe(value->type == AD_TYPE_INT ? value->integer : -1));
}

static void as_memory(const struct ad *ad, const struct ad_value *value,
                      const struct ad_context *context, struct strbuf *out)
{
    (void)value, (void)context;
    strbuf_printf(out, "%.1f", jobs_size_mb(ad));
}

static void as_description(const struct ad *ad, const struct ad_value *value,
                           const struct ad_context *context, struct strbuf *out)
{
    (void)value;
    jobs_put_command(ad, context, out);
    jobs_put_arguments(ad, context, out);
}

static void as_batch_name(const struct ad *ad, const struct ad_value *value,
                          const struct ad_context *context, struct strbuf *out)
{
    (void)value, (void)context;
    const char *name = ad_string_or(ad, "JobBatchName", "");
    if (name[0] != '\0') {
        jobs_put_clean(name, out);
    } else {
        strbuf_printf(out, "ID: %lld", (long long)ad_int_or(ad, "ClusterId", 0));
    }
}

static void as_text(const struct ad *ad, const struct ad_value *value,
                    const struct ad_context *context, struct strbuf *out)
{
    (void)ad, (void)context;
    ad_value_print_bare(value, out);
}

static void as_bytes(const struct ad *ad, const struct ad_value *value,
                     const struct ad_context *context, struct strbuf *out)
{
    (void)ad, (void)context;
    jobs_put_bytes(number_of(value), out);
}

static void as_kib(const struct ad *ad, const struct ad_value *value,
                   const struct ad_context *context, struct strbuf *out)
{
    (void)ad, (void)context;
    jobs_put_bytes(number_of(value) * 1024, out);
}

static void as_mib(const struct ad *ad, const struct ad_value *value,
                   const struct ad_context *context, struct strbuf *out)
{
    (void)ad, (void)context;
    jobs_put_bytes(number_of(value) * 1024 * 1024, out);
}

static const struct {
    const char *name;
    print_as_f print;
} FUNCTIONS[] = {
    {"JOB_ID", as_job_id},
    {"OWNER", as_text},
    {"DAG_OWNER", as_text},
    {"QDATE", as_date},
    {"DATE", as_date},
    {"CPU_TIME", as_cpu_time},
    {"RUNTIME", as_cpu_time},
    {"DURATION", as_time},
    {"TIME", as_time},
    {"ELAPSED_TIME", as_elapsed},
    {"ACTIVITY_TIME", as_elapsed},
    {"JOB_STATUS", as_status},
    {"JOB_STATUS_RAW", as_status_word},
    {"JOB_UNIVERSE", as_universe},
    {"MEMORY_USAGE", as_memory},
    {"JOB_DESCRIPTION", as_description},
    {"BATCH_NAME", as_batch_name},
    {"REMOTE_HOST", as_text},
    {"LOAD_AVG", as_text},
    {"READABLE_BYTES", as_bytes},
    {"READABLE_KB", as_kib},
    {"READABLE_MB", as_mib},
};

/* ---- reading */

static void field_destroy(void *arg)
{
    struct field *field = arg;
    ad_expr_destroy(field->expr);
    mem_free(field->expr_text);
    mem_free(field->heading);
    mem_free(field->format);
    mem_free(field);
}

static void destroy_expr(void *expr)
{
    ad_expr_destroy(expr);
}

void print_format_destroy(struct print_format *format)
{
    if (format == NULL) {
        return;
    }
    vec_fini(&format->fields, field_destroy);
    vec_fini(&format->keys, destroy_expr);
    strbuf_fini(&format->where);
    mem_free(format->record_prefix);
    mem_free(format->record_suffix);
    mem_free(format->field_prefix);
    mem_free(format->field_suffix);
    mem_free(format->separator);
    mem_free(format);
}

struct reader {
    struct print_format *format;
    const struct ad_context *context;
    enum { IN_NOTHING, IN_SELECT, IN_WHERE, IN_GROUP, IN_SUMMARY } section;
    size_t line;
    struct vec words; /* words of the current line (char *) */
    size_t at;
};

/* A word of a line.  A quoted word keeps its quotes, so that "AS" is not taken for a keyword.
 * Brackets do not group words, because an expression is put together again from its text. */
struct word {
    const char *begin;
    size_t length;
};

static struct word next_word(const char *text)
{
    struct word word = {text + strspn(text, " \t"), 0};
    char quote = word.begin[0];
    if (quote == '"' || quote == '\'') {
        const char *end = strchr(word.begin + 1, quote);
        word.length = end != NULL ? (size_t)(end - word.begin) + 1 : strlen(word.begin);
    } else {
        word.length = strcspn(word.begin, " \t");
    }
    return word;
}

static bool is_word(struct word word, const char *text)
{
    return strlen(text) == word.length && memcmp(word.begin, text, word.length) == 0;
}

/* Copies a word without its quotes; "\n", "\t" and "\r" become the control characters. */
static char *unquote_word(struct word word)
{
    struct strbuf text;
    bool quoted = word.length >= 2 && (word.begin[0] == '"' || word.begin[0] == '\'') &&
                  word.begin[word.length - 1] == word.begin[0];
    strbuf_init(&text, 0);
    for (size_t i = quoted ? 1 : 0; i < word.length - (quoted ? 1 : 0); i++) {
        char c = word.begin[i], more = i + 1 < word.length ? word.begin[i + 1] : '\0';
        if (c == '\\' && (more == 'n' || more == 't' || more == 'r')) {
            strbuf_putc(&text, more == 'n' ? '\n' : more == 't' ? '\t' : '\r');
            i++;
        } else {
            strbuf_putc(&text, c);
        }
    }
    char *taken = strbuf_take(&text);
    return taken != NULL ? taken : mem_strdup("");
}

static void set_text(char **place, struct word word)
{
    mem_free(*place);
    *place = unquote_word(word);
}

static int refuse_word(const struct reader *reader, struct word word, const char *what,
                       struct err *err)
{
    return err_set(err, -EINVAL, "line %zu: '%.*s' %s", reader->line,
                   (int)(word.length < 80 ? word.length : 80), word.begin, what);
}

static int read_select(struct reader *reader, const char *text, struct err *err)
{
    struct print_format *format = reader->format;
    const struct {
        const char *word;
        bool *flags[3];
        char **value;
    } OPTIONS[] = {
        {"BARE", {&format->no_title, &format->no_header, &format->no_summary}, NULL},
        {"NOTITLE", {&format->no_title}, NULL},
        {"NOHEADER", {&format->no_header}, NULL},
        {"NOSUMMARY", {&format->no_summary}, NULL},
        {"LABEL", {&format->labels, &format->no_header}, NULL},
        {"SEPARATOR", {NULL}, &format->separator},
        {"RECORDPREFIX", {NULL}, &format->record_prefix},
        {"RECORDSUFFIX", {NULL}, &format->record_suffix},
        {"FIELDPREFIX", {NULL}, &format->field_prefix},
        {"FIELDSUFFIX", {NULL}, &format->field_suffix},
    };
    for (struct word word = next_word(text); word.length > 0; word = next_word(text)) {
        size_t i = 0;
        while (i < ARRAY_COUNT(OPTIONS) && !is_word(word, OPTIONS[i].word)) {
            i++;
        }
        if (is_word(word, "FROM") || is_word(word, "UNIQUE")) {
            return refuse_word(reader, word, "is not supported here; use roost q -autocluster",
                               err);
        }
        if (i == ARRAY_COUNT(OPTIONS)) {
            return refuse_word(reader, word, "is not an option of SELECT", err);
        }
        text = word.begin + word.length;
        for (size_t k = 0; k < ARRAY_COUNT(OPTIONS[i].flags) && OPTIONS[i].flags[k] != NULL; k++) {
            *OPTIONS[i].flags[k] = true;
        }
        if (OPTIONS[i].value != NULL) {
            struct word value = next_word(text);
            if (value.length == 0) {
                return refuse_word(reader, word, "needs a text", err);
            }
            set_text(OPTIONS[i].value, value);
            text = value.begin + value.length;
        }
    }
    return 0;
}

static int read_width(const struct reader *reader, struct field *field, struct word word,
                      struct err *err)
{
    char digits[32];
    int64_t width = 0;
    if (is_word(word, "AUTO")) {
        field->auto_width = true;
        return 0;
    }
    if (word.length >= sizeof digits) {
        return refuse_word(reader, word, "is not a valid width", err);
    }
    memcpy(digits, word.begin, word.length);
    digits[word.length] = '\0';
    if (text_parse_int64(digits, &width, NULL) != 0 || width > WIDTH_MAX || width < -WIDTH_MAX) {
        return refuse_word(reader, word, "is not a valid width", err);
    }
    field->left = field->left || width < 0;
    field->width = (int)(width < 0 ? -width : width);
    return 0;
}

static int read_function(const struct reader *reader, struct field *field, struct word word,
                         struct err *err)
{
    for (size_t i = 0; i < ARRAY_COUNT(FUNCTIONS); i++) {
        if (is_word(word, FUNCTIONS[i].name)) {
            field->print_as = FUNCTIONS[i].print;
            return 0;
        }
    }
    return refuse_word(reader, word, "is not a known function of PRINTAS", err);
}

enum keyword {
    AS,
    PRINTF,
    PRINTAS,
    WIDTH,
    OR,
    ALWAYS,
    FIT,
    TRUNCATE,
    LEFT,
    RIGHT,
    NOPREFIX,
    NOSUFFIX
};
static const char *const KEYWORDS[] = {"AS",   "PRINTF", "PRINTAS",  "WIDTH",
                                       "OR",   "ALWAYS", "FIT",      "TRUNCATE",
                                       "LEFT", "RIGHT",  "NOPREFIX", "NOSUFFIX"};

static size_t keyword_of(struct word word)
{
    size_t i = 0;
    while (i < ARRAY_COUNT(KEYWORDS) && !is_word(word, KEYWORDS[i])) {
        i++;
    }
    return i;
}

static int read_keyword(struct reader *reader, struct field *field, enum keyword keyword,
                        struct word value, struct err *err)
{
    switch (keyword) {
    case AS:
        set_text(&field->heading, value);
        return 0;
    case PRINTF:
        set_text(&field->format, value);
        return 0;
    case PRINTAS:
        return read_function(reader, field, value, err);
    case WIDTH:
        return read_width(reader, field, value, err);
    case OR:
        field->substitute.letter = value.begin[0];
        field->substitute.fills = value.length > 1;
        return strchr(" ?*.-_#0", value.begin[0]) != NULL
                   ? 0
                   : refuse_word(reader, value, "is not supported: only OR is expected here", err);
    case FIT:
        field->auto_width = true;
        return 0;
    case TRUNCATE:
        field->truncate = true;
        return 0;
    case LEFT:
        field->left = true;
        return 0;
    case RIGHT:
        field->left = false;
        return 0;
    case NOPREFIX:
        field->no_prefix = true;
        return 0;
    case NOSUFFIX:
        field->no_suffix = true;
        return 0;
    default:
        return 0;
    }
}

static int read_field(struct reader *reader, const char *text, struct err *err)
{
    struct print_format *format = reader->format;
    struct word word = next_word(text);
    const char *begin = word.begin;
    if (format->fields.count >= COLUMNS_MAX) {
        return err_set(err, -E2BIG, "line %zu: more than %d columns", reader->line, COLUMNS_MAX);
    }
    while (word.length > 0 && keyword_of(word) == ARRAY_COUNT(KEYWORDS)) {
        word = next_word(word.begin + word.length);
    }
    size_t length = (size_t)(word.begin - begin);
    while (length > 0 && (begin[length - 1] == ' ' || begin[length - 1] == '\t')) {
        length--;
    }
    struct field *field = mem_zalloc(sizeof *field);
    vec_push(&format->fields, field);
    field->expr_text = mem_strndup(begin, length);
    int rc = ad_expr_parse_in(begin, length, AD_OLD, reader->context, &field->expr, NULL, err);
    if (rc != 0) {
        return err_prefix(err, rc, "line %zu: %s", reader->line, field->expr_text);
    }
    while (rc == 0 && word.length > 0) {
        size_t keyword = keyword_of(word);
        struct word value = {0};
        if (keyword == ARRAY_COUNT(KEYWORDS)) {
            return refuse_word(reader, word, "is not a keyword that describes a column", err);
        }
        if (keyword <= OR) {
            value = next_word(word.begin + word.length);
            if (value.length == 0) {
                return refuse_word(reader, word, "needs a value", err);
            }
        }
        rc = read_keyword(reader, field, (enum keyword)keyword, value, err);
        word = next_word(keyword <= OR ? value.begin + value.length : word.begin + word.length);
    }
    if (field->heading == NULL) {
        field->heading = mem_strdup(field->expr_text);
    }
    return rc;
}

static int read_key(struct reader *reader, const char *text, struct err *err)
{
    size_t length = strlen(text);
    static const char *const ORDERS[] = {"ASCENDING", "DECENDING", "DESCENDING"};
    bool down = false;
    for (size_t i = 0; i < ARRAY_COUNT(ORDERS); i++) {
        size_t word = strlen(ORDERS[i]);
        if (length > word && strcmp(text + length - word, ORDERS[i]) == 0) {
            length -= word;
            down = i > 0;
            break;
        }
    }
    struct strbuf key;
    struct ad_expr *expr;
    strbuf_init(&key, 0);
    strbuf_printf(&key, down ? "-(%.*s)" : "%.*s", (int)length, text); /* of numbers */
    int rc =
        ad_expr_parse_in(strbuf_text(&key), key.length, AD_OLD, reader->context, &expr, NULL, err);
    strbuf_fini(&key);
    if (rc != 0) {
        return err_prefix(err, rc, "line %zu: GROUP BY", reader->line);
    }
    vec_push(&reader->format->keys, expr);
    return 0;
}

static bool take_word(const char **text, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(*text, word, length) != 0 ||
        ((*text)[length] != '\0' && strchr(" \t", (*text)[length]) == NULL)) {
        return false;
    }
    *text += length;
    *text += strspn(*text, " \t");
    return true;
}

/* Reads one line; text is not empty and has no blanks at its ends. */
static int read_line(struct reader *reader, const char *text, struct err *err)
{
    if (take_word(&text, "SELECT")) {
        reader->section = IN_SELECT;
        return read_select(reader, text, err);
    }
    if (reader->section == IN_NOTHING) {
        return err_set(err, -EINVAL, "line %zu: the file does not begin with SELECT", reader->line);
    }
    if (take_word(&text, "WHERE")) {
        reader->section = IN_WHERE;
    } else if (take_word(&text, "GROUP")) {
        reader->section = IN_GROUP;
        (void)take_word(&text, "BY"); /* may be left out */
    } else if (take_word(&text, "SUMMARY")) {
        reader->section = IN_SUMMARY;
        reader->format->no_summary = strcmp(text, "NONE") == 0;
        return 0;
    }
    if (text[0] == '\0' || reader->section == IN_SUMMARY) {
        return 0;
    }
    if (reader->section == IN_WHERE) {
        strbuf_puts(&reader->format->where, reader->format->where.length > 0 ? " " : "");
        strbuf_puts(&reader->format->where, text);
        return 0;
    }
    return reader->section == IN_GROUP ? read_key(reader, text, err)
                                       : read_field(reader, text, err);
}

int print_format_read(const char *text, size_t length, const struct ad_context *context,
                      struct print_format **ret, struct err *err)
{
    struct print_format *format = mem_zalloc(sizeof *format);
    struct reader reader = {.format = format, .context = context};
    int rc = 0;
    strbuf_init(&format->where, 0);
    for (size_t at = 0; at < length && rc == 0;) {
        size_t end = at;
        reader.line++;
        while (end < length && text[end] != '\n') {
            end++;
        }
        size_t first = at, last = end;
        while (first < last && strchr(" \t\r", text[first]) != NULL) {
            first++;
        }
        while (last > first && strchr(" \t\r", text[last - 1]) != NULL) {
            last--;
        }
        if (last > first && text[first] != '#') {
            char *line = mem_strndup(text + first, last - first);
            rc = read_line(&reader, line, err);
            mem_free(line);
        }
        at = end + 1;
    }
    if (rc == 0 && reader.section == IN_NOTHING) {
        rc = err_set(err, -EINVAL, "the file has no SELECT");
    }
    if (rc != 0) {
        print_format_destroy(format);
        return rc;
    }
    *ret = format;
    return 0;
}

const char *print_format_constraint(const struct print_format *format)
{
    return format->where.length > 0 ? format->where.data : NULL;
}

bool print_format_has_title(const struct print_format *format)
{
    return !format->no_title;
}

bool print_format_has_summary(const struct print_format *format)
{
    return !format->no_summary;
}

/* ---- printing */

/* Appends the value in the format of PRINTF, as -format does. */
static void put_formatted(const char *format, const struct ad_value *value, struct strbuf *out)
{
    struct ad_format how;
    if (!ad_format_find(format, &how)) {
        strbuf_puts(out, format);
        return;
    }
    strbuf_append(out, format, how.begin);
    ad_format_print(&how, value, out);
    strbuf_puts(out, format + how.end);
}

static char *cell_of(const struct field *field, const struct ad *ad,
                     const struct ad_context *context)
{
    struct ad_value value;
    struct strbuf text;
    strbuf_init(&text, 0);
    ad_eval(field->expr, ad, NULL, context, &value);
    if (value.type == AD_TYPE_UNDEFINED && field->substitute.letter != 0) {
        for (int i = 0; i < (field->substitute.fills && field->width > 0 ? field->width : 1); i++) {
            strbuf_putc(&text, field->substitute.letter);
        }
    } else if (field->print_as != NULL) {
        field->print_as(ad, &value, context, &text);
    } else if (field->format != NULL) {
        put_formatted(field->format, &value, &text);
    } else {
        ad_value_print_bare(&value, &text);
    }
    ad_value_fini(&value);
    char *cell = strbuf_take(&text);
    cell = cell != NULL ? cell : mem_strdup("");
    terminal_clean(cell, strlen(cell));
    return cell;
}

static void put_field(const struct print_format *format, const struct field *field,
                      const char *text, int width, bool heading, bool last, struct strbuf *out)
{
    size_t length = strlen(text);
    if (field->truncate && width > 0) {
        length = terminal_fit(text, length, (size_t)width);
    }
    char *cut = mem_strndup(text, length);
    if (!field->no_prefix && format->field_prefix != NULL) {
        strbuf_puts(out, format->field_prefix);
    }
    if (format->labels && !heading) {
        strbuf_printf(out, "%s%s", field->heading,
                      format->separator != NULL ? format->separator : " = ");
    }
    bool left = field->left || (field->width == 0 && !field->auto_width);
    bool trail = last && left && !format->labels;
    table_plan_pad(cut, trail ? 0 : width, left ? TABLE_LEFT : TABLE_RIGHT, out);
    if (!field->no_suffix && !last) {
        strbuf_puts(out, format->field_suffix != NULL ? format->field_suffix : " ");
    }
    mem_free(cut);
}

static void put_record(const struct print_format *format, char *const *cells, const int *widths,
                       struct strbuf *out)
{
    strbuf_puts(out, format->record_prefix != NULL ? format->record_prefix : "");
    for (size_t i = 0; i < format->fields.count; i++) {
        put_field(format, format->fields.items[i], cells[i], widths[i], false,
                  i + 1 == format->fields.count, out);
    }
    strbuf_puts(out, format->record_suffix != NULL ? format->record_suffix : "\n");
}

void print_format_print(const struct print_format *format, const struct ad *const *ads,
                        size_t count, const struct ad_context *context, struct strbuf *out)
{
    size_t columns = format->fields.count;
    const struct ad **order = mem_alloc((count + 1) * sizeof *order);
    char **cells = mem_zalloc((count * columns + 1) * sizeof *cells);
    int *widths = mem_zalloc((columns + 1) * sizeof *widths);
    for (size_t i = 0; i < count; i++) {
        order[i] = ads[i];
    }
    if (format->keys.count > 0) {
        status_sort_by(order, count, (struct ad_expr *const *)format->keys.items,
                       format->keys.count, context);
    }
    for (size_t c = 0; c < columns; c++) {
        const struct field *field = format->fields.items[c];
        size_t width =
            format->no_header ? 0 : terminal_width(field->heading, strlen(field->heading));
        bool fixed = field->width > 0 && !field->auto_width;
        for (size_t i = 0; i < count; i++) {
            char *cell = cell_of(field, order[i], context);
            size_t wide = terminal_width(cell, strlen(cell));
            cells[i * columns + c] = cell;
            width = wide > width ? wide : width;
        }
        widths[c] = fixed ? field->width : width < WIDTH_MAX ? (int)width : WIDTH_MAX;
        widths[c] = format->labels && !fixed ? 0 : widths[c];
    }
    for (size_t c = 0; c < columns && !format->no_header; c++) {
        const struct field *field = format->fields.items[c];
        put_field(format, field, field->heading, widths[c], true, c + 1 == columns, out);
    }
    strbuf_puts(out, format->no_header || columns == 0 ? "" : "\n");
    for (size_t i = 0; i < count && columns > 0; i++) {
        put_record(format, cells + i * columns, widths, out);
    }
    for (size_t i = 0; i < count * columns; i++) {
        mem_free(cells[i]);
    }
    mem_free(widths);
    mem_free(cells);
    mem_free(order);
}
