/* schedd/submission/factory_kick.h - waking the factories of clusters whose jobs are made later.
 *
 * Whatever changes a cluster's jobs wakes its factory (job_factory.h), whose turn comes from the
 * loop.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_SUBMISSION_FACTORY_KICK_H
#define SCHEDD_SUBMISSION_FACTORY_KICK_H

struct cluster;
struct schedd;

/* Something about the cluster's jobs is different: there may be room for more. */
void factory_kick(struct cluster *cluster);
/* A job left the queue: those whose way was barred by a limit of the queue look again. */
void factory_kick_waiting(struct schedd *schedd);

#endif
