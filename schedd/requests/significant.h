/* schedd/requests/significant.h - which attributes of jobs matter to machines, as the negotiator
 * tells it.
 *
 * The names (SignificantAttributes of the Negotiator ad) are watched in the collector and kept in
 * the store, so that a schedd that is started again groups its jobs as before.  A name that is new
 * divides the autoclusters of the jobs that have such an attribute; names are never taken back
 * while the schedd lives.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_REQUESTS_SIGNIFICANT_H
#define SCHEDD_REQUESTS_SIGNIFICANT_H

struct ad;
struct schedd;
struct wire;

void significant_init(struct schedd *schedd); /* before the queue is loaded */
void significant_fini(struct schedd *schedd);
/* The uplink is up (again). */
void significant_up(struct schedd *schedd, struct wire *wire);
/* What the store has of it. */
void significant_load(struct schedd *schedd, const struct ad *row);

#endif
