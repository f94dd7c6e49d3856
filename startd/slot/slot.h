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
    /* number of the slot, from 1; a dynamic slot has the number of its partitionable slot */
    int id;
    /* number among the dynamic slots of its partitionable slot, from 1; 0: not a dynamic slot */
    int piece_id;
    /* The n of its SLOT_TYPE_<n>; 0: no type.  A dynamic slot has the type of its partitionable
     * slot. */
    int type_id;
    /* the partitionable slot from which this dynamic slot was split off; NULL: not a dynamic
     * slot */
    struct slot *parent;
    char name[300];
    /* "slot1_2"; used in paths, and as the -instance argument of the slot's starter */
    char short_name[32];
    /* all resources of the slot; of a partitionable slot, including those of its dynamic slots */
    struct resources total;
    enum slot_state state;
    enum slot_activity activity;
    int64_t entered_state_ms, entered_activity_ms; /* loop_now_ms() */
    /* The claim id with which a schedd can claim the slot now; while the slot is Claimed, with
     * which a schedd can preempt the claim. "": none.  A partitionable slot has piece_ids
     * instead. */
    char claim_id[CLAIM_ID_MAX];
    /* char *: claim ids of a partitionable slot, each for making one dynamic slot */
    struct vec piece_ids;
    struct secret_list *offered; /* claim ids that are sent with the ad; NULL: none */
    uint64_t minted_ms; /* when the oldest of the slot's claim ids was made, loop_now_ms() */
    /* when slot_id_refused() replaced a claim id last, loop_now_ms(); 0: never */
    uint64_t replaced_ms;
    bool has_refused; /* a refused claim id is still to be replaced */
    /* the slot's claim; NULL in the states Owner, Unclaimed and Drained */
    struct claim *claim;
    struct claim *waiting; /* a claim that waits for the end of `claim`; NULL: none */
    struct policy policy;  /* the owner's policy for the slot's type: SUSPEND, CONTINUE ... */
    double condor_load;    /* load average of the processes of the slot's job, over a minute */
    /* of the load average of processes that belong to no job: the part that is assigned to this
     * slot */
    double owner_load;
    /* since when the expression CpuBusy is true, loop_now_ms(); 0: it is false */
    int64_t cpu_busy_ms;
    struct ad *ad; /* the slot's ad as last built, owned */
    bool changed;  /* true: the ad has changed and must be sent */
    bool stale;    /* true: the ad is outdated and must be built again before it is sent */
};

/* Moves the slot to a state and activity, and makes the startd build the slot's ad again and send
 * it.  Ends the process if slot_plan_may_move() does not allow the move. */
void slot_move(struct slot *slot, enum slot_state state, enum slot_activity activity);
void slot_build(struct slot *slot); /* builds the slot's ad again */
/* Updates in the slot's ad what changes while the slot's state does not: load, idle times, free
 * disk, the job's times. */
void slot_renew(struct slot *slot);
/* Builds the ads of the slot and of its partitionable slot, if any, again, and lets them be
 * sent. */
void slot_refresh(struct slot *slot);
void slot_mint(struct slot *slot); /* replaces the slot's claim ids by new ones */
/* To be called when the startd refuses a DIAL_ME that has this claim id of the slot.  The
 * negotiator counts the id as given away, and leaves the slot alone until the slot's ad shows
 * another id: so the id is replaced, and the ad sent, at once.  If the slot refuses again within
 * seconds, for a reason that its ad does not show, slot_ids_are_old() becomes true later instead.
 */
void slot_id_refused(struct slot *slot, const char *claim_id);
/* Returns whether the slot's claim ids are to be replaced (slot_mint()), because one of them may
 * have been given away without being used. */
bool slot_ids_are_old(const struct slot *slot);

#endif
