/* rooster/outside.h - what a power method reports of a machine without being asked.
 *
 * Somebody else may switch a machine on or off; a method that can watch (libvirt) tells it at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_OUTSIDE_H
#define ROOSTER_OUTSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "power/power.h"
#include "rooster/wake_plan.h"

struct ad;
struct loop_timer;
struct node;
struct rooster;

/* The last report about a machine. */
struct outside {
    struct power_watch *watch;
    struct loop_timer *settled; /* fires when news older than the ads begin to count */
    bool heard, answers;    /* heard: there was a report; answers: the method can tell the state */
    enum power_state state; /* state as reported */
    int64_t since_s;        /* time of the report, seconds since 1970 */
    char text[160];         /* the method's own words */
    /* State of the node when the report came, and since when. */
    enum wake_state node_state;
    int64_t node_since_s;
};

struct outside *outside_of(struct node *node); /* made when it is first needed */
/* Notes that an order of ours has brought the machine into that state: an earlier report is
 * outdated. */
void outside_assume(struct node *node, enum power_state state);
/* Returns whether the method reports that state; *text: in which words. */
bool outside_has(const struct node *node, enum power_state state, const char **text);
/* Returns whether the report contradicts the machine's ads, or the method cannot tell its state.
 * If so, writes the reason to `why` and the time since when to *since_s. */
bool outside_contradicts(const struct node *node, char *why, size_t size, int64_t *since_s);
void outside_put(const struct node *node, struct ad *ad); /* sets PowerMethod... in the node's ad */

/* ---- outside_watch.c */
/* watches all machines that the configuration has now */
void outside_watch_all(struct rooster *rooster);
void outside_end_all(struct rooster *rooster); /* call it before rooster->power is destroyed */

#endif
