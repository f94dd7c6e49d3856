/* startd/keep.h - keeps this machine up until a time, for an administrator (`roost power keep`).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_KEEP_H
#define STARTD_KEEP_H

#include <stdint.h>

struct err;
struct startd;
struct wire_request;

struct keep {
    /* until when the machine is kept up, seconds since 1970; 0: it is not kept up */
    int64_t until_s;
    char by[256], reason[300];
    /* POWER_KEEP, answered when the new time is on disk; NULL: none */
    struct wire_request *request;
};

/* Restores the time until which the machine is kept up from the store.  Returns 0 or -errno. */
int keep_open(struct startd *startd, struct err *err);
/* Handles POWER_KEEP: sets or ends the time until which the machine is kept up, and answers. */
void keep_request(struct startd *startd, struct wire_request *request);

#endif
