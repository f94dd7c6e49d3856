/* startd/sleep/farewell.h - a startd that ends by itself.
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
    bool begun;           /* we end when the claims that are there have ended */
    uint64_t claimed_ms;  /* when there was a claim last, or we began */
    struct ad_expr *when; /* DAEMON_SHUTDOWN */
};

/* Begins the end of the startd when its time has come.  True: the end has begun, and no slot is
 * claimed any more. */
bool farewell_check(struct startd *startd);
/* Takes the ads of a glidein from the collector.  True: the loop stops when the collector has
 * answered. */
bool farewell_tell(struct startd *startd);

#endif
