/* offline_ads/offline_holds.h - holds: which jobs wait for a machine that is being woken
 * (OfflineMatches).
 *
 * A negotiator that matches a request to an offline ad writes into that ad how many jobs of which
 * request are to run there.  So the next cycle does not wake a second machine for the same job, and
 * a restarted negotiator still knows it.  In the ad it is a list of nested ads:
 *
 *     OfflineMatches = { [Schedd = "s"; AutoCluster = 3; Count = 1; Until = 1764000000;
 *                         Since = 1763990000], ... }
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef OFFLINE_ADS_OFFLINE_HOLDS_H
#define OFFLINE_ADS_OFFLINE_HOLDS_H

#include <stddef.h>
#include <stdint.h>

#define OFFLINE_HOLDS_MAX       256 /* entries in one ad; further ones are ignored */
#define OFFLINE_HOLDS_COUNT_MAX 1000000

struct ad;
struct offline_holds;

/* The jobs of one request that wait for the machine. */
struct offline_hold {
    const char *schedd;   /* ScheddName of the request */
    int64_t auto_cluster; /* AutoClusterId of the request */
    int64_t count;        /* number of jobs, 1 to OFFLINE_HOLDS_COUNT_MAX */
    int64_t until_s;      /* the hold ends then, seconds since 1970 */
    int64_t since_s;      /* time at which the oldest of the jobs was submitted; 0: not known */
};

/* Reads OfflineMatches; the result is the caller's.  A missing or malformed attribute gives no
 * holds, a malformed entry is left out. */
struct offline_holds *offline_holds_read(const struct ad *ad);
struct offline_holds *offline_holds_create(void);
void offline_holds_destroy(struct offline_holds *holds); /* NULL is allowed */
/* Sets OfflineMatches, or removes it when there are no holds. */
void offline_holds_write(const struct offline_holds *holds, struct ad *ad);

/* The functions with a const first argument take NULL as no holds, except offline_holds_at(). */
size_t offline_holds_entries(const struct offline_holds *holds);
/* index must be below offline_holds_entries(); the result is valid until holds change. */
const struct offline_hold *offline_holds_at(const struct offline_holds *holds, size_t index);
int64_t offline_holds_total(const struct offline_holds *holds); /* number of jobs of all entries */
/* Returns the earliest since_s of all entries; 0 if any entry's is not known, INT64_MAX if there
 * are no entries. */
int64_t offline_holds_since_s(const struct offline_holds *holds);
/* Returns the number of jobs of one request; 0: none. */
int64_t offline_holds_of(const struct offline_holds *holds, const char *schedd,
                         int64_t auto_cluster);

/* Adds a hold.  A request has one entry: counts are added, the later until_s and the earlier
 * since_s win.  Returns 0; -E2BIG: there are OFFLINE_HOLDS_MAX other entries; -EINVAL: count < 1,
 * or too many jobs. */
int offline_holds_add(struct offline_holds *holds, const struct offline_hold *hold);
/* Removes all jobs of that request.  Returns how many there were. */
int64_t offline_holds_clear(struct offline_holds *holds, const char *schedd, int64_t auto_cluster);
/* Removes the holds that have ended at now_s.  Returns how many jobs they had. */
int64_t offline_holds_prune(struct offline_holds *holds, int64_t now_s);

#endif
