/* rooster/energy.h - what the machines draw: added up by day, for each machine and each user.
 *
 * A machine whose startd counts itself (PowerSource in its ads: measured, or by the watts that it
 * is configured with) is counted by the growth of its counters, also while no rooster was there; of
 * others, and of those that sleep or wake, the states that the rooster sees are counted, with the
 * watts that their ads or the configuration give (energy_plan.h), and only while it is there.
 * Durable in SPOOL/rooster_energy.db, written every ROOSTER_INTERVAL and before each report, sums
 * and the counters that they are made of in one transaction: a killed rooster loses at most that
 * long of what it counted by states, nothing of counters, and counts nothing twice.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_ENERGY_H
#define ROOSTER_ENERGY_H

struct ad;
struct energy;
struct energy_watts;
struct err;
struct node;
struct rooster;
struct wire_request;

int energy_open(struct rooster *rooster, struct energy **ret, struct err *err);
void energy_close(struct energy *energy); /* writes what there is; NULL is allowed */
/* The machine was looked at: counts what was until now, and remembers what it draws from now on. */
void energy_look(struct node *node);
/* As its ads say, else of its section, else of all. */
void energy_find_watts(const struct node *node, struct energy_watts *ret);
void energy_forget(struct node *node); /* it is destroyed */
/* Writes down what was counted. */
void energy_flush(struct energy *energy);
/* Answers a QUERY of type Energy: Kind ("Node" or "User"), Since, Until (seconds since 1970; whole
 * days, UTC); an ad for each name with the sums, and in each UncountedSeconds: of that time no
 * rooster was there. */
void energy_query(struct energy *energy, struct wire_request *request);
/* DrawWatts, EnergyToday and EnergySavedToday, in watts and kWh; none when no watts are known. */
void energy_write(const struct node *node, struct ad *ad);

#endif
