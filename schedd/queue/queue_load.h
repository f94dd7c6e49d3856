/* schedd/queue/queue_load.h - the queue at the start and the end of the schedd.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_QUEUE_QUEUE_LOAD_H
#define SCHEDD_QUEUE_QUEUE_LOAD_H

struct err;
struct schedd;

int queue_init(struct schedd *schedd, struct err *err); /* loads what the store has */
void queue_fini(struct schedd *schedd);

#endif
