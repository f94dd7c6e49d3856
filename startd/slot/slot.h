/* startd/slot/slot.h - one slot: what it is, its ad and its moves.
 *
 * Slots are static, partitionable, or dynamic, which is a piece of a partitionable one, made for a
 * claim and gone with it.  A static or dynamic slot has at most one claim, and at most one that
 * waits for it (preemption); a partitionable one has none of its own.
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
    int id;              /* from 1; a piece has its partitionable slot's */
    int piece_id;        /* of a piece: from 1; else 0 */
    int type_id;         /* n of SLOT_TYPE_<n>; 0: none; a piece has its partitionable slot's */
    struct slot *parent; /* of a piece */
    char name[300];
    char short_name[32];    /* "slot1_2": in paths, and the instance of its starter */
    struct resources total; /* of all of it */
    enum slot_state state;
    enum slot_activity activity;
    int64_t entered_state_s, entered_activity_s;
    /* The one that a schedd may show now; of a Claimed slot, for a claim that would preempt; "":
     * none.  A partitionable slot has piece_ids instead. */
    char claim_id[CLAIM_ID_MAX];
    struct vec piece_ids;        /* char *: each is good for one piece */
    struct secret_list *offered; /* goes with the ad; NULL: none is to be given away */
    int64_t minted_s;            /* when the (oldest) claim id was made */
    struct claim *claim;         /* NULL in Owner, Unclaimed, Drained */
    struct claim *waiting;       /* for the running claim to end; NULL: none */
    struct policy policy;        /* SUSPEND ... of its type */
    double condor_load;          /* of its job's processes, CPUs, over a minute */
    double owner_load;           /* its share of the load of others */
    int64_t cpu_busy_s;          /* since when CpuBusy is true; 0: it is not */
    struct ad *ad;               /* as last built */
    bool changed;                /* must be sent */
    bool stale;                  /* must be built before it is sent: slot_flap() */
};

/* Moves the slot, which must be a legal move (slot_plan.h), and shows it. */
void slot_move(struct slot *slot, enum slot_state state, enum slot_activity activity);
void slot_build(struct slot *slot); /* makes the ad anew */
/* Writes anew what changes without a move: figures, disk, what the job has left. */
void slot_renew(struct slot *slot);
/* Makes the ad anew, and that of the slot's parent, and sends both. */
void slot_refresh(struct slot *slot);
void slot_mint(struct slot *slot); /* makes new claim ids */

#endif
