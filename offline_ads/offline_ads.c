/* offline_ads/offline_ads.c - see offline_ads.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "offline_ads/offline_ads.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/text.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "classad/ad_eval.h"
#include "classad/ad_value.h"

/* Attributes that belong to one run of a machine and are not true of the next. */
static const char *const REMOVED[] = {
    "MachineLastMatchTime",
    "OfflineMatches",
    "RemoteOwner",
    "RemoteUser",
    "RemoteGroup",
    "RemoteNegotiatingGroup",
    "JobId",
    "GlobalJobId",
    "JobStart",
    "ClientMachine",
    "CurrentRank",
    "PublicClaimId",
    "PublicClaimIds",
    "GivenClaims",
    "ConcurrencyLimits",
    "TotalJobRunTime",
    "TotalJobSuspendTime",
    "TotalClaimRunTime",
    "TotalClaimSuspendTime",
    "MyAddress",
    "StartdUplink",
    "HibernationState",
    "PoolIdleJobs",
    "PoolIdleJobsWait",
    "MatchingIdleJobs",
    "MatchingIdleJobsWait",
};

static const char *const LOADS[] = {"LoadAvg", "CondorLoadAvg", "TotalLoadAvg",
                                    "TotalCondorLoadAvg"};

static const char *const NOW[] = {"MyCurrentTime", "LastHeardFrom", "EnteredCurrentState",
                                  "EnteredCurrentActivity", "EnteredPowerState"};

/* Nobody types on a sleeping machine.  Otherwise START of a desktop would be false as long as the
 * owner's last keystroke, which sent it to sleep, counts. */
static const char *const IDLES[] = {"KeyboardIdle", "ConsoleIdle"};

static void let_idleness_grow(struct ad *ad)
{
    for (size_t i = 0; i < ARRAY_COUNT(IDLES); i++) {
        int64_t idle_s = ad_int_or(ad, IDLES[i], -1);
        if (idle_s >= 0) {
            char text[64];
            (void)snprintf(text, sizeof text, "MY.OfflineAge + %" PRId64, idle_s);
            CHECK(ad_set_expr(ad, IDLES[i], text, NULL) == 0);
        }
    }
}

static void remove_private(struct ad *ad)
{
    struct vec names = {0};
    size_t at = 0;
    const char *name;
    while (ad_next(ad, &at, &name, NULL)) {
        if (ad_attr_is_private(name)) {
            vec_push(&names, (void *)(uintptr_t)name);
        }
    }
    for (size_t i = 0; i < names.count; i++) {
        ad_remove(ad, names.items[i]);
    }
    vec_fini(&names, NULL);
}

struct ad *offline_ads_make(const struct ad *live, const struct offline_ads_how *how)
{
    CHECK(how->lifetime_s > 0);
    struct ad *ad = ad_copy(live);
    remove_private(ad);
    for (size_t i = 0; i < ARRAY_COUNT(REMOVED); i++) {
        ad_remove(ad, REMOVED[i]);
    }
    if (ad_has(live, "MachineLastMatchTime")) { /* else that of an earlier boot, if it has one */
        (void)ad_copy_attr(ad, "PreviousMatchTime", live, "MachineLastMatchTime"); /* is there */
    }
    for (size_t i = 0; i < ARRAY_COUNT(LOADS); i++) {
        if (ad_has(ad, LOADS[i]) || i == 0) {
            ad_set_real(ad, LOADS[i], 0.0);
        }
    }
    for (size_t i = 0; i < ARRAY_COUNT(NOW); i++) {
        ad_set_int(ad, NOW[i], how->now_s);
    }
    if (ad_copy_attr(ad, "PowerDrawWatts", live, "PowerAsleepWatts") != 0) {
        ad_remove(ad, "PowerDrawWatts");
    }
    ad_set_bool(ad, "Offline", true);
    ad_set_int(ad, "ClassAdLifetime", how->lifetime_s);
    ad_set_string(ad, "State", "Unclaimed");
    ad_set_string(ad, "Activity", "Idle");
    ad_set_string(ad, "PowerState", "Off");
    if (how->reason) {
        ad_set_string(ad, "PowerStateReason", how->reason);
    } else {
        ad_remove(ad, "PowerStateReason");
    }
    if (how->sample_name) {
        if (ad_copy_attr(ad, "PreviousName", live, "Name") != 0) {
            ad_set_string(ad, "PreviousName", "");
        }
        ad_set_string(ad, "Name", how->sample_name);
        ad_remove(ad, "OfflineBootId");
    } else if (ad_copy_attr(ad, "OfflineBootId", live, "BootId") != 0) {
        ad_remove(ad, "OfflineBootId");
    }
    if (!ad_has(ad, "Unhibernate")) {
        CHECK(ad_set_expr(ad, "Unhibernate", "MY.MachineLastMatchTime =!= undefined", NULL) == 0);
    }
    ad_set_int(ad, "OfflineSince", how->now_s);
    CHECK(ad_set_expr(ad, "OfflineAge", "MY.OfflineSince < time() ? time() - MY.OfflineSince : 0",
                      NULL) == 0);
    let_idleness_grow(ad);
    return ad;
}

