/* startd/sleep/reclaim.h - jobs want this machine back while it is on its way down.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_SLEEP_RECLAIM_H
#define STARTD_SLEEP_RECLAIM_H

#include <stdint.h>

struct startd;
struct wire_request;

struct reclaim {
    int64_t at_s; /* 0: they did not, since the startd was started */
    char reason[300];
    struct wire_request *request; /* to be answered once it is durable */
};

void reclaim_request(struct startd *startd, struct wire_request *request); /* POWER_RECLAIM */

#endif
