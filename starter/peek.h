/* starter/peek.h - what the owner sees of the job's files meanwhile.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_PEEK_H
#define STARTER_PEEK_H

#include <stdbool.h>
#include <sys/queue.h>

struct loop_timer;
struct starter;
struct wire_request;

struct starter_peeks {
    LIST_HEAD(, peek) list; /* looks that wait for more */
    struct loop_timer *timer;
    bool over; /* nothing of the job is left that could write */
};

void peek_handle(struct starter *starter, struct wire_request *request); /* FILE_PEEK */
void peek_over(struct starter *starter); /* no process of the job is left: all that there is */
void peek_close(struct starter *starter);

#endif
