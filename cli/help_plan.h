/* cli/help_plan.h - the help of commands, and the manual pages: both are made from the table of
 * commands, the page of the configuration from the tables of knobs, that of submit files from the
 * table of submit commands.  Nothing is written twice, and nothing is forgotten.
 *
 * The pages are in man(7)'s language, for roff and mandoc.  `make install` writes them; `roost help
 * --man` prints them.  Pure.
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

/* What `roost COMMAND --help` says: usage in lines of 80 columns, a sentence, the options.  more
 * (may be NULL) follows. */
void help_command(const struct cli_command *command, const char *more, struct strbuf *out);
/* `roost --help`. */
void help_summary(const struct cli_command *const *commands, struct strbuf *out);

/* Names of pages, "roost-q.1" (char *, copies). */
void help_pages(const struct cli_command *const *commands, struct vec *names);
/* The page of that name, with or without its section; false: there is none. */
bool help_page(const struct cli_command *const *commands, const struct knob_table *const *knobs,
               const char *(*more)(const char *command), const char *name, struct strbuf *out);

#endif
