/* negotiator/plan_state.h - what a negotiator_plan keeps between cycles; for the files plan_*.c and
 * negotiator_plan.c alone.
 *
 * Every slot that is to be had lies in one of the heaps of its kind: LIVE, or (offline) NEAR when
 * its machine wakes anyway, BACK when it is not down yet, else FAR; best (first by machine, then by
 * name) on top.  A slot in use that may be taken over lies in CLAIMED.  Where it lies follows from
 * its facts and holds
 * (*settled*); what a cycle gives out moves it, and is undone at the end of the cycle.
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

enum place {
    PLACE_LIVE,
    PLACE_NEAR,
    PLACE_BACK,
    PLACE_FAR,
    PLACE_CLAIMED,
    PLACE_COUNT,
    PLACE_NONE = PLACE_COUNT
};

struct numbers { /* a growing array of numbers */
    uint32_t *items;
    uint32_t count, room;
};
void numbers_push(struct numbers *numbers, uint32_t number);

/* Of one request (schedd, autocluster): what is held for it, whether it is there or not. */
struct holder {
    char *schedd;
    int64_t auto_cluster;
    uint32_t request; /* NUMBER_NONE: gone */
    int64_t held;     /* jobs */
    struct numbers slots;
};

struct held { /* one slot's part of a holder */
    struct holder *holder;
    int64_t count;
    bool released; /* in this cycle */
};

struct slot_lists { /* in which lists of the plan a slot is */
    bool dirty;     /* dirty_slots: to be keyed, or settled */
    bool touched;   /* touched: differs from what its facts say, in this cycle */
    bool barred;    /* barred_slots */
};

struct slot_wakes { /* what a slot counts for in its machine */
    bool wakes;     /* among its wakers */
    bool waking;    /* among its waking ones */
};

struct slot {
    struct plan_slot facts;
    char *name, *machine_name; /* what facts point to */
    bool there;
    bool keyed; /* kind is valid and owned */
    bool rekey; /* its ad is to be read again */
    struct slot_lists lists;
    uint32_t kind;
    uint32_t kind_now; /* of what is left of it; owned; the same as kind if nothing is gone */
    uint32_t order;    /* by machine, then name */
    uint32_t machine;
    enum place place;
    uint32_t at; /* in its heap */
    struct held *held;
    uint32_t held_count;
    /* now, in this cycle */
    int64_t jobs; /* that it is held for, or that got a piece of it */
    bool taken;   /* live: matched */
    struct slot_wakes counted;
    bool is_split;     /* partitionable */
    int64_t copies;    /* of it that are untouched */
    struct piece left; /* of the copy that is being filled */
    int64_t weight;    /* thousandths, in plan->free_weight; 0: not counted */
    int64_t total;     /* the same, in plan->total_weight */
};

struct request_ends {  /* why a request gets no more in this cycle */
    bool limited;      /* wants less, for a concurrency limit */
    bool spent;        /* no free slot is left for it */
    bool spent_claims; /* nor one to take over */
};

struct request {
    struct plan_request facts;
    bool there, keyed, dirty, rekey;
    uint32_t kind;
    struct holder *holder;
    int64_t wanted; /* now */
    struct request_ends ends;
};

struct machine {
    uint32_t first, count; /* of plan->by_name */
    uint32_t wakers;       /* slots that are held or waking */
    uint32_t waking;       /* slots that are waking */
};

struct heap {
    uint32_t *slots;
    uint32_t count, room;
};

struct kind_slots {  /* of one kind of slot */
    uint64_t serial; /* of the kind that the following is about */
    struct heap heaps[PLACE_COUNT];
    bool is_split;
    int64_t weight;     /* thousandths */
    double lowest_rank; /* no slot in CLAIMED has a lower current_rank */
    uint32_t group;     /* rank_groups: kinds that rank every job alike */
    struct piece_names names;
};

struct rank_group { /* kinds of slots whose Rank, and what it reads of the slot, are the same */
    uint64_t hash;
    uint32_t count;     /* of slots in CLAIMED */
    uint32_t kind;      /* one of them, if it still has any there */
    double lowest_rank; /* of slots in CLAIMED */
};

struct negotiator_plan {
    struct kinds *kinds;
    struct verdicts *verdicts;
    struct plan_policy policy;
    bool takes_by_priority;           /* PREEMPTION_REQUIREMENTS is not just false */
    const struct ad_context *context; /* of the cycle */
    struct slot *slots;               /* by number */
    uint32_t slot_room, slot_count;
    struct choice *choice;      /* NULL until the first */
    struct plan_claims *claims; /* likewise */
    struct request *requests;   /* by number */
    uint32_t request_room, request_count;
    struct strmap *holders; /* "autocluster schedd" -> struct holder */
    bool full;              /* what looked at the clock is to be judged anew */
    struct numbers dirty_slots, dirty_requests, touched, barred_slots;
    uint32_t *by_name; /* slots in order */
    uint32_t named_count, named_room;
    bool names_changed;
    struct machine *machines;
    uint32_t machine_count, machine_room;
    struct kind_slots *kind_slots; /* by kind */
    uint32_t kind_room;
    struct rank_group *rank_groups;
    uint32_t rank_group_count, rank_group_room;
    struct number_table rank_group_table;
    uint64_t structure;              /* of kinds, when rank groups were made */
    uint64_t *open[PLACE_COUNT];     /* kinds with something there: bits */
    uint64_t *open_any[PLACE_COUNT]; /* words of those that are not 0: bits */
    size_t open_words;
    int64_t free_weight, total_weight; /* thousandths */
};

