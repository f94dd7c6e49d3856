/* cli/session.h - the end of what cli.h opens.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_SESSION_H
#define CLI_SESSION_H

struct cli;

void session_hang_up(struct cli *cli); /* connections: the other side hears that we are done */
void session_close(struct cli *cli);   /* connections, configuration */

#endif
