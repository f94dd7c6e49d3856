/* offline_ads/offline_ads.h - ads that stand for machines that are asleep or not provisioned yet.
 *
 * Pure functions over ads, used by the startd (makes them before it sleeps), the collector (keeps,
 * replaces and expires them) and, later, the factory.  Names and rules are those of HTCondor's
 * offline ads and of the campus factory.  An offline ad is a machine ad with Offline = true that
 * looks unclaimed and idle, so that the negotiator matches it as if the machine were up.
 *
 * There are two kinds.  The ad of a *hibernating* machine keeps its Name and has OfflineBootId, the
 * boot that went to sleep; the first live ad of that Machine from another boot replaces all offline
 * ads of the Machine.  A *sample* of what a site can give has a Name of its own, with the original
 * Name in PreviousName; no live ad ever replaces it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef OFFLINE_ADS_OFFLINE_ADS_H
#define OFFLINE_ADS_OFFLINE_ADS_H

#include <stdbool.h>
#include <stdint.h>

struct ad;

/* How to make an offline ad. */
struct offline_ads_how {
    int64_t now_s;           /* the current time, seconds since 1970 */
    int64_t lifetime_s;      /* ClassAdLifetime: how many seconds the collector keeps the ad; > 0 */
    const char *sample_name; /* Name for a sample ad; NULL: make the ad of a hibernating machine */
    const char *reason;      /* text for PowerStateReason; NULL: none */
};

/* Makes a new ad (free it with ad_destroy()) from a live one.
 *
 * Sets Offline = true; MyCurrentTime, LastHeardFrom, EnteredCurrentState and similar times to now;
 * ClassAdLifetime; State "Unclaimed" and Activity "Idle"; load averages 0; PowerState "Off",
 * EnteredPowerState and PowerStateReason; for a hibernating machine OfflineBootId, for a sample
 * Name and PreviousName.
 *
 * Adds Unhibernate = MY.MachineLastMatchTime =!= undefined, unless the live ad has Unhibernate; and
 * for use in Rank, OfflineSince = now and OfflineAge, the seconds since then: never below
 * 0, although the wall clock of who asks may be before OfflineSince.
 *
 * PreviousMatchTime is the MachineLastMatchTime of the live ad.
 *
 * Removes MachineLastMatchTime and OfflineMatches; everything about a claim (ClaimId and all
 * private attributes, RemoteOwner, RemoteUser, JobId, ...); and MyAddress and StartdUplink, because
 * nobody answers there.
 *
 * All other attributes, above all Requirements and Rank, stay as they are. */
struct ad *offline_ads_make(const struct ad *live, const struct offline_ads_how *how);

/* Gives a partitionable slot in ad back what its dynamic slots had: Memory is TotalSlotMemory, and
 * so on; the lists of dynamic slots (ChildCpus, ChildName...) are empty.  Other ads stay as they
 * are. */
void offline_ads_make_whole(struct ad *ad);

/* The collector's mark in the ad of a machine that it does not hear any more: the time since which
 * it has not, seconds since 1970. */
#define OFFLINE_ADS_SILENT "NotRespondingSince"
/* Returns whether ad has this mark.  What else the ad says, above all its State, is then of the
 * past: nobody knows whether the machine is on. */
bool offline_ads_is_silent(const struct ad *ad);

/* Returns whether no job may wait for the machine of an offline ad: its wake has failed, its state
 * is not known, somebody keeps it off or has locked it, or it does not respond. */
bool offline_ads_is_barred(const struct ad *ad);

/* returns whether Offline is true in ad and Absent is not */
bool offline_ads_is(const struct ad *ad);
/* Returns whether ad is a sample: an offline ad with a PreviousName. */
bool offline_ads_is_sample(const struct ad *ad);

/* Returns for how many seconds after it was last heard of the collector keeps the ad:
 * ClassAdLifetime, but at most expire_after_s (OFFLINE_EXPIRE_ADS_AFTER; 0: no such limit).
 * INT64_MAX: for ever. */
int64_t offline_ads_lifetime_s(const struct ad *offline, int64_t expire_after_s);

/* How a live ad relates to an offline one. */
enum offline_ads_meeting {
    /* the ads are of different machines, or the offline ad is a sample, or the arguments are not an
     * offline ad and a live ad */
    OFFLINE_ADS_UNRELATED,
    /* the machine has sent the live ad in the boot in which it went to sleep */
    OFFLINE_ADS_SAME_BOOT,
    OFFLINE_ADS_REPLACED, /* the machine is up again: remove the offline ad */
};
/* Compares a live ad with an offline one.  Machine names are compared without case.  A live ad
 * without BootId counts as SAME_BOOT; an offline ad without OfflineBootId is replaced by any live
 * ad. */
enum offline_ads_meeting offline_ads_meet(const struct ad *offline, const struct ad *live);

#endif
