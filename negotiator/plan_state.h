/* negotiator/plan_state.h - what a negotiator_plan keeps between cycles; for the files plan_*.c and
 * negotiator_plan.c only.
 *
 * Every slot that can be given out is in one of its kind's heaps: LIVE; or, if offline, NEAR (its
 * machine wakes anyway), BACK (its machine is not down yet), LAST (its machine is not to be woken
 * now) or FAR (all others).  On top of a heap
 * is the first slot in the order of machines and slot names.  A slot in use that may be taken over
 * is in CLAIMED.  Which heap a slot is in follows from what negotiator_plan_set_slot() was told and
 * from the slot's holds.  When a cycle gives out slots, they move to other heaps; the end of the
 * cycle moves them back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NEGOTIATOR_PLAN_STATE_H
#define NEGOTIATOR_PLAN_STATE_H

#include "negotiator/number_table.h"
#include "negotiator/kinds_plan.h"
#include "negotiator/negotiator_plan.h"
#include "negotiator/share_plan.h"
#include "negotiator/piece_plan.h"
#include "negotiator/verdict_plan.h"

struct ad_context;
struct arena;
struct choice;
struct plan_claims;
struct strmap;

/* The heaps of each kind of slots.  PLACE_LIVE: free live slots; PLACE_NEAR: offline slots whose
 * machine wakes anyway; PLACE_BACK: offline slots whose machine is not down yet; PLACE_LAST: those
 * that are unwilling; PLACE_FAR: all other offline slots; PLACE_CLAIMED: slots in use that may be
 * taken over. */
enum place {
    PLACE_LIVE,
    PLACE_NEAR,
    PLACE_BACK,
    PLACE_FAR,
    PLACE_LAST,
    PLACE_CLAIMED,
    PLACE_COUNT,
    PLACE_NONE = PLACE_COUNT
};

struct numbers { /* growing array of slot or request numbers */
    uint32_t *items;
    uint32_t count, room;
};
void numbers_push(struct numbers *numbers, uint32_t number);

/* The slots that are held for one request (an autocluster of a schedd), which may be gone. */
struct holder {
    char *schedd;
    int64_t auto_cluster;
    uint32_t request; /* number of the request; NUMBER_NONE: it is gone */
    int64_t held;     /* number of jobs for which slots are held */
    struct numbers slots;
};

struct held { /* how many jobs of one request (the one of `holder`) hold one slot */
    struct holder *holder;
    int64_t count;
    bool released; /* these holds are taken back in this cycle */
};

struct slot_lists { /* which lists of struct negotiator_plan the slot is in */
    bool dirty;     /* in dirty_slots: its kind or its heap must be found again */
    bool touched;   /* in `touched`: the present cycle changed the slot */
    bool barred;    /* in barred_slots: its holds must be taken back */
};

struct slot_wakes { /* which counters of struct machine include a slot */
    bool wakes;     /* the slot is counted in `wakers` of its struct machine */
    bool waking;    /* the slot is counted in `waking` of its struct machine */
};

/* What the plan keeps about a slot. */
struct slot {
    struct plan_slot facts;
    /* own copies of the slot's name and of its machine's name; `facts` points to them */
    char *name, *machine_name;
    bool there; /* false: there is no slot with this number */
    bool keyed; /* `kind` is set, and the slot has a reference to that kind */
    bool rekey; /* the kind must be found again, because the ad changed */
    struct slot_lists lists;
    uint32_t kind;
    /* Kind that the slot would have if its ad said only the resources that are left; equal to
     * `kind` if no piece was given out.  The slot has a second reference, to this kind. */
    uint32_t kind_now;
    uint32_t order; /* place of the slot in the order of machines and names */
    uint32_t machine;
    enum place place;
    uint32_t at; /* index of the slot in its heap */
    struct held *held;
    uint32_t held_count;
    /* These members are for the current cycle. */
    int64_t jobs; /* number of jobs that hold the slot or got a piece of it */
    bool taken;   /* the slot is live and was matched in this cycle */
    struct slot_wakes counted;
    bool is_split; /* the slot is partitionable */
    /* Of a sample ad, which stands for several machines: the number of machines of which no piece
     * was given out, not counting the machine whose resources `left` says. */
    int64_t copies;
    /* Resources left in the slot.  Of a sample ad: in the one machine of which pieces are given out
     * at present. */
    struct piece left;
    int64_t weight; /* weight x 1000 as counted in plan->free_weight; 0: not counted */
    int64_t total;  /* weight x 1000 as counted in plan->total_weight; 0: not counted */
};

struct request_ends {         /* why a request gets no more slots in this cycle */
    bool limited;             /* a concurrency limit allows the request fewer jobs than it has */
    bool holds;               /* the request may hold more in this round of holds */
    bool spent;               /* no free slot is left that matches the request */
    bool spent_claims;        /* no slot in use is left that the request may take over */
    enum share_bar holds_bar; /* what allows the request fewer holds than it wants */
};

