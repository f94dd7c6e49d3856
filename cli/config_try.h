/* cli/config_try.h - checks the configuration as those will read it who use it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_CONFIG_TRY_H
#define CLI_CONFIG_TRY_H

#include <stdbool.h>
#include <stddef.h>

struct cli;
struct config;
struct err;

size_t config_try_tables(void); /* number of tables in knob_tables (base/knob.h) */
/* Prints a warning for each unknown name in the files, and for each attribute in an expression that
 * is probably misspelt. */
void config_try_warn(const struct cli *cli, const struct config *config);
/* Loads the file as each daemon would do, because a name with a daemon's prefix applies only to
 * that daemon.  path NULL: the configuration of this command.  Warns of unknown names if is_loud.
 * Sets *files to the number of files that were read.  Returns 0 or an error of config_load(). */
int config_try_file(struct cli *cli, const char *path, bool is_loud, size_t *files,
                    struct err *err);
/* Has the master and each program of DAEMON_LIST check the file, because some settings are
 * understood by their daemon alone.  path NULL: the configuration of this command.  Returns 0; or
 * -errno: with the error in err, or with err empty when the daemon itself has printed it. */
int config_try_daemons(struct cli *cli, const char *path, struct err *err);

#endif
