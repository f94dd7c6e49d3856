/* cli/table_plan.h - ads as a table: a row of struct column for each column.
 *
 * Widths grow with what is shown where the column says so, as in HTCondor's listings.  Pure.
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

/* What a cell may know beside its ad: the time and the time zone. */
typedef void (*cell_f)(const struct ad *ad, const struct ad_context *context, struct strbuf *out);

enum table_align { TABLE_LEFT, TABLE_RIGHT };

struct column {
    const char *heading;
    enum table_align heading_align;
    int width; /* at least */
    enum table_align align;
    bool grows; /* with its longest cell; else a longer cell pushes the rest of its line */
    cell_f cell;
};

/* The headings, an empty line if gap, a line for each ad. */
void table_plan_print(const struct column *columns, size_t column_count, bool gap,
                      const struct ad *const *ads, size_t count, const struct ad_context *context,
                      struct strbuf *out);

/* The same of ads that come one after the other and are not kept. */
struct table;
struct table *table_plan_begin(const struct column *columns, size_t column_count,
                               const struct ad_context *context); /* all outlive it */
/* Lines for a terminal: coloured, and narrower where they do not fit.  Before the end. */
void table_plan_look(struct table *table, const struct terminal *terminal);
void table_plan_add(struct table *table, const struct ad *ad);
void table_plan_destroy(struct table *table); /* NULL is allowed */
/* Prints the lines, order[i] being the number of the i-th from above among those that were added,
 * or as they were added (NULL).  Takes table.  emit (may be NULL) is called whenever out has become
 * large, writes it away and empties it. */
typedef void (*table_emit_f)(void *arg, struct strbuf *out);
void table_plan_end(struct table *table, bool gap, const uint32_t *order, table_emit_f emit,
                    void *emit_arg, struct strbuf *out);

/* ---- what cells are made of */

/* "11/20 09:15" in the zone of the context. */
void table_plan_date(int64_t at_s, const struct ad_context *context, struct strbuf *out);
/* "0+00:25:00"; below zero counts as zero. */
void table_plan_duration(int64_t seconds, struct strbuf *out);
/* Replaces control characters in the line printed from `begin` on, but for its end. */
void table_plan_clean(struct strbuf *out, size_t begin);
/* The same in columns of a fixed width. */
void table_plan_pad(const char *text, int width, enum table_align align, struct strbuf *out);
/* A text attribute; "" when it has none. */
void table_plan_string(const struct ad *ad, const char *name, struct strbuf *out);
void table_plan_int(const struct ad *ad, const char *name, struct strbuf *out);
void table_plan_int_text(int64_t value, struct strbuf *out);
void table_plan_fixed(double value, int digits, struct strbuf *out); /* "0.250" */

#endif
