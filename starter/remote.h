/* starter/remote.h - jobs whose files stay at their submit machine (WantRemoteSyscalls).
 *
 * Such a job runs below the program roost-rsys-mount, "the mount", which shows it the submit
 * machine's files and talks to the shadow.  Functions here do nothing for other jobs unless they
 * say otherwise.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_REMOTE_H
#define STARTER_REMOTE_H

#include <stdbool.h>

struct err;
struct starter;
struct vec;

/* A directory of the sandbox that the job does not see: the files that tell the mount what to do,
 * and the mount's log. */
#define REMOTE_FILES ".rsys"
/* Writes the files that the mount reads: ticket and environment.  Must be called before the sandbox
 * belongs to the job's account.  0, or -errno with err filled; -EOPNOTSUPP when this machine cannot
 * run such a job. */
int remote_prepare(struct starter *starter, struct err *err);
/* Called when ShadowAddress has changed: tells the running mount to connect there from now on. */
void remote_moved(struct starter *starter);
/* Changes argv, the job's command line, into the mount's command line with the job's behind it.
 * Call it only for remote jobs. */
void remote_words(struct starter *starter, struct vec *argv);
/* Removes the variables LD_... from entries: the mount is a program of this machine and must not
 * load the job's libraries. */
void remote_environment(struct vec *entries);
/* Returns the path of the file that receives the mount's standard error.  The caller owns it. */
char *remote_log(const struct starter *starter);
/* Called when the process ended by exit.  True when the mount failed, not the job: the run was
 * given up or the job held here, and the caller must do nothing more. */
bool remote_failed(struct starter *starter);
/* The same for a process that a signal ended although nobody here ordered it: true when the signal
 * hit the mount and not the job. */
bool remote_was_killed(struct starter *starter);

#endif
