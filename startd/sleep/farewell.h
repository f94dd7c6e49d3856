/* startd/sleep/farewell.h - lets a startd, such as a glidein, end by itself: when DAEMON_SHUTDOWN
 * becomes true, or after a time without claims.  This orderly end is called the farewell.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_SLEEP_FAREWELL_H
#define STARTD_SLEEP_FAREWELL_H

#include <stdbool.h>
#include <stdint.h>

struct ad_expr;
struct startd;

struct farewell {
    /* true: no new claims are made, and the startd ends when the present claims have ended */
    bool begun;
    /* when there last was a claim, or, if there was none yet, when farewell_check() was first
     * called; ms of the loop's clock; 0: farewell_check() was not called yet */
    uint64_t claimed_ms;
    struct ad_expr *when; /* the expression DAEMON_SHUTDOWN, owned; NULL: not configured */
};

/* Begins the farewell if DAEMON_SHUTDOWN is true or there was no claim for
 * STARTD_NOCLAIM_SHUTDOWN seconds.  Returns true when the farewell has begun and no claim is left:
 * then the caller must stop the startd. */
bool farewell_check(struct startd *startd);
/* Returns whether the farewell may begin by itself, because of time or of a figure. */
bool farewell_is_awaited(const struct startd *startd);
/* Withdraws the ads of a glidein, or of a startd that was drained to exit, from the collector.
 * Returns true if the request to withdraw them was sent: then the event loop stops when the
 * collector has answered. */
bool farewell_tell(struct startd *startd);

#endif
