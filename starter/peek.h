/* starter/peek.h - lets the owner read the files of the running job (FILE_PEEK,
 * docs/protocol/access.md).
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
    LIST_HEAD(, peek) list; /* requests that wait until the file has more to read */
    struct loop_timer *timer;
    bool over; /* no process of the job is left that could write */
};

/* Takes the FILE_PEEK request and answers it: at once, or, if it asks to wait, when the file has
 * grown. */
void peek_handle(struct starter *starter, struct wire_request *request);
/* Called when no process of the job is left: answers all waiting requests with what the files
 * hold. */
void peek_over(struct starter *starter);
/* Refuses all requests that still wait.  Called before the sandbox is emptied. */
void peek_close(struct starter *starter);

#endif
