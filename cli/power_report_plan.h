/* cli/power_report_plan.h - the output of `roost power report`: the energy that machines or users
 * used, and what sleeping saved.
 *
 * Pure.  The ads are the rooster's answer (MyType "Energy").
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_POWER_REPORT_PLAN_H
#define CLI_POWER_REPORT_PLAN_H

#include <stddef.h>
#include <stdint.h>

struct ad;
struct ad_context;
struct strbuf;

/* Parses a day such as "2026-11-01"; *ret is its beginning in UTC.  -EINVAL: not a day, or in the
 * future. */
int power_report_since(const char *text, int64_t now_s, int64_t *ret);

/* Prints a table with a line of totals; for users, without the columns that only machines have. */
void power_report_show(const struct ad *const *ads, size_t count, const struct ad_context *context,
                       struct strbuf *out);
/* Prints the ads as CSV (RFC 4180), with a line of column names and without totals. */
void power_report_csv(const struct ad *const *ads, size_t count, struct strbuf *out);

#endif
