/* schedd/shadows/transfer_turns.h - how many jobs' files are transferred at once.
 *
 * A shadow that has much to transfer asks for a turn (TRANSFER_TURN) and keeps the request open: a
 * part of the reply says that it may begin; when it is done, or dead, the request is gone, and the
 * turn is the next one's.  So no turn is ever lost, and nothing needs to be durable.
 *
 * MAX_CONCURRENT_UPLOADS bounds input (from here), MAX_CONCURRENT_DOWNLOADS output (to here).  Of
 * those who wait the owner with the fewest turns comes first, then who came first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_SHADOWS_TRANSFER_TURNS_H
#define SCHEDD_SHADOWS_TRANSFER_TURNS_H

struct ad;
struct job;
struct owner;
struct schedd;
struct wire_request;

void turns_handle(struct schedd *schedd, struct owner *owner, struct wire_request *request);
/* The settings have changed: perhaps more may begin. */
void turns_look(struct schedd *schedd);
/* The job is not transferring any more, whatever its ad says. */
void turns_clear(struct ad *job);
void turns_end(struct schedd *schedd); /* the process ends */

#endif
