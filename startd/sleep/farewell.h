/* startd/sleep/farewell.h - a startd that ends by itself, as a glidein does: after its time, or
 * without work.  We call that its farewell.
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
    bool begun;           /* no new claims; the startd ends when the present ones have ended */
    uint64_t claimed_ms;  /* when there last was a claim, or when we started, loop time */
    struct ad_expr *when; /* DAEMON_SHUTDOWN; NULL: not configured */
};

/* Begins the end of the startd when it is time.  True: it has begun, and no slot is claimed any
 * more. */
bool farewell_check(struct startd *startd);
/* Withdraws the ads of a glidein from the collector.  True: the loop stops when the collector has
 * answered. */
bool farewell_tell(struct startd *startd);

#endif
