/* collector/collector_share.h - limits how many ads one token may have for one Machine.
 *
 * A machine's token allows it to advertise under its own name, but does not limit how often: one
 * token could fill the tables with slots that do not exist.  These limits apply:
 *    - slots, static and partitionable: the number that the token says (`slots`), for all Machines
 *      together, so a token that many glideins share is made with glideins x slots.  If the token
 *      says no number: 64 for each Machine.
 *    - pieces of partitionable slots (DynamicSlot = true): sixteen times the limit of slots,
 *      because a machine of 512 cores that runs jobs of one core has 512 pieces beside its slot.
 *    - ads of other types: the limit of slots, but at least 16.
 *    - bytes of all these ads: 16 MiB for each 64 slots of the limit, the last 64 begun counted
 *      as full.
 *
 * An offline ad replaces the live ad of its slot, so a slot counts once.  Administrators are
 * exempt.  Ads of the pool's own daemons are exempt too, except ads of type Machine: a schedd has
 * an ad for each submitter and autocluster, which COLLECTOR_MAX_ADS_PER_IDENTITY limits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COLLECTOR_COLLECTOR_SHARE_H
#define COLLECTOR_COLLECTOR_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ad;
struct err;
struct share;
struct shares;
struct wire_peer;

/* A token that may have N slots may have SHARE_PIECES * N pieces of partitionable slots. */
#define SHARE_PIECES     16
#define SHARE_OTHERS_MIN 16
/* Most bytes of all ads of a token, for each 64 slots (SHARE_BYTES_SLOTS) that the token may have;
 * a rest of fewer slots counts as 64. */
#define SHARE_BYTES       ((size_t)16 << 20)
#define SHARE_BYTES_SLOTS 64

enum share_kind { SHARE_SLOTS, SHARE_DYNAMIC, SHARE_OTHERS, SHARE_KINDS };

/* How an ad in the tables counts toward the limits of its token.  If all zero, the ad does not
 * count. */
struct share_holding {
    struct share *share; /* the counts that include the ad; NULL: the ad does not count */
    enum share_kind kind;
    size_t bytes;
};

struct shares *shares_create(void);
/* Frees the counts of all tokens.  To be called after all holdings were dropped. */
void shares_destroy(struct shares *shares);

/* To be called when the ads of a new message from a peer are about to be admitted.  Ads that
 * shares_admit() admitted for the message before, and that share_hold() did not count, no longer
 * count. */
void shares_begin(struct shares *shares);
/* An ad that a peer has sent, and wants to have in the tables. */
struct share_claim {
    const struct wire_peer *peer;
    const struct ad *ad;
    size_t bytes;
    bool is_machine;   /* the ad's type is Machine */
    bool same_machine; /* the ad has the same Machine as the ad that it replaces */
};
/* Checks whether the peer may have this ad in place of the ad that is counted as `old` (NULL: a new
 * ad).  Returns 0 and sets *ret, which must be passed to share_hold() or share_drop(); or -EDQUOT:
 * a limit would be exceeded, and err names the token, the number and the limit. */
int shares_admit(struct shares *shares, const struct share_claim *claim,
                 const struct share_holding *old, struct share_holding *ret, struct err *err);
/* Returns whether the ad that has this holding was sent with the token that has this id. */
bool share_is_of(const struct share_holding *holding, const char *token_id);
/* Gives up a holding that shares_admit() made and that is not needed. */
void share_drop(struct share_holding *holding);
/* Replaces `old`, the holding of an ad in the tables, by `fresh`, which it takes over: the ad
 * counts as `fresh` from now on.  fresh NULL: the ad is removed and does not count any more. */
void share_hold(struct share_holding *old, struct share_holding *fresh);

#endif
