/* cli/schedds.h - the options -global and -submitter: listings of jobs that ask all schedds of the
 * pool.  (To ask one other schedd, -name and -pool, see remote.h.)
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_SCHEDDS_H
#define CLI_SCHEDDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"

struct cli;
struct err;

struct schedds_wish {
    const char *submitter; /* value of -submitter, or NULL */
    bool global;           /* -global was given */
};

/* Parses argv[*at].  Returns 1 when it is -global or -submitter, 0 when not, -EINVAL when the name
 * after -submitter is missing. */
int schedds_option(struct schedds_wish *wish, struct cli *cli, int *at, struct err *err);
/* True when only one schedd is asked, the one that cli_schedd() finds. */
bool schedds_is_one(const struct cli *cli, const struct schedds_wish *wish);
/* Appends the ads of all schedds of the pool (struct ad *, owned by the caller).  -ENOENT: the pool
 * has no schedd. */
int schedds_find(struct cli *cli, struct vec *ads, struct err *err);
struct ad;
/* Connects to the schedd with this ad; cli->schedd is then the connection.  Returns 0 or -errno. */
int schedds_dial(struct cli *cli, const struct ad *schedd, struct err *err);

#endif
