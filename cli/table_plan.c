/* cli/table_plan.c - see table_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/table_plan.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "classad/ad_time.h"
#include "cli/terminal_plan.h"

#define DAY_S 86400

#define EMIT_BYTES ((size_t)128 << 10)

#define TABLE_BYTES_MAX ((size_t)UINT32_MAX) /* most bytes of all cells together */

/* True when one of the eight bytes may be a control character; any byte above 0x7f counts, too. */
static bool may_have_control(uint64_t word)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), highs = ones << 7;
    uint64_t low = (word - ones * ' ') & ~word; /* below a blank: the high bit of the byte */
    uint64_t other = word ^ ones * 0x7f;
    return ((word | low | ((other - ones) & ~other)) & highs) != 0; /* or what is not ASCII */
}

/* Replaces control characters, so that the text of an ad cannot move the terminal's cursor or break
 * a line of the table.  Most texts have none, which is tested eight bytes at a time. */
static void clean_text(char *text, size_t length)
{
    size_t i = 0;
    for (uint64_t word; length - i >= sizeof word; i += sizeof word) {
        memcpy(&word, text + i, sizeof word);
        if (may_have_control(word)) {
            break;
        }
    }
    terminal_clean(text + i, length - i);
}

void table_plan_clean(struct strbuf *out, size_t begin)
{
    bool ended = out->length > begin && out->data[out->length - 1] == '\n';
    terminal_clean(out->data + begin, out->length - begin - (ended ? 1 : 0));
}

static void put_spaces(size_t count, struct strbuf *out)
{
    static const char SPACES[] = "                                                                ";
    while (count > 0) {
        size_t some = count < sizeof SPACES - 1 ? count : sizeof SPACES - 1;
        strbuf_append(out, SPACES, some);
        count -= some;
    }
}

static void put_padded(const char *text, size_t length, int width, enum table_align align,
                       struct strbuf *out)
{
    size_t columns = terminal_width(text, length);
    size_t gap = columns < (size_t)width ? (size_t)width - columns : 0;
    if (align == TABLE_RIGHT) {
        put_spaces(gap, out);
    }
    strbuf_append(out, text, length);
    if (align == TABLE_LEFT) {
        put_spaces(gap, out);
    }
}

void table_plan_pad(const char *text, int width, enum table_align align, struct strbuf *out)
{
    put_padded(text, strlen(text), width, align, out);
}

/* A line under construction.  When the buffer is full, its text is moved to out. */
struct line {
    struct strbuf *out;
    size_t length;
    char text[1024];
};

static void flush_line(struct line *line)
{
    strbuf_append(line->out, line->text, line->length);
    line->length = 0;
}

static void put_cell(struct line *line, const char *text, size_t length, int width, bool last,
                     enum table_align align)
{
    size_t full = last && align == TABLE_LEFT ? 0 : (size_t)width;
    size_t columns = terminal_width(text, length);
    size_t gap = full > columns ? full - columns : 0;
    if (length + gap + 1 > sizeof line->text - line->length) {
        flush_line(line);
    }
    if (length + gap + 1 > sizeof line->text) {
        put_padded(text, length, (int)full, align, line->out);
        line->text[line->length++] = last ? '\n' : ' ';
        return;
    }
    char *at = line->text + line->length;
    memset(align == TABLE_RIGHT ? at : at + length, ' ', gap);
    memcpy(align == TABLE_RIGHT ? at + gap : at, text, length);
    at[length + gap] = last ? '\n' : ' ';
    line->length += length + gap + 1;
}

/* The cells' texts are one after another in one buffer; ends[i] is the end of cell i.  When all
 * cells are there, the column widths are known.  No row has an allocation of its own. */
struct table {
    const struct column *columns;
    size_t column_count;
    const struct ad_context *context;
    struct terminal terminal;
    size_t count; /* number of lines */
    size_t room;  /* number of lines for which ends has space */
    uint32_t *ends;
    struct strbuf cells;
    int widths[];
};

struct table *table_plan_begin(const struct column *columns, size_t column_count,
                               const struct ad_context *context)
{
    struct table *table = mem_zalloc(sizeof(*table) + column_count * sizeof(table->widths[0]));
    table->columns = columns;
    table->column_count = column_count;
    table->context = context;
    strbuf_init(&table->cells, TABLE_BYTES_MAX);
    for (size_t c = 0; c < column_count; c++) {
        table->widths[c] = columns[c].width;
    }
    return table;
}

