/* collector/collector_quota.h - how much of the collector one identity may have.
 *
 * A token that got out, or a script gone wild, must not fill the table for everybody.  What counts
 * are live ads as they were sent last; ads that were read from the store count again when they are
 * renewed.
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

/* The account of that identity, made where there is none; lives as long as the collector. */
struct ads_account *collector_account(struct collector *collector, const char *identity);

/* May something be logged of an identity's ads?  The first SAY_AT_ONCE times; then once in
 * SAY_PAUSE_MS, with said->unsaid for how often it was meanwhile, which is the caller's to reset.
 */
#define SAY_AT_ONCE  8
#define SAY_PAUSE_MS 60000
struct ads_said;
bool collector_may_say(const struct collector *collector, struct ads_said *said);

/* Ads of one message that were admitted and are not in the table yet. */
struct quota_pending {
    size_t ads;
    long long bytes;
};
/* May the identity have this ad, of so many bytes, in place of what entry (NULL: nothing) is?  0,
 * counted in pending; -EDQUOT names the identity, the quota and the use; -E2BIG: an ad of too many
 * bytes or attributes. */
int collector_quota_admit(struct collector *collector, const char *identity,
                          const struct ads_account *account, const struct ads_entry *entry,
                          const char *name, const struct ad *ad, size_t bytes,
                          struct quota_pending *pending, struct err *err);

#endif
