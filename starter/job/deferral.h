/* starter/job/deferral.h - a job that is to begin at a time of its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_JOB_DEFERRAL_H
#define STARTER_JOB_DEFERRAL_H

#include <stdbool.h>
#include <stdint.h>

#include "starter/starter_plan.h"

struct starter;

struct starter_deferred {
    enum starter_deferral kind;
    bool known, waited, over;
    int64_t begin_s, until_s;
};

/* True: it is not the job's time yet, WAKE_GO comes again; or it is held, its time is over. */
bool deferral_holds_back(struct starter *starter);
void deferral_tick(void *starter); /* TIMER_DEFERRAL's */

#endif
