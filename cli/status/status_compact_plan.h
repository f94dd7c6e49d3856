/* cli/status/status_compact_plan.h - `roost status -compact`: one line for each machine.  Pure.
 *
 * A machine's line sums up all its slots: a partitionable slot counts with its total resources,
 * dynamic slots only by their number.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_STATUS_STATUS_COMPACT_PLAN_H
#define CLI_STATUS_STATUS_COMPACT_PLAN_H

#include <stddef.h>

struct ad;
struct ad_context;
struct strbuf;

/* Prints headings and a line for each machine; the ads must be sorted by machine. */
void status_compact_print(const struct ad *const *ads, size_t count,
                          const struct ad_context *context, struct strbuf *out);

#endif
