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
#include "base/trimmer.h"
#include "base/vec.h"
#include "classad/ad_value.h"
#include "negotiator/accountant.h"
#include "negotiator/negotiator_plan.h"
#include "wire/start_promise.h"

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

struct slot_use {    /* who is charged for a slot (usage.c) */
    char *submitter; /* the user who is charged; NULL: nobody uses the slot */
    double weight;
    int64_t since_ms;  /* wall time up to which the use is charged */
    int64_t entered_s; /* EnteredCurrentState of the slot; a new value means a new claim */
};

struct pool_slot { /* what the negotiator knows of a slot besides its ad */
    struct negotiator *negotiator;
    char *name;
    struct plan_slot facts; /* what the ad says, read again at each change of the ad */
    /* For a drained slot whose machine is about to be powered down but may still be kept up for
     * jobs: the ad that the slot will have if the machine is kept up.  Else NULL. */
    struct ad *as_if;
    /* Of an offline slot: PowerReclaimUntil of its ad, seconds since 1970.  Before this time the
     * machine is not powered down, and the startd can be asked to keep it up.  0: not set. */
    int64_t reclaim_until_s;
    /* of struct ad: the jobs that got a piece which the slot's ad does not show yet;
     * facts.under_way points to this array */
    struct vec under_way;
    struct secret_list *ids; /* claim ids that came with the ad; NULL: none */
    size_t id_count;         /* number of claim ids; above 1 only if the slot is partitionable */
    const char *claim_id;    /* the first claim id; "": none */
    struct offline_holds *holds; /* OfflineMatches of the ad; NULL: none */
    /* Of an offline slot: holds that the collector was asked to write into the ad and has not
     * confirmed yet; NULL: the ad has all.  Of a slot with as_if: its holds, which exist only in
     * memory (drained.c). */
    struct offline_holds *pending;
    /* time at which the plan must be told of the slot again, because a hold, the time to take the
     * machine back, or the rest after a refusal ends; seconds since 1970; INT64_MAX: never */
    int64_t update_at_s;
    /* The collector was asked to write holds into the slot's ad (MERGE), or the startd was asked to
     * keep the machine up, and the answer has not come yet. */
    bool merging;
    /* Of an offline slot: UNHIBERNATE reads the figures of the queue or the clock (wake_rules.c).
     */
    bool has_rule;
    bool unwilling; /* has_rule, and UNHIBERNATE was not true when last evaluated */
    /* how many times in a row the collector refused to write holds, or the startd refused to keep
     * the machine up */
    unsigned refusals;
    unsigned in_flight;     /* number of MATCH requests for this slot that were not answered yet */
    uint64_t rest_until_ms; /* loop_now_ms() before which no holds are set on the slot */
    /* negotiator->plan must be told of the slot again; negotiator->dirty lists all such slots */
    bool dirty;
    /* name of the submitter that uses the slot; NULL: the State of the slot's ad is not Claimed, or
     * the ad names no user who can have an account */
    char *user;
    struct slot_use use;
    char *limits;             /* of a live slot: concurrency limits of its job; NULL: none */
    double weight;            /* SLOT_WEIGHT of a live slot, as counted in weights.live; else 0 */
    double asleep;            /* SLOT_WEIGHT of an offline slot, as counted in weights.asleep */
    struct start_watch start; /* prompt.c: the slot is free, and cannot be given out */
};

/* What the negotiator knows of a request besides its ad. */
struct pool_request {
    struct negotiator *negotiator;
    char *name;
    char *limits; /* value of ConcurrencyLimits; NULL: none */
    /* after the schedd declined a match: loop_now_ms() before which the request gets no match */
    uint64_t rest_until_ms;
    bool unexplained; /* if its jobs get no slot, the schedd is to be told why */
    bool rejected;    /* the schedd was told why, and not that the reason is gone */
    /* loop_now_ms() before which the schedd is not told why jobs got no slot */
    uint64_t explain_ms;
    bool watched; /* prompt.c asks why its jobs get no slot */
    struct start_watch start;
    /* What the ad says, read again at each change of the ad.  Only facts.in_flight is not from the
     * ad: the negotiator counts it when it sends a match and when the answer comes. */
    struct plan_request facts;
};

