/* shadow/remote.h - remote system calls: lets the owner's jobs use files of this machine
 * (shadow/remote.c).
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

/* To be called once at the start: reads from the knobs what the site allows. */
void remotes_begin(struct shadow *shadow, const struct daemon_env *env);
/* Ends all sessions, and waits for requests that are being carried out. */
void remotes_end(struct shadow *shadow);

/* Returns false when the connection's route is not that of remote system calls; else takes over
 * incoming. */
bool remotes_take(struct shadow *shadow, struct incoming *incoming);

/* Lets the run's job use remote system calls, if its ad asks for them.  An error is kept and
 * reported by remotes_check(). */
void remotes_open(struct run *run);
/* Returns 0; or, with err, the negative errno that prevents the run's remote system calls and that
 * the owner must mend. */
int remotes_check(const struct run *run, struct err *err);
/* refuses further calls of the run's job, and disconnects it */
void remotes_close(struct run *run);

#endif
