/* rooster/energy_days.h - durable sums of energy, by day.
 *
 * There is a row for each day (UTC) and name.  In memory are the days that may still grow: today,
 * yesterday, and after a start also the days since the previous rooster wrote last.  The database
 * also has rows that belong to no day; their meaning is the caller's.  Nothing may be added before
 * the rows are loaded, because it would overwrite what the previous rooster wrote.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_ENERGY_DAYS_H
#define ROOSTER_ENERGY_DAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ENERGY_KEY_SIZE 940 /* bytes of a row's key, with the zero */
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
    /* a row that belongs to no day; before `loaded` */
    void (*row)(void *arg, const char *key, const struct ad *ad);
    /* Returns the time since which days may still grow, seconds since 1970. */
    double (*back_to)(void *arg);
    void (*loaded)(void *arg); /* all rows are read: additions are allowed from now on */
};

/* Opens SPOOL/rooster_energy.db; env is borrowed.  Returns 0 and sets *ret, or an error of the
 * store. */
int energy_days_open(const struct daemon_env *env, const struct energy_days_events *events,
                     void *arg, struct energy_days **ret, struct err *err);
void energy_days_close(struct energy_days *days); /* without writing */
bool energy_days_are_loaded(const struct energy_days *days);
struct store *energy_days_store(struct energy_days *days);

/* Adds sum to the sums of that name, split by the days between from_s and to_s
 * (energy_plan_days()).  kind: 'n' a machine, 'u' a user, 'w' the time that the rooster ran.  A
 * name that is too long is not counted. */
void energy_days_add(struct energy_days *days, char kind, const char *name,
                     const struct energy_sum *sum, double from_s, double to_s);
/* Returns the sum of that day, kind and name; NULL: there is none. */
const struct energy_sum *energy_days_find(const struct energy_days *days, int64_t day_s, char kind,
                                          const char *name);
/* Puts the sums that have changed into txn. */
void energy_days_write(struct energy_days *days, struct store_txn *txn);
/* Call it before adding, as time goes on: begins a new day, and handles a clock that was put back.
 * Drops days older than keep_days when a day ends. */
void energy_days_follow(struct energy_days *days, int64_t now_s, int64_t keep_days);

/* Writes the key of a row: "DAY/KIND/NAME". */
void energy_days_key(int64_t day_s, const char *what, char ret[ENERGY_KEY_SIZE]);

#endif
