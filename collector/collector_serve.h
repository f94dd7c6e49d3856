/* collector/collector_serve.h - accepts the collector's connections and dispatches their requests.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COLLECTOR_COLLECTOR_SERVE_H
#define COLLECTOR_COLLECTOR_SERVE_H

struct collector;
struct err;

#define COLLECTOR_ROUTE "collector"

/* Listens on COLLECTOR_LISTEN (or COLLECTOR_HOST) and on $(RUN)/collector.sock.  Returns 0, or a
 * negative errno with err. */
int collector_listen(struct collector *collector, struct err *err);
/* Applies a new configuration of the address and the certificate.  Bad values are logged, and the
 * collector then keeps its old address or certificate. */
void collector_listen_anew(struct collector *collector);
/* Closes listeners and connections.  To be called after the hub is destroyed. */
void collector_hang_up(struct collector *collector);

#endif
