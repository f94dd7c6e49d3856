/* cli/status/status_cells_plan.h - values from ads of the collector as the tables of `roost status`
 * show them.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_STATUS_STATUS_CELLS_PLAN_H
#define CLI_STATUS_STATUS_CELLS_PLAN_H

#include <stdbool.h>

#include "cli/table_plan.h"

struct ad;
struct ad_context;
struct strbuf;

/* Each of these defines a cell_f that shows one attribute: a text, a number, or the time since. */
#define STATUS_STRING_CELL(function, name)                                      \
    static void function(const struct ad *ad, const struct ad_context *context, \
                         struct strbuf *out)                                    \
    {                                                                           \
        (void)context;                                                          \
        table_plan_string(ad, name, out);                                       \
    }
#define STATUS_INT_CELL(function, name)                                         \
    static void function(const struct ad *ad, const struct ad_context *context, \
                         struct strbuf *out)                                    \
    {                                                                           \
        (void)context;                                                          \
        table_plan_int(ad, name, out);                                          \
    }
#define STATUS_SINCE_CELL(function, name)                                       \
    static void function(const struct ad *ad, const struct ad_context *context, \
                         struct strbuf *out)                                    \
    {                                                                           \
        status_put_since(ad, name, context, out);                               \
    }

/* Appends how long ago the time in the attribute was; nothing when the ad does not have it. */
void status_put_since(const struct ad *ad, const char *name, const struct ad_context *context,
                      struct strbuf *out);

bool status_is_offline(const struct ad *ad);

/* The power state in words.  A live ad means a running machine, unless it is marked as not
 * responding; an offline ad without PowerState is a machine that went to sleep. */
const char *status_power_state(const struct ad *ad);

#endif
