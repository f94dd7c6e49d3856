/* pcontrol/pjob_states_plan.c - see pjob_states_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pcontrol/pjob_states_plan.h"

#include "base/check.h"

static const struct {
    enum pjob_state from, to;
    enum pjob_operation by;
} MOVES[] = {
    {PJOB_NEW, PJOB_PENDING, PJOB_ADD},
    {PJOB_PENDING, PJOB_BUSY, PJOB_START},
    {PJOB_PENDING, PJOB_DEL, PJOB_DELETE},
    {PJOB_BUSY, PJOB_DONE, PJOB_CHECK_BUSY},
    {PJOB_BUSY, PJOB_DONE, PJOB_KILL},
    {PJOB_DONE, PJOB_EXIT, PJOB_CHECK_DONE},
    {PJOB_DONE, PJOB_CRASH, PJOB_CHECK_DONE},
    {PJOB_BUSY, PJOB_PENDING, PJOB_CHECK},
    {PJOB_BUSY, PJOB_PENDING, PJOB_CHECK_HOST},
    {PJOB_EXIT, PJOB_DEL, PJOB_DELETE},
    {PJOB_CRASH, PJOB_DEL, PJOB_DELETE},
    /* Ours: the host is lost before the output was fetched.  PENDING only with -retries. */
    {PJOB_DONE, PJOB_CRASH, PJOB_CHECK_HOST},
    {PJOB_DONE, PJOB_PENDING, PJOB_CHECK_HOST},
    /* Ours: a job with -retries did not end with EXIT 0. */
    {PJOB_DONE, PJOB_PENDING, PJOB_CHECK_DONE},
};

bool pjob_states_allow(enum pjob_state from, enum pjob_state to, enum pjob_operation by)
{
    for (size_t i = 0; i < ARRAY_COUNT(MOVES); i++) {
        if (MOVES[i].from == from && MOVES[i].to == to && MOVES[i].by == by) {
            return true;
        }
    }
    return false;
}

const char *pjob_states_name(enum pjob_state state)
{
    static const char *const NAMES[PJOB_STATES] = {
        [PJOB_NEW] = "NEW",   [PJOB_PENDING] = "PENDING", [PJOB_BUSY] = "BUSY",
        [PJOB_DONE] = "DONE", [PJOB_EXIT] = "EXIT",       [PJOB_CRASH] = "CRASH",
        [PJOB_DEL] = "DEL",
    };
    return NAMES[state];
}

const char *pjob_states_operation(enum pjob_operation operation)
{
    static const char *const NAMES[] = {
        [PJOB_ADD] = "AddJob",
        [PJOB_DELETE] = "DelJob",
        [PJOB_START] = "StartJob",
        [PJOB_KILL] = "KillJob",
        [PJOB_CHECK] = "CheckJob",
        [PJOB_CHECK_BUSY] = "CheckBusyJob",
        [PJOB_CHECK_DONE] = "CheckDoneJob",
        [PJOB_CHECK_HOST] = "CheckHost",
    };
    return NAMES[operation];
}
