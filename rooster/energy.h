/* rooster/energy.h - adds up the energy that machines draw, by day, for each machine and each user.
 *
 * A machine whose startd counts its energy itself (PowerSource in its ads: measured, or by
 * configured watts) is counted by the growth of its counters, also for times when no rooster ran.
 * Other machines, and those that sleep or wake, are counted by the states that the rooster sees,
 * with the watts of their ads or of the configuration (energy_plan.h), and only while the rooster
 * runs.  The sums are durable in SPOOL/rooster_energy.db.  They are written every ROOSTER_INTERVAL
 * and before each report, in one transaction with the values of the machines' counters up to which
 * they count.  When a rooster was killed, at most one interval of what it counted by states is
 * lost, nothing of what machines count themselves is lost, and nothing is counted twice.
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
/* Writes the sums that are not written yet, and closes the database.  NULL: does nothing. */
void energy_close(struct energy *energy);
struct store *energy_store(struct energy *energy);
/* Counts the energy of the machine until now, and notes its draw from now on.  To be called when
 * the machine was examined. */
void energy_look(struct node *node);
/* Fills *ret with the watts that the machine draws in each state: from its ads, else from its
 * `node` section of the configuration, else from the knobs for all machines. */
void energy_find_watts(const struct node *node, struct energy_watts *ret);
void energy_forget(struct node *node); /* frees node->draw; to be called before the node is freed */
/* Writes the sums to the database. */
void energy_flush(struct energy *energy);
/* Answers a QUERY of type Energy with Kind ("Node" or "User"), Since and Until (seconds since 1970;
 * whole days, UTC).  The answer has one ad with the sums for each machine or user;
 * UncountedSeconds in it is the part of the time in which no rooster ran. */
void energy_query(struct energy *energy, struct wire_request *request);
/* Sets DrawWatts (watts), EnergyToday and EnergySavedToday (kWh) in ad; sets nothing if the watts
 * of the machine are not known. */
void energy_write(const struct node *node, struct ad *ad);

#endif
