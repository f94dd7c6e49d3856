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
    int64_t last_number; /* each program gets a number; 0: none was started yet */
};

/* Takes and answers a request SHELL_OPEN, SHELL_READ or SHELL_WRITE (docs/protocol/access.md). */
void shells_handle(struct starter *starter, struct wire_request *request);
/* Called when the job was frozen or continues: tells the owners. */
void shells_note_frozen(struct starter *starter);
/* Ends an interactive job when its last shell has ended, or when none was opened in time. */
void shells_look(struct starter *starter);
/* Called when the connection to the shadow is lost: hangs up all shells (SIGHUP, later SIGKILL). */
void shells_hang_up(struct starter *starter);
/* Called when the job has ended: kills all shells and tells their readers. */
void shells_close(struct starter *starter);

#endif
