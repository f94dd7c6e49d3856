/* negotiator/group_plan.h - computes quotas of accounting groups: how much of the pool each may
 * use.
 *
 * Pure arithmetic over a tree of groups.  Entry 0 is the root, "<none>", for users without a group.
 * A group's quota is a weight (GROUP_QUOTA_<g>) or a fraction of its parent's quota
 * (GROUP_QUOTA_DYNAMIC_<g>).  Static quotas are served first, and scaled down when they do not fit;
 * what the children leave is the parent's own.  With NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION,
 * static quotas stay as configured, and a group's own quota is that of its whole subtree.
 *
 * Quota that groups do not use is surplus.  It rises from the leaves.  At each level it is offered
 * to the group itself and to those of its children that accept surplus, in the ratio of their
 * quotas; groups without a quota share the rest equally.  So a group's surplus is offered to its
 * relatives before the whole pool.
 *
 * Source: HTCondor's manual, "Hierarchical Group Quotas", and the descriptions of its knobs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NEGOTIATOR_GROUP_PLAN_H
#define NEGOTIATOR_GROUP_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#define GROUP_COUNT_MAX 10000
#define GROUP_ROOT_NAME "<none>"

/* One group of the tree. */
struct group_entry {
    const char *name;    /* "physics.cms"; GROUP_ROOT_NAME for the root */
    size_t parent;       /* index of the parent, lower than this one's; 0 for the root */
    double config_quota; /* as configured, >= 0: a weight, or a fraction of the parent's if
                            is_dynamic */
    bool is_dynamic;     /* config_quota is a fraction */
    bool accept_surplus, autoregroup;
    double ceiling;  /* weight that its users may use in all; < 0: no limit */
    double in_use;   /* weight that its own users use now */
    double wanted;   /* further weight that its own users ask for */
    double sort_key; /* lowest is served first, then lowest index; the root last of equals */
    /* results */
    double subtree_quota; /* quota of the group and all groups below it */
    double quota;         /* quota of the group alone */
    double requested;     /* weight that it asked for and did not get */
    double allocated;     /* weight that it may use in all, including in_use */
};

/* Sets subtree_quota and quota of all groups for a pool of weight `total`. */
void group_plan_quotas(struct group_entry *groups, size_t count, double total, bool oversubscribe);
/* Sets allocated of all groups from their quotas and from requested, which the caller has set.
 * Returns the surplus that nobody took.  O(groups log groups). */
double group_plan_allocate(struct group_entry *groups, size_t count);
/* The default sort key where GROUP_SORT_EXPR gives none: lowest use relative to quota first, then
 * groups without a quota, the root last. */
double group_plan_sort_key(const struct group_entry *groups, size_t index);

/* Returns the index of the group of submitter "a.b.user@domain": the deepest configured group of
 * its name; 0 when there is none.  Names are compared without case.  O(groups). */
size_t group_plan_of(const struct group_entry *groups, size_t count, const char *submitter);

#endif
