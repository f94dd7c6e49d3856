/* pcontrol/pjob_states_plan.h - the states of a job of pcontrol, and which operation may move it
 * from one to another.
 *
 * Source: "Job State Transitions" of the seed document on pcontrol (docs/SEEDS.md).  The rows that
 * are ours are marked in the table of pjob_states_plan.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PCONTROL_PJOB_STATES_PLAN_H
#define PCONTROL_PJOB_STATES_PLAN_H

#include <stdbool.h>
#include <stddef.h>

enum pjob_state {
    PJOB_NEW,     /* invisible: not submitted yet */
    PJOB_PENDING, /* waits for a host */
    PJOB_BUSY,    /* runs on a host */
    PJOB_DONE,    /* has ended there; its output is not complete here yet */
    PJOB_EXIT,    /* exited by itself, with any exit status */
    PJOB_CRASH,   /* ended in any other way */
    PJOB_DEL,     /* invisible: deleted */
};
#define PJOB_STATES (PJOB_DEL + 1)

enum pjob_operation {
    PJOB_ADD,        /* AddJob: the user submits the job */
    PJOB_DELETE,     /* DelJob: the user deletes it */
    PJOB_START,      /* StartJob: pcontrol gives it to a host */
    PJOB_KILL,       /* KillJob: the user has it killed */
    PJOB_CHECK,      /* CheckJob: pcontrol looks what became of it */
    PJOB_CHECK_BUSY, /* CheckBusyJob: it has ended on its host */
    PJOB_CHECK_DONE, /* CheckDoneJob: all of its output has come */
    PJOB_CHECK_HOST, /* CheckHost: its host has been lost */
};

/* Returns whether the operation may move a job from one state to the other. */
bool pjob_states_allow(enum pjob_state from, enum pjob_state to, enum pjob_operation by);
const char *pjob_states_name(enum pjob_state state);              /* "PENDING" */
const char *pjob_states_operation(enum pjob_operation operation); /* "AddJob" */

#endif
