/* startd/owner/idle_hint.h - asks logind what desktops report about their users: since when they
 * are idle.
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
    pid_t pid;        /* of the loginctl that is running; 0: none */
    uint64_t next_ms; /* when to ask again, loop time */
    bool failed;      /* loginctl could not be started: this machine does not have it */
};

/* Asks now and then; the answer comes later, through figures_console_used(). */
void idle_hint_look(struct startd *startd);
void idle_hint_close(struct startd *startd);

#endif
