/* schedd/submission/factory_kick.h - wakes the factories, which make the jobs of large clusters one
 * by one.
 *
 * Whatever changes a cluster's jobs wakes its factory (job_factory.h).  The factory then runs from
 * the event loop, not within the call.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_SUBMISSION_FACTORY_KICK_H
#define SCHEDD_SUBMISSION_FACTORY_KICK_H

struct cluster;
struct schedd;

/* To be called when the cluster's jobs changed, so that the cluster may have more jobs: wakes its
 * factory. */
void factory_kick(struct cluster *cluster);
/* To be called when a job has left the queue: wakes the factories that a limit of the queue has
 * stopped. */
void factory_kick_waiting(struct schedd *schedd);

#endif
