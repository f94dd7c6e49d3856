/* schedd/submission/spool_sandbox.h - the sandbox of a spooled job: the directory for its files at
 * the owner's shadow.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_SUBMISSION_SPOOL_SANDBOX_H
#define SCHEDD_SUBMISSION_SPOOL_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>

struct ad;
struct change;
struct cluster;

/* Returns whether the jobs of the cluster with this ad are spooled. */
bool spool_sandbox_is_used(const struct ad *cluster);
/* To be called when a job leaves the queue with change: its sandbox is removed after the commit.
 * last: the cluster's last job, so the whole cluster's directory is removed. */
void spool_sandbox_forget(struct change *change, const struct cluster *cluster, uint32_t proc,
                          bool last);

#endif