struct negotiator_start { /* the promise that jobs start in time (prompt.c) */
    struct loop_timer *timer;
    struct start_counts counts;
    size_t next; /* number of the request that is asked about first at the next look */
};

struct negotiator_counts { /* figures that the Negotiator ad shows */
    int64_t cycles, matches, holds, preemptions;
    /* Figures of the last cycle: its end and its length, the numbers of evaluated expressions,
     * matches, kinds of slots and kinds of requests. */
    int64_t last_cycle_s, last_duration_ms, last_judged, last_matches, slot_kinds, request_kinds;
};

struct negotiator_exprs { /* expressions of the configuration; NULL: not set */
    struct ad_expr *pre_job, *post_job, *preemption_requirements, *preemption_rank;
};

struct negotiator_lease { /* decides which of several negotiators works: the holder of a lease */
    char holder[256];     /* name of this negotiator as holder of the lease */
    char leader[256];     /* the other negotiator that was last logged as holder; "": none */
    struct loop_timer *timer;
    bool leads;  /* this negotiator has the lease */
    bool asking; /* a request for the lease is not answered yet */
};

struct negotiator_cycle { /* timers and state of the next cycle */
    struct loop_timer *timer, *full_timer;
    uint64_t last_ms;  /* loop_now_ms() at the end of the last cycle; 0: there was none */
    bool full;         /* the next cycle evaluates again the expressions that read the clock */
    unsigned prepared; /* number of slices of work done so far to prepare the next cycle */
    /* wake_rules_look(): when it runs again, and the number of the slot at which its next slice
     * begins */
    struct loop_timer *rules_timer;
    size_t rules_at;
};

/* Watches that keep copies of the collector's ads up to date. */
struct negotiator_watches {
    struct watch *slots, *requests, *submitters;
    struct trimmer trimmer; /* counts slots and requests that leave */
};

struct numbering {    /* gives small numbers to slots or requests, for negotiator_plan.h */
    struct vec items; /* items by their number; NULL: the number is free */
    struct vec free;  /* numbers that can be used again */
};

/* What usage.c keeps. */
struct negotiator_usage {
    int64_t boot_wall_ms;  /* wall time of the boot, by which uses are counted; 0: not known yet */
    bool settling;         /* a settlement is not durable yet */
    int64_t settled_at_ms; /* when that was made, loop_now_ms() */
};

struct negotiator {
    struct daemon_env env;
    char name[256];
    struct wire_context *wires;
    struct uplink *uplink;
    struct store *store;
    struct accountant *accountant;
    struct groups *groups;
    struct strmap *unseen; /* name of a slot -> int64_t: wall time at which its ad vanished, ms */
    /* name of a slot -> struct vec of the matches that the slot's ad does not show yet (shares.c)
     */
    struct strmap *charges;
    struct vec changes; /* changes of accounts that are not durable yet (userprio.c) */
    struct update_prio *update_prio;
    struct limit_plan *limits;
    /* loop_now_ms() before which requests with concurrency limits get no slot */
    uint64_t limits_from_ms;
    struct negotiator_weights {
        double live;   /* weight of all live slots, in use or not */
        double asleep; /* weight of all offline slots that can be woken */
    } weights;
    struct negotiator_watches watches;
    struct strmap *slots;     /* Name of a slot -> struct pool_slot */
    struct strmap *requests;  /* Name of a request -> struct pool_request */
    struct negotiator_given { /* given.c */
        struct strmap *ids;   /* claim id -> struct gift: the slot and job it was given for */
        struct loop_timer *timer;
        uint64_t due_ms; /* when the timer is due, loop_now_ms() */
    } given;
    struct negotiator_plan *plan;
    struct significant *significant;  /* attributes of jobs that policies of machines read */
    struct numbering slot_numbers;    /* gives each slot its number */
    struct numbering request_numbers; /* gives each request its number */
    struct vec dirty; /* numbers of slots whose change must be told to negotiator->plan */
    /* earliest update_at_s of any slot; INT64_MAX: never */
    int64_t update_at_s;
    struct negotiator_exprs exprs;
    struct negotiator_cycle cycle;
    struct loop_timer *usage_timer, *rest_timer, *publish_timer;
    uint64_t next_serial; /* last value given to `serial` of a plan_slot or a plan_request */
    uint64_t random_state;
    struct user_world *users; /* Unix accounts and map files, for userMap() in expressions */
    struct negotiator_lease lease;
    /* counts connections of the uplink; answers on an earlier connection are ignored */
    unsigned life;
    struct negotiator_counts counts;
    struct negotiator_start start;
    /* time at which this process started, ms since 1970, and number of its last UPDATE; both are
     * sent with each UPDATE */
    uint64_t epoch, sequence;
    struct negotiator_usage usage;
    int64_t started_ms; /* when this daemon was started, loop_now_ms() */
};

