/* cli/status/status_plan.h - what `roost status` prints.
 *
 * A view is a row of the table in status_plan.c: the option that asks for it, the type of its ads,
 * its columns, its totals, the attributes that all these need.  A column is a row of a view's table
 * of columns.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_STATUS_STATUS_PLAN_H
#define CLI_STATUS_STATUS_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/terminal_plan.h"

struct ad;
struct ad_context;
struct strbuf;
struct status_view;

/* The view of that option ("-schedd", shortened, with one dash or two), NULL: no such option.  ""
 * is the default: machines. */
const struct status_view *status_view_find(const char *option);
const char *status_view_type(const struct status_view *view);       /* of its ads, "Machine" */
const char *status_view_constraint(const struct status_view *view); /* NULL: all of the type */
/* What a query has to bring for status_plan_print() and status_sort_default(); NULL-terminated. */
const char *const *status_view_attributes(const struct status_view *view);

struct status_how {
    bool wide;        /* -wide: as HTCondor's */
    bool totals_only; /* -total */
    struct terminal terminal;
};
/* Headings, a line for each ad, totals; nothing at all when there are none. */
void status_plan_print(const struct status_view *view, const struct status_how *how,
                       const struct ad *const *ads, size_t count, const struct ad_context *context,
                       struct strbuf *out);

/* The same, with the default order, of ads that come one after the other and are not kept: a line
 * is made while the next ads are on their way.  NULL: this view wants all at once. */
struct status_rows;
struct status_rows *status_rows_begin(const struct status_view *view, const struct status_how *how,
                                      const struct ad_context *context);
void status_rows_add(struct status_rows *rows, const struct ad *ad);
size_t status_rows_count(const struct status_rows *rows);
/* natural: as they came.  emit (may be NULL) writes out away and empties it, whenever it is large.
 * warnings gets what status_plan_warn() says. */
void status_rows_end(struct status_rows *rows, bool natural,
                     void (*emit)(void *arg, struct strbuf *out), void *emit_arg,
                     struct strbuf *out, struct strbuf *warnings);
void status_rows_destroy(struct status_rows *rows); /* NULL is allowed */

/* A line for each ad that has AdProblems, "NAME: what"; how many there are.  Only a view that asks
 * for that attribute finds any. */
size_t status_plan_warn(const struct status_view *view, const struct ad *const *ads, size_t count,
                        struct strbuf *out);

#endif
