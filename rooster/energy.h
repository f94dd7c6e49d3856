/* rooster/energy.h - what the machines draw: added up by day, for each machine and each user.
 *
 * Counted from the states that the rooster sees, with the watts of the configuration
 * (energy_plan.h): nothing is measured, and nothing is counted while no rooster runs.  Durable in
 * SPOOL/rooster_energy.db, written every ROOSTER_INTERVAL and before each report: what a killed
 * rooster had not written is lost, at most that long.  A time that contains a midnight (UTC) is
 * counted to the day in which it ends.
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
/* Of its section, else of all. */
void energy_find_watts(const struct node *node, struct energy_watts *ret);
void energy_forget(struct node *node); /* it is destroyed */
/* Writes down what was counted. */
void energy_flush(struct energy *energy);
/* Answers a QUERY of type Energy: Kind ("Node" or "User"), Since, Until (seconds since 1970; whole
 * days, UTC); an ad for each name with the sums. */
void energy_query(struct energy *energy, struct wire_request *request);
/* DrawWatts, EnergyToday and EnergySavedToday, in watts and kWh; none when no watts are known. */
void energy_write(const struct node *node, struct ad *ad);

#endif
