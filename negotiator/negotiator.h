/* negotiator/negotiator.h - the negotiator's own structures, shared by the files of this folder.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NEGOTIATOR_NEGOTIATOR_H
#define NEGOTIATOR_NEGOTIATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/daemon/daemon.h"
#include "base/vec.h"
#include "classad/ad_value.h"
#include "negotiator/accountant.h"
#include "negotiator/negotiator_plan.h"

struct ad;
struct ad_expr;
struct arena;
struct err;
struct groups;
struct knob_table;
struct loop_timer;
struct negotiator;
struct offline_holds;
struct store;
struct strmap;
struct update_prio;
struct uplink;
struct watch;
struct wire;
struct wire_context;
struct wire_request;

struct slot_use {    /* who uses a slot, as charged by usage.c */
    char *submitter; /* NULL: nobody uses it */
    double weight;
    int64_t since_ms;  /* charged up to this wall time */
    int64_t entered_s; /* EnteredCurrentState; another value means another claim */
};

struct pool_slot { /* what we know of a slot besides its ad */
    struct negotiator *negotiator;
    char *name;
    struct plan_slot facts; /* what the ad says, read again at each change of the ad */
    /* For a drained slot that may be taken back from its way down: its ad as it will be then.  Else
     * NULL. */
    struct ad *as_if;
    int64_t reclaim_until_s;     /* offline: PowerReclaimUntil; 0: not set */
    struct vec under_way;        /* struct ad: the ads that facts.under_way points to */
    struct secret_list *ids;     /* claim ids that came with the ad; NULL: none */
    size_t id_count;             /* claim ids; more than one only of a partitionable slot */
    const char *claim_id;        /* the first claim id; "": none */
    struct offline_holds *holds; /* OfflineMatches of the ad; NULL: none */
    /* Offline: the holds that we asked the collector to set, until it answers; NULL: as in the ad.
     * Of a slot that may be taken back: its holds, which are only in memory (drained.c). */
    struct offline_holds *pending;
    int64_t holds_until_s;  /* time at which the first of its holds ends; INT64_MAX: no holds */
    bool merging;           /* a MERGE is not answered yet */
    unsigned refusals;      /* MERGEs refused in a row */
    uint64_t rest_until_ms; /* after a refusal, the slot is left alone until then */
    bool dirty;             /* its number is in negotiator->dirty */
    char *user;             /* user of the slot; NULL: nobody */
    struct slot_use use;
    char *limits; /* live: concurrency limits of its job; NULL: none */
    /* In use and matched to another user, who takes it over: that user and his job's limits.  NULL:
     * not matched, or settled. */
    char *taken_by, *taken_limits;
    double weight; /* live: SLOT_WEIGHT, which is part of weight_total */
};

/* What we know of a request besides its ad. */
struct pool_request {
    struct negotiator *negotiator;
    char *name;
    char *limits;           /* ConcurrencyLimits, evaluated; NULL: none */
    uint64_t rest_until_ms; /* its schedd declined a match; rests until then (act.c) */
    bool unexplained;       /* jobs got nothing and the schedd was not told why yet */
    uint64_t explain_ms;    /* the schedd is not told before (rejections.c) */
    /* what the ad says, read again at each change of the ad; and in_flight */
    struct plan_request facts;
};

struct negotiator_counts { /* statistics in our own ad */
    int64_t cycles, matches, holds, preemptions;
    /* Figures of the last cycle. */
    int64_t last_cycle_s, last_duration_ms, last_judged, last_matches, slot_kinds, request_kinds;
};

struct negotiator_exprs { /* expressions of the configuration; NULL: not set */
    struct ad_expr *pre_job, *post_job, *preemption_requirements, *preemption_rank;
};

struct negotiator_lease { /* which of several negotiators leads */
    char holder[256];     /* our name as holder of the lease */
    char leader[256];     /* the other holder that was logged last; "": none */
    struct loop_timer *timer;
    bool leads;  /* we have the lease */
    bool asking; /* a request for the lease is not answered yet */
};

struct negotiator_cycle { /* timers and state of the next cycle */
    struct loop_timer *timer, *full_timer;
    uint64_t last_ms;  /* time at which the last cycle began */
    bool full;         /* true: the next cycle judges everything again */
    unsigned prepared; /* slices done of the cycle's preparation */
};

/* Our live copies of the collector's ads. */
struct negotiator_watches {
    struct watch *slots, *requests, *submitters;
};

struct numbering {    /* gives small numbers to slots or requests, for the plan */
    struct vec items; /* items by their number; NULL: the number is free */
    struct vec free;  /* free numbers */
};

