/* schedd/queue/queue_load.h - loads the queue when the schedd starts, and frees it at the end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_QUEUE_QUEUE_LOAD_H
#define SCHEDD_QUEUE_QUEUE_LOAD_H

struct err;
struct schedd;

/* Loads clusters and jobs from the store.  Returns 0, or a negative errno with err. */
int queue_init(struct schedd *schedd, struct err *err);
void queue_fini(struct schedd *schedd); /* frees the queue; the store is not changed */

#endif
