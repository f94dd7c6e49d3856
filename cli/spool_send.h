/* cli/spool_send.h - a cluster's files to its sandbox at the schedd, and its output back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_SPOOL_SEND_H
#define CLI_SPOOL_SEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ad;
struct cli;
struct err;

/* Sends what the jobs of the cluster are given, and has them released.  again: what is there
 * already, from a try that was cut, is not sent again.  Goes on over cuts of any connection as long
 * as something gets through. */
int spool_send(struct cli *cli, int64_t cluster, bool again, struct err *err);
/* Brings back the output of these jobs (ads as the schedd shows them, of one owner) and says that
 * it was fetched; those that are not completed yet: their event log alone.  *files counts what
 * came. */
int spool_fetch(struct cli *cli, const struct ad *const *jobs, size_t count, size_t *files,
                struct err *err);

/* What of a job both need to know; NULL-terminated. */
extern const char *const spool_projection[];

#endif
