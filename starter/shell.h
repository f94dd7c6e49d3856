/* starter/shell.h - programs that the job's owner starts beside the job, such as a shell (`roost
 * ssh`).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_SHELL_H
#define STARTER_SHELL_H

#include <stdint.h>
#include <sys/queue.h>

struct starter;
struct wire_request;

struct starter_shells {
    LIST_HEAD(, shell) list;
    /* number of the program that was started last; each program gets the next number; 0: none was
     * started yet */
    int64_t last_number;
};

/* Handles a request to start, read from or write to a program beside the job: SHELL_OPEN,
 * SHELL_READ or SHELL_WRITE (docs/protocol/access.md). */
void shells_handle(struct starter *starter, struct wire_request *request);
/* Called when the job was frozen or continues: lets the owners of all shells know that. */
void shells_note_frozen(struct starter *starter);
/* Ends an interactive job if its last shell has ended, or if none was opened within 180 seconds. */
void shells_look(struct starter *starter);
/* Called when the connection to the shadow is lost: ends all shells (SIGHUP, later SIGKILL). */
void shells_hang_up(struct starter *starter);
/* Called when the job has ended: kills all shells, and answers the requests that wait for their
 * output. */
void shells_close(struct starter *starter);

#endif