struct negotiator {
    struct daemon_env env;
    char name[256];
    struct wire_context *wires;
    struct uplink *uplink;
    struct store *store;
    struct accountant *accountant;
    struct groups *groups;
    struct strmap *unseen;  /* slot -> int64_t wall time when it vanished: usage.c */
    struct strmap *pending; /* "slot submitter" -> struct pending: shares.c */
    struct vec changes;     /* struct change_call: userprio.c */
    struct update_prio *update_prio;
    struct limit_plan *limits;
    uint64_t limits_from_ms; /* until then requests with limits rest: usage.c */
    double weight_total;     /* weight of all live slots, in use or not */
    struct negotiator_watches watches;
    struct strmap *slots;    /* Name -> struct pool_slot */
    struct strmap *requests; /* Name -> struct pool_request */
    struct strmap *given;    /* ClaimId -> who got it, and until when that is remembered: given.c */
    struct negotiator_plan *plan;
    struct significant *significant;  /* attributes of jobs that machines' policies read */
    struct numbering slot_numbers;    /* numbers of struct pool_slot */
    struct numbering request_numbers; /* numbers of struct pool_request */
    struct vec dirty;                 /* numbers of slots that the plan must be told of */
    int64_t holds_until_s;            /* time at which the first of all holds ends */
    struct negotiator_exprs exprs;
    struct negotiator_cycle cycle;
    struct loop_timer *usage_timer, *rest_timer, *publish_timer;
    uint64_t next_serial; /* next serial number for plan_slot and plan_request */
    uint64_t random_state;
    struct user_world *users; /* accounts and maps for userMap() in expressions */
    struct negotiator_lease lease;
    unsigned life; /* number of the uplink's connection; answers to an earlier one are ignored */
    struct negotiator_counts counts;
    /* start of this process and number of the last update; sent with each update */
    uint64_t epoch, sequence;
    int64_t started_s;
};

extern const struct knob_table negotiator_knobs;
extern const struct daemon negotiator_daemon;

/* ---- negotiator_state.c: what the other files need, below them */
/* Returns the context for evaluating expressions: clock, random numbers, user maps. */
struct ad_context negotiator_context(struct negotiator *negotiator);
/* Schedules a cycle, NEGOTIATOR_CYCLE_DELAY after the last one at the earliest. */
void negotiator_cycle_soon(struct negotiator *negotiator);
/* Call it when something other than the slot's ad changed: a claim id was given out, a hold
 * requested. */
void negotiator_slot_touched(struct pool_slot *slot);
/* Call it when a MERGE for this slot was refused: the slot is left alone for a time. */
void negotiator_slot_rests(struct negotiator *negotiator, struct pool_slot *slot);

/* ---- negotiator_ad.c */
void negotiator_ad_send(struct negotiator *negotiator); /* sends our own ad to the collector */

/* ---- cycle.c */
/* Runs a cycle; a timer's callback. */
void cycle_run(void *negotiator);

/* ---- copies.c: our copies of slots and requests, and what the plan is told of them */
void copies_create(struct negotiator *negotiator);
void copies_destroy(struct negotiator *negotiator);
void copies_slot_changed(void *negotiator, const char *key, const struct ad *ad);
void copies_slot_gone(void *negotiator, const char *key);
void copies_request_changed(void *negotiator, const char *key, const struct ad *ad);
void copies_request_gone(void *negotiator, const char *key);
/* Tells the plan of all slots and requests that changed. */
void copies_update(struct negotiator *negotiator);

/* ---- given.c: claim ids that were given out, by us or by the leader before us */
/* Remembers, here and in the slot's ad at the collector, that claim_id was given to job. */
void given_add(struct negotiator *negotiator, const char *claim_id, struct pool_slot *slot,
               const struct ad *job);
/* Forgets a claim id that was given out but not used. */
void given_take_back(struct negotiator *negotiator, const char *claim_id);
/* Returns whether this status of an answer to MATCH proves that nobody uses the claim id.  False if
 * the answer was lost. */
bool given_was_declined(int status);
/* Returns whether this claim id was given out. */
bool given_is(const struct negotiator *negotiator, const char *claim_id);
/* Returns how many claim ids of the slot can still be given out. */
int64_t given_count_free(const struct pool_slot *slot);
/* Returns a claim id that can be given out, NULL when there is none.  Valid until the ad
 * changes. */
const char *given_free_id(const struct pool_slot *slot);
/* Returns the job that got a piece by this claim id; NULL: unknown, or not given out by us. */
struct ad *given_job(const struct negotiator *negotiator, const char *claim_id);
/* Learns from the slot's ad which of its claim ids another negotiator gave out. */
void given_read(const struct pool_slot *slot);
/* forgets claim ids that were given out too long ago */
void given_forget_old(struct negotiator *negotiator);
void given_gift_destroy(void *gift); /* frees a value of negotiator->given */

/* ---- act.c: carries out what a plan decided */
/* Sends a MATCH to the request's schedd. */
void act_match(struct negotiator *negotiator, struct pool_slot *slot, struct pool_request *request,
               const struct plan_match *match);
