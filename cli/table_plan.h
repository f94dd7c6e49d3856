/* cli/table_plan.h - prints ads as a table; each column is described by a struct column.
 *
 * A column can grow with its cells, as in HTCondor's listings.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_TABLE_PLAN_H
#define CLI_TABLE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ad;
struct ad_context;
struct strbuf;
struct terminal;

/* Appends the text of one cell, given the ad, the time and the time zone. */
typedef void (*cell_f)(const struct ad *ad, const struct ad_context *context, struct strbuf *out);

enum table_align { TABLE_LEFT, TABLE_RIGHT };

struct column {
    const char *heading;
    enum table_align heading_align;
    int width; /* minimum width in columns of the terminal */
    enum table_align align;
    /* true: as wide as its longest cell; false: a long cell shifts the rest of its line */
    bool grows;
    cell_f cell;
};

/* Prints the line of headings and a line for each ad.  gap: true: with an empty line after the
 * headings. */
void table_plan_print(const struct column *columns, size_t column_count, bool gap,
                      const struct ad *const *ads, size_t count, const struct ad_context *context,
                      struct strbuf *out);

/* Prints ads that arrive one after the other and are not kept. */
struct table;
/* Begins a table with these columns, without ads.  All arguments must stay valid as long as the
 * table. */
struct table *table_plan_begin(const struct column *columns, size_t column_count,
                               const struct ad_context *context);
/* Adapts the lines to a terminal: colours, and narrower lines where they do not fit.  Call before
 * table_plan_end(). */
void table_plan_look(struct table *table, const struct terminal *terminal);
void table_plan_add(struct table *table, const struct ad *ad);
void table_plan_destroy(struct table *table); /* NULL is allowed */
/* A function of the caller that writes the text of out, for example to a file, and empties out. */
typedef void (*table_emit_f)(void *arg, struct strbuf *out);
/* Appends the headings and the lines to out, and frees the table.  gap: true: with an empty line
 * after the headings.  order[i]: index, in the order of adding, of the ad for the i-th line; NULL:
 * the order of adding.  emit: called with emit_arg whenever out has become large; NULL: all text
 * stays in out. */
void table_plan_end(struct table *table, bool gap, const uint32_t *order, table_emit_f emit,
                    void *emit_arg, struct strbuf *out);

/* ---- functions for cells */

/* Appends a date such as "11/20 09:15" in the context's time zone. */
void table_plan_date(int64_t at_s, const struct ad_context *context, struct strbuf *out);
/* Appends a duration such as "0+00:25:00"; negative durations count as zero. */
void table_plan_duration(int64_t seconds, struct strbuf *out);
/* Replaces control characters in the line that starts at byte `begin` of out, except a final
 * newline. */
void table_plan_clean(struct strbuf *out, size_t begin);
/* Appends text, padded with blanks to `width` columns; a longer text is not cut. */
void table_plan_pad(const char *text, int width, enum table_align align, struct strbuf *out);
/* Appends the value of the string attribute `name`; nothing when the ad does not have it. */
void table_plan_string(const struct ad *ad, const char *name, struct strbuf *out);
void table_plan_int(const struct ad *ad, const char *name, struct strbuf *out);
void table_plan_int_text(int64_t value, struct strbuf *out);
/* Appends a number with `digits` decimals, such as "0.250". */
void table_plan_fixed(double value, int digits, struct strbuf *out);

#endif