static bool is_list(const struct ad *ad, const char *name)
{
    struct ad_value value;
    (void)ad_eval_attr(ad, NULL, name, NULL, &value); /* an error is not a list */
    bool yes = value.type == AD_TYPE_LIST;
    ad_value_fini(&value);
    return yes;
}

void offline_ads_make_whole(struct ad *ad)
{
    static const char TOTAL[] = "TotalSlot", CHILD[] = "Child";
    if (!ad_bool_or(ad, "PartitionableSlot", false)) {
        return;
    }
    struct ad *before = ad_copy(ad);
    size_t at = 0;
    const char *name;
    while (ad_next(before, &at, &name, NULL)) {
        const char *resource = name + sizeof TOTAL - 1;
        if (strncmp(name, TOTAL, sizeof TOTAL - 1) == 0 && ad_has(before, resource)) {
            (void)ad_copy_attr(ad, resource, before, name); /* it is there */
        } else if (strncmp(name, CHILD, sizeof CHILD - 1) == 0 && is_list(before, name)) {
            ad_set_strings(ad, name, NULL, 0);
        }
    }
    if (ad_has(ad, "NumDynamicSlots")) {
        ad_set_int(ad, "NumDynamicSlots", 0);
    }
    ad_destroy(before);
}

bool offline_ads_is_silent(const struct ad *ad)
{
    return ad_has(ad, OFFLINE_ADS_SILENT);
}

bool offline_ads_is_barred(const struct ad *ad)
{
    const char *state = ad_string_or(ad, "PowerState", "");
    return text_equal_nocase(state, "WakeFailed") || text_equal_nocase(state, "Unknown") ||
           ad_bool_or(ad, "PowerLocked", false) || ad_bool_or(ad, "PowerKeptOff", false) ||
           offline_ads_is_silent(ad);
}

bool offline_ads_is(const struct ad *ad)
{
    return ad_bool_or(ad, "Offline", false) && !ad_bool_or(ad, "Absent", false);
}

bool offline_ads_is_sample(const struct ad *ad)
{
    return offline_ads_is(ad) && ad_has(ad, "PreviousName");
}

int64_t offline_ads_lifetime_s(const struct ad *offline, int64_t expire_after_s)
{
    int64_t lifetime_s = ad_int_or(offline, "ClassAdLifetime", 0);
    if (lifetime_s <= 0 || (expire_after_s > 0 && expire_after_s < lifetime_s)) {
        lifetime_s = expire_after_s;
    }
    return lifetime_s > 0 ? lifetime_s : INT64_MAX;
}

enum offline_ads_meeting offline_ads_meet(const struct ad *offline, const struct ad *live)
{
    if (!offline_ads_is(offline) || offline_ads_is(live) || offline_ads_is_sample(offline)) {
        return OFFLINE_ADS_UNRELATED;
    }
    const char *machine = ad_string_or(offline, "Machine", "");
    if (!*machine || !text_equal_nocase(machine, ad_string_or(live, "Machine", ""))) {
        return OFFLINE_ADS_UNRELATED;
    }
    const char *slept = ad_string_or(offline, "OfflineBootId", "");
    const char *boot = ad_string_or(live, "BootId", "");
    if (!*slept) {
        return OFFLINE_ADS_REPLACED;
    }
    if (!*boot || text_equal_nocase(slept, boot)) {
        return OFFLINE_ADS_SAME_BOOT;
    }
    return OFFLINE_ADS_REPLACED;
}
