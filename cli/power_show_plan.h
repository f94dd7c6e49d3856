/* cli/power_show_plan.h - what `roost power` prints.  Pure.
 *
 * A new column is a row of a table of columns in power_show_plan.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_POWER_SHOW_PLAN_H
#define CLI_POWER_SHOW_PLAN_H

#include <stdbool.h>
#include <stddef.h>

struct ad;
struct ad_context;
struct strbuf;

/* Sorts nodes by name. */
void power_show_sort(const struct ad **ads, size_t count);
/* What the rooster answers to POWER_STATUS, and its ledger; nothing for no ads. */
void power_show_status(const struct ad *const *ads, size_t count, const struct ad_context *context,
                       struct strbuf *out);
void power_show_history(const struct ad *const *ads, size_t count, const struct ad_context *context,
                        struct strbuf *out);

/* What keeps it up, or off, or would be done but for the dry run, with `between` between several;
 * nothing when there is nothing. */
void power_show_holds(const struct ad *ad, const struct ad_context *context, const char *between,
                      struct strbuf *out);

/* What POWER_ON said of one node: a line (without its end), and whether the node is on its way. */
bool power_show_order(const struct ad *answer, struct strbuf *out);

#endif
