/* submit/submit_command.h - the table of submit commands: what each becomes, and whether the pool
 * obeys it.
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
    COMMAND_QUOTED, /* a string that may stand in double quotes */
    COMMAND_LIST,   /* a string of names with commas between them */
    COMMAND_PATH,   /* a string, made absolute by initialdir */
    COMMAND_SPECIAL /* a function of its own makes its attributes */
};

enum command_state {
    COMMAND_OBEYED,
    COMMAND_IGNORED, /* the job runs as well without it: a warning */
    COMMAND_REFUSED  /* it must not run without it: submission is refused until the pool can */
};

struct submit_command {
    const char *name;
    const char *attribute; /* also an alias of name; NULL: none */
    enum command_kind kind;
    enum command_state state;
};

/* The command of that name or attribute, in any case; NULL: there is none. */
const struct submit_command *command_find(const char *name);

/* The index-th command, NULL behind the last one. */
const struct submit_command *command_at(size_t index);

/* The attributes of all commands that are not special. */
int command_set_simple(struct submit_making *making, struct err *err);

/* Where place->obeyed_only: refuses the file's first command, or attribute of the user's own, that
 * is not obeyed; warns of those that are ignored. */
int command_check_obeyed(const struct submit_making *making, struct err *err);

/* The command whose name is most like that; NULL: none is. */
const char *command_nearest(const char *name);

#endif
