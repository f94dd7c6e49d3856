/* negotiator/share_plan.h - decides which user's turn it is in a negotiation cycle, and how much
 * the user may take.
 *
 * Pure.  A cycle asks for one offer after another until there is none.  It matches what it can
 * within the offer and reports the weight of each match:
 *
 *      while (share_next(plan, &offer)) {
 *          for at most offer.jobs jobs of offer.user (and of offer.machine, unless SHARE_ANY)
 *              find a slot;  cost = its weight for this job
 *              if (share_permits(plan, cost, preempts))
 *                  match;  share_took(plan, cost, preempts);
 *          if nothing more of this user can be matched in this cycle
 *              share_exhausted(plan);
 *      }
 *
 * The order is HTCondor's.  Groups come in the order of their sort keys, each up to the weight that
 * group_plan.h allocates (GROUP_QUOTA_ROUND_ROBIN_RATE at a time).  What a group could not use is
 * given to others in up to SHARE_ROUNDS_MAX rounds.  Within a group, users below their floor come
 * first, then spins.  A spin goes through the
 * users that want more, best (lowest) effective priority first, and offers each his slice of the
 * pie: share = maxPrio / (prio * sum of maxPrio / prio_i) of (free + in use by those users), less
 * what he has in use already.  If the slices together are more than what is free, all are cut in
 * proportion.  Once per offer a user may round up, so that no remainder is left unused.  Spins go
 * on until one matches nothing; an exhausted user takes no further part.  A spin costs O(users that
 * are left), and there are at most SHARE_SPINS_MAX of them; then the rest is offered in order.
 *
 * With machines (UPDATE_PRIO, docs/SHARES.md) submitting machines compete instead of users.  Next
 * is the one with the highest prio, less what it got in this cycle, for as many jobs as keep it
 * ahead; equal ones take turns.  Within a machine its users come in the order of their priorities,
 * without slices.  Quotas and ceilings hold as before.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NEGOTIATOR_SHARE_PLAN_H
#define NEGOTIATOR_SHARE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "negotiator/group_plan.h"

struct arena;
struct share_plan; /* plans the offers of one cycle; lives in the caller's arena */

#define SHARE_USERS_MAX  1000000
#define SHARE_SPINS_MAX  64
#define SHARE_ROUNDS_MAX 3
/* Value of share_offer.machine: the offer is for the requests of all submitting machines. */
#define SHARE_ANY SIZE_MAX

/* A user who competes for slots in a cycle. */
struct share_user {
    const char *name;
    double priority; /* effective priority: real priority x factor, > 0; lower is better */
    double in_use;   /* weight of the slots that the user has now */
    double wanted;   /* further weight that the user asks for, as far as known; 0: none */
    double ceiling;  /* weight that the user may have in all; < 0: no limit */
    double floor;    /* weight that the user gets before others get their shares; 0: none */
    size_t group;    /* index of the user's group in share_input.groups */
};

struct share_machine { /* a submitting machine (schedd) */
    const char *name;
    double prio; /* priority; the machine with the highest comes first */
};

struct share_pair { /* a user who has requests at a submitting machine; indexes in share_input */
    size_t user, machine;
};

/* Input of one negotiation cycle. */
struct share_input {
    const struct share_user *users;
    size_t user_count;
    /* The groups, at least the root; group_plan_quotas() must have been called for them.  A plan
     * sets their in_use, wanted, requested and allocated, and reads their other members. */
    struct group_entry *groups;
    size_t group_count;
    double free;              /* weight of the slots that can be given out now */
    double total;             /* weight of all slots, free or in use */
    double weight_min;        /* weight of the lightest possible match; 0: not known */
    double round_robin;       /* GROUP_QUOTA_ROUND_ROBIN_RATE; <= 0: no limit */
    bool consider_preemption; /* users' shares are parts of `total`, not of the free weight: a user
                                 below his share may take slots from others */
    /* submitting machines; NULL: users compete, not machines */
    const struct share_machine *machines;
    size_t machine_count;
    const struct share_pair *pairs; /* if machines is set: the users of each machine */
    size_t pair_count;
};

/* An offer: how much one user may take now. */
struct share_offer {
    size_t user;
    size_t machine; /* the submitting machine; SHARE_ANY: requests of all machines */
    /* index, in share_input.groups, of the group whose quota is used: the user's group, or the root
     * if the group has GROUP_AUTOREGROUP and may use the root's quota */
    size_t group;
    int64_t jobs;   /* maximum number of jobs to match */
    double weight;  /* maximum weight of free slots to match */
    double deficit; /* maximum weight of free and preempted slots together, >= weight */
    /* The user has reached his share and may only take slots over by a machine's Rank.  weight is
     * then 0.  There is one such offer for each user, if consider_preemption. */
    bool only_rank;
};

/* Prepares a cycle; the plan lives in the arena.  Returns 0; -E2BIG: there are more than
 * SHARE_USERS_MAX users, pairs or machines, more than GROUP_COUNT_MAX groups, or no groups;
 * -ENOMEM: the arena is full.  After an error *ret is unchanged. */
int share_plan_create(const struct share_input *input, struct arena *arena,
                      struct share_plan **ret);
/* Ends the present offer, writes the next offer to *ret and returns true.  Returns false when there
 * are no more offers in this cycle. */
bool share_next(struct share_plan *plan, struct share_offer *ret);
/* Returns whether the present offer, the last that share_next() returned, allows one more slot of
 * this weight.  preempts: the slot is taken from another user by priority.  Slots taken over by a
 * machine's Rank are always allowed; for them this need not be called. */
bool share_permits(const struct share_plan *plan, double cost, bool preempts);
/* Reports that a slot of this weight was matched for the present offer, the last that share_next()
 * returned.  preempts: the slot was taken from another user. */
void share_took(struct share_plan *plan, double cost, bool preempts);
/* Divides the quotas of the groups anew, for holds: wants[i] tells whether user i wants to hold
 * more, as much as he may.  A group's quota is what holds and slots in use may have together; what
 * is left by the groups whose users want nothing is surplus.  To be called after the last offer. */
void share_holds_begin(struct share_plan *plan, const bool *wants);
/* Counts a hold of this weight as used by the user, for his ceiling and his group's.  To be called
 * after the last offer. */
void share_held(struct share_plan *plan, size_t user, double cost);
/* Reports that the user of the present offer, the last that share_next() returned, can get nothing
 * more (at the offer's submitting machine) in this cycle: the user wants nothing more, or no slot
 * that is left matches. */
void share_exhausted(struct share_plan *plan);
/* What keeps a user from getting one more slot; share_bar_of() returns it after the last offer. */
enum share_bar {
    SHARE_BAR_NONE,
    SHARE_BAR_CEILING, /* the user's ceiling, or the group's */
    SHARE_BAR_GROUP,   /* the quota of the group */
    SHARE_BAR_SLICE    /* the user's share */
};
enum share_bar share_bar_of(const struct share_plan *plan, size_t user, double cost);

#endif
