/* negotiator/group_plan.h - computes quotas of accounting groups: how much of the pool each may
 * use.
 *
 * Pure arithmetic over a tree of groups.  Entry 0 is the root, "<none>", for users without a group.
 * A group's quota is a weight (GROUP_QUOTA_<g>) or a fraction of its parent's quota
 * (GROUP_QUOTA_DYNAMIC_<g>).  Quotas that are weights are served first, and scaled down when their
 * sum is above the parent's quota; what the children leave is the parent's own.  With
 * NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION, these quotas stay as configured, and a group's own quota
 * is that of its whole subtree.
 *
 * Quota that a group does not use is surplus.  Surplus is passed up the tree, from the leaves to
 * the root.  At each level it is offered to the group itself and to those of its children that
 * accept surplus, in the ratio of their quotas; groups without a quota share the rest equally.  So
 * a group's surplus is offered to its relatives before the whole pool.
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
    const char *name;    /* full name, such as "physics.cms"; the root: GROUP_ROOT_NAME */
    size_t parent;       /* index of the parent, lower than this one's; 0 for the root */
    double config_quota; /* quota as configured, >= 0: a weight; if is_dynamic, a fraction of the
                            parent's quota */
    bool is_dynamic;     /* config_quota is a fraction of the parent's quota */
    bool accept_surplus, autoregroup;
    double ceiling;  /* highest weight that its own users may use together; < 0: no limit */
    double in_use;   /* weight that its own users use now */
    double wanted;   /* further weight that its own users ask for */
    double sort_key; /* groups are served from the lowest key to the highest, equal keys by index,
                        the root last */
    /* results */
    double subtree_quota; /* quota of the group and all groups below it */
    double quota;         /* quota of the group alone */
    /* weight that its users use and want; group_plan_allocate() subtracts `allocated` from it */
    double requested;
    double allocated; /* weight that its users may use together, including in_use */
};

/* Sets subtree_quota and quota of all groups for a pool of weight `total`.  oversubscribe:
 * NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION is set. */
void group_plan_quotas(struct group_entry *groups, size_t count, double total, bool oversubscribe);
/* Sets allocated of all groups, from their quotas and from `requested`.  Before the call the caller
 * sets `requested` to the weight that the group's users use and want.  Lowers `requested` by the
 * weight that was allocated. Returns the surplus that no group took.  O(groups log groups). */
double group_plan_allocate(struct group_entry *groups, size_t count);
/* Returns the sort key of a group for which GROUP_SORT_EXPR gives none.  The keys put the group
 * with the lowest use relative to its quota first, groups without a quota after those with one, and
 * the root last. */
double group_plan_sort_key(const struct group_entry *groups, size_t index);

/* Returns the index of a submitter's group.  For "a.b.user@domain" this is group "a.b" if it is
 * configured, else "a" if it is configured, else 0, the root.  Names are compared without case.
 * O(groups). */
size_t group_plan_of(const struct group_entry *groups, size_t count, const char *submitter);

#endif
