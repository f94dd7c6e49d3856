/* startd/sleep/farewell.h - ends a startd by its own decision, as for a glidein: after its time, or
 * without work.  This orderly end is called the farewell.
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
    /* when there last was a claim, or, if there was none yet, when the startd began to count; ms of
     * the loop's clock */
    uint64_t claimed_ms;
    struct ad_expr *when; /* the expression DAEMON_SHUTDOWN, owned; NULL: not configured */
};

/* Begins the farewell if DAEMON_SHUTDOWN is true or no claim came for STARTD_NOCLAIM_SHUTDOWN.
 * Returns true when the farewell has begun and no claim is left: then the caller must stop the
 * startd. */
bool farewell_check(struct startd *startd);
/* Withdraws the ads of a glidein, or of a startd that was drained to exit, from the collector.
 * Returns true if the request to withdraw them was sent: then the event loop stops when the
 * collector has answered. */
bool farewell_tell(struct startd *startd);

#endif
