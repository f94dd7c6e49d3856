/* cli/help_plan.h - the help of commands and the manual pages.  Both are made from the table of
 * commands; the page about the configuration is made from the knob tables, the page about submit
 * files from the table of submit commands.  So each text is written only once.
 *
 * The pages are in the roff language of man(7).  `make install` writes them; `roost help --man`
 * prints them. Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_HELP_PLAN_H
#define CLI_HELP_PLAN_H

#include <stdbool.h>

struct cli_command;
struct knob_table;
struct strbuf;
struct vec;

/* Appends the text of `roost COMMAND --help`: usage in lines of 80 columns, the summary, the help.
 * `more` (may be NULL) is appended to it. */
void help_command(const struct cli_command *command, const char *more, struct strbuf *out);
/* Appends the text of `roost --help`. */
void help_summary(const struct cli_command *const *commands, struct strbuf *out);

/* Adds the names of all manual pages, such as "roost-q.1" (char *, copies). */
void help_pages(const struct cli_command *const *commands, struct vec *names);
/* Appends the manual page with that name, with or without its section number; false: no such page.
 * more() returns additional help of a command, or NULL. */
bool help_page(const struct cli_command *const *commands, const struct knob_table *const *knobs,
               const char *(*more)(const char *command), const char *name, struct strbuf *out);

#endif
