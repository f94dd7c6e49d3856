/* power/power_call.h - the operations under way, for power.c.
 *
 * Methods include power/method.h only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef POWER_POWER_CALL_H
#define POWER_POWER_CALL_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "power/method.h"

#define POWER_METHODS_MAX 16

struct loop_timer;

struct power {
    void *states[POWER_METHODS_MAX]; /* what each method keeps, by index in power_methods[]; NULL:
                                        nothing yet */
    struct loop *loop;
    struct os *os;
    struct log *log;
    struct vec calls;   /* struct power_call, under way */
    struct vec ended;   /* struct ended: ended calls whose callback is not called yet */
    struct vec telling; /* ended calls whose callback runs in this turn */
    struct loop_timer *tell;
    struct os_caster *caster;    /* NULL: not needed yet */
    struct os_adapter *adapters; /* NULL: not read yet */
    size_t adapter_count;
    uint64_t adapters_ms; /* time at which adapters were read */
    power_relay_f relay;  /* NULL: none */
    void *relay_arg;
};

struct power_callbacks { /* callbacks of a call; one is set, by the kind of operation */
    power_done_f done;
    power_status_f status_done;
    power_news_f news;
};

/* Makes a call with copies of the node's texts.  The caller sets its method, state and level. */
struct power_call *power_call_create(struct power *power, const struct power_node *node,
                                     enum power_operation operation,
                                     const struct power_callbacks *callbacks, void *arg);
void power_call_drop(struct power_call *call); /* ends it without calling back */
/* also those that have ended but were not reported yet */
void power_call_drop_all(struct power *power);
/* drops news of this watch that were not reported yet */
void power_call_unsay(const struct power_call *watch);
void power_call_tell(void *power); /* callback of the timer `tell` */

#endif
