/* cli/access.h - from the schedd's ticket to the shadow of the jobs' owner: tail, ssh, spooled
 * files.  docs/protocol/access.md.
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

/* "12.3", or "12" for "12.0", as ret; -EINVAL. */
int access_job_id(const char *word, char *ret, size_t size, struct err *err);

/* Asks the schedd (dialled if need be) for a ticket and dials the shadow with it.  args: Purpose,
 * and JobId or Ids.  *ret is the session's, and NULL again when that connection ends.  answer (may
 * be NULL) gets what the schedd said, the caller's. */
int access_dial(struct cli *cli, const struct ad *args, struct wire **ret, struct ad **answer,
                struct err *err);
/* The same for a run of one job. */
int access_run(struct cli *cli, const char *purpose, const char *job_id, struct wire **ret,
               struct err *err);
/* Is it a failure after which to try again: a cut, or a starter that is not connected now? */
bool access_is_passing(int status);

#endif
