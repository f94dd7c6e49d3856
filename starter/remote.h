/* starter/remote.h - jobs whose files stay at their submit machine (WantRemoteSyscalls).
 *
 * Such a job is started by the program roost-rsys-mount, which shows the job the submit machine's
 * files and talks to the shadow.  Functions here do nothing for other jobs unless they say
 * otherwise.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_REMOTE_H
#define STARTER_REMOTE_H

#include <stdbool.h>

struct err;
struct starter;
struct vec;

/* Name of a directory in the sandbox that the job does not see.  It contains the files that
 * roost-rsys-mount reads, and the log of that program. */
#define REMOTE_FILES ".rsys"
/* Writes the files that roost-rsys-mount reads: its ticket for the shadow and the job's
 * environment.  Must be called before the sandbox belongs to the job's account.  Returns 0;
 * -EOPNOTSUPP if this machine cannot run such a job; or another -errno. err gets the reason. */
int remote_prepare(struct starter *starter, struct err *err);
/* Called when the startd has told a new address of the shadow (ShadowAddress in run.record): tells
 * the running roost-rsys-mount to connect to that address from now on. */
void remote_moved(struct starter *starter);
/* Puts the command line of roost-rsys-mount in front of argv, the job's command line.  Must be
 * called only for jobs whose files stay at their submit machine. */
void remote_words(struct starter *starter, struct vec *argv);
/* Removes the variables LD_... from entries, the environment: roost-rsys-mount, which starts the
 * job, is a program of this machine and must not load the job's libraries. */
void remote_environment(struct vec *entries);
/* Returns the path of the file that receives the standard error of roost-rsys-mount.  The caller
 * owns it. */
char *remote_log(const struct starter *starter);
/* Called when the process of a job whose files stay at its submit machine has exited.  If
 * roost-rsys-mount failed, not the job: gives up the run or holds the job, and returns true; the
 * caller must do nothing more.  Otherwise returns false. */
bool remote_failed(struct starter *starter);
/* Called when a signal that the starter did not send has ended the process of a job whose files
 * stay at its submit machine.  If the signal hit roost-rsys-mount, not the job: gives up the run
 * and returns true; the caller must do nothing more.  Otherwise returns false. */
bool remote_was_killed(struct starter *starter);

#endif
