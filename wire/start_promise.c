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

bool start_watch_note(struct start_watch *watch, struct start_counts *counts,
                      enum start_reason reason, uint64_t now_ms, uint64_t promise_ms)
{
    if (promise_ms == 0) {
        reason = START_KEPT;
    }
    if (reason != watch->reason) {
        counts->late -= watch->reason == START_LATE && watch->told ? 1 : 0;
        *watch = (struct start_watch){.reason = reason, .since_ms = now_ms};
    }
    if (reason == START_KEPT || watch->told || now_ms - watch->since_ms <= promise_ms) {
        return false;
    }
    watch->told = true;
    counts->counted[reason]++;
    counts->late += reason == START_LATE ? 1 : 0;
    return reason == START_LATE;
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
