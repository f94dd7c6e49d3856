/* starter/shell.h - programs beside the job, for its owner.
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
    int64_t last_number;
};

void shells_handle(struct starter *starter, struct wire_request *request); /* SHELL_... */
void shells_note_frozen(struct starter *starter); /* the job stands still, or goes on */
void shells_look(struct starter *starter);    /* ends an interactive job that has none any more */
void shells_hang_up(struct starter *starter); /* the way to their owner is lost */
void shells_close(struct starter *starter);   /* the job's end is theirs */

#endif
