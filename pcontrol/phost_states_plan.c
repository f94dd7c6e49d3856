/* pcontrol/phost_states_plan.c - see phost_states_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pcontrol/phost_states_plan.h"

#include "base/check.h"

static const struct {
    enum phost_state from, to;
    enum phost_operation by;
} MOVES[] = {
    {PHOST_NEW, PHOST_OFF, PHOST_ADD},
    {PHOST_OFF, PHOST_DEL, PHOST_DELETE},
    {PHOST_OFF, PHOST_DOWN, PHOST_ON},
    {PHOST_DOWN, PHOST_OFF, PHOST_SWITCH_OFF},
    {PHOST_IDLE, PHOST_OFF, PHOST_SWITCH_OFF},
    {PHOST_DOWN, PHOST_IDLE, PHOST_START},
    {PHOST_IDLE, PHOST_BUSY, PHOST_START_JOB},
    {PHOST_BUSY, PHOST_IDLE, PHOST_CHECK_JOB},
    {PHOST_BUSY, PHOST_IDLE, PHOST_KILL_JOB},
    {PHOST_BUSY, PHOST_BUSY_OFF, PHOST_SWITCH_OFF},
    {PHOST_BUSY, PHOST_DOWN, PHOST_CHECK_JOB},
    {PHOST_BUSY, PHOST_DOWN, PHOST_CHECK},
    {PHOST_BUSY_OFF, PHOST_OFF, PHOST_CHECK_JOB},
    /* Ours: a connection may be lost, or be closed by the user, while nothing runs. */
    {PHOST_IDLE, PHOST_DOWN, PHOST_CHECK},
    {PHOST_IDLE, PHOST_DOWN, PHOST_STOP},
    /* Ours: the last job of a host that was switched off is killed, or lost with the host. */
    {PHOST_BUSY_OFF, PHOST_OFF, PHOST_CHECK},
    {PHOST_BUSY_OFF, PHOST_OFF, PHOST_KILL_JOB},
    /* Ours: the user changes his mind before the last job has ended. */
    {PHOST_BUSY_OFF, PHOST_BUSY, PHOST_ON},
};

bool phost_states_allow(enum phost_state from, enum phost_state to, enum phost_operation by)
{
    for (size_t i = 0; i < ARRAY_COUNT(MOVES); i++) {
        if (MOVES[i].from == from && MOVES[i].to == to && MOVES[i].by == by) {
            return true;
        }
    }
    return false;
}

const char *phost_states_name(enum phost_state state)
{
    static const char *const NAMES[PHOST_STATES] = {
        [PHOST_NEW] = "NEW",   [PHOST_OFF] = "OFF",   [PHOST_DOWN] = "DOWN",
        [PHOST_IDLE] = "IDLE", [PHOST_BUSY] = "BUSY", [PHOST_BUSY_OFF] = "BUSY-OFF",
        [PHOST_DEL] = "DEL",
    };
    return NAMES[state];
}

const char *phost_states_operation(enum phost_operation operation)
{
    static const char *const NAMES[] = {
        [PHOST_ADD] = "AddHost",        [PHOST_DELETE] = "DelHost",
        [PHOST_ON] = "OnHost",          [PHOST_SWITCH_OFF] = "OffHost",
        [PHOST_START] = "StartHost",    [PHOST_START_JOB] = "StartJob",
        [PHOST_CHECK_JOB] = "CheckJob", [PHOST_KILL_JOB] = "KillJob",
        [PHOST_CHECK] = "CheckHost",    [PHOST_STOP] = "StopHost",
    };
    return NAMES[operation];
}
