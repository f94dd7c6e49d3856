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

struct slot_use {    /* usage.c */
    char *submitter; /* NULL: nobody uses it */
    double weight;
    int64_t since_ms;  /* charged until then; wall time */
    int64_t entered_s; /* EnteredCurrentState: another one is another claim */
};

struct pool_slot { /* what we know of a slot beside its ad */
    struct negotiator *negotiator;
    char *name;
    struct plan_slot facts; /* what the ad says, read once for each change of it */
    /* of one that is drained and may be taken back: its ad as it will be then; NULL: it is not */
    struct ad *as_if;
    int64_t reclaim_until_s;     /* offline: PowerReclaimUntil; 0: none */
    struct vec under_way;        /* struct ad: what facts.under_way points to */
    struct secret_list *ids;     /* beside its ad; NULL: none */
    size_t id_count;             /* that may be given: one, but of a partitionable slot */
    const char *claim_id;        /* the first; "": none */
    struct offline_holds *holds; /* of the ad; NULL: none */
    /* offline: holds as we have asked for, until answered; NULL: as in the ad.  Of one that may be
     * taken back: what is held on it (drained.c) */
    struct offline_holds *pending;
    int64_t holds_until_s; /* the first of them ends then; INT64_MAX: none */
    bool merging;
    unsigned refusals;      /* of MERGE, one after the other */
    uint64_t rest_until_ms; /* after one: nothing is asked of it */
    bool dirty;             /* in negotiator->dirty */
    char *user;             /* whose it is; NULL: nobody's */
    struct slot_use use;
    char *limits; /* live: concurrency limits that it uses; NULL: none */
    /* in use, and matched to take it over: whose jobs, and their limits; NULL: not, or over */
    char *taken_by, *taken_limits;
    double weight; /* live: SLOT_WEIGHT, part of weight_total */
};

struct pool_request {
    struct negotiator *negotiator;
    char *name;
    char *limits;              /* ConcurrencyLimits, evaluated; NULL: none */
    uint64_t rest_until_ms;    /* its schedd declined a match: see act.c */
    bool unexplained;          /* its schedd is to hear why, when it gets nothing */
    uint64_t explain_ms;       /* not before: rejections.c */
    struct plan_request facts; /* what the ad says, read once for each change; in_flight */
};

struct negotiator_counts { /* statistics, in our ad */
    int64_t cycles, matches, holds, preemptions;
    /* of the last cycle */
    int64_t last_cycle_s, last_duration_ms, last_judged, last_matches, slot_kinds, request_kinds;
};

struct negotiator_exprs { /* of the configuration; NULL: none */
    struct ad_expr *pre_job, *post_job, *preemption_requirements, *preemption_rank;
};

struct negotiator_lease { /* who leads: one at a time */
    char holder[256];     /* what we are called in it */
    char leader[256];     /* the other's holder that was last told of; "" none */
    struct loop_timer *timer;
    bool leads;  /* has the lease */
    bool asking; /* the answer is awaited */
};

struct negotiator_cycle { /* when the next one is, and how far */
    struct loop_timer *timer, *full_timer;
    uint64_t last_ms;
    bool full;         /* it is a full one */
    unsigned prepared; /* slices of the one that is being prepared */
};

struct negotiator_watches {
    struct watch *slots, *requests, *submitters;
};

struct numbering {    /* small numbers for what a plan speaks of */
    struct vec items; /* by number; NULL: it is free */
    struct vec free;  /* numbers of what is gone */
};

