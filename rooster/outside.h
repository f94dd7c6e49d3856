/* rooster/outside.h - what a power method reports about a machine without being asked.
 *
 * Somebody else than the rooster may switch a machine on or off.  A method that can watch machines
 * (libvirt) reports that at once.
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

/* The last report of a power method about a machine. */
struct outside {
    struct power_watch *watch;
    /* Timer that has the machine examined again.  A report from before the machine's last change of
     * state may be outdated; it counts only when no other report comes in the minute after. */
    struct loop_timer *settled;
    /* heard: there was a report; answers: the report says that the method knows the state */
    bool heard, answers;
    enum power_state state; /* the machine's state, as reported */
    int64_t since_s;        /* time of the report, seconds since 1970 */
    char text[160];         /* the state in words of the method */
    /* state that the rooster had for the machine when the report came, and the time since which it
     * was in this state, seconds since 1970 */
    enum wake_state node_state;
    int64_t node_since_s;
};

/* Returns node->outside; makes it if it is NULL. */
struct outside *outside_of(struct node *node);
/* Notes that the rooster's own order has brought the machine into that state, because an earlier
 * report is now outdated. */
void outside_assume(struct node *node, enum power_state state);
/* Returns whether the last report says that the machine is in that state; if so, sets *text to the
 * words of the method. */
bool outside_has(const struct node *node, enum power_state state, const char **text);
/* Returns whether the last report contradicts the machine's ads, or says that the method cannot
 * tell the state.  If so, writes the reason to `why`, and to *since_s since when (seconds since
 * 1970). */
bool outside_contradicts(const struct node *node, char *why, size_t size, int64_t *since_s);
/* Sets in ad, which describes the node, the attributes PowerMethod...: what the method reported.
 * If the report contradicts the machine's ads, sets PowerState to "Unknown", with the reason. */
void outside_put(const struct node *node, struct ad *ad);

/* ---- outside_watch.c */
/* Watches all machines that the present configuration names, if their methods can. */
void outside_watch_all(struct rooster *rooster);
/* Ends all watches.  To be called before rooster->power is destroyed. */
void outside_end_all(struct rooster *rooster);

#endif
