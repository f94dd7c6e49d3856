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
    LIST_HEAD(, peek) list; /* FILE_PEEK requests that wait until their file has grown */
    struct loop_timer *timer;
    bool over; /* true: no process of the job is left that could write to its files */
};

/* Handles a FILE_PEEK request, to read from a file of the job: answers at once, or, if the request
 * asks to wait, when the file has grown. */
void peek_handle(struct starter *starter, struct wire_request *request);
/* Called when no process of the job is left: answers all waiting requests with what their files
 * contain. */
void peek_over(struct starter *starter);
/* Called before the sandbox is emptied: refuses all FILE_PEEK requests that still wait. */
void peek_close(struct starter *starter);

#endif
