/* power/power_call.h - operations under way, as power.c begins them.
 *
 * Methods know power/method.h only.
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
    void *states[POWER_METHODS_MAX]; /* of power_methods[], what each keeps; NULL: none yet */
    struct loop *loop;
    struct os *os;
    struct log *log;
    struct vec calls;   /* struct power_call, under way */
    struct vec ended;   /* struct ended, to be told */
    struct vec telling; /* those of them whose turn it is */
    struct loop_timer *tell;
    struct os_caster *caster;    /* NULL: not needed yet */
    struct os_adapter *adapters; /* NULL: not looked at yet */
    size_t adapter_count;
    uint64_t adapters_ms; /* when they were */
    power_relay_f relay;  /* NULL: none */
    void *relay_arg;
};

struct power_callbacks { /* one of them */
    power_done_f done;
    power_status_f status_done;
    power_news_f news;
};

/* With copies of the node's texts; its method, state and level are the caller's to set. */
struct power_call *power_call_create(struct power *power, const struct power_node *node,
                                     enum power_operation operation,
                                     const struct power_callbacks *callbacks, void *arg);
void power_call_drop(struct power_call *call);         /* ends it, telling nobody */
void power_call_drop_all(struct power *power);         /* and what was to be told */
void power_call_unsay(const struct power_call *watch); /* its news are not told any more */
void power_call_tell(void *power);                     /* the timer `tell` */

#endif
