/* cli/print_format_plan.h - columns that the user describes in a file: -print-format FILE.
 *
 * The language is HTCondor's: SELECT and its options, a line for each column (an expression, then
 * AS, PRINTF, PRINTAS, WIDTH, TRUNCATE, LEFT, RIGHT, NOPREFIX, NOSUFFIX, OR), WHERE, GROUP BY,
 * SUMMARY. SELECT FROM AUTOCLUSTER and UNIQUE are not taken: `roost q -autocluster` is there for
 * them.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_PRINT_FORMAT_PLAN_H
#define CLI_PRINT_FORMAT_PLAN_H

#include <stdbool.h>
#include <stddef.h>

struct ad;
struct ad_context;
struct err;
struct print_format;
struct strbuf;

/* -EINVAL names the line and what is wrong with it. */
int print_format_read(const char *text, size_t length, const struct ad_context *context,
                      struct print_format **ret, struct err *err);
void print_format_destroy(struct print_format *format); /* NULL is allowed */

const char *print_format_constraint(const struct print_format *format); /* WHERE; NULL: none */
bool print_format_has_title(const struct print_format *format);
bool print_format_has_summary(const struct print_format *format);

/* Headings unless NOHEADER, then the ads, in the order that GROUP BY says. */
void print_format_print(const struct print_format *format, const struct ad *const *ads,
                        size_t count, const struct ad_context *context, struct strbuf *out);

#endif
