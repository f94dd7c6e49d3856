/* startd/sleep/reclaim.h - jobs take this machine back while it is going down (POWER_RECLAIM).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_SLEEP_RECLAIM_H
#define STARTD_SLEEP_RECLAIM_H

#include <stdint.h>

struct startd;
struct wire_request;

struct reclaim {
    int64_t at_s; /* when they last did; 0: not since the startd was started */
    char reason[300];
    struct wire_request *request; /* to be answered when this is durable; NULL: none */
};

/* Takes and answers POWER_RECLAIM. */
void reclaim_request(struct startd *startd, struct wire_request *request);

#endif
