/* cli/status/status_cells_plan.h - values from ads of the collector as the tables of `roost status`
 * show them.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_STATUS_STATUS_CELLS_PLAN_H
#define CLI_STATUS_STATUS_CELLS_PLAN_H

#include <stdbool.h>

struct ad;

bool status_is_offline(const struct ad *ad);

/* The power state in words.  A live ad means a running machine, unless it is marked as not
 * responding; an offline ad without PowerState is a machine that went to sleep. */
const char *status_power_state(const struct ad *ad);

#endif
