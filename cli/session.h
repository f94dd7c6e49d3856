/* cli/session.h - closes the connections, and frees the configuration, that functions of cli.h
 * opened.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_SESSION_H
#define CLI_SESSION_H

struct cli;

/* closes all connections properly, so that the other side notices */
void session_hang_up(struct cli *cli);
void session_close(struct cli *cli); /* releases connections and configuration */

#endif
