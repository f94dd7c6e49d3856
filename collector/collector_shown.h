/* collector/collector_shown.h - connects the tables of ads with the server of watches.
 *
 * The watch server is told what becomes public in the tables, and a new watch reads from the tables
 * what is public.  An absent ad is hidden from all watches.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COLLECTOR_COLLECTOR_SHOWN_H
#define COLLECTOR_COLLECTOR_SHOWN_H

struct ads_events;
struct watch_server_source;

extern const struct ads_events collector_shown_events; /* events for collector_ads_create() */
/* source for watch_server_create() */
extern const struct watch_server_source collector_shown_source;

#endif
