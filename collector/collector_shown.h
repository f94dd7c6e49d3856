/* collector/collector_shown.h - between the tables of ads and those who watch them.
 *
 * What becomes public in the tables is told to the server of watches, and a watch that begins reads
 * from the tables what is public then.  An ad that is absent is hidden from all watches.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COLLECTOR_COLLECTOR_SHOWN_H
#define COLLECTOR_COLLECTOR_SHOWN_H

struct ads_events;
struct watch_server_source;

extern const struct ads_events collector_shown_events;          /* for collector_ads_create() */
extern const struct watch_server_source collector_shown_source; /* for watch_server_create() */

#endif
