/* pcontrol/commands.h - the commands of pcontrol: what a person types, a script sends, or a client
 * of the socket.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PCONTROL_COMMANDS_H
#define PCONTROL_COMMANDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"

struct commands;
struct controller;
struct os;

#define COMMAND_DONE   0
#define COMMAND_FAILED 1
#define COMMAND_USAGE  2

struct command_answer {
    int status;         /* COMMAND_... */
    struct strbuf text; /* what it prints; any bytes */
    struct strbuf why;  /* what went wrong, without a newline at the end; empty: nothing */
    bool leave;         /* the command was "exit" */
};

/* One command under way. */
struct command_call;

/* say: gets a line for each change of a state after "verbose on". */
struct commands *commands_create(struct controller *controller, struct os *os,
                                 void (*say)(void *arg, const char *line), void *arg);
void commands_destroy(struct commands *commands);

/* The end of a command, soon or, for "wait", later; the answer belongs to the caller. */
typedef void (*command_done_f)(void *arg, const struct command_answer *answer);
/* From time to time, when "wait" gets nowhere: what it waits for. */
typedef void (*command_note_f)(void *arg, const char *text);

/* Runs a command; words[0] is its name. cwd: directory to which names of files are relative; NULL:
 * that of this process.  Returns the call, for command_cancel(); it is gone when done(arg, answer)
 * has been called. */
struct command_call *commands_run(struct commands *commands, char *const *words, size_t count,
                                  const char *cwd, command_done_f done, command_note_f note,
                                  void *arg);
void command_cancel(struct command_call *call); /* no callback follows */
#endif
