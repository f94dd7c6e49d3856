/* negotiator/plan_state.h - what a negotiator_plan keeps between cycles; for the files plan_*.c and
 * negotiator_plan.c only.
 *
 * Every slot that can be given out is in one of its kind's heaps: LIVE; or, if offline, NEAR (its
 * machine wakes anyway), BACK (its machine is not down yet) or FAR.  The best one, first by
 * machine, then by name, is on top.  A slot in use that may be taken over is in CLAIMED.  Which
 * heap a slot is in follows from its facts and holds.  What a cycle gives out moves slots; that is
 * undone at the end of the cycle.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NEGOTIATOR_PLAN_STATE_H
#define NEGOTIATOR_PLAN_STATE_H

#include "negotiator/number_table.h"
#include "negotiator/kinds_plan.h"
#include "negotiator/negotiator_plan.h"
#include "negotiator/piece_plan.h"
#include "negotiator/verdict_plan.h"

struct ad_context;
struct arena;
struct choice;
struct plan_claims;
struct strmap;

/* The heaps of a kind, see above. */
enum place {
    PLACE_LIVE,
    PLACE_NEAR,
    PLACE_BACK,
    PLACE_FAR,
    PLACE_CLAIMED,
    PLACE_COUNT,
    PLACE_NONE = PLACE_COUNT
};

struct numbers { /* growing array */
    uint32_t *items;
    uint32_t count, room;
};
void numbers_push(struct numbers *numbers, uint32_t number);

/* One request (schedd, autocluster) with the slots held for it, whether or not the request still
 * exists. */
struct holder {
    char *schedd;
    int64_t auto_cluster;
    uint32_t request; /* NUMBER_NONE: the request is gone */
    int64_t held;     /* number of jobs */
    struct numbers slots;
};

struct held { /* the holds of one holder on one slot */
    struct holder *holder;
    int64_t count;
    bool released; /* taken back in this cycle */
};

struct slot_lists { /* in which lists of the plan a slot is */
    bool dirty;     /* in dirty_slots: must be keyed or settled */
    bool touched;   /* in touched: changed in this cycle */
    bool barred;    /* in barred_slots */
};

struct slot_wakes { /* how a slot is counted in its machine */
    bool wakes;     /* counted in machine.wakers */
    bool waking;    /* counted in machine.waking */
};

/* A slot as the plan keeps it. */
struct slot {
    struct plan_slot facts;
    char *name, *machine_name; /* own copies, which facts point to */
    bool there;                /* false: this number is free */
    bool keyed;                /* kind is valid and holds a reference */
    bool rekey;                /* its ad must be read again */
    struct slot_lists lists;
    uint32_t kind;
    /* kind of what is left of it, a reference of its own; equal to kind if nothing is gone */
    uint32_t kind_now;
    uint32_t order; /* rank in the order by machine, then name */
    uint32_t machine;
    enum place place;
    uint32_t at; /* index in its heap */
    struct held *held;
    uint32_t held_count;
    /* Within the current cycle. */
    int64_t jobs; /* number of jobs that hold it or got a piece of it */
    bool taken;   /* live slot: matched in this cycle */
    struct slot_wakes counted;
    bool is_split;     /* the slot is partitionable */
    int64_t copies;    /* whole copies beside the one in `left`, see plan_slot.multiplicity */
    struct piece left; /* resources left in the copy that is being filled */
    int64_t weight;    /* thousandths, counted in plan->free_weight; 0: not counted */
    int64_t total;     /* thousandths, counted in plan->total_weight */
};

struct request_ends {  /* why a request gets no more in this cycle */
    bool limited;      /* a concurrency limit leaves it less */
    bool spent;        /* no free slot is left for it */
    bool spent_claims; /* no slot is left that it may take over */
};

/* A request as the plan keeps it. */
struct request {
    struct plan_request facts;
    bool there, keyed, dirty, rekey;
    uint32_t kind;
    struct holder *holder;
    int64_t wanted; /* jobs still wanting a slot in this cycle */
    struct request_ends ends;
};

/* A machine with its slots. */
struct machine {
    uint32_t first, count; /* range in plan->by_name */
    uint32_t wakers;       /* slots that are held or waking */
    uint32_t waking;       /* slots that are waking */
};

/* A heap of slot numbers, best on top. */
struct heap {
    uint32_t *slots;
    uint32_t count, room;
};

struct kind_slots {  /* the slots of one kind */
    uint64_t serial; /* serial of the kind that all this is about */
    struct heap heaps[PLACE_COUNT];
    bool is_split;
    int64_t weight;     /* weight of one whole slot of this kind, thousandths */
    double lowest_rank; /* no slot in CLAIMED has a lower current_rank */
    uint32_t group;     /* index in rank_groups: kinds that rank every job alike */
    struct piece_names names;
};

struct rank_group { /* kinds of slots that have the same Rank and the same values of what it reads
                     */
    uint64_t hash;
    uint32_t count;     /* slots in CLAIMED */
    uint32_t kind;      /* one kind of the group, if it still has slots in CLAIMED */
    double lowest_rank; /* lowest current_rank of slots in CLAIMED */
};

