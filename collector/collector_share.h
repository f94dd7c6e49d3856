/* collector/collector_share.h - limits how many ads one token may have for one Machine.
 *
 * A machine's token allows it to advertise under its own name, but does not limit how often: one
 * token could fill the tables with slots that do not exist.  What counts:
 *    - slots, static and partitionable: as many as the token says (`slots`), else 64 of each
 * Machine. A number in the token is for all Machines together: a token that many glideins share is
 * made with glideins x slots.
 *    - pieces of partitionable slots (DynamicSlot = true): sixteen times as many, because a machine
 *      of 512 cores that runs jobs of one core has 512 pieces beside its one slot.
 *    - ads of other types: as many as slots, and at least 16.
 *    - their bytes: 16 MiB for each 64 slots, or part of 64.
 *
 * An offline ad is that of its slot, and counts once.  Administrators are exempt.  So are ads of
 * the pool's own daemons, except those of type Machine: a schedd has one for each submitter and
 * autocluster, and COLLECTOR_MAX_ADS_PER_IDENTITY bounds these.
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

#define SHARE_PIECES      16 /* pieces for each slot */
#define SHARE_OTHERS_MIN  16
#define SHARE_BYTES       ((size_t)16 << 20) /* bytes of ads for each SHARE_BYTES_SLOTS slots */
#define SHARE_BYTES_SLOTS 64

enum share_kind { SHARE_SLOTS, SHARE_DYNAMIC, SHARE_OTHERS, SHARE_KINDS };

/* How an ad in the tables is counted; zero-initialized: not at all. */
struct share_holding {
    struct share *share; /* NULL: not counted */
    enum share_kind kind;
    size_t bytes;
};

struct shares *shares_create(void);
void shares_destroy(struct shares *shares); /* call it after all holdings are dropped */

/* Call it when a message begins: forgets what was admitted for the last message and is not held. */
void shares_begin(struct shares *shares);
/* An ad that a peer wants to have. */
struct share_claim {
    const struct wire_peer *peer;
    const struct ad *ad;
    size_t bytes;
    bool is_machine;   /* its type is Machine */
    bool same_machine; /* its Machine is that of the ad it replaces */
};
/* Checks whether the peer may have this ad instead of the one counted as `old` (NULL: in addition).
 * Returns 0 and sets *ret, which must be passed to share_hold() or share_drop(); or -EDQUOT, and
 * err names the token, the number and the limit.  O(1); for the renewal of an ad nothing is looked
 * up. */
int shares_admit(struct shares *shares, const struct share_claim *claim,
                 const struct share_holding *old, struct share_holding *ret, struct err *err);
/* Returns whether the ad is counted for the token with this id. */
bool share_is_of(const struct share_holding *holding, const char *token_id);
void share_drop(struct share_holding *holding); /* gives up what shares_admit() returned */
/* Counts the ad with holding `old` as `fresh` from now on; takes over fresh.  NULL: the ad is
 * removed. */
void share_hold(struct share_holding *old, struct share_holding *fresh);

#endif
