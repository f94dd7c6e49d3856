/* kbdd/kbdd.h - the kbdd's own structures, shared by the files of this folder.
 *
 * One program, two jobs: started by the master it looks for X displays and starts itself anew for
 * each (kbdd.c); with -display it watches that one (watcher.c).
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

/* ---- watcher.c: one display */
/* Does the command line name one? */
bool watcher_is_wanted(const struct daemon_env *env);
int watcher_create(const struct daemon_env *env, struct watcher **ret, struct err *err);
void watcher_destroy(struct watcher *watcher); /* NULL is allowed */

#endif
