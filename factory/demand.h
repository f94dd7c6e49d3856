/* factory/demand.h - what the collector says: the jobs that wait for samples, and glideins that
 * have joined.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FACTORY_DEMAND_H
#define FACTORY_DEMAND_H

struct ad;
struct factory;

/* An ad of a machine is new or has changed, or is gone. */
void demand_machine_changed(struct factory *factory, const char *key, const struct ad *ad);
void demand_machine_gone(struct factory *factory, const char *key);
/* Counts into `wanted` of each site the machines that the jobs need that wait for its samples. */
void demand_count(struct factory *factory);
void demand_free(struct factory *factory);

#endif
