/* offline_ads/offline_ads.h - ads that stand for machines that are asleep or not provisioned yet.
 *
 * Pure functions over ads, used by startd (makes them before it sleeps), collector (keeps, replaces
 * and expires them) and, later, factory.  Names and rules are those of HTCondor's offline ads and
 * of the campus factory: an offline ad is a machine ad with Offline = true that looks unclaimed and
 * idle, so that the negotiator matches it as if the machine were up.
 *
 * There are two kinds.  A *hibernating* machine's ad keeps its Name and carries OfflineBootId, the
 * boot that went to sleep; the first live ad of that Machine under another boot id replaces all
 * offline ads of the Machine.  A *sample* of what a site can give has a Name of its own, the
 * original's in PreviousName, and no live ad ever replaces it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef OFFLINE_ADS_OFFLINE_ADS_H
#define OFFLINE_ADS_OFFLINE_ADS_H

#include <stdbool.h>
#include <stdint.h>

struct ad;

struct offline_ads_how {
    int64_t now_s;
    int64_t lifetime_s;      /* ClassAdLifetime: how long the collector is to keep it; > 0 */
    const char *sample_name; /* NULL: a hibernating machine; else the Name of a sample */
    const char *reason;      /* PowerStateReason; NULL: none */
};

/* A new ad (ad_destroy) from a live one:
 *   set      Offline = true, MyCurrentTime = LastHeardFrom = EnteredCurrentState = ... = now,
 *            ClassAdLifetime, State "Unclaimed", Activity "Idle", load averages 0, PowerState
 *            "Off", EnteredPowerState and PowerStateReason, OfflineBootId (hibernating) or Name and
 *            PreviousName (sample)
 *   added    Unhibernate = MY.MachineLastMatchTime =!= undefined, where the live ad has none;
 *            OfflineSince = now, OfflineAge = time() - MY.OfflineSince, for Rank
 *   removed  MachineLastMatchTime, OfflineMatches, what tells of a claim (ClaimId and all private
 *            attributes, RemoteOwner, RemoteUser, JobId, ...), MyAddress and StartdUplink: nobody
 *            answers there
 * All else, Requirements and Rank above all, stays as it is. */
struct ad *offline_ads_make(const struct ad *live, const struct offline_ads_how *how);

bool offline_ads_is(const struct ad *ad);        /* Offline is true, Absent is not */
bool offline_ads_is_sample(const struct ad *ad); /* offline, with a PreviousName */

/* When it is to be forgotten: LastHeardFrom + ClassAdLifetime, but not later than LastHeardFrom +
 * expire_after_s (OFFLINE_EXPIRE_ADS_AFTER; 0: no such limit).  INT64_MAX: never. */
int64_t offline_ads_expires_s(const struct ad *offline, int64_t expire_after_s);

enum offline_ads_meeting {
    OFFLINE_ADS_UNRELATED, /* another machine, a sample, or not a live and an offline ad */
    OFFLINE_ADS_SAME_BOOT, /* the live ad was sent by the boot that went to sleep */
    OFFLINE_ADS_REPLACED,  /* the machine is up again: the offline ad is over */
};
/* What a live ad says about an offline one.  Machine names compare without case.  A live ad without
 * BootId says nothing: SAME_BOOT; an offline ad without OfflineBootId is replaced by any. */
enum offline_ads_meeting offline_ads_meet(const struct ad *offline, const struct ad *live);

#endif
