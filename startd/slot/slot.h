/* startd/slot/slot.h - one slot: what it is, its ad and its moves.
 *
 * A slot is static, partitionable, or dynamic.  A dynamic slot is a piece of a partitionable slot,
 * made for a claim and removed with it.  A static or dynamic slot has at most one claim, and at
 * most one claim that waits for it (preemption); a partitionable slot has no claim of its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_SLOT_SLOT_H
#define STARTD_SLOT_SLOT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "startd/slot/carve_plan.h"
#include "startd/claim/claim_plan.h"
#include "startd/owner/policy_plan.h"
#include "startd/slot/slot_plan.h"

struct ad;
struct claim;
struct secret_list;
struct startd;

enum slot_kind { SLOT_STATIC, SLOT_PARTITIONABLE, SLOT_DYNAMIC };

struct slot {
    struct startd *startd;
    enum slot_kind kind;
    int id;       /* from 1; a dynamic slot has that of its partitionable slot */
    int piece_id; /* of a dynamic slot, from 1; else 0 */
    /* N of SLOT_TYPE_<n>; 0: no type; a dynamic slot has that of its partitionable slot. */
    int type_id;
    struct slot *parent; /* the partitionable slot of a dynamic one; else NULL */
    char name[300];
    char short_name[32];    /* "slot1_2": used in paths, and as the instance of its starter */
    struct resources total; /* all its resources */
    enum slot_state state;
    enum slot_activity activity;
    int64_t entered_state_s, entered_activity_s;
    /* The claim id by which a schedd can claim the slot now; on a Claimed slot it is for a claim
     * that would preempt.  "": none.  A partitionable slot has piece_ids instead. */
    char claim_id[CLAIM_ID_MAX];
    struct vec piece_ids;        /* char *: each is good for one dynamic slot */
    struct secret_list *offered; /* claim ids that go with the ad; NULL: none */
    int64_t minted_s;            /* when the (oldest) claim id was made */
    struct claim *claim;         /* NULL in Owner, Unclaimed, Drained */
    struct claim *waiting;       /* a claim that waits for the end of `claim`; NULL: none */
    struct policy policy;        /* the expressions SUSPEND ... of its type */
    double condor_load;          /* load of its job's processes, in CPUs, over a minute */
    double owner_load;           /* its share of the load of others */
    int64_t cpu_busy_s;          /* since when CpuBusy is true; 0: it is false */
    struct ad *ad;               /* as last built */
    bool changed;                /* the ad must be sent */
    bool stale;                  /* the ad must be made anew before it is sent: slot_flap() */
};

/* Makes a move, which must be legal (slot_plan.h), and shows it. */
void slot_move(struct slot *slot, enum slot_state state, enum slot_activity activity);
void slot_build(struct slot *slot); /* makes the ad anew */
/* Updates in the ad what changes without a move: figures, disk, the job's remaining times. */
void slot_renew(struct slot *slot);
/* Makes the ads of the slot and of its parent anew, and sends both. */
void slot_refresh(struct slot *slot);
void slot_mint(struct slot *slot); /* makes new claim ids */

#endif
