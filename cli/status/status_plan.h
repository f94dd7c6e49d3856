/* cli/status/status_plan.h - the output of `roost status`.
 *
 * A view is a row of the table in status_plan.c: its option, the type of its ads, its columns, its
 * totals, and the attributes that all these need.  A column is a row of a view's table of columns.
 * Pure.
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

/* The view for an option ("-schedd"; may be shortened, with one dash or two); NULL: no such option.
 * "" gives the default view, machines. */
const struct status_view *status_view_find(const char *option);
/* returns the type of the view's ads, such as "Machine" */
const char *status_view_type(const struct status_view *view);
/* Returns the constraint that selects the ads of the view; NULL: all ads of the type. */
const char *status_view_constraint(const struct status_view *view);
/* The attributes that status_plan_print() and status_sort_default() need; NULL-terminated. */
const char *const *status_view_attributes(const struct status_view *view);

struct status_how {
    bool wide;        /* -wide: columns as wide as HTCondor's */
    bool totals_only; /* -total */
    struct terminal terminal;
};
/* Prints headings, a line for each ad, and totals; nothing at all when there are no ads. */
void status_plan_print(const struct status_view *view, const struct status_how *how,
                       const struct ad *const *ads, size_t count, const struct ad_context *context,
                       struct strbuf *out);

/* Prints, in the default order, ads that arrive one after the other and are not kept: each line is
 * made while the next ads arrive. */
struct status_rows;
/* Begins to print ads that arrive one after the other.  Returns NULL if the view cannot do so,
 * because it needs all ads at once. */
struct status_rows *status_rows_begin(const struct status_view *view, const struct status_how *how,
                                      const struct ad_context *context);
void status_rows_add(struct status_rows *rows, const struct ad *ad);
size_t status_rows_count(const struct status_rows *rows);
/* Prints all lines. natural: true: in order of arrival, false: in the default order.  emit (may be
 * NULL) is called when out has become large; it must write and empty out.  warnings gets the lines
 * of status_plan_warn(). */
void status_rows_end(struct status_rows *rows, bool natural,
                     void (*emit)(void *arg, struct strbuf *out), void *emit_arg,
                     struct strbuf *out, struct strbuf *warnings);
void status_rows_destroy(struct status_rows *rows); /* NULL is allowed */

/* Appends a line "NAME: problem" for each of the first 5 ads with AdProblems, and a line with the
 * number of the others.  Returns the number of ads with AdProblems; 0 for the view -problems, which
 * prints them itself. */
size_t status_plan_warn(const struct status_view *view, const struct ad *const *ads, size_t count,
                        const struct ad_context *context, struct strbuf *out);

#endif