extern const struct knob_table negotiator_knobs;
extern const struct daemon negotiator_daemon;

/* ---- negotiator_state.c: functions that all other files of the negotiator use */

/* Returns the context for evaluating expressions: clock, random numbers, user maps. */
struct ad_context negotiator_context(struct negotiator *negotiator);
/* Schedules a cycle as soon as possible, but at least NEGOTIATOR_CYCLE_DELAY after the end of the
 * last cycle.  Does nothing if a cycle is already scheduled. */
void negotiator_cycle_soon(struct negotiator *negotiator);
/* Notes that negotiator->plan must be told of the slot again.  To be called when something besides
 * the slot's ad has changed: a claim id was given out, or a hold was requested. */
void negotiator_slot_touched(struct pool_slot *slot);
/* To be called when the collector has refused to write holds into this slot's ad (MERGE), or the
 * startd to keep the machine up: no holds are set on the slot for some seconds, and for longer
 * after each further refusal in a row. */
void negotiator_slot_rests(struct negotiator *negotiator, struct pool_slot *slot);

/* negotiator_ad.c: sends the negotiator's own ad to the collector. */
void negotiator_ad_send(struct negotiator *negotiator);

/* ---- prompt.c: the promise that jobs start in time */

void prompt_look(void *negotiator); /* called by the timer */
/* To be called after each cycle: takes note of the reasons that the plan has given. */
void prompt_cycle_done(struct negotiator *negotiator, const struct plan_output *plan);
/* To be called before a request, or a slot, is forgotten. */
void prompt_request_gone(struct pool_request *request);
void prompt_slot_gone(struct pool_slot *slot);
/* Sets the figures of the promise in the negotiator's own ad. */
void prompt_put(const struct negotiator *negotiator, struct ad *ad);

/* cycle.c: runs a negotiation cycle; called by a timer. */
void cycle_run(void *negotiator);

/* ---- copies.c: keeps copies of slots and requests, and tells the plan of them */

/* Makes the empty copies (negotiator->slots, negotiator->requests) and negotiator->plan. */
void copies_create(struct negotiator *negotiator);
void copies_destroy(struct negotiator *negotiator);
void copies_slot_changed(void *negotiator, const char *key, const struct ad *ad);
void copies_slot_gone(void *negotiator, const char *key);
void copies_request_changed(void *negotiator, const char *key, const struct ad *ad);
void copies_request_gone(void *negotiator, const char *key);
/* Tells negotiator->plan of all slots and requests that changed. */
void copies_update(struct negotiator *negotiator);

/* ---- given.c: claim ids that this negotiator, or the holder of the lease before it, gave out */

/* Remembers, in memory and in the slot's ad at the collector, that claim_id was given out for a
 * job.  job: the request ad that stands for the job. */
void given_add(struct negotiator *negotiator, const char *claim_id, struct pool_slot *slot,
               const struct ad *job);
/* Forgets that this claim id was given out, because it was not used: it can be given out again. */
void given_take_back(struct negotiator *negotiator, const char *claim_id);
/* Returns whether this status of an answer to MATCH proves that nobody uses the claim id.  False
 * also for the statuses which say that the answer was lost. */
bool given_was_declined(int status);
/* Notes that the MATCH of this claim id has ended with this status, and was not declined: the id
 * can be given out again soon, unless the slot's ad shows that it is used. */
void given_answered(struct negotiator *negotiator, const char *claim_id, int status);
/* Returns whether it is not known what became of a match of this slot: the schedd has not answered
 * yet, or its answer was lost a moment ago. */
bool given_awaits_word(const struct pool_slot *slot);
/* Returns whether this claim id was given out. */
bool given_is(const struct negotiator *negotiator, const char *claim_id);
/* Returns how many claim ids of the slot can still be given out. */
int64_t given_count_free(const struct pool_slot *slot);
/* Returns a claim id of the slot that can be given out, NULL when there is none.  Valid until the
 * slot's ad changes. */
