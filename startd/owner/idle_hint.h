/* startd/owner/idle_hint.h - what desktops tell logind of their users.
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
    pid_t pid; /* loginctl is being asked */
    uint64_t next_ms;
    bool failed; /* it could not be started: there is none */
};

void idle_hint_look(struct startd *startd); /* asks, now and then; the answer comes later */
void idle_hint_close(struct startd *startd);

#endif
