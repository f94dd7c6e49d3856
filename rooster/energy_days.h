/* rooster/energy_days.h - durable sums of energy, by day.
 *
 * There is a row for each day (UTC) and each machine or user.  The days that may still grow are
 * kept in memory: today, yesterday, and after a start also the days since the previous rooster
 * wrote last.  The database also has rows that belong to no day; only the caller knows their
 * meaning.  Nothing may be added before the rows are loaded, because a sum that begins at 0 would
 * overwrite what the previous rooster wrote.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_ENERGY_DAYS_H
#define ROOSTER_ENERGY_DAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ENERGY_KEY_SIZE 940 /* most bytes of a row's key, with the terminating zero */
#define ENERGY_TABLE    "energy"

struct ad;
struct daemon_env;
struct energy_days;
struct energy_sum;
struct err;
struct store;
struct store_txn;

/* Callbacks while the rows are loaded. */
struct energy_days_events {
    /* called before `loaded` for each row that belongs to no day */
    void (*row)(void *arg, const char *key, const struct ad *ad);
    /* must return the earliest time for which energy_days_add() may still add energy, seconds since
     * 1970 */
    double (*back_to)(void *arg);
    void (*loaded)(void *arg); /* called when all rows are read: sums may be added from now on */
};

/* Opens SPOOL/rooster_energy.db; env must live until energy_days_close().  arg is passed to the
 * callbacks of events.  Returns 0 and sets *ret, or an error of the store. */
int energy_days_open(const struct daemon_env *env, const struct energy_days_events *events,
                     void *arg, struct energy_days **ret, struct err *err);
/* Closes the database; does not write changed sums. */
void energy_days_close(struct energy_days *days);
bool energy_days_are_loaded(const struct energy_days *days);
struct store *energy_days_store(struct energy_days *days);

/* Adds sum, split among the days between from_s and to_s (energy_plan_days()), to the sums of
 * `name`.  kind: 'n': name is a machine; 'u': name is a user; 'w': sum is the time that the rooster
 * ran, and name is always "rooster".  Does nothing if the name is too long. */
void energy_days_add(struct energy_days *days, char kind, const char *name,
                     const struct energy_sum *sum, double from_s, double to_s);
/* Returns the sum, for the day that begins at day_s, of the machine or user with that name; kind:
 * as for energy_days_add().  NULL: there is no such sum in memory. */
const struct energy_sum *energy_days_find(const struct energy_days *days, int64_t day_s, char kind,
                                          const char *name);
/* Puts the sums that have changed into txn. */
void energy_days_write(struct energy_days *days, struct store_txn *txn);
/* Follows the clock: begins a new day, and handles a clock that was set back.  When a day has
 * ended, deletes days that are older than keep_days.  To be called before sums are added. */
void energy_days_follow(struct energy_days *days, int64_t now_s, int64_t keep_days);

/* Writes to ret the key of a row of that day.  what: kind and name as for energy_days_add(),
 * such as "n/wn01"; or "" or "~": the key then sorts before or after all rows of the day. */
void energy_days_key(int64_t day_s, const char *what, char ret[ENERGY_KEY_SIZE]);

#endif
