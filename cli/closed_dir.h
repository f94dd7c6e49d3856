/* cli/closed_dir.h - warns of a pool whose directory is closed for the account of root's jobs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_CLOSED_DIR_H
#define CLI_CLOSED_DIR_H

struct cli;

/* Warns, on standard error, when root runs this command and the account cannot enter the directory:
 * shadows run under the account, work below that directory and read the pool's configuration. */
void closed_dir_warn(struct cli *cli, const char *account, const char *dir);

#endif
