/* starter/job/scripts.h - programs that run before, beside and after the job: the site's hooks,
 * PreCmd and PostCmd.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_JOB_SCRIPTS_H
#define STARTER_JOB_SCRIPTS_H

#include <stdbool.h>

struct starter;

/* Starts the next program that runs before the job.  Returns false if none is left: the caller must
 * start the job. */
bool scripts_before(struct starter *starter);
/* Starts the next program that runs after the job.  Returns false if all have ended. */
bool scripts_after(struct starter *starter);
/* Starts the site's update hook beside the running job, if such a hook is configured and the last
 * one has ended.  A failure of the hook has no consequences. */
void scripts_tell(struct starter *starter);
/* Called at the end of the run: stops waiting for the end of the update hook. */
void scripts_forget(struct starter *starter);

#endif
