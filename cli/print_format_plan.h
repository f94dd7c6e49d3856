/* cli/print_format_plan.h - columns that the user describes in a file: -print-format FILE.
 *
 * The language is HTCondor's: SELECT and its options; a line for each column (an expression, then
 * AS, PRINTF, PRINTAS, WIDTH, TRUNCATE, LEFT, RIGHT, NOPREFIX, NOSUFFIX, OR); WHERE, GROUP BY,
 * SUMMARY.  SELECT FROM AUTOCLUSTER and UNIQUE are refused; `roost q -autocluster` replaces them.
 * Pure.
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

/* Parses the file's text.  -EINVAL: err names the line and the error. */
int print_format_read(const char *text, size_t length, const struct ad_context *context,
                      struct print_format **ret, struct err *err);
void print_format_destroy(struct print_format *format); /* NULL is allowed */

/* the WHERE expression; NULL: none */
const char *print_format_constraint(const struct print_format *format);
bool print_format_has_title(const struct print_format *format);
bool print_format_has_summary(const struct print_format *format);

/* Prints headings unless NOHEADER was given, then the ads in the order of GROUP BY. */
void print_format_print(const struct print_format *format, const struct ad *const *ads,
                        size_t count, const struct ad_context *context, struct strbuf *out);

#endif
