/* wire/pool_figures.h - the figures of the pool's queue that HIBERNATE, UNHIBERNATE and
 * ROOSTER_RESERVE may read: idle jobs, and how long they wait.
 *
 * The negotiator counts them; startd and rooster ask for them (POOL_FIGURES, through the hub) when
 * the value of an expression depends on them.  Figures that nobody told, or that are older than
 * POOL_FIGURES_AGE_MS, are undefined: an expression that needs them is then undefined, too, and its
 * reader changes nothing.  docs/decisions/0026-pool-figures.md says why.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_POOL_FIGURES_H
#define WIRE_POOL_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/wire.h"

struct ad;
struct ad_expr;

#define POOL_FIGURES_AGE_MS 30000
/* Shortest time between two questions about the same machine. */
#define POOL_FIGURES_AGAIN_MS 10000
/* Most machines in one question. */
#define POOL_FIGURES_MACHINES_MAX 1000

struct pool_figures {
    int64_t jobs, wait_s; /* idle jobs of the pool, and how long the first of them waits, seconds */
    bool has_matching;    /* the next members are known */
    /* the same of those idle jobs that match a slot of the machine */
    int64_t matching, matching_wait_s;
};

/* Returns whether the expression, standing in the ad `my`, reads one of the figures, directly or
 * through other attributes. */
bool pool_figures_are_read(const struct ad_expr *expr, const struct ad *my);
/* Sets PoolIdleJobs, PoolIdleJobsWait, MatchingIdleJobs and MatchingIdleJobsWait; removes those
 * that are not known.  figures NULL: removes all. */
void pool_figures_put(const struct pool_figures *figures, struct ad *ad);
/* Writes the figures for people: "MatchingIdleJobs = 3, ..."; NULL: that they are not known. */
void pool_figures_print(const struct pool_figures *figures, char *ret, size_t size);

/* Sets the local time of day, day of the week and date: ClockMin, ClockDay (0 is Sunday), ClockDate
 * ("2026-12-24").  local_s: seconds since 1970, plus the time zone's offset. */
void pool_figures_put_clock(int64_t local_s, struct ad *ad);

/* Asks the negotiator, whose answer goes to call: a part or more, with an ad for each machine that
 * it knows.  count 0: only the figures of the whole pool.  Returns as wire_relay(). */
int64_t pool_figures_ask(struct wire *wire, const char *const *machines, size_t count,
                         wire_reply_f call, void *arg);
/* Reads the figures from the arguments of the answer, and from the ad of a machine in it (NULL:
 * none).  Returns false if the arguments have none. */
bool pool_figures_read(const struct ad *args, const struct ad *machine, struct pool_figures *ret);

#endif
