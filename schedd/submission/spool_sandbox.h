/* schedd/submission/spool_sandbox.h - the end of what was spooled for a job.
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

bool spool_sandbox_is_used(const struct ad *cluster);
/* The job is leaving the queue with change, and its cluster with it if it is the last: their files
 * are removed. */
void spool_sandbox_forget(struct change *change, const struct cluster *cluster, uint32_t proc,
                          bool last);

#endif
