/* rooster/energy_days.h - sums of energy by day, durable.
 *
 * A row for each day (UTC) and name; in memory are the days that may still grow: today, yesterday,
 * and at the start those since an earlier life wrote last.  Beside them rows that are of no day,
 * whose meaning is the caller's.  Nothing can be added before it is loaded: what an earlier life
 * wrote would be written over.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_ENERGY_DAYS_H
#define ROOSTER_ENERGY_DAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ENERGY_KEY_SIZE 940
#define ENERGY_TABLE    "energy"

struct ad;
struct daemon_env;
struct energy_days;
struct energy_sum;
struct err;
struct store;
struct store_txn;

struct energy_days_events {
    void (*row)(void *arg, const char *key, const struct ad *ad); /* of no day; before `loaded` */
    /* How far back are days still to grow?  Seconds since 1970. */
    double (*back_to)(void *arg);
    void (*loaded)(void *arg);
};

/* Opens SPOOL/rooster_energy.db; env is borrowed. */
int energy_days_open(const struct daemon_env *env, const struct energy_days_events *events,
                     void *arg, struct energy_days **ret, struct err *err);
void energy_days_close(struct energy_days *days); /* writes nothing */
bool energy_days_are_loaded(const struct energy_days *days);
struct store *energy_days_store(struct energy_days *days);

/* Adds to that name's sums, split by the days of that time (energy_plan_days()).  kind: 'n' a
 * machine, 'u' a user, 'w' we.  A name that is too long is not counted. */
void energy_days_add(struct energy_days *days, char kind, const char *name,
                     const struct energy_sum *sum, double from_s, double to_s);
/* NULL: there is none. */
const struct energy_sum *energy_days_find(const struct energy_days *days, int64_t day_s, char kind,
                                          const char *name);
/* Puts what has changed into txn. */
void energy_days_write(struct energy_days *days, struct store_txn *txn);
/* Before anything is added, once the time has gone on: another day, or the clock was put back.
 * Drops days that are older than keep_days when a day ends. */
void energy_days_follow(struct energy_days *days, int64_t now_s, int64_t keep_days);

/* "DAY/KIND/NAME": the key of a row. */
void energy_days_key(int64_t day_s, const char *what, char ret[ENERGY_KEY_SIZE]);

#endif
