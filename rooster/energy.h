/* rooster/energy.h - adds up the energy that machines draw, by day, for each machine and each user.
 *
 * A machine whose startd counts its energy itself (PowerSource in its ads: measured, or by
 * configured watts) is counted by the growth of its counters, also for times when no rooster ran.
 * Other machines, and those that sleep or wake, are counted by the states that the rooster sees,
 * with the watts of their ads or of the configuration (energy_plan.h), and only while the rooster
 * runs.  The sums are durable in SPOOL/rooster_energy.db.  They are written every ROOSTER_INTERVAL
 * and before each report, together with the counters that they are made of, in one transaction.  A
 * killed rooster loses at most one interval of what it counted by states, nothing of counters, and
 * counts nothing twice.
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

/* Opens the database.  Returns 0 and sets *ret, or an error of the store. */
int energy_open(struct rooster *rooster, struct energy **ret, struct err *err);
void energy_close(struct energy *energy); /* writes what is not written yet; NULL is allowed */
/* Call it when the machine was examined: counts the time until now, and notes what it draws from
 * now on. */
void energy_look(struct node *node);
/* Finds the machine's watts: in its ads, else its section of the configuration, else the common
 * knobs. */
void energy_find_watts(const struct node *node, struct energy_watts *ret);
void energy_forget(struct node *node); /* call it before the machine is destroyed */
/* Writes the sums to the database. */
void energy_flush(struct energy *energy);
/* Answers a QUERY of type Energy with Kind ("Node" or "User"), Since and Until (seconds since 1970;
 * whole days, UTC).  The answer has an ad with the sums for each name; UncountedSeconds in it is
 * the part of that time in which no rooster ran. */
void energy_query(struct energy *energy, struct wire_request *request);
/* Sets DrawWatts (watts), EnergyToday and EnergySavedToday (kWh); nothing when no watts are
 * known. */
void energy_write(const struct node *node, struct ad *ad);

#endif
