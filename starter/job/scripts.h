/* starter/job/scripts.h - what runs before and after the job.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_JOB_SCRIPTS_H
#define STARTER_JOB_SCRIPTS_H

#include <stdbool.h>

struct starter;

bool scripts_before(struct starter *starter); /* false: it is the job's turn */
bool scripts_after(struct starter *starter);  /* false: all of them have ended */
/* The site's hook that wants to know how the job that runs gets on; fails without consequences. */
void scripts_tell(struct starter *starter);
void scripts_forget(struct starter *starter); /* of the run: its hook's end is not waited for */

#endif
