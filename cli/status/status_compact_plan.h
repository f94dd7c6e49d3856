/* cli/status/status_compact_plan.h - `roost status -compact`: a line for each machine.  Pure.
 *
 * A machine's line sums up its slots, whatever their kind: of a partitionable slot what it has in
 * all, of dynamic slots nothing but that they are there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_STATUS_STATUS_COMPACT_PLAN_H
#define CLI_STATUS_STATUS_COMPACT_PLAN_H

#include <stddef.h>

struct ad;
struct ad_context;
struct strbuf;

/* ads are sorted by machine. */
void status_compact_print(const struct ad *const *ads, size_t count,
                          const struct ad_context *context, struct strbuf *out);

#endif
