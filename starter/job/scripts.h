/* starter/job/scripts.h - programs that run before, beside and after the job: the site's hooks,
 * PreCmd and PostCmd.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_JOB_SCRIPTS_H
#define STARTER_JOB_SCRIPTS_H

#include <stdbool.h>

struct starter;

/* Starts the next program that runs before the job.  False: none is left, start the job. */
bool scripts_before(struct starter *starter);
/* Starts the next program that runs after the job.  False: all have ended. */
bool scripts_after(struct starter *starter);
/* Starts the site's update hook beside the running job, if there is such a hook and it does not
 * run.  Its failure has no consequences. */
void scripts_tell(struct starter *starter);
/* Stops waiting for the update hook; called at the end of the run. */
void scripts_forget(struct starter *starter);

#endif
