/* startd/sleep/reclaim.h - POWER_RECLAIM: jobs take this machine back while it drains or goes down.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_SLEEP_RECLAIM_H
#define STARTD_SLEEP_RECLAIM_H

#include <stdint.h>

struct startd;
struct wire_request;

struct reclaim {
    /* when jobs last took the machine back, loop_now_ms(); 0: never since the startd was started */
    int64_t at_ms;
    char reason[300];
    /* a POWER_RECLAIM that succeeded, answered when the end of the drain request, if there was one,
     * is on disk; NULL: none */
    struct wire_request *request;
};

/* Handles POWER_RECLAIM, the request of a daemon that has jobs for this machine to keep it up, and
 * answers it. */
void reclaim_request(struct startd *startd, struct wire_request *request);

#endif
