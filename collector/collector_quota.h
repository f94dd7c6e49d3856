/* collector/collector_quota.h - limits how many ads and bytes one identity may have in the
 * collector.
 *
 * A stolen token or a faulty script must not fill the tables for everybody.  An ad counts with the
 * bytes of the message that sent it last.  Ads that were read from the store when the collector
 * started count again once they are renewed.
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

/* Returns the counts of the ads that this identity has in the tables; makes them if they do not
 * exist.  They live as long as the collector. */
struct ads_account *collector_account(struct collector *collector, const char *identity);

#define SAY_AT_ONCE  8
#define SAY_PAUSE_MS 60000
struct ads_said;
/* Returns whether a log line about an identity's ads may be written: the first SAY_AT_ONCE times,
 * then once in SAY_PAUSE_MS milliseconds.  said->unsaid counts the calls since the last line,
 * including the call that returns true; the caller sets said->unsaid to 0 when it has written the
 * line. */
bool collector_may_say(const struct collector *collector, struct ads_said *said);

/* Ads of one message that were admitted and are not in the tables yet. */
struct quota_pending {
    size_t ads;
    long long bytes;
};
/* Checks whether the identity may have this ad, of that many bytes, in place of the ad of entry
 * (NULL: a new ad).  Returns 0 and counts the ad in pending; -EDQUOT: the identity would exceed its
 * quota, and err names the identity, the quota and the use; -E2BIG: the ad has too many bytes or
 * attributes.  account: the counts of this identity (collector_account()); name: the ad's name, for
 * err. */
int collector_quota_admit(struct collector *collector, const char *identity,
                          const struct ads_account *account, const struct ads_entry *entry,
                          const char *name, const struct ad *ad, size_t bytes,
                          struct quota_pending *pending, struct err *err);

#endif
