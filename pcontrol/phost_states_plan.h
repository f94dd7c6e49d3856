/* pcontrol/phost_states_plan.h - the states of a host entry of pcontrol, and which operation may
 * move it from one to another.
 *
 * Source: "Host State Transitions" of the seed document on pcontrol (docs/SEEDS.md).  The rows that
 * are ours are marked in the table of phost_states_plan.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PCONTROL_PHOST_STATES_PLAN_H
#define PCONTROL_PHOST_STATES_PLAN_H

#include <stdbool.h>
#include <stddef.h>

enum phost_state {
    PHOST_NEW,      /* invisible: not added yet */
    PHOST_OFF,      /* the user does not want it to be used */
    PHOST_DOWN,     /* no connection; pcontrol tries to make one */
    PHOST_IDLE,     /* connected, without a job */
    PHOST_BUSY,     /* a job runs there */
    PHOST_BUSY_OFF, /* a job runs there; it is OFF when that has ended */
    PHOST_DEL,      /* invisible: deleted */
};
#define PHOST_STATES (PHOST_DEL + 1)

enum phost_operation {
    PHOST_ADD,        /* AddHost: the user adds it */
    PHOST_DELETE,     /* DelHost: the user deletes it */
    PHOST_ON,         /* OnHost: the user wants it to be used */
    PHOST_SWITCH_OFF, /* OffHost: the user does not */
    PHOST_START,      /* StartHost: the connection has been made */
    PHOST_START_JOB,  /* StartJob: a job was given to it */
    PHOST_CHECK_JOB,  /* CheckJob: its job has ended or is lost */
    PHOST_KILL_JOB,   /* KillJob: its job was killed by the user */
    PHOST_CHECK,      /* CheckHost: its connection has been lost */
    PHOST_STOP,       /* StopHost (ours): the user has the connection closed */
};

/* Returns whether the operation may move a host from one state to the other. */
bool phost_states_allow(enum phost_state from, enum phost_state to, enum phost_operation by);
const char *phost_states_name(enum phost_state state);              /* "BUSY-OFF" */
const char *phost_states_operation(enum phost_operation operation); /* "AddHost" */

#endif
