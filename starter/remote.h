/* starter/remote.h - jobs whose files are at their submit machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_REMOTE_H
#define STARTER_REMOTE_H

#include <stdbool.h>

struct err;
struct starter;
struct vec;

#define REMOTE_FILES ".rsys" /* a directory of the sandbox: what the mount is told, and says */
/* Before the sandbox is the account's: what the mount is told. */
int remote_prepare(struct starter *starter, struct err *err);
/* ShadowAddress has changed: the mount dials there from now on. */
void remote_moved(struct starter *starter);
/* Puts the mount in front of the program's words; what it must not have of the environment. */
void remote_words(struct starter *starter, struct vec *argv);
void remote_environment(struct vec *entries);
char *remote_log(const struct starter *starter); /* where it says why; the caller owns it */
/* It was the mount that ended, not the job: the run is over, or the job is held. */
bool remote_failed(struct starter *starter);
/* The same when nobody wanted its end: it was the mount that a signal ended. */
bool remote_was_killed(struct starter *starter);

#endif
