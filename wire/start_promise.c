/* wire/start_promise.c - see start_promise.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wire/start_promise.h"

#include "classad/ad.h"

static const char *const EXCUSES[START_REASONS] = {
    [START_CONCURRENCY_LIMIT] = "StartExcusedConcurrencyLimit",
    [START_SUBMITTER_CEILING] = "StartExcusedSubmitterCeiling",
    [START_GROUP_QUOTA] = "StartExcusedGroupQuota",
    [START_MATCH_DECLINED] = "StartExcusedMatchDeclined",
    [START_SLOT_IN_USE] = "StartExcusedSlotInUse",
    [START_DELAYED] = "StartExcusedDelayed",
    [START_MACHINE_SILENT] = "StartExcusedMachineSilent",
};

void start_watch_note(struct start_watch *watch, struct start_counts *counts,
                      enum start_reason reason, uint64_t now_ms, uint64_t promise_ms)
{
    if (promise_ms == 0) {
        reason = START_KEPT;
    }
    if (reason != watch->reason) {
        counts->late -= watch->late ? 1 : 0;
        watch->reason = reason;
        watch->since_ms = now_ms;
        watch->told = watch->late = false;
    }
    if (reason == START_LATE && watch->over_ms != 0) {
        watch->waited_ms = now_ms - watch->since_ms > watch->waited_ms ? now_ms - watch->since_ms
                                                                       : watch->waited_ms;
    }
    if (reason == START_KEPT || watch->told || now_ms - watch->since_ms <= promise_ms) {
        return;
    }
    watch->told = true;
    if (reason != START_LATE) {
        counts->counted[reason]++;
    } else if (watch->over_ms == 0) { /* else: judged together */
        watch->over_ms = now_ms;
        watch->waited_ms = now_ms - watch->since_ms;
        counts->unjudged++;
    }
}

uint64_t start_watch_judge(struct start_watch *watch, struct start_counts *counts,
                           enum start_peers peers, uint64_t now_ms, uint64_t silence_ms)
{
    if (watch->over_ms == 0) {
        return 0;
    }
    if (peers == START_PEERS_UNKNOWN) {
        watch->over_ms = now_ms; /* silence is known so long after it can be known again */
        return 0;
    }
    if (peers == START_PEERS_HEARD && now_ms - watch->over_ms < silence_ms) {
        return 0;
    }
    uint64_t waited_ms = peers == START_PEERS_HEARD ? watch->waited_ms : 0;
    counts->unjudged--;
    counts->counted[waited_ms != 0 ? START_LATE : START_MACHINE_SILENT]++;
    watch->late = waited_ms != 0 && watch->reason == START_LATE && watch->told;
    counts->late += watch->late ? 1 : 0;
    watch->over_ms = watch->waited_ms = 0;
    return waited_ms;
}

void start_counts_put(const struct start_counts *counts, uint64_t promise_ms, struct ad *ad)
{
    ad_set_real(ad, "StartPromise", (double)promise_ms / 1000);
    ad_set_int(ad, "StartPromisesBroken", (int64_t)counts->counted[START_LATE]);
    ad_set_int(ad, "StartPromisesLate", counts->late);
    for (unsigned i = 0; i < START_REASONS; i++) {
        if (EXCUSES[i] != NULL && counts->counted[i] > 0) {
            ad_set_int(ad, EXCUSES[i], (int64_t)counts->counted[i]);
        }
    }
}
