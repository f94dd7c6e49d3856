/* cli/remote.h - -name SCHEDD and -pool HOST, for every command that asks a schedd.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_REMOTE_H
#define CLI_REMOTE_H

#include <stdbool.h>
#include <stddef.h>

struct ad;
struct cli;
struct err;

bool remote_is_for(const char *command); /* is it one that asks a schedd? */
extern const char remote_help[];         /* of these two options */
/* Takes them out of cli's arguments, where the command is one that asks a schedd; CLI_OK or
 * CLI_USAGE. */
int remote_take(struct cli *cli);
/* The ad of that schedd, as the collector knows it; of the pool's first where none was named.  The
 * caller's (ad_destroy). */
int remote_schedd(struct cli *cli, struct ad **ret, struct err *err);

#endif