/* ---- plan_slots.c */

/* Brings everything up to date for a cycle. */
/* Reads what is new, until verdicts_steps() has come to end; true: all of it. */
bool plan_refresh(struct negotiator_plan *plan, const struct ad_context *context, bool full,
                  uint64_t end);
uint32_t plan_slot_number(const struct negotiator_plan *plan, const struct slot *slot);

/* ---- plan_places.c */

/* No slot lies anywhere, and what is known of kinds is made anew; every slot is to be settled. */
void plan_forget_kinds(struct negotiator_plan *plan);
/* Where the slot belongs by what is known now; and nowhere. */
bool plan_is_held_place(enum place place); /* of offline slots */
void plan_place(struct negotiator_plan *plan, struct slot *slot);
void plan_unplace(struct negotiator_plan *plan, struct slot *slot);
/* All of it, by its facts and those holds that are not taken back. */
void plan_settle(struct negotiator_plan *plan, struct slot *slot);
void plan_no_remnant(struct negotiator_plan *plan, struct slot *slot);
void plan_set_wakes(struct negotiator_plan *plan, struct slot *slot, bool wakes);
void plan_set_waking(struct negotiator_plan *plan, struct slot *slot, bool waking);
/* Walks the kinds that have a slot in one of the places (bits), 64 at a time: *at = 0 first, then
 * those of word *at - 1.  False: no more. */
bool plan_next_open(const struct negotiator_plan *plan, unsigned places, size_t *at,
                    uint64_t *kinds);
void plan_undo(struct negotiator_plan *plan);
/* Its holds of this holder are taken back in this cycle. */
void plan_release(struct negotiator_plan *plan, struct slot *slot, struct held *held);
/* One job more of this request is held on it, or gets a piece of it, or the whole of it. */
void plan_give(struct negotiator_plan *plan, struct slot *slot, const struct request *request);
/* Would the slot's kind have room for this request?  Partitionable slots only. */
bool plan_has_room(struct negotiator_plan *plan, const struct kind_slots *kind, uint32_t number,
                   const struct request *request);
/* What the request would be charged for it. */
int64_t plan_weight(struct negotiator_plan *plan, const struct slot *slot,
                    const struct request *request);

/* ---- plan_choice.c: the best of all slots for one request */

/* places: bits 1 << PLACE_...; good until the plan's next choice. */
struct choice *plan_choice_begin(struct negotiator_plan *plan, const struct request *request,
                                 unsigned places);
/* The best that is left; NULL: none.  It stays the best until plan_choice_give(). */
struct slot *plan_choice_best(struct choice *choice);
/* The request gets it, or one piece of it. */
void plan_choice_give(struct choice *choice, struct slot *slot);
void plan_choice_destroy(struct choice *choice);

/* ---- plan_preempt.c */

struct takeover {
    struct slot *slot; /* NULL: none */
    enum plan_preemption why;
};
/* Priorities of users by name: effective ones. */
typedef double (*plan_priority_f)(const void *arg, const char *user);
/* Before the first search of a cycle, and at its end. */
void plan_claims_begin(struct negotiator_plan *plan);
void plan_claims_end(struct negotiator_plan *plan);
/* Finds the slots that this request may take over; those by priority only if allowed. Good until
 * the plan's next search, and as long as only what is asked for here is given out. */
void plan_claims_find(struct negotiator_plan *plan, const struct request *request, bool by_priority,
                      plan_priority_f priority, const void *arg);
struct takeover plan_claims_next(struct negotiator_plan *plan); /* the best that is left */
/* Slots that are in use now, to be asked why; in the arena.  NULL: it is full.  O(slots). */
struct plan_in_use;
struct plan_in_use *plan_in_use_find(const struct negotiator_plan *plan, struct arena *arena);
/* Why the request takes none of them over, by the first PLAN_CLAIM_LOOKS of those that match. */
#define PLAN_CLAIM_LOOKS 256
enum plan_reason plan_claims_reason(struct negotiator_plan *plan, const struct plan_in_use *in_use,
                                    const struct request *request, plan_priority_f priority,
                                    const void *arg);
void plan_claims_destroy(struct plan_claims *claims);

#endif
