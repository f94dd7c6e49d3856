/* submit/submit_command.h - the table of submit commands: which attribute each one sets, and
 * whether the pool obeys it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SUBMIT_SUBMIT_COMMAND_H
#define SUBMIT_SUBMIT_COMMAND_H

#include <stddef.h>

struct err;
struct submit_making;

enum command_kind {
    COMMAND_EXPR,
    COMMAND_BOOL,
    COMMAND_INT,
    COMMAND_UINT,
    COMMAND_STRING,
    COMMAND_QUOTED, /* a string, with or without double quotes around it */
    COMMAND_LIST,   /* names, joined with commas */
    COMMAND_PATH,   /* a path, made absolute with initialdir */
    COMMAND_SPECIAL /* set by a function of its own, not from this table */
};

enum command_state {
    COMMAND_OBEYED,
    COMMAND_IGNORED, /* the command has no effect: warn, and submit the job */
    COMMAND_REFUSED  /* a job with this command must not run without its effect: refuse to submit */
};

struct submit_command {
    const char *name;
    /* attribute that the command sets, whose name a submit file may use instead of the command's;
     * NULL: none */
    const char *attribute;
    enum command_kind kind;
    enum command_state state;
};

/* Returns the command with this name or attribute, in any case; NULL: no such command. */
const struct submit_command *command_find(const char *name);

/* Returns the command with this index; NULL after the last one. */
const struct submit_command *command_at(size_t index);

/* Sets the attributes of all commands that are not COMMAND_SPECIAL.  Returns 0, or a negative errno
 * with err. */
int command_set_simple(struct submit_making *making, struct err *err);

/* Returns 0; or, if submit_place.obeyed_only is true, -EINVAL with err for the first command (also
 * one written as +Attribute) that is COMMAND_REFUSED.  Warns of each command that is
 * COMMAND_IGNORED. */
int command_check_obeyed(struct submit_making *making, struct err *err);

/* Returns the command whose name is most similar to name, to suggest it; NULL: none is similar. */
const char *command_nearest(const char *name);

#endif
