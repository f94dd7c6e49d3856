/* rooster/queue_ask.h - asks the negotiator about the queue, when the wake of a machine or the size
 * of the reserve depends on it.
 *
 * A machine that is wanted, and whose UNHIBERNATE or ROOSTER_UNHIBERNATE is not true and reads the
 * figures of the queue, is asked about at once, and again every POOL_FIGURES_AGAIN_MS as long as
 * that is so.  No other machine costs anything.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_QUEUE_ASK_H
#define ROOSTER_QUEUE_ASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/pool_figures.h"

struct ad;
struct node;
struct queue_asks;
struct rooster;

#define QUEUE_REFUSED_MAX 240 /* most bytes of refused_by, with the terminating zero */

struct node_queue { /* the queue, as the negotiator told it for one machine */
    struct pool_figures figures;
    uint64_t at_ms;    /* when it was told, ms of the loop's clock; 0: never */
    uint64_t asked_ms; /* when the negotiator was last asked; 0: never */
    bool is_refused;   /* jobs wait for the machine, but UNHIBERNATE does not allow the wake */
    bool is_needed;    /* and UNHIBERNATE reads the figures of the queue */
    /* which expression does not allow it: "its UNHIBERNATE (EXPR)"; cut if it is long */
    char refused_by[QUEUE_REFUSED_MAX];
};

struct queue_asks *queue_asks_create(struct rooster *rooster);
void queue_asks_destroy(struct queue_asks *asks); /* NULL is allowed */

/* Sets the local time and the figures of the queue in an ad in which UNHIBERNATE of the machine is
 * evaluated.  The offline ad has the time at which the machine fell asleep. */
void queue_put(const struct node *node, struct ad *ad);
/* The same with the figures of the pool alone, for ROOSTER_RESERVE. */
void queue_put_pool(const struct rooster *rooster, struct ad *ad);
/* Has the negotiator asked about this machine, which is_needed. */
void queue_need(struct node *node);
/* Has the negotiator asked about the pool, again and again; to be called when ROOSTER_RESERVE reads
 * the figures. */
void queue_need_pool(struct rooster *rooster);
/* Writes why UNHIBERNATE does not allow to wake the machine, for people; "" if that is not so. */
void queue_print(const struct node *node, char *ret, size_t size);
/* Writes the figures of the pool, for people. */
void queue_print_pool(const struct rooster *rooster, char *ret, size_t size);

#endif