/* Sends the new holds of an offline slot to the collector; takes over holds.  matched: a hold was
 * added. */
void act_holds(struct negotiator *negotiator, struct pool_slot *slot, struct offline_holds *holds,
               bool matched);

/* ---- drained.c: machines that may be taken back from their way down */
/* Returns the slot's ad as it will be when taken back, owned by the caller; NULL: this slot cannot
 * be. */
struct ad *drained_as_if(const struct ad *ad);
/* Returns the part of the slot's holds that is for its machine, owned by the caller. */
struct offline_holds *drained_held(const struct pool_slot *slot);
int64_t drained_until_s(const struct negotiator *negotiator); /* time at which a new hold ends */
/* Sets the slot's holds, in memory until its ads are live; takes over holds.  why: the reason given
 * to the startd, which is asked to come back because holds are new; NULL: it is not asked. */
void drained_holds(struct negotiator *negotiator, struct pool_slot *slot,
                   struct offline_holds *holds, const char *why);

/* ---- rejections.c: tells schedds why their jobs got nothing */
bool rejections_due(struct pool_request *request); /* whether it is time to ask the plan why */
void rejections_tell(struct negotiator *negotiator, const struct plan_output *plan);

/* ---- usage.c: tells the accountant who uses which slot */
/* Writes the account that uses this slot.  False: nobody does, or the name is not valid. */
bool usage_submitter(const struct ad *ad, char *ret, size_t size);
/* Call it when a slot's ad is new or has changed. */
void usage_slot(struct negotiator *negotiator, struct pool_slot *slot, const struct ad *ad,
                bool is_new);
void usage_slot_gone(struct negotiator *negotiator, struct pool_slot *slot);
void usage_settle(struct negotiator *negotiator);
/* call it when this negotiator became the leader */
void usage_leads(struct negotiator *negotiator);
void usage_configure(struct negotiator *negotiator); /* reads groups and rates from the knobs */

/* ---- shares.c: collects what share_plan needs of users, groups and submitting machines */
struct share_input;
/* Counts a match as in use until the slot's ad shows it or it fails. */
void shares_matched(struct negotiator *negotiator, const char *slot, const char *submitter,
                    const char *limits, double weight);
/* Ends such a match.  False: there was none. */
bool shares_unmatched(struct negotiator *negotiator, const char *slot, const char *submitter,
                      const char *limits);
/* The match takes the slot from its user; it also ends when the slot's ad offers the slot again. */
void shares_takes_over(struct pool_slot *slot, const char *submitter, const char *limits);
/* call it when its ad changed, after usage_slot() */
void shares_slot_changed(struct pool_slot *slot);
void shares_forget(struct negotiator *negotiator); /* drops matches that are too old */
/* Fills *ret with users, groups (quotas for a pool of weight `total`), round_robin and machines,
 * all in the arena.  Returns 0 or -ENOMEM. */
int shares_input(struct negotiator *negotiator, double total, struct arena *arena,
                 struct share_input *ret);
void shares_fini(struct negotiator *negotiator);
/* Sets SubmitterShare and SubmitterLimit in the ads of accounts that compete now. */
struct shares_view;
struct shares_view *shares_view_create(const struct negotiator *negotiator);
void shares_view_destroy(struct shares_view *view);
void shares_view_show(const struct shares_view *view, const struct account_facts *facts,
                      struct ad *ad);

/* ---- userprio.c: answers queries about accounts and changes them */
void userprio_query(struct negotiator *negotiator, struct wire_request *request);
void userprio_change(struct negotiator *negotiator, struct wire_request *request);
/* Publishes the Accounting ad of that account; NULL: of all accounts. */
void userprio_publish(struct negotiator *negotiator, const char *name);
void userprio_fini(struct negotiator *negotiator); /* call it after store_close() */

/* ---- update_prio.c: UPDATE_PRIO, the priorities of submitting machines */
/* reads them from the store */
int update_prio_create(struct negotiator *negotiator, struct err *err);
void update_prio_fini(struct negotiator *negotiator);
void update_prio_configure(struct negotiator *negotiator);
void update_prio_submitter(struct negotiator *negotiator, const char *key, const struct ad *ad);
/* this machine has requests */
void update_prio_know(struct negotiator *negotiator, const char *machine);
void update_prio_submitter_gone(struct negotiator *negotiator, const char *key);
/* Returns all submitting machines, for a plan.  NULL and *count = 0: UPDATE_PRIO is not set, so
 * users compete. */
struct share_machine;
struct share_machine *update_prio_machines(const struct negotiator *negotiator, struct arena *arena,
                                           size_t *count);
/* Walks them as ads, owned by the caller: start with *at = 0; NULL at the end. */
struct ad *update_prio_next(const struct negotiator *negotiator, size_t *at);

#endif
