/* cli/power_report_plan.h - `roost power report`: what machines or users drew, and what sleeping
 * saved.
 *
 * Pure.  Of ads as the rooster answers them (MyType "Energy").
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

/* "2026-11-01", the beginning of that day, UTC.  -EINVAL: it is no day, or not begun. */
int power_report_since(const char *text, int64_t now_s, int64_t *ret);

/* A table with a line of totals; of users: without what only a machine has. */
void power_report_show(const struct ad *const *ads, size_t count, const struct ad_context *context,
                       struct strbuf *out);
/* The same figures as RFC 4180 wants them, a line of names first, without totals. */
void power_report_csv(const struct ad *const *ads, size_t count, struct strbuf *out);

#endif
