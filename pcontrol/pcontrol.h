/* pcontrol/pcontrol.h - the ways in which the program pcontrol runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PCONTROL_PCONTROL_H
#define PCONTROL_PCONTROL_H

#include <stddef.h>

struct err;
struct loop;
struct os;

/* Controls hosts until the input ends or "exit"; server: path of a Unix socket from which commands
 * come, NULL: from standard input.  Returns the exit status; err is filled if pcontrol could not
 * begin. */
int pcontrol_run(struct loop *loop, struct os *os, const char *server, struct err *err);
/* Has the server at the Unix socket run one command, or, with count 0, those of standard input.
 * Returns the exit status, that of the command. */
int pcontrol_ask(struct loop *loop, struct os *os, const char *server, char *const *words,
                 size_t count, struct err *err);

#endif
