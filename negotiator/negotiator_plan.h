/* negotiator/negotiator_plan.h - one negotiation cycle: who gets which slot, and which sleeping
 * machines are held for whom.
 *
 * Pure: a snapshot of slots, requests and users comes in, matches and holds go out.
 *
 * Order of things, as HTCondor's: users by fair share (effective priority, lower is better), a
 * user's requests by JobPrio and age, a request's slots by NEGOTIATOR_PRE_JOB_RANK, the job's Rank,
 * NEGOTIATOR_POST_JOB_RANK.  A running slot is taken before an offline one. What a request still
 * wants after that is held on offline slots (OfflineMatches): as many as are wanted, no more, and
 * of equal ones those whose machine wakes anyway; a hold that is no longer wanted is taken back.
 * Held slots are not charged to anyone: they do nothing yet.
 *
 * Judging a pair (Requirements of both) is remembered in the request, by the slot's serial, so that
 * a cycle after a few changes costs a few judgements.  Pairs whose Requirements looked at the clock
 * are judged anew in a full cycle; others never, so that a full cycle of a thousand requests and a
 * thousand machines is no pause.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NEGOTIATOR_NEGOTIATOR_PLAN_H
#define NEGOTIATOR_NEGOTIATOR_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ad;
struct ad_context;
struct ad_expr;
struct arena;
struct offline_holds;

#define NEGOTIATOR_SLOTS_MAX    1000000
#define NEGOTIATOR_REQUESTS_MAX 1000000

struct plan_slot {
    const char *name, *machine;
    const struct ad *ad;
    uint64_t serial; /* changes with the ad; rises, never 0 */
    uint32_t number; /* its own as long as it is there, small: judgements are remembered under it */
    bool offline;
    bool free; /* live: Unclaimed, with a claim id that was not given away; offline: always true */
    bool waking; /* offline: its machine is being woken (PowerState) */
    bool barred; /* offline: WakeFailed, Unknown: no new holds, old ones are taken back */
    const struct offline_holds *holds; /* offline: as they are now, pruned; NULL: none */
};

struct plan_request {
    const char *name, *schedd, *user;
    int64_t auto_cluster;
    const struct ad *ad;
    int64_t count;     /* idle jobs */
    int64_t in_flight; /* matches sent and not answered yet */
    bool resting;      /* its schedd declined a moment ago: gets nothing new, keeps its holds */
    int64_t prio, qdate_s;
    /* Judgements remembered, one for each slot by its number: serial << 2 | timely << 1 | matches.
     * Grown by the plan, owned by the caller (mem_free), who forgets them when the ad changes. */
    uint64_t *judged;
    size_t judged_count;
    /* None of the offline slots with serials up to this matches, whatever the time; 0: not known.
     * Kept and forgotten with the judgements: most requests of a full pool match nothing, and cost
     * no more than what changed. */
    uint64_t barren;
};

struct plan_user {
    const char *name;
    double priority; /* effective: real times factor, > 0; lower is better */
    int64_t running; /* slots in use */
};

struct plan_ranks { /* any may be NULL */
    const struct ad_expr *pre_job, *post_job;
};

struct plan_input {
    const struct plan_slot *slots;
    size_t slot_count;
    struct plan_request *requests;
    size_t request_count;
    const struct plan_user *users;
    size_t user_count;
    struct plan_ranks ranks;
    bool full; /* judge anew what looked at the clock */
    const struct ad_context *context;
};

struct plan_match {
    size_t slot, request;
};

struct plan_hold {
    size_t slot, request;
};

struct plan_output { /* arrays live in the arena */
    struct plan_match *matches;
    size_t match_count;
    struct plan_hold *held; /* offline slots to hold from now on, one job each */
    size_t held_count;
    /* Holds to take back: of requests that are gone or want fewer. */
    struct plan_release {
        size_t slot;
        const char *schedd;
        int64_t auto_cluster;
    } * released;
    size_t released_count;
    size_t judged; /* pairs evaluated anew */
};

/* 0, or -E2BIG above the limits, -ENOMEM when the arena is full; *ret untouched then. */
int negotiator_plan_cycle(const struct plan_input *input, struct arena *arena,
                          struct plan_output *ret);

#endif
