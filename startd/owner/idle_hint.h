/* startd/owner/idle_hint.h - asks logind for how long the users of graphical sessions have been
 * idle, which desktops report to logind.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_OWNER_IDLE_HINT_H
#define STARTD_OWNER_IDLE_HINT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct startd;

struct idle_hint {
    pid_t pid;        /* pid of the running loginctl; 0: none runs */
    uint64_t next_ms; /* earliest time of the next question, ms of the loop's clock */
    bool failed;      /* true: loginctl could not be started, so logind is not asked any more */
};

/* Asks logind how long graphical sessions have been idle, if LOGIND_IDLE_HINT is true and the last
 * question was 5 seconds ago or more; may be called at any rate.  The answer is passed to
 * figures_console_used() later. */
void idle_hint_look(struct startd *startd);
void idle_hint_close(struct startd *startd);

#endif
