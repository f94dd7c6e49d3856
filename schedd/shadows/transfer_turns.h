/* schedd/shadows/transfer_turns.h - limits how many jobs transfer files at the same time.
 *
 * A shadow that has much to transfer asks for a turn (TRANSFER_TURN) and keeps the request open.  A
 * part of the reply tells it to begin.  When the transfer is done or the shadow dies, the request
 * ends, and the turn goes to the next one.  So no turn can be lost, and nothing has to be durable.
 *
 * MAX_CONCURRENT_UPLOADS limits transfers of input from this host, MAX_CONCURRENT_DOWNLOADS
 * transfers of output to it.  The next turn goes to the owner who has the fewest turns, and among
 * equals to the oldest request.
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

/* Handles a TRANSFER_TURN request from the shadow of this owner. */
void turns_handle(struct schedd *schedd, struct owner *owner, struct wire_request *request);
/* To be called after a change of MAX_CONCURRENT_UPLOADS or MAX_CONCURRENT_DOWNLOADS: starts further
 * transfers if these limits allow it. */
void turns_look(struct schedd *schedd);
/* Removes from the job's ad the attributes that say how its transfer stands, such as
 * TransferringInput and TransferDoneBytes. */
void turns_clear(struct ad *job);
/* To be called when the schedd stops: fails the open TRANSFER_TURN requests with -ESHUTDOWN. */
void turns_end(struct schedd *schedd);

#endif
