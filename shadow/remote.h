/* shadow/remote.h - remote system calls of the owner's jobs: the shadow's side (shadow/remote.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_REMOTE_H
#define SHADOW_REMOTE_H

#include <stdbool.h>

struct daemon_env;
struct err;
struct incoming;
struct remote;
struct run;
struct shadow;

/* Reads what the site allows. */
void remotes_begin(struct shadow *shadow, const struct daemon_env *env);
/* Ends all sessions; waits for what their lanes do. */
void remotes_end(struct shadow *shadow);

/* Is it a connection for us?  Then it is taken. */
bool remotes_take(struct shadow *shadow, struct incoming *incoming);

/* From now on the run's job is let in, if it wants to be.  What is wrong with that is told by
 * remotes_check(). */
void remotes_open(struct run *run);
int remotes_check(const struct run *run, struct err *err);
void remotes_close(struct run *run); /* it is let in no more, and out if it is in */

#endif
