/* cli/table_plan.c - see table_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/table_plan.h"

#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "classad/ad_time.h"

#define DAY_S 86400

/* One line each: what an ad says cannot move the terminal's cursor or break the table. */
static void clean(char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < ' ' || *text == 0x7f) {
            *text = '?';
        }
    }
}

void table_plan_pad(const char *text, int width, enum table_align align, struct strbuf *out)
{
    size_t length = strlen(text);
    if (align == TABLE_LEFT) {
        strbuf_puts(out, text);
    }
    for (size_t i = length; i < (size_t)width; i++) {
        strbuf_putc(out, ' ');
    }
    if (align == TABLE_RIGHT) {
        strbuf_puts(out, text);
    }
}

static void put_cell(const char *text, int width, bool last, enum table_align align,
                     struct strbuf *out)
{
    table_plan_pad(text, last && align == TABLE_LEFT ? 0 : width, align, out);
    strbuf_putc(out, last ? '\n' : ' ');
}

void table_plan_print(const struct column *columns, size_t column_count, bool gap,
                      const struct ad *const *ads, size_t count, const struct ad_context *context,
                      struct strbuf *out)
{
    int *widths = mem_alloc((column_count + 1) * sizeof *widths);
    char **cells = mem_zalloc((column_count * count + 1) * sizeof *cells);
    for (size_t c = 0; c < column_count; c++) {
        widths[c] = columns[c].width;
        for (size_t i = 0; i < count; i++) {
            struct strbuf text;
            strbuf_init(&text, 0);
            columns[c].cell(ads[i], context, &text);
            char *cell = strbuf_take(&text);
            cell = cell != NULL ? cell : mem_strdup("");
            clean(cell);
            if (columns[c].grows && (int)strlen(cell) > widths[c]) {
                widths[c] = (int)strlen(cell);
            }
            cells[i * column_count + c] = cell;
        }
    }
    for (size_t c = 0; c < column_count; c++) {
        put_cell(columns[c].heading, widths[c], c + 1 == column_count, columns[c].heading_align,
                 out);
    }
    strbuf_puts(out, gap ? "\n" : "");
    for (size_t i = 0; i < count * column_count; i++) {
        size_t c = i % column_count;
        put_cell(cells[i], widths[c], c + 1 == column_count, columns[c].align, out);
        mem_free(cells[i]);
    }
    mem_free(cells);
    mem_free(widths);
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
    strbuf_printf(out, "%lld+%02d:%02d:%02d", (long long)(seconds / DAY_S),
                  (int)(seconds % DAY_S / 3600), (int)(seconds % 3600 / 60), (int)(seconds % 60));
}

void table_plan_string(const struct ad *ad, const char *name, struct strbuf *out)
{
    strbuf_puts(out, ad_string_or(ad, name, ""));
}

void table_plan_int(const struct ad *ad, const char *name, struct strbuf *out)
{
    int64_t value;
    if (ad_get_int(ad, name, &value) == 0) {
        strbuf_printf(out, "%lld", (long long)value);
    }
}
