/* collector/collector_quota.h - limits how many ads and bytes one identity may have in the
 * collector.
 *
 * A stolen token or a faulty script must not fill the tables for everybody.  Live ads count, as
 * last sent; ads that were read from the store count again once they are renewed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COLLECTOR_COLLECTOR_QUOTA_H
#define COLLECTOR_COLLECTOR_QUOTA_H

#include <stdbool.h>
#include <stddef.h>

struct ad;
struct ads_account;
struct ads_entry;
struct collector;
struct err;

/* Returns the account of that identity, made if it does not exist; lives as long as the
 * collector. */
struct ads_account *collector_account(struct collector *collector, const char *identity);

/* Returns whether a log line about an identity's ads may be written: the first SAY_AT_ONCE times,
 * then once in SAY_PAUSE_MS.  said->unsaid counts the lines suppressed in between; the caller
 * resets it. */
#define SAY_AT_ONCE  8
#define SAY_PAUSE_MS 60000
struct ads_said;
bool collector_may_say(const struct collector *collector, struct ads_said *said);

/* Ads of one message that were admitted and are not in the tables yet. */
struct quota_pending {
    size_t ads;
    long long bytes;
};
/* Checks whether the identity may have this ad of that many bytes instead of the ad of entry (NULL:
 * in addition).  Returns 0 and counts it in pending; -EDQUOT, and err names the identity, the quota
 * and the use; -E2BIG when the ad has too many bytes or attributes. */
int collector_quota_admit(struct collector *collector, const char *identity,
                          const struct ads_account *account, const struct ads_entry *entry,
                          const char *name, const struct ad *ad, size_t bytes,
                          struct quota_pending *pending, struct err *err);

#endif
