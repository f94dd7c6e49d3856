/* cli/arrivals.h - whether the daemons of this host come up, for `roost start`, and why one does
 * not run, for those who cannot reach it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_ARRIVALS_H
#define CLI_ARRIVALS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/daemon/daemon_complaint.h"

struct arrivals; /* the daemons of DAEMON_LIST, and since when each is known to have failed */
struct cli;
struct err;

/* Reads DAEMON_LIST.  Returns 0 and sets *ret, to be freed with arrivals_close(); or an error of
 * config_load(). */
int arrivals_open(struct cli *cli, struct arrivals **ret, struct err *err);
void arrivals_close(struct arrivals *arrivals); /* NULL is allowed */
/* Returns the daemon with this index in lower case, the master first; NULL: there are not so many.
 */
const char *arrivals_name(const struct arrivals *arrivals, size_t index);
/* Returns whether DAEMON_LIST has the daemon, in any case. */
bool arrivals_has(const struct arrivals *arrivals, const char *name);
/* Returns 0; or -ECHILD: a daemon, or the master itself, has ended and its restart has not helped,
 * or the collector refuses a daemon; err says which daemon, and why.  To be called again and again
 * while waiting. */
int arrivals_look(struct arrivals *arrivals, struct err *err);
/* Returns whether a daemon of this host ("schedd") has ended before its time or could not start,
 * with what it said.  cli->config must be loaded. */
bool arrivals_failed(struct cli *cli, const char *daemon, char why[DAEMON_COMPLAINT_MAX]);
/* Tells the master to try daemons that have failed at once, if there are any. */
void arrivals_retry(struct arrivals *arrivals);

#endif
