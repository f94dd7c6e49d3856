/* pcontrol/waiting_order.c - see waiting_order.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pcontrol/waiting_order.h"

#include "pcontrol/controller.h"

struct pjob *waiting_order_job(const struct heap_place *place)
{
    return (struct pjob *)(uintptr_t)((const char *)place - offsetof(struct pjob, waiting));
}

bool waiting_order_before(const struct heap_place *a, const struct heap_place *b)
{
    const struct pjob *first = waiting_order_job(a), *second = waiting_order_job(b);
    return first->wish.priority != second->wish.priority
               ? first->wish.priority > second->wish.priority
               : first->id < second->id;
}
