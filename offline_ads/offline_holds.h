/* offline_ads/offline_holds.h - holds: which jobs wait for a machine that is being woken
 * (OfflineMatches).
 *
 * A negotiator that matches a request to an offline ad writes into that ad how many jobs of which
 * request are to run there.  So the next cycle does not wake a second machine for the same job, and
 * a restarted negotiator still knows of these jobs.  OfflineMatches is a list of nested ads:
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

/* most entries in one ad's OfflineMatches; further entries are ignored */
#define OFFLINE_HOLDS_MAX       256
#define OFFLINE_HOLDS_COUNT_MAX 1000000

struct ad;
struct offline_holds;

/* The jobs of one request that wait for the machine. */
struct offline_hold {
    const char *schedd;   /* ScheddName of the request */
    int64_t auto_cluster; /* AutoClusterId of the request */
    int64_t count;        /* number of jobs, 1 to OFFLINE_HOLDS_COUNT_MAX */
    int64_t until_s;      /* when the hold ends, seconds since 1970 */
    int64_t since_s;      /* time at which the oldest of the jobs was submitted; 0: not known */
};

/* Reads OfflineMatches of ad; the caller owns the result.  If the attribute is missing or
 * malformed, there are no holds; a malformed entry is left out. */
struct offline_holds *offline_holds_read(const struct ad *ad);
struct offline_holds *offline_holds_create(void);
void offline_holds_destroy(struct offline_holds *holds); /* NULL is allowed */
/* Sets OfflineMatches in ad, or removes it if there are no holds. */
void offline_holds_write(const struct offline_holds *holds, struct ad *ad);

/* Returns the number of entries.  For this and all other functions with a const first argument,
 * except offline_holds_at(), NULL means no holds. */
size_t offline_holds_entries(const struct offline_holds *holds);
/* Returns the entry with that index, which must be below offline_holds_entries().  Borrowed; valid
 * until holds change. */
const struct offline_hold *offline_holds_at(const struct offline_holds *holds, size_t index);
/* returns the number of jobs of all entries together */
int64_t offline_holds_total(const struct offline_holds *holds);
/* Returns the earliest since_s of all entries; 0 if some entry has since_s 0 (not known); INT64_MAX
 * if there are no entries. */
int64_t offline_holds_since_s(const struct offline_holds *holds);
/* Returns the number of jobs for which a request, named by schedd and auto_cluster, has a hold; 0:
 * none. */
int64_t offline_holds_of(const struct offline_holds *holds, const char *schedd,
                         int64_t auto_cluster);

/* Adds a hold.  If its request has an entry already, both become one: counts are added, and the
 * later until_s and the earlier since_s are kept.  Returns 0; -E2BIG if there are OFFLINE_HOLDS_MAX
 * other entries; -EINVAL if count is below 1 or the sum is above OFFLINE_HOLDS_COUNT_MAX. */
int offline_holds_add(struct offline_holds *holds, const struct offline_hold *hold);
/* Removes the entry of the request that is named by schedd and auto_cluster.  Returns how many jobs
 * it had. */
int64_t offline_holds_clear(struct offline_holds *holds, const char *schedd, int64_t auto_cluster);
/* Removes all holds that have ended at now_s (seconds since 1970).  Returns how many jobs they
 * had. */
int64_t offline_holds_prune(struct offline_holds *holds, int64_t now_s);

#endif
