/* cli/commands.h - the table of subcommands; used to run, describe and complete them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

struct cli;

struct cli_command {
    const char *name;
    int (*run)(struct cli *cli);
    const char *usage;   /* the text after "roost NAME" in the usage line */
    const char *summary; /* one line of help */
    const char *help;    /* more lines of help, each ended by a newline; may be NULL */
};
extern const struct cli_command *const cli_commands[]; /* all subcommands; NULL-terminated */

#endif