const char *given_free_id(const struct pool_slot *slot);
/* Returns the ad, owned by negotiator->given.ids, of the job for which this claim id of a
 * partitionable slot was given out.  NULL: the claim id was not given out, or another negotiator
 * gave it out. */
struct ad *given_job(const struct negotiator *negotiator, const char *claim_id);
/* Reads from the slot's ad which of its claim ids another negotiator gave out, and remembers
 * them. */
void given_read(const struct pool_slot *slot);
/* Callback of negotiator->given.timer: forgets claim ids that may be given out again, and starts a
 * cycle if there were any. */
void given_forget_old(void *negotiator);
void given_gift_destroy(void *gift); /* frees a value of negotiator->given.ids */

/* ---- act.c: carries out what a plan decided */

/* Tells the request's schedd, by a MATCH, that one of its jobs gets this slot.  match: the entry
 * for this slot and request in the plan's output. */
void act_match(struct negotiator *negotiator, struct pool_slot *slot, struct pool_request *request,
               const struct plan_match *match);
/* Asks the collector to write these holds into an offline slot's ad; takes over holds.  matched: at
 * least one of the holds is new. */
void act_holds(struct negotiator *negotiator, struct pool_slot *slot, struct offline_holds *holds,
               bool matched);

/* ---- drained.c: machines that are about to be powered down but may still be kept up for jobs */

/* If the machine of this slot is drained to be powered down but may still be kept up, returns a new
 * ad, owned by the caller: the ad that the slot will have if the machine is kept up.  Else NULL. */
struct ad *drained_as_if(const struct ad *ad);
/* Returns a copy, owned by the caller, of the holds that are kept in memory for a slot whose
 * machine is about to be powered down but may still be kept up. */
struct offline_holds *drained_held(const struct pool_slot *slot);
/* Returns the time, seconds since 1970, at which a hold ends that is set now on a slot whose
 * machine is about to be powered down but may still be kept up. */
int64_t drained_until_s(const struct negotiator *negotiator);
/* Sets the holds of a slot whose machine is about to be powered down but may still be kept up;
 * takes over holds, which are kept in memory only.  why, unless NULL: asks the startd to keep the
 * machine up, with this reason. */
void drained_holds(struct negotiator *negotiator, struct pool_slot *slot,
                   struct offline_holds *holds, const char *why);

/* ---- rejections.c: tells schedds why their jobs got no slot */

/* Returns whether the plan of this cycle is to report why jobs of this request get no slot: the
 * schedd has not been told yet, and may be told now. */
bool rejections_due(struct pool_request *request);
void rejections_tell(struct negotiator *negotiator, const struct plan_output *plan);
/* Has the next cycle tell of all requests, because users' priorities or ceilings have changed. */
void rejections_anew(struct negotiator *negotiator);

/* ---- usage.c: tells the accountant who uses which slot */

/* Writes to ret the name of the submitter that uses this slot, and returns true.  False: nobody
 * uses it, or the name cannot be that of an account. */
bool usage_submitter(const struct ad *ad, char *ret, size_t size);
/* Reads from the slot's ad who uses the slot.  If the user has changed, charges the use until now
 * to the previous user.  To be called when the slot's ad is new (is_new) or has changed. */
void usage_slot(struct negotiator *negotiator, struct pool_slot *slot, const struct ad *ad,
                bool is_new);
void usage_slot_gone(struct negotiator *negotiator, struct pool_slot *slot);
void usage_settle(struct negotiator *negotiator);
/* To be called when this negotiator has got the lease: for the time NEGOTIATOR_LIMIT_SETTLE,
 * requests with concurrency limits get no slot. */
void usage_leads(struct negotiator *negotiator);
/* Reads the groups, and the accountant's settings, from the knobs. */
void usage_configure(struct negotiator *negotiator);

/* ---- shares.c: collects what share_plan.h needs about users, groups and submitting machines */
struct share_input;
/* A match for which MATCH was sent. */
struct shares_match {
    const char *slot;     /* name of the slot */
    const char *claim_id; /* the claim id that was given out */
    const char *submitter;
    const char *limits; /* concurrency limits of the job; NULL: none */
    double weight;      /* weight of the use, if the match succeeds */
};
/* Charges the match to the submitter like a use, until the slot's ad shows the use or the match has
 * failed. */
