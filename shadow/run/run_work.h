/* shadow/run/run_work.h - a work: one function that runs on a run's lane (worker thread), and then
 * another one that runs on the loop.
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
    struct wire_request *request;   /* the starter's request; may be NULL */
    int (*body)(struct work *work); /* runs on the lane; returns 0 or a negative errno */
    /* runs on the loop after body; frees what the member arg points to, but not the work */
    void (*done)(struct work *work, int result);
    struct err err; /* error of body */
    void *arg;
};
/* Starts a work.  The run is kept (run_use()) until done has returned.  Works of a run are carried
 * out one after the other. */
void run_work_start(struct run *run, struct wire_request *request, int (*body)(struct work *work),
                    void (*done)(struct work *work, int result), void *arg);
/* Ends the works that have not finished: their `done` gets -ESHUTDOWN (the shadow ends).  To be
 * called after the lanes have stopped. */
void run_works_end(struct shadow *shadow);

#endif
