/* starter/startd_link.h - the connection to the startd.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_STARTD_LINK_H
#define STARTER_STARTD_LINK_H

struct err;
struct starter;

int startd_link_open(struct starter *starter, struct err *err);
void startd_link_tell(struct starter *starter); /* STARTER_DONE, then the end */
void startd_link_end(void *starter);            /* of this process */
void startd_link_close(struct starter *starter);

#endif
