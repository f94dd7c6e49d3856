/* cli/remote.h - the options -name SCHEDD and -pool HOST, for every command that asks a schedd.
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

bool remote_is_for(const char *command); /* true for a command that asks a schedd */
extern const char remote_help[];         /* help text of these two options */
/* Removes these options from cli's arguments and stores their values, if the command asks a schedd.
 * Returns CLI_OK or CLI_USAGE. */
int remote_take(struct cli *cli);
/* Gets the collector's ad of the schedd that -name names, or of the pool's first schedd.  The
 * caller releases it with ad_destroy(). */
int remote_schedd(struct cli *cli, struct ad **ret, struct err *err);

#endif
