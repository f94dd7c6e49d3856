/* shadow/run/run_work.h - a work on a run's lane.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_RUN_RUN_WORK_H
#define SHADOW_RUN_RUN_WORK_H

#include "base/err.h"

struct run;
struct shadow;
struct wire_request;

struct work {
    struct run *run;
    struct wire_request *request;                /* may be NULL */
    int (*body)(struct work *work);              /* on the lane */
    void (*done)(struct work *work, int result); /* on the loop; frees what is in it, not itself */
    struct err err;
    void *arg;
};
/* run is used until done returns. */
void run_work_start(struct run *run, struct wire_request *request, int (*body)(struct work *work),
                    void (*done)(struct work *work, int result), void *arg);
void run_works_end(struct shadow *shadow); /* the process ends, lanes have stopped */

#endif