/* What the plan keeps about a request. */
struct request {
    struct plan_request facts;
    bool there, keyed, dirty, rekey;
    uint32_t kind;
    struct holder *holder;
    int64_t wanted; /* number of jobs that still want a slot in this cycle */
    int64_t moving; /* of plan_request.waiting: number that still want a free slot in this cycle */
    struct request_ends ends;
};

/* A machine with its slots. */
struct machine {
    uint32_t first, count; /* its slots are by_name[first .. first + count) of the plan */
    uint32_t wakers;       /* number of its slots that are held or waking */
    uint32_t waking;       /* number of its slots that are waking */
};

/* A heap of slot numbers, best on top. */
struct heap {
    uint32_t *slots;
    uint32_t count, room;
};

struct kind_slots {  /* the slots of one kind */
    uint64_t serial; /* kinds_serial() of the kind that these members are about */
    struct heap heaps[PLACE_COUNT];
    bool is_split;
    int64_t weight;     /* weight of one whole slot of this kind, x 1000 */
    double lowest_rank; /* no slot in heaps[PLACE_CLAIMED] has a lower current_rank */
    uint32_t group;     /* index in rank_groups of the group to which this kind belongs */
    struct piece_names names;
};

struct rank_group { /* kinds of slots with equal Rank, and equal values of what Rank reads */
    uint64_t hash;
    uint32_t count; /* number of slots of these kinds that are in use and may be taken over */
    uint32_t kind;  /* one of these kinds; it may have no slot that may be taken over */
    /* no slot of these kinds that is in use and may be taken over has a lower current_rank (the
     * machine's Rank of the running job) */
    double lowest_rank;
};

struct negotiator_plan {
    struct kinds *kinds;
    struct verdicts *verdicts;
    struct plan_policy policy;
    bool takes_by_priority; /* PREEMPTION_REQUIREMENTS is set and not the literal false */
    /* for evaluations in the current cycle; owned by the caller */
    const struct ad_context *context;
    struct slot *slots; /* slots by their number */
    uint32_t slot_room, slot_count;
    /* the last result of plan_choice_begin(), whose memory the next call uses again; NULL: there
     * was no call yet */
    struct choice *choice;
    struct plan_claims *claims; /* state of the search of plan_claims_find(); NULL: none yet */
    struct request *requests;   /* requests by their number */
    uint32_t request_room, request_count;
    struct strmap *holders; /* "autocluster schedd" -> struct holder */
    bool full; /* the present cycle evaluates again the expressions that read the clock */
    struct numbers dirty_slots, dirty_requests, touched, barred_slots;
    uint32_t *by_name; /* slot numbers, sorted by machine and name */
    uint32_t named_count, named_room;
    bool names_changed;
    struct machine *machines;
    uint32_t machine_count, machine_room;
    struct kind_slots *kind_slots; /* slots of each kind, by the kind's number */
    uint32_t kind_room;
    struct rank_group *rank_groups;
    uint32_t rank_group_count, rank_group_room;
    struct number_table rank_group_table;
    uint64_t structure; /* what kinds_structure() returned when rank_groups was made */
    /* for each enum place: bit set of the kinds of slots whose heap is not empty */
    uint64_t *open[PLACE_COUNT];
    /* for each enum place: bit set of the words of `open` that are not 0 */
    uint64_t *open_any[PLACE_COUNT];
    size_t open_words;
    int64_t free_weight, total_weight; /* weight x 1000 of the free slots, and of all slots */
};

/* ---- plan_slots.c */

/* Brings the plan up to date for a cycle: finds the kinds of new and changed slots and requests,
 * and judges kinds.  full: judges again the kinds whose expressions read the clock.  Stops when
 * verdicts_steps() reaches `end`.  Returns whether all is done. */
bool plan_refresh(struct negotiator_plan *plan, const struct ad_context *context, bool full,
                  uint64_t end);
/* Puts the slots in the order of machine and name, if that has changed: plan->by_name and
 * plan->machines are up to date then. */
void plan_name_slots(struct negotiator_plan *plan);
uint32_t plan_slot_number(const struct negotiator_plan *plan, const struct slot *slot);

/* ---- plan_places.c */

/* Takes every slot out of its heap, and makes the data of all kinds (kind_slots, rank_groups)
 * invalid.  Afterwards the caller must call plan_settle() for every slot. */
void plan_forget_kinds(struct negotiator_plan *plan);
/* Returns whether this is a heap of offline slots, which can be held. */
bool plan_is_held_place(enum place place);
/* These two: plan_place() puts the slot into the heap where it belongs now; plan_unplace() takes
 * the slot out of its heap. */
void plan_place(struct negotiator_plan *plan, struct slot *slot);
void plan_unplace(struct negotiator_plan *plan, struct slot *slot);
/* Computes the slot's heap, weight and resources left from the slot's facts, which
 * negotiator_plan_set_slot() was told, and from its holds that are not taken back. */
