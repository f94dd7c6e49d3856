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

/* the callbacks by which the tables (collector_ads_create()) tell the watch server of changes */
extern const struct ads_events collector_shown_events;
/* the functions by which a watch server (watch_server_create()) reads the tables */
extern const struct watch_server_source collector_shown_source;

#endif