void table_plan_add(struct table *table, const struct ad *ad)
{
    if (table->count == table->room) {
        table->room = table->room > 0 ? table->room * 2 : 64;
        table->ends =
            mem_realloc(table->ends, table->room * table->column_count * sizeof(*table->ends));
    }
    uint32_t *ends = table->ends + table->count * table->column_count;
    for (size_t c = 0; c < table->column_count; c++) {
        const struct column *column = &table->columns[c];
        size_t begin = table->cells.length;
        column->cell(ad, table->context, &table->cells);
        size_t length = table->cells.failed ? 0
                                            : terminal_width(table->cells.data + begin,
                                                             table->cells.length - begin);
        if (column->grows && length > (size_t)table->widths[c]) {
            table->widths[c] = length < INT_MAX ? (int)length : INT_MAX;
        }
        ends[c] = (uint32_t)table->cells.length;
    }
    table->count++;
}

void table_plan_destroy(struct table *table)
{
    if (table != NULL) {
        strbuf_fini(&table->cells);
        mem_free(table->ends);
        mem_free(table);
    }
}

void table_plan_look(struct table *table, const struct terminal *terminal)
{
    table->terminal = *terminal;
}

/* ---- on a terminal */

#define NAME_COLUMNS 16 /* the first column, with names, is not made narrower than this */

static size_t cell_begin(const struct table *table, size_t cell)
{
    return cell > 0 ? table->ends[cell - 1] : 0;
}

/* When the lines do not fit on the terminal, makes each column as narrow as its contents and then
 * cuts the first column, which holds names. */
static void make_narrow(struct table *table)
{
    int line = -1;
    for (size_t c = 0; c < table->column_count; c++) {
        line += table->widths[c] + 1;
    }
    if (line <= table->terminal.columns) {
        return;
    }
    line = -1;
    for (size_t c = 0; c < table->column_count; c++) {
        size_t width = strlen(table->columns[c].heading);
        for (size_t i = 0; i < table->count; i++) {
            size_t cell = i * table->column_count + c, begin = cell_begin(table, cell);
            size_t columns = terminal_width(table->cells.data + begin, table->ends[cell] - begin);
            width = columns > width ? columns : width;
        }
        table->widths[c] = width < INT_MAX ? (int)width : INT_MAX;
        line += table->widths[c] + 1;
    }
    if (line > table->terminal.columns && table->column_count > 1) {
        int rest = table->terminal.columns - (line - table->widths[0]);
        table->widths[0] = rest > NAME_COLUMNS               ? rest
                           : table->widths[0] < NAME_COLUMNS ? table->widths[0]
                                                             : NAME_COLUMNS;
    }
}

static void put_spaces_before(bool right, size_t have, size_t width, struct strbuf *out)
{
    put_spaces(right && have < width ? width - have : 0, out);
}

static void put_terminal_cell(const struct table *table, size_t c, bool heading, const char *text,
                              size_t length, struct strbuf *out)
{
    const struct column *column = &table->columns[c];
    size_t width = (size_t)table->widths[c], columns = terminal_width(text, length);
    const char *colour =
        table->terminal.colour && !heading ? terminal_colour(column->heading, text, length) : "";
    bool right = (heading ? column->heading_align : column->align) == TABLE_RIGHT;
    bool cut = c == 0 && columns > width && width > 1;
    if (cut) {
        length = terminal_fit(text, length, width - 1);
        columns = width;
    }
    put_spaces_before(right, columns, width, out);
    strbuf_puts(out, colour);
    strbuf_append(out, text, length);
    strbuf_puts(out, cut ? "~" : "");
    strbuf_puts(out, colour[0] != '\0' ? terminal_plain : "");
    if (c + 1 < table->column_count) {
        put_spaces_before(!right, columns, width, out);
        strbuf_putc(out, ' ');
    }
}

static void put_terminal(struct table *table, bool gap, const uint32_t *order, struct strbuf *out)
{
    if (table->terminal.columns > 0) {
        make_narrow(table);
    }
    strbuf_puts(out, table->terminal.colour ? terminal_bold : "");
    for (size_t c = 0; c < table->column_count; c++) {
        const char *heading = table->columns[c].heading;
        put_terminal_cell(table, c, true, heading, strlen(heading), out);
    }
    strbuf_puts(out, table->terminal.colour ? terminal_plain : "");
    strbuf_puts(out, gap ? "\n\n" : "\n");
    for (size_t i = 0; i < table->count && !out->failed; i++) {
        size_t first = (order != NULL ? order[i] : i) * table->column_count;
        for (size_t c = 0; c < table->column_count; c++) {
            size_t begin = cell_begin(table, first + c);
            put_terminal_cell(table, c, false, table->cells.data + begin,
                              table->ends[first + c] - begin, out);
        }
        strbuf_putc(out, '\n');
    }
}

/* ---- */

static void put_headings(const struct table *table, struct line *line)
{
    for (size_t c = 0; c < table->column_count; c++) {
        const struct column *column = &table->columns[c];
        put_cell(line, column->heading, strlen(column->heading), table->widths[c],
                 c + 1 == table->column_count, column->heading_align);
    }
    flush_line(line);
}

