/* kbdd/kbdd.h - what the kbdd's files share.  The kbdd reports when keyboard and mouse were used.
 *
 * One program, two tasks: started by the master it looks for X displays and starts itself again for
 * each of them (kbdd.c); with -display it watches that display (watcher.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef KBDD_KBDD_H
#define KBDD_KBDD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/daemon/daemon.h"

struct knob_table;
struct watcher;

#define KBDD_DISPLAYS_MAX 64

extern const struct knob_table kbdd_knobs;
extern const struct daemon kbdd_daemon;

/* ---- watcher.c: watches one display */
/* Returns whether the process was started with -display, so that it must watch one display. */
bool watcher_is_wanted(const struct daemon_env *env);
int watcher_create(const struct daemon_env *env, struct watcher **ret, struct err *err);
void watcher_destroy(struct watcher *watcher); /* NULL is allowed */

#endif
