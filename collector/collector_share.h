/* collector/collector_share.h - how many ads one token may have of one Machine.
 *
 * A machine's token lets it advertise under its own name, and nothing else said how often: one
 * token could fill the tables with slots that do not exist.  What counts:
 *
 *   - slots, static and partitionable ones: as many as the token says (`slots`); of a token that
 * says none, 64 of each Machine.  A number in the token is for all Machines together: a bundle that
 *     many glideins share is made with glideins x slots.
 *   - pieces of partitionable slots (DynamicSlot = true): sixteen times as many, because a machine
 * of 512 cores that runs jobs of one core has 512 of them beside its one slot.
 *   - ads of other types: as many as slots, and at least 16.
 *   - their bytes: 16 MiB for each 64 slots, or part of 64.
 *
 * An offline ad is that of its slot, and counts once.  Administrators are exempt; so are ads of
 * other types than Machine of the pool's own daemons, which have one for each submitter and
 * autocluster: COLLECTOR_MAX_ADS_PER_IDENTITY bounds those.
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

#define SHARE_PIECES      16 /* of each slot */
#define SHARE_OTHERS_MIN  16
#define SHARE_BYTES       ((size_t)16 << 20) /* for each SHARE_BYTES_SLOTS */
#define SHARE_BYTES_SLOTS 64

enum share_kind { SHARE_SLOTS, SHARE_DYNAMIC, SHARE_OTHERS, SHARE_KINDS };

/* What an ad in the tables is counted as; zero-initialized it is not. */
struct share_holding {
    struct share *share; /* NULL: nobody's */
    enum share_kind kind;
    size_t bytes;
};

struct shares *shares_create(void);
void shares_destroy(struct shares *shares); /* after all holdings */

/* A message begins: what was admitted and not held of the last one is forgotten. */
void shares_begin(struct shares *shares);
struct share_claim {
    const struct wire_peer *peer;
    const struct ad *ad;
    size_t bytes;
    bool is_machine;   /* of type Machine */
    bool same_machine; /* its Machine is that of the ad that it replaces */
};
/* May the peer have this ad in place of one that is held as `old` (NULL: of none)?  0, and *ret is
 * what it is to be held as: for share_hold() or share_drop().  -EDQUOT names the token, the number
 * and the limit.  O(1), and nothing is looked up for an ad that is renewed. */
int shares_admit(struct shares *shares, const struct share_claim *claim,
                 const struct share_holding *old, struct share_holding *ret, struct err *err);
/* Is it held with that token? */
bool share_is_of(const struct share_holding *holding, const char *token_id);
void share_drop(struct share_holding *holding); /* what was admitted is not to be held */
/* The ad with `old` is counted as fresh (taken; NULL: the ad is gone) from now on. */
void share_hold(struct share_holding *old, struct share_holding *fresh);

#endif
