/* cli/schedds.h - listings of jobs that ask all schedds of the pool: -global, -submitter.  One
 * other than that of this host (-name, -pool) is remote.h's.
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
    const char *submitter; /* -submitter; NULL */
    bool global;           /* -global */
};

/* Takes the option at argv[*at]: 1; 0: it is none of these; -EINVAL: its value is missing. */
int schedds_option(struct schedds_wish *wish, struct cli *cli, int *at, struct err *err);
/* Is it only one, which cli_schedd() finds? */
bool schedds_is_one(const struct cli *cli, const struct schedds_wish *wish);
/* The ads of all; -ENOENT says that there are none. */
int schedds_find(struct cli *cli, struct vec *ads, struct err *err);
/* From now on cli->schedd is this one. */
struct ad;
int schedds_dial(struct cli *cli, const struct ad *schedd, struct err *err);

#endif
