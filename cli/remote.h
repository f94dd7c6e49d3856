/* cli/remote.h - the options -name SCHEDD and -pool HOST, for every command that asks a schedd.
 * cli_schedd() (cli.h) connects to the schedd that these options name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_REMOTE_H
#define CLI_REMOTE_H

#include <stdbool.h>
#include <stddef.h>

struct cli;

bool remote_is_for(const char *command); /* true for a command that asks a schedd */
extern const char remote_help[];         /* help text of -name and -pool */
/* If the command asks a schedd: removes -name and -pool from cli's arguments and stores their
 * values in cli.  Returns CLI_OK, or CLI_USAGE with the error printed. */
int remote_take(struct cli *cli);

#endif
