/* negotiator/share_plan.h - whose turn it is in a negotiation cycle, and how much he may take.
 *
 * Pure.  A cycle asks for one offer after another, matches what it can within it, says what that
 * weighed, and asks for the next, until there is none:
 *
 *     while (share_next(plan, &offer)) {
 *         for each job of offer.user (of offer.machine, if that is not SHARE_ANY), offer.jobs at
 * most find a slot; cost = its weight for this job if (share_permits(plan, cost, preempts)) match;
 * share_took(plan, cost, preempts); if nothing more of his can be matched in this cycle
 *             share_exhausted(plan);
 *     }
 *
 * Order, as HTCondor's.  Groups in the order of their sort keys, each up to what group_plan gives
 * it (GROUP_QUOTA_ROUND_ROBIN_RATE at a time); what a group could not use is given to others in up
 * to SHARE_ROUNDS_MAX rounds.  Within a group first floors, then spins: a spin goes through the
 * users that want more, best (lowest) effective priority first, and offers each its slice of the
 * pie, share = maxPrio / (prio * sum of maxPrio / prio_i)  of (free + in use by those users), less
 * what it has in use already.  When the slices together are more than what is free, all are cut
 * alike.  Once in an offer a user may round up, so that no crumbs are left.  Spins go on until one
 * matches nothing; a user that is exhausted takes no further part.  A spin costs O(users that are
 * left), and there are at most SHARE_SPINS_MAX of them: then all that is left is offered in order.
 *
 * With machines (UPDATE_PRIO of the seed) submitting machines compete instead of users: the one
 * with the highest prio, less what it was given in this cycle, is next, for as many jobs as keep it
 * ahead; equal ones take turns.  Within a machine its users come in the order of their priorities
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
struct share_plan; /* lives in the arena */

#define SHARE_USERS_MAX  1000000
#define SHARE_SPINS_MAX  64
#define SHARE_ROUNDS_MAX 3
#define SHARE_ANY        SIZE_MAX

struct share_user {
    const char *name;
    double priority; /* effective: real times factor, > 0; lower is better */
    double in_use;   /* weight of what it has now */
    double wanted;   /* weight of what it asks for beside that, as far as known; 0: takes no part */
    double ceiling;  /* weight that it may have in all; < 0: none */
    double floor;    /* weight that it gets before anybody's share; 0: none */
    size_t group;    /* index into groups */
};

struct share_machine { /* a submitting machine: a schedd */
    const char *name;
    double prio; /* highest first */
};

struct share_pair { /* this user has requests at this machine */
    size_t user, machine;
};

struct share_input {
    const struct share_user *users;
    size_t user_count;
    /* The root at least; sort_key and ceiling are read, in_use, wanted and the results are set.
     * group_plan_quotas() has been called. */
    struct group_entry *groups;
    size_t group_count;
    double free;              /* weight of the slots that are to be had now */
    double total;             /* weight of all slots that take part, in use or not */
    double weight_min;        /* of the lightest match that is possible; 0: not known */
    double round_robin;       /* GROUP_QUOTA_ROUND_ROBIN_RATE; <= 0: no limit */
    bool consider_preemption; /* shares are of the total: who is below his may take from others */
    const struct share_machine *machines; /* NULL: users compete, see above */
    size_t machine_count;
    const struct share_pair *pairs; /* with machines: all that take part */
    size_t pair_count;
};

struct share_offer {
    size_t user;
    size_t machine; /* SHARE_ANY: requests of all machines, by their own order */
    size_t group;   /* the group that pays: the user's, or the root when it autoregroups */
    int64_t jobs;   /* at most */
    double weight;  /* of free slots */
    double deficit; /* of free and preempted slots together, >= weight */
    bool only_rank; /* it has its share: only preemption by a machine's Rank is still open to it.
                     * Such offers come with consider_preemption, once for a user, with weight 0 */
};

/* 0, or -E2BIG above the limits, -ENOMEM when the arena is full; *ret untouched then. */
int share_plan_create(const struct share_input *input, struct arena *arena,
                      struct share_plan **ret);
/* The next offer; ends the one before.  False: the cycle is over. */
bool share_next(struct share_plan *plan, struct share_offer *ret);
/* May the offer's user take one more slot of this weight?  preempts: it is in use by another.  A
 * match by a machine's Rank needs not ask. */
bool share_permits(const struct share_plan *plan, double cost, bool preempts);
/* A slot of this weight was matched within the offer. */
void share_took(struct share_plan *plan, double cost, bool preempts);
/* The offer's user (at the offer's machine) gets nothing more in this cycle, whatever is offered:
 * it wants nothing more, or nothing that is left matches. */
void share_exhausted(struct share_plan *plan);
/* When there is no more offer: what bars the user from one slot more of this weight. */
enum share_bar {
    SHARE_BAR_NONE,
    SHARE_BAR_CEILING, /* its own, or its group's */
    SHARE_BAR_GROUP,   /* what its group may have */
    SHARE_BAR_SLICE    /* its part of the pie */
};
enum share_bar share_bar_of(const struct share_plan *plan, size_t user, double cost);

#endif
