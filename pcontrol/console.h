/* pcontrol/console.h - commands from standard input: typed by a person, or a script.
 *
 * A script's commands run one after the other; at its end pcontrol waits for all jobs and ends.  A
 * person can edit the line (edit_line.h), interrupt "wait" by Ctrl-C, and is warned by the first
 * "exit" while jobs are not done.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PCONTROL_CONSOLE_H
#define PCONTROL_CONSOLE_H

struct commands;
struct console;
struct controller;
struct err;
struct loop;

/* Takes commands until the input ends or "exit": then the loop is stopped, with status 1 if a
 * command has failed.  Returns 0 or -errno. */
int console_open(struct loop *loop, struct controller *controller, struct commands *commands,
                 struct console **ret, struct err *err);
void console_close(struct console *console); /* NULL is allowed */
/* Prints a line of "verbose". */
void console_say(struct console *console, const char *line);

#endif
