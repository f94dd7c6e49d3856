/* collector/collector_serve.h - the collector's listeners, connections and their requests.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COLLECTOR_COLLECTOR_SERVE_H
#define COLLECTOR_COLLECTOR_SERVE_H

struct collector;
struct err;

#define COLLECTOR_ROUTE "collector"

/* Listens on COLLECTOR_LISTEN (or COLLECTOR_HOST) and on $(RUN)/collector.sock. */
int collector_listen(struct collector *collector, struct err *err);
/* The same address and certificate as the configuration says now; what is bad is logged, and the
 * old ones stay. */
void collector_listen_anew(struct collector *collector);
void collector_hang_up(struct collector *collector); /* listeners and connections; after the hub */

#endif