void shares_matched(struct negotiator *negotiator, const struct shares_match *match);
/* Ends the charge of a match that the schedd declined. */
void shares_declined(struct negotiator *negotiator, const char *slot, const char *claim_id);
/* Ends the charge of one match of the slot, because the slot's ad shows that the submitter has
 * begun to use the slot.  limits: the concurrency limits of the job; "": none.  Returns whether
 * there was such a match. */
bool shares_used(struct negotiator *negotiator, const char *slot, const char *submitter,
                 const char *limits);
/* Ends the charges of matches that have come to nothing, as the slot's new ad shows.  To be called
 * when the slot's ad has changed, after usage_slot(). */
void shares_slot_changed(struct pool_slot *slot, const struct ad *ad);
/* Ends the charges that are too old. */
void shares_forget(struct negotiator *negotiator);
/* Fills *ret with users, groups (quotas for a pool of weight `total`), round_robin and machines.
 * Arrays made for it are in the arena.  Returns 0; -ENOMEM: the arena is full. */
int shares_input(struct negotiator *negotiator, double total, struct arena *arena,
                 struct share_input *ret);
void shares_fini(struct negotiator *negotiator);
/* The shares of all users who have or want slots, as shares_view_create() computed them.
 * shares_view_show() sets SubmitterShare and SubmitterLimit in the Accounting ad of one account, if
 * it is the account of such a user.  The caller frees the view by shares_view_destroy(). */
struct shares_view;
struct shares_view *shares_view_create(const struct negotiator *negotiator);
void shares_view_destroy(struct shares_view *view);
void shares_view_show(const struct shares_view *view, const struct account_facts *facts,
                      struct ad *ad);

/* ---- wake_rules.c: which sleeping machines are not to be woken now, as their UNHIBERNATE says */
/* Notes whether UNHIBERNATE of the slot has to be evaluated again and again.  To be called when the
 * slot's ad was read. */
void wake_rules_read(struct pool_slot *slot);
/* Timer callback: evaluates the rules of all slots, in slices. */
void wake_rules_look(void *negotiator);

/* ---- queue_figures.c: how many jobs are idle, for startds and the rooster */
void queue_figures_answer(struct negotiator *negotiator, struct wire_request *request);

/* ---- userprio.c: answers queries about accounts and changes accounts */

/* Answers a QUERY of type Accounting, Usage (history of use) or SubmittingMachine. */
void userprio_query(struct negotiator *negotiator, struct wire_request *request);
void userprio_change(struct negotiator *negotiator, struct wire_request *request);
/* Sends the Accounting ad of the account with that name to the collector; NULL: of all accounts. */
void userprio_publish(struct negotiator *negotiator, const char *name);
/* Drops the changes of accounts that are not durable yet.  To be called after store_close(). */
void userprio_fini(struct negotiator *negotiator);

/* ---- update_prio.c: UPDATE_PRIO, the priorities of submitting machines */
/* Makes negotiator->update_prio, and reads the priorities of submitting machines from the store.
 * Returns 0, or an error of store_load(). */
int update_prio_create(struct negotiator *negotiator, struct err *err);
void update_prio_fini(struct negotiator *negotiator);
void update_prio_configure(struct negotiator *negotiator);
void update_prio_submitter(struct negotiator *negotiator, const char *key, const struct ad *ad);
/* Notes that this submitting machine has requests, so that its priority is kept. */
void update_prio_know(struct negotiator *negotiator, const char *machine);
void update_prio_submitter_gone(struct negotiator *negotiator, const char *key);
struct share_machine;
/* Returns all submitting machines and their priorities, as input for share_plan.h, in the arena.
 * NULL and *count = 0: UPDATE_PRIO is not set, so users compete and machines do not. */
struct share_machine *update_prio_machines(const struct negotiator *negotiator, struct arena *arena,
                                           size_t *count);
/* Returns the SubmittingMachine ad of the next submitting machine, owned by the caller; NULL after
 * the last.  Set *at to 0 before the first call. */
struct ad *update_prio_next(const struct negotiator *negotiator, size_t *at);

#endif