struct negotiator {
    struct daemon_env env;
    char name[256];
    struct wire_context *wires;
    struct uplink *uplink;
    struct store *store;
    struct accountant *accountant;
    struct groups *groups;
    struct strmap *unseen;  /* slot -> int64_t: usage.c */
    struct strmap *pending; /* "slot submitter" -> struct pending: shares.c */
    struct vec changes;     /* struct change_call: userprio.c */
    struct update_prio *update_prio;
    struct limit_plan *limits;
    uint64_t limits_from_ms; /* before that requests with limits rest: see usage.c */
    double weight_total;     /* of all live slots, in use or not */
    struct negotiator_watches watches;
    struct strmap *slots;    /* Name -> struct pool_slot */
    struct strmap *requests; /* Name -> struct pool_request */
    struct strmap *given;    /* ClaimId -> to whom and until when it was given away: see act.c */
    struct negotiator_plan *plan;
    struct significant *significant;  /* what machines' policies look at in jobs */
    struct numbering slot_numbers;    /* of struct pool_slot */
    struct numbering request_numbers; /* of struct pool_request */
    struct vec dirty;                 /* numbers of slots that the plan is to be told of */
    int64_t holds_until_s;            /* the first hold of all ends then */
    struct negotiator_exprs exprs;
    struct negotiator_cycle cycle;
    struct loop_timer *usage_timer, *rest_timer, *publish_timer;
    uint64_t next_serial;
    uint64_t random_state;
    struct user_world *users; /* of userMap() in expressions */
    struct negotiator_lease lease;
    unsigned life; /* of the uplink: answers of an earlier one are stale */
    struct negotiator_counts counts;
    uint64_t epoch, sequence;
    int64_t started_s;
};

extern const struct knob_table negotiator_knobs;
extern const struct daemon negotiator_daemon;

/* ---- negotiator_state.c: what all parts may ask for, below them */
/* What expressions may ask: the clock, chance, the maps of users. */
struct ad_context negotiator_context(struct negotiator *negotiator);
void negotiator_cycle_soon(struct negotiator *negotiator);
/* Something else than its ad has changed: a claim id was given away, a hold is asked for. */
void negotiator_slot_touched(struct pool_slot *slot);
/* It refused what was asked of it: nothing is for a while. */
void negotiator_slot_rests(struct negotiator *negotiator, struct pool_slot *slot);

/* ---- negotiator_ad.c */
void negotiator_ad_send(struct negotiator *negotiator); /* our own, to the collector */

/* ---- cycle.c */
void cycle_run(void *negotiator);

/* ---- copies.c: slots and requests as their ads say, and as the plan is told */
void copies_create(struct negotiator *negotiator);
void copies_destroy(struct negotiator *negotiator);
void copies_slot_changed(void *negotiator, const char *key, const struct ad *ad);
void copies_slot_gone(void *negotiator, const char *key);
void copies_request_changed(void *negotiator, const char *key, const struct ad *ad);
void copies_request_gone(void *negotiator, const char *key);
/* Tells the plan of all that changed. */
void copies_update(struct negotiator *negotiator);

/* ---- given.c: claim ids that were given away, by us or by who led before */
/* Remembers it, here and in the slot's ad at the collector; job: who gets it. */
void given_add(struct negotiator *negotiator, const char *claim_id, struct pool_slot *slot,
               const struct ad *job);
void given_take_back(struct negotiator *negotiator, const char *claim_id); /* was not used */
/* Does that answer to a MATCH say that nobody used the claim id, or will?  A lost answer does not.
 */
bool given_was_declined(int status);
bool given_is(const struct negotiator *negotiator, const char *claim_id);
/* Claim ids of the slot that are still to be given. */
int64_t given_count_free(const struct pool_slot *slot);
/* One of them; NULL: none.  Valid until the ad changes. */
const char *given_free_id(const struct pool_slot *slot);
/* The job that got a piece with this claim id; NULL: none, or not given away by us. */
struct ad *given_job(const struct negotiator *negotiator, const char *claim_id);
/* What another negotiator has given away, as the slot's ad tells; of ids that are in that ad. */
void given_read(const struct pool_slot *slot);
void given_forget_old(struct negotiator *negotiator); /* those whose time is over */
void given_gift_destroy(void *gift);                  /* a value of negotiator->given */

/* ---- act.c: what a plan says, carried out */
void act_match(struct negotiator *negotiator, struct pool_slot *slot, struct pool_request *request,
               const struct plan_match *match);
/* holds is taken. */
void act_holds(struct negotiator *negotiator, struct pool_slot *slot, struct offline_holds *holds,
               bool matched);

