/* power/power_call.h - the operations under way, for power.c and power_call.c.
 *
 * A method must not include this header, but only power/method.h.
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
    void *states[POWER_METHODS_MAX]; /* what create() of each method returned, by index in
                                        power_methods[]; NULL: not called yet */
    struct loop *loop;
    struct os *os;
    struct log *log;
    struct vec calls; /* of struct power_call: operations under way */
    struct vec ended; /* of struct ended: ended operations whose callback was not called yet */
    /* of struct ended: ended operations whose callbacks power_call_tell() is calling */
    struct vec telling;
    struct loop_timer *tell;
    struct os_caster *caster;    /* what power_caster() returns; NULL: not made yet */
    struct os_adapter *adapters; /* this machine's network adapters; NULL: not read yet */
    size_t adapter_count;
    uint64_t adapters_ms; /* time at which adapters were read, on the loop's clock */
    power_relay_f relay;  /* set by power_relay_by(); NULL: no machine can be asked */
    void *relay_arg;
};

struct power_callbacks { /* callbacks of an operation; only the one for its kind is set */
    power_done_f done;
    power_status_f status_done;
    power_news_f news;
};

/* Makes a call with copies of the node's texts.  The caller sets its method, state and level. */
struct power_call *power_call_create(struct power *power, const struct power_node *node,
                                     enum power_operation operation,
                                     const struct power_callbacks *callbacks, void *arg);
/* Ends an operation without calling its callback. */
void power_call_drop(struct power_call *call);
/* Ends all operations without calling their callbacks, also operations that have ended already and
 * whose callbacks were not called yet. */
void power_call_drop_all(struct power *power);
/* Drops the news of this watch for which the watch's callback was not called yet. */
void power_call_unsay(const struct power_call *watch);
/* Calls the callbacks of ended operations; called by the timer power.tell. */
void power_call_tell(void *power);

#endif
