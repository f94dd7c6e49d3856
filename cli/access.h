/* cli/access.h - connects to the shadow (the owner's server of running jobs) with a ticket from the
 * schedd; for tail, ssh and spooled files.  Protocol: docs/protocol/access.md.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_ACCESS_H
#define CLI_ACCESS_H

#include <stdbool.h>
#include <stddef.h>

struct ad;
struct cli;
struct err;
struct wire;

/* Parses a job id: "12.3" is copied to ret, "12" becomes "12.0".  -EINVAL: not a job id. */
int access_job_id(const char *word, char *ret, size_t size, struct err *err);

/* Asks the schedd (connects to it if needed) for a ticket and connects to the shadow with it. args:
 * the arguments of the request to the schedd: Purpose, and JobId or Ids.  *ret is owned by cli
 * (session_close()) and becomes NULL when the connection ends.  *answer (answer may be NULL) is the
 * schedd's reply, owned by the caller. Returns 0 or -errno. */
int access_dial(struct cli *cli, const struct ad *args, struct wire **ret, struct ad **answer,
                struct err *err);
/* Does what access_dial() does for one job.  purpose: the Purpose of the ticket, "Tail" (read the
 * job's output files) or "Shell" (`roost ssh`). */
int access_run(struct cli *cli, const char *purpose, const char *job_id, struct wire **ret,
               struct err *err);
/* True for errors after which a new try may succeed: a lost connection, or a starter that is not
 * connected at the moment. */
bool access_is_passing(int status);

#endif
