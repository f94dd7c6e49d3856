/* startd/owner/idle_hint_plan.h - how long nobody has worked in a graphical session, as desktops
 * have told logind.
 *
 * Pure. kbdd asks X servers.  A Wayland desktop answers nobody, but it tells logind when its user
 * becomes idle and when the user is back (IdleHint, IdleSinceHint).  A Wayland session that has
 * told nothing yet counts as in use, as logind itself judges; an X session that has told nothing
 * does not count.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_OWNER_IDLE_HINT_PLAN_H
#define STARTD_OWNER_IDLE_HINT_PLAN_H

#include <stdint.h>

/* Returns the seconds since a graphical session was last used; -1: no session reports its use.
 * text: the output of `loginctl show-session -p Type -p IdleHint -p IdleSinceHint ID...`, a block
 * of lines for each session. now_s: the present time, seconds since 1970. */
int64_t idle_hint_plan_idle_s(const char *text, int64_t now_s);

#endif