struct negotiator_plan {
    struct kinds *kinds;
    struct verdicts *verdicts;
    struct plan_policy policy;
    bool takes_by_priority;           /* PREEMPTION_REQUIREMENTS is not simply false */
    const struct ad_context *context; /* context of the current cycle; borrowed */
    struct slot *slots;               /* slots by their number */
    uint32_t slot_room, slot_count;
    struct choice *choice;      /* made at the first use; else NULL */
    struct plan_claims *claims; /* made at the first use; else NULL */
    struct request *requests;   /* requests by their number */
    uint32_t request_room, request_count;
    struct strmap *holders; /* "autocluster schedd" -> struct holder */
    bool full;              /* judge again what depends on the clock */
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
    uint64_t structure;              /* kinds_structure() when the rank groups were made */
    uint64_t *open[PLACE_COUNT];     /* bit set of kinds with a slot in that place */
    uint64_t *open_any[PLACE_COUNT]; /* bit set of the words of `open` that are not 0 */
    size_t open_words;
    int64_t free_weight, total_weight; /* weights of free slots and of all slots, thousandths */
};

/* ---- plan_slots.c */

/* Brings everything up to date for a cycle, until verdicts_steps() reaches `end`.  Returns whether
 * all is done. */
bool plan_refresh(struct negotiator_plan *plan, const struct ad_context *context, bool full,
                  uint64_t end);
uint32_t plan_slot_number(const struct negotiator_plan *plan, const struct slot *slot);

/* ---- plan_places.c */

/* Takes every slot out of its heap and drops what is known of kinds; every slot must be settled
 * again. */
void plan_forget_kinds(struct negotiator_plan *plan);
/* plan_place() puts the slot into the heap where it belongs now, plan_unplace() takes it out. */
bool plan_is_held_place(enum place place); /* offline slots are there */
void plan_place(struct negotiator_plan *plan, struct slot *slot);
void plan_unplace(struct negotiator_plan *plan, struct slot *slot);
/* Settles a slot: computes all from its facts and from the holds that are not taken back. */
void plan_settle(struct negotiator_plan *plan, struct slot *slot);
/* Makes kind_now equal to kind: nothing of the slot is gone. */
void plan_no_remnant(struct negotiator_plan *plan, struct slot *slot);
/* Counts the slot, or no longer, as a waker, or as waking, of its machine. */
void plan_set_wakes(struct negotiator_plan *plan, struct slot *slot, bool wakes);
void plan_set_waking(struct negotiator_plan *plan, struct slot *slot, bool waking);
/* Walks the kinds that have a slot in one of `places` (bits 1 << PLACE_...), 64 at a time: start
 * with *at = 0; the result is word *at - 1 of the set.  False at the end. */
bool plan_next_open(const struct negotiator_plan *plan, unsigned places, size_t *at,
                    uint64_t *kinds);
/* Ends a cycle: settles all slots that it changed. */
void plan_undo(struct negotiator_plan *plan);
/* Takes back, in this cycle, the slot's holds for this holder. */
void plan_release(struct negotiator_plan *plan, struct slot *slot, struct held *held);
/* Gives the slot, or a piece of it, to one more job of this request; or holds it for the job. */
void plan_give(struct negotiator_plan *plan, struct slot *slot, const struct request *request);
/* Returns whether this kind of partitionable slot, whole, has room for a job of this request. */
bool plan_has_room(struct negotiator_plan *plan, const struct kind_slots *kind, uint32_t number,
                   const struct request *request);
/* Returns what the request would be charged for this slot, thousandths. */
int64_t plan_weight(struct negotiator_plan *plan, const struct slot *slot,
                    const struct request *request);

/* ---- plan_choice.c: finds the best of all slots for one request */

/* Begins a choice among the slots in `places` (bits 1 << PLACE_...); valid until the plan's next
 * choice. */
struct choice *plan_choice_begin(struct negotiator_plan *plan, const struct request *request,
                                 unsigned places);
/* Returns the best slot left, NULL when there is none; the same one until plan_choice_give(). */
struct slot *plan_choice_best(struct choice *choice);
/* Gives the slot, or one piece of it, to the request. */
void plan_choice_give(struct choice *choice, struct slot *slot);
void plan_choice_destroy(struct choice *choice);

/* ---- plan_preempt.c: finds slots in use that a request may take over */

/* A slot that may be taken over, and why. */
struct takeover {
    struct slot *slot; /* NULL: there is none */
    enum plan_preemption why;
};
/* Returns the effective priority of a user. */
typedef double (*plan_priority_f)(const void *arg, const char *user);
/* Call these before the first search of a cycle and at its end. */
void plan_claims_begin(struct negotiator_plan *plan);
void plan_claims_end(struct negotiator_plan *plan);
/* Searches the slots that this request may take over; those by priority only if by_priority.  Valid
 * until the plan's next search, as long as only the results of this search are given out. */
void plan_claims_find(struct negotiator_plan *plan, const struct request *request, bool by_priority,
                      plan_priority_f priority, const void *arg);
/* Returns the best slot left; its slot is NULL when there is none. */
struct takeover plan_claims_next(struct negotiator_plan *plan);
/* Lists the slots in use, for plan_claims_reason(), in the arena; NULL: the arena is full.
 * O(slots). */
struct plan_in_use;
struct plan_in_use *plan_in_use_find(const struct negotiator_plan *plan, struct arena *arena);
/* Returns why the request takes none of them over; looks at the first PLAN_CLAIM_LOOKS that
 * match. */
#define PLAN_CLAIM_LOOKS 256
enum plan_reason plan_claims_reason(struct negotiator_plan *plan, const struct plan_in_use *in_use,
                                    const struct request *request, plan_priority_f priority,
                                    const void *arg);
void plan_claims_destroy(struct plan_claims *claims);

#endif