void plan_settle(struct negotiator_plan *plan, struct slot *slot);
/* Makes kind_now of the slot equal to its kind, because no piece of the slot is given out. */
void plan_no_remnant(struct negotiator_plan *plan, struct slot *slot);
/* These two set whether the slot is counted in `wakers`, and in `waking`, of its machine. */
void plan_set_wakes(struct negotiator_plan *plan, struct slot *slot, bool wakes);
void plan_set_waking(struct negotiator_plan *plan, struct slot *slot, bool waking);
/* Finds the kinds that have a slot in one of the heaps `places` (bits 1 << PLACE_...), 64 kinds at
 * a time.  Set *at to 0 before the first call.  Returns true and sets *kinds to a bit set that is
 * not 0, in which bit n stands for kind number 64 * (*at - 1) + n; returns false at the end. */
bool plan_next_open(const struct negotiator_plan *plan, unsigned places, size_t *at,
                    uint64_t *kinds);
/* Ends a cycle: calls plan_settle() for all slots that the cycle changed. */
void plan_undo(struct negotiator_plan *plan);
/* Takes back, for this cycle, the holds on the slot that *held counts: those of one request.  held
 * must point to an element of slot->held. */
void plan_release(struct negotiator_plan *plan, struct slot *slot, struct held *held);
/* Gives the slot, or a piece of it, to one more job of this request, or holds it for the job if the
 * slot is offline. */
void plan_give(struct negotiator_plan *plan, struct slot *slot, const struct request *request);
/* Returns whether a whole partitionable slot of this kind, of which no piece is given out, has room
 * for a job of this request.  number: the number of the kind. */
bool plan_has_room(struct negotiator_plan *plan, const struct kind_slots *kind, uint32_t number,
                   const struct request *request);
/* Returns the weight x 1000 that would be charged for a job of this request in this slot. */
int64_t plan_weight(struct negotiator_plan *plan, const struct slot *slot,
                    const struct request *request);

/* ---- plan_choice.c: finds the best of all slots for one request */

/* Begins a choice among the slots in the heaps `places` (bits 1 << PLACE_...).  The result is valid
 * until the plan's next choice. */
struct choice *plan_choice_begin(struct negotiator_plan *plan, const struct request *request,
                                 unsigned places);
/* Returns the best slot that is left, NULL when there is none.  Returns the same slot until
 * plan_choice_give() is called. */
struct slot *plan_choice_best(struct choice *choice);
/* Gives the slot of plan_choice_best(), or one piece of it, to a job of the request. */
void plan_choice_give(struct choice *choice, struct slot *slot);
void plan_choice_destroy(struct choice *choice);

/* ---- plan_preempt.c: finds slots in use that a request may take over */

/* A slot in use that may be taken over, and why. */
struct takeover {
    struct slot *slot; /* NULL: no slot can be taken over */
    enum plan_preemption why;
};
/* Returns the effective priority of a user.  arg: what the caller of plan_claims_find() or
 * plan_claims_reason() passed with this function. */
typedef double (*plan_priority_f)(const void *arg, const char *user);
/* These two: plan_claims_begin() prepares the searches for slots to take over, and must be called
 * in each cycle before the first plan_claims_find(); plan_claims_end() must be called at the end of
 * the cycle, and frees what the searches have collected. */
void plan_claims_begin(struct negotiator_plan *plan);
void plan_claims_end(struct negotiator_plan *plan);
/* Begins a search for slots that this request may take over: by Rank and, if by_priority, by
 * priority.  The search is valid until the plan's next search, as long as no other slots are given
 * out than those that plan_claims_next() returns.  priority(arg, user) must return a user's
 * effective priority; both must stay valid as long as the search. */
void plan_claims_find(struct negotiator_plan *plan, const struct request *request, bool by_priority,
                      plan_priority_f priority, const void *arg);
/* Returns the best slot of the search that is left.  The member `slot` of the result is NULL when
 * no slot is left. */
struct takeover plan_claims_next(struct negotiator_plan *plan);
struct plan_in_use;
/* Returns a list of the slots in use, for plan_claims_reason(), in the arena; NULL: the arena is
 * full.  O(slots). */
struct plan_in_use *plan_in_use_find(const struct negotiator_plan *plan, struct arena *arena);
/* most slots in use that plan_claims_reason() examines for one request */
#define PLAN_CLAIM_LOOKS 256
/* Returns why the request takes over none of the slots in use.  Examines only the first
 * PLAN_CLAIM_LOOKS of those that match the request.  priority(arg, user) must return a user's
 * effective priority. */
enum plan_reason plan_claims_reason(struct negotiator_plan *plan, const struct plan_in_use *in_use,
                                    const struct request *request, plan_priority_f priority,
                                    const void *arg);
void plan_claims_destroy(struct plan_claims *claims);

#endif
