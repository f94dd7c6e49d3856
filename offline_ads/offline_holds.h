/* offline_ads/offline_holds.h - who waits for a machine that is being woken: OfflineMatches.
 *
 * The negotiator that matches a request to an offline ad writes down in the ad itself how many jobs
 * of which request are to run there, so that the next cycle does not wake a second machine for the
 * same job, and a negotiator that was killed forgets nothing.  In the ad it is a list of nested
 * ads:
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

#define OFFLINE_HOLDS_MAX       256 /* entries in one ad; more are not read */
#define OFFLINE_HOLDS_COUNT_MAX 1000000

struct ad;
struct offline_holds;

struct offline_hold {
    const char *schedd;   /* ScheddName of the request */
    int64_t auto_cluster; /* its AutoClusterId */
    int64_t count;        /* jobs, 1 to OFFLINE_HOLDS_COUNT_MAX */
    int64_t until_s;      /* not counted from then on */
    int64_t since_s;      /* when the oldest of the jobs was submitted; 0: not known */
};

/* An absent or malformed attribute is no holds; a malformed entry is left out. */
struct offline_holds *offline_holds_read(const struct ad *ad);
struct offline_holds *offline_holds_create(void);
void offline_holds_destroy(struct offline_holds *holds); /* NULL is allowed */
/* Sets OfflineMatches, or removes it when there is nothing to hold. */
void offline_holds_write(const struct offline_holds *holds, struct ad *ad);

/* Of those that only look, all but offline_holds_at() take NULL for no holds. */
size_t offline_holds_entries(const struct offline_holds *holds);
/* index < entries; valid until holds are changed */
const struct offline_hold *offline_holds_at(const struct offline_holds *holds, size_t index);
int64_t offline_holds_total(const struct offline_holds *holds); /* jobs of all entries */
/* The least since_s of all entries: 0 when one of them is not known, INT64_MAX when there are none.
 */
int64_t offline_holds_since_s(const struct offline_holds *holds);
/* Jobs of one request, 0 when it has none. */
int64_t offline_holds_of(const struct offline_holds *holds, const char *schedd,
                         int64_t auto_cluster);

/* count more jobs of that request (counts of one request are one entry, the later until and the
 * earlier since win).
 * -E2BIG: OFFLINE_HOLDS_MAX other entries; -EINVAL: count < 1, or too many jobs. */
int offline_holds_add(struct offline_holds *holds, const struct offline_hold *hold);
/* Takes all jobs of that request away; returns how many there were. */
int64_t offline_holds_clear(struct offline_holds *holds, const char *schedd, int64_t auto_cluster);
/* Takes away what is over at now_s; returns how many jobs that were. */
int64_t offline_holds_prune(struct offline_holds *holds, int64_t now_s);

#endif