void table_plan_end(struct table *table, bool gap, const uint32_t *order, table_emit_f emit,
                    void *emit_arg, struct strbuf *out)
{
    struct line line;
    line.out = out;
    line.length = 0;
    if (table->cells.length > 0) {
        clean_text(table->cells.data, table->cells.length);
    }
    if (table->terminal.colour || table->terminal.columns > 0) {
        put_terminal(table, gap, order, out);
        out->failed = out->failed || table->cells.failed;
        table_plan_destroy(table);
        return;
    }
    put_headings(table, &line);
    strbuf_puts(out, gap ? "\n" : "");
    const char *text = strbuf_text(&table->cells);
    for (size_t i = 0; i < table->count && !out->failed; i++) {
        size_t first = (order != NULL ? order[i] : i) * table->column_count;
        size_t begin = first > 0 ? table->ends[first - 1] : 0;
        for (size_t c = 0; c < table->column_count; c++) {
            size_t end = table->ends[first + c];
            put_cell(&line, text + begin, end - begin, table->widths[c],
                     c + 1 == table->column_count, table->columns[c].align);
            begin = end;
        }
        if (emit != NULL && out->length >= EMIT_BYTES) {
            emit(emit_arg, out);
        }
    }
    flush_line(&line);
    out->failed = out->failed || table->cells.failed;
    table_plan_destroy(table);
}

void table_plan_print(const struct column *columns, size_t column_count, bool gap,
                      const struct ad *const *ads, size_t count, const struct ad_context *context,
                      struct strbuf *out)
{
    struct table *table = table_plan_begin(columns, column_count, context);
    for (size_t i = 0; i < count; i++) {
        table_plan_add(table, ads[i]);
    }
    table_plan_end(table, gap, NULL, NULL, NULL, out);
}

void table_plan_date(int64_t at_s, const struct ad_context *context, struct strbuf *out)
{
    struct ad_calendar calendar;
    if (context->zone_offset_s != NULL) {
        at_s += context->zone_offset_s(context->arg, at_s);
    }
    ad_calendar_of(at_s, &calendar);
    strbuf_printf(out, "%2d/%02d %02d:%02d", calendar.month, calendar.day, calendar.hour,
                  calendar.minute);
}

void table_plan_duration(int64_t seconds, struct strbuf *out)
{
    seconds = seconds > 0 ? seconds : 0;
    int parts[] = {(int)(seconds % DAY_S / 3600), (int)(seconds % 3600 / 60), (int)(seconds % 60)};
    char text[] = "+00:00:00";
    for (int i = 0; i < 3; i++) {
        text[i * 3 + 1] = (char)('0' + parts[i] / 10);
        text[i * 3 + 2] = (char)('0' + parts[i] % 10);
    }
    table_plan_int_text(seconds / DAY_S, out);
    strbuf_append(out, text, sizeof text - 1);
}

void table_plan_string(const struct ad *ad, const char *name, struct strbuf *out)
{
    strbuf_puts(out, ad_string_or(ad, name, ""));
}

void table_plan_int(const struct ad *ad, const char *name, struct strbuf *out)
{
    int64_t value;
    if (ad_get_int(ad, name, &value) == 0) {
        table_plan_int_text(value, out);
    }
}

/* Appends the number without printf(), which would cost more than all other work on a table of
 * 10,000 lines. */
void table_plan_int_text(int64_t value, struct strbuf *out)
{
    char text[24];
    size_t at = sizeof text;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do {
        text[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0);
    if (value < 0) {
        text[--at] = '-';
    }
    strbuf_append(out, text + at, sizeof text - at);
}

void table_plan_fixed(double value, int digits, struct strbuf *out)
{
    double scale = 1;
    for (int i = 0; i < digits; i++) {
        scale *= 10;
    }
    double scaled = value * scale;
    /* Halves are printf()'s business: it knows which side of one the number is on. */
    double whole = floor(scaled), part = scaled - whole;
    if (!(value >= 0 && scaled < 1e15) || digits < 1 || digits > 9 ||
        (part > 0.499 && part < 0.501)) {
        strbuf_printf(out, "%.*f", digits, value);
        return;
    }
    uint64_t number = (uint64_t)whole + (part > 0.5 ? 1 : 0), unit = (uint64_t)scale;
    char text[16];
    uint64_t rest = number % unit;
    for (int i = digits; i > 0; i--) {
        text[i] = (char)('0' + rest % 10);
        rest /= 10;
    }
    text[0] = '.';
    table_plan_int_text((int64_t)(number / unit), out);
    strbuf_append(out, text, (size_t)digits + 1);
}
