/* starter/startd_link.h - the connection to the startd.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_STARTD_LINK_H
#define STARTER_STARTD_LINK_H

struct err;
struct starter;

/* Starts to connect to the startd's Unix socket; a lost connection is made again.  Returns 0 or
 * -errno. */
int startd_link_open(struct starter *starter, struct err *err);
/* Tells the startd that the run is over (STARTER_DONE).  According to the startd's answer this
 * process then waits for another job, or ends; without an answer it ends after 30 seconds. */
void startd_link_tell(struct starter *starter);
/* Callback of TIMER_TOLD: the startd has not answered STARTER_DONE in time; ends this process by
 * stopping its event loop. */
void startd_link_end(void *starter);
/* Closes the connection to the startd, if any. */
void startd_link_close(struct starter *starter);

/* Asks the startd for a renewal of the lease by the schedd, at once: this run stood still, and the
 * job is frozen until then. */
void startd_link_confirm(struct starter *starter);

#endif