/* ---- drained.c: machines that are taken back from their way down */
/* Its ad as it would be; NULL: it is none of these.  Owned by the caller. */
struct ad *drained_as_if(const struct ad *ad);
/* What is held on it, of that; owned by the caller. */
struct offline_holds *drained_held(const struct pool_slot *slot);
int64_t drained_until_s(const struct negotiator *negotiator); /* of a new hold */
/* These are held on it from now on, in memory, until its ads are live; holds is taken.  why: jobs
 * are new among them, so its startd is asked; NULL: nobody is. */
void drained_holds(struct negotiator *negotiator, struct pool_slot *slot,
                   struct offline_holds *holds, const char *why);

/* ---- rejections.c: why jobs got nothing, told to their schedds */
bool rejections_due(struct pool_request *request); /* is the plan to be asked? */
void rejections_tell(struct negotiator *negotiator, const struct plan_output *plan);

/* ---- usage.c: who has which slot, told to the accountant */
/* Who has that slot, by the name of the account; false: nobody, or one that is no name. */
bool usage_submitter(const struct ad *ad, char *ret, size_t size);
void usage_slot(struct negotiator *negotiator, struct pool_slot *slot, const struct ad *ad,
                bool is_new);
void usage_slot_gone(struct negotiator *negotiator, struct pool_slot *slot);
void usage_settle(struct negotiator *negotiator);
void usage_leads(struct negotiator *negotiator);     /* from now on this one does */
void usage_configure(struct negotiator *negotiator); /* groups and rates, from the knobs */

/* ---- shares.c: what share_plan needs to know of users, groups and submitting machines */
struct share_input;
/* A match on its way counts as in use until the slot's ad shows it, or it comes to nothing. */
void shares_matched(struct negotiator *negotiator, const char *slot, const char *submitter,
                    const char *limits, double weight);
/* False: there was no such match. */
bool shares_unmatched(struct negotiator *negotiator, const char *slot, const char *submitter,
                      const char *limits);
/* The match takes the slot over from its user: it ends also when its ad offers it once more. */
void shares_takes_over(struct pool_slot *slot, const char *submitter, const char *limits);
void shares_slot_changed(struct pool_slot *slot);  /* its ad; after usage_slot() */
void shares_forget(struct negotiator *negotiator); /* matches that are too old to come */
/* Users, groups (with quotas for that weight), round_robin, machines; in the arena.  -ENOMEM. */
int shares_input(struct negotiator *negotiator, double total, struct arena *arena,
                 struct share_input *ret);
void shares_fini(struct negotiator *negotiator);
/* SubmitterShare and SubmitterLimit of those who compete now. */
struct shares_view;
struct shares_view *shares_view_create(const struct negotiator *negotiator);
void shares_view_destroy(struct shares_view *view);
void shares_view_show(const struct shares_view *view, const struct account_facts *facts,
                      struct ad *ad);

/* ---- userprio.c: what may be asked and changed of accounts */
void userprio_query(struct negotiator *negotiator, struct wire_request *request);
void userprio_change(struct negotiator *negotiator, struct wire_request *request);
/* The Accounting ad of that account, or of all (NULL). */
void userprio_publish(struct negotiator *negotiator, const char *name);
void userprio_fini(struct negotiator *negotiator); /* after store_close() */

/* ---- update_prio.c: the seed's UPDATE_PRIO, over submitting machines */
int update_prio_create(struct negotiator *negotiator, struct err *err); /* reads the store */
void update_prio_fini(struct negotiator *negotiator);
void update_prio_configure(struct negotiator *negotiator);
void update_prio_submitter(struct negotiator *negotiator, const char *key, const struct ad *ad);
void update_prio_know(struct negotiator *negotiator, const char *machine); /* it has requests */
void update_prio_submitter_gone(struct negotiator *negotiator, const char *key);
/* All submitting machines, for a plan; NULL and 0: UPDATE_PRIO is not set, users compete. */
struct share_machine;
struct share_machine *update_prio_machines(const struct negotiator *negotiator, struct arena *arena,
                                           size_t *count);
/* Walks them as ads, owned by the caller; NULL: no more. */
struct ad *update_prio_next(const struct negotiator *negotiator, size_t *at);

#endif
