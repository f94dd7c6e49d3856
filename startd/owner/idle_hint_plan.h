/* startd/owner/idle_hint_plan.h - for how long nobody has worked in a graphical session, as its
 * desktop has told logind.
 *
 * Pure.  X servers are asked by kbdd; a Wayland desktop answers nobody, but it tells logind when
 * its user goes idle and when he is back (IdleHint, since IdleSinceHint).  One that has told
 * nothing yet counts as in use if it is Wayland's, as logind judges, and not at all if it is X's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_OWNER_IDLE_HINT_PLAN_H
#define STARTD_OWNER_IDLE_HINT_PLAN_H

#include <stdint.h>

/* text: `loginctl show-session -p Type -p IdleHint -p IdleSinceHint ID...`, a block of lines for
 * each session.  The seconds since the last use of any; -1: none says anything. */
int64_t idle_hint_plan_idle_s(const char *text, int64_t now_s);

#endif
