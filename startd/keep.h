/* startd/keep.h - somebody keeps this machine up until a time.
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
    int64_t until_s; /* 0: nobody */
    char by[256], reason[300];
    struct wire_request *request; /* to be answered once it is durable */
};

int keep_open(struct startd *startd, struct err *err);
void keep_request(struct startd *startd, struct wire_request *request); /* POWER_KEEP */

#endif
