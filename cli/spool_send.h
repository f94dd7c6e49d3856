/* cli/spool_send.h - sends a cluster's input files to the schedd's spool, and fetches output from
 * there.
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

/* Sends the input files of the cluster's jobs and then has the jobs released.  again: files that
 * arrived in an earlier, interrupted try are not sent again.  Reconnects after lost connections as
 * long as there is progress.  Returns 0 or -errno. */
int spool_send(struct cli *cli, int64_t cluster, bool again, struct err *err);
/* Fetches the output of these jobs (ads from the schedd, all of one owner) and tells the schedd
 * that it was fetched; of jobs that are not completed, fetches only the event log.  *files: the
 * number of fetched files, also after an error.  Returns 0 or -errno. */
int spool_fetch(struct cli *cli, const struct ad *const *jobs, size_t count, size_t *files,
                struct err *err);

/* The attributes of a job that spool_send() and spool_fetch() need; NULL-terminated. */
extern const char *const spool_projection[];

#endif
