/* factory/orders.h - orders of administrators: FACTORY_ORDER (docs/protocol/wire.md).
 *
 * Some orders are answered at once; others wait: for the disk, or for an answer of the site.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FACTORY_ORDERS_H
#define FACTORY_ORDERS_H

struct factory;
struct wire_request;

void orders_open(struct factory *factory);
void orders_close(struct factory *factory);
/* Takes a request FACTORY_ORDER, and answers it now or later. */
void orders_serve(struct factory *factory, struct wire_request *request);
/* Goes on with the orders that wait; to be called when something has changed. */
void orders_advance(struct factory *factory);

#endif
