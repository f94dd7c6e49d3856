/* starter/job/deferral.h - a job that must not start before a given time (DeferralTime).
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
    /* what the job's DeferralTime demands; valid once `known` is true */
    enum starter_deferral kind;
    /* known: DeferralTime was read; waited: the job had to wait; over: the job may start now. */
    bool known, waited, over;
    int64_t begin_s, until_s; /* earliest and latest start, seconds since 1970 */
};

/* Returns true if the job must not start now: either its DeferralTime has not come (then a timer
 * makes starter.c continue the run at that time), or it has passed or is invalid (then this
 * function has held the job). */
bool deferral_holds_back(struct starter *starter);
/* Callback of TIMER_DEFERRAL: the time of a deferred job has come; wakes the run. */
void deferral_tick(void *starter);

#endif
