/* cli/status/status_cells.h - what an ad of the collector says, as the tables of `roost status`
 * show it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_STATUS_STATUS_CELLS_H
#define CLI_STATUS_STATUS_CELLS_H

#include <stdbool.h>

struct ad;
struct ad_context;
struct strbuf;

bool status_is_offline(const struct ad *ad);

/* PowerState.  A live ad is word from a running machine; an offline ad without the rooster's word
 * is a machine that went to sleep. */
const char *status_power_state(const struct ad *ad);

#endif
