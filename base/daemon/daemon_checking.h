/* base/daemon/daemon_checking.h - what a daemon's check() of a configuration gets (daemon.h), and
 * how the check says what is probably a mistake.
 *
 * What cannot work is an error, and the configuration is refused.  What may be right, but mostly is
 * a mistake (a program that is not there yet, an unknown name), is a doubt: one line, printed by
 * -check and logged at the start and at each reload.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_DAEMON_DAEMON_CHECKING_H
#define BASE_DAEMON_DAEMON_CHECKING_H

#include <stdbool.h>

struct config;
struct err;
struct os;

struct daemon_checking {
    struct os *os;
    const struct config *config;
    /* receives each doubt, one line: "FILE:LINE: TEXT" */
    void (*doubt)(void *arg, const char *text);
    void *arg;
};

/* Says a doubt about a knob: the line begins with the place where the knob was set, if it was. */
void daemon_doubt(const struct daemon_checking *checking, const char *knob, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Returns what is wrong with a file, or a program, that the process will need: "does not exist on
 * this host"; NULL: nothing.  The target of a link is not looked at. */
const char *daemon_doubt_path(const struct daemon_checking *checking, const char *path,
                              bool is_program);
/* Says a doubt about a knob whose value is a command that this host cannot run, if that is so.
 * command NULL or "": none is set. */
void daemon_doubt_command(const struct daemon_checking *checking, const char *knob,
                          const char *command);

#endif
