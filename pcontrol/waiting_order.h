/* pcontrol/waiting_order.h - which of two jobs that wait comes first: by priority, then by age.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PCONTROL_WAITING_ORDER_H
#define PCONTROL_WAITING_ORDER_H

#include <stdbool.h>

struct heap_place;
struct pjob;

struct pjob *waiting_order_job(const struct heap_place *place); /* returns whose place it is */
bool waiting_order_before(const struct heap_place *a, const struct heap_place *b);

#endif
