/* schedd/requests/significant.h - learns from the negotiator which attributes of jobs matter to
 * machines.
 *
 * The names (SignificantAttributes of the Negotiator ad) are watched in the collector and kept in
 * the store, so that a restarted schedd groups its jobs as before.  A new name divides the
 * autoclusters of those jobs that have the attribute.  Names are never forgotten while the schedd
 * runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_REQUESTS_SIGNIFICANT_H
#define SCHEDD_REQUESTS_SIGNIFICANT_H

struct ad;
struct schedd;
struct wire;

/* Prepares the watch of the Negotiator ad.  To be called before the queue is loaded. */
void significant_init(struct schedd *schedd);
void significant_fini(struct schedd *schedd);
/* To be called when the uplink to the collector is up (again): starts to watch the Negotiator
 * ad. */
void significant_up(struct schedd *schedd, struct wire *wire);
/* Loads the names of the significant attributes from their row in the store. */
void significant_load(struct schedd *schedd, const struct ad *row);

#endif
