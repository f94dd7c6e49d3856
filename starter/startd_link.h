/* starter/startd_link.h - the connection to the startd.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_STARTD_LINK_H
#define STARTER_STARTD_LINK_H

struct err;
struct starter;

/* Starts connecting to the startd's Unix socket; a lost connection is made again.  0 or -errno. */
int startd_link_open(struct starter *starter, struct err *err);
/* Tells the startd that the run is over (STARTER_DONE).  The answer makes the process idle or end;
 * without an answer it ends after a while. */
void startd_link_tell(struct starter *starter);
/* Ends this process: stops its loop.  Callback of TIMER_TOLD. */
void startd_link_end(void *starter);
/* Closes the connection, if any. */
void startd_link_close(struct starter *starter);

#endif
