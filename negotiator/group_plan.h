/* negotiator/group_plan.h - accounting groups: who may use how much of the pool, by name.
 *
 * Pure arithmetic over a tree of groups.  The root, "<none>", is entry 0: users of no group.  A
 * group's quota is a weight (GROUP_QUOTA_<g>) or a part of its parent's (GROUP_QUOTA_DYNAMIC_<g>);
 * static quotas are served first, and all are scaled down when they do not fit; what the children
 * leave is the parent's own.  With NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION static quotas stay as
 * configured, and a group's own quota is that of its whole subtree.
 *
 * What groups do not ask for is surplus.  It rises from the leaves, and is given at each level to
 * the group itself and to those of its children that accept surplus, in the ratio of their quotas;
 * groups without a quota share equally what is left then.  So a group's surplus is offered to
 * its relatives before it is offered to the whole pool.
 *
 * Source: HTCondor's manual, "Hierarchical Group Quotas", and what its knobs promise.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NEGOTIATOR_GROUP_PLAN_H
#define NEGOTIATOR_GROUP_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#define GROUP_COUNT_MAX 10000
#define GROUP_ROOT_NAME "<none>"

struct group_entry {
    const char *name;    /* "physics.cms"; of the root GROUP_ROOT_NAME */
    size_t parent;       /* index, lower than its own; of the root 0 */
    double config_quota; /* as configured: a weight, or a part of the parent's, >= 0 */
    bool is_dynamic;     /* the latter */
    bool accept_surplus, autoregroup;
    double ceiling;  /* weight that its users may have in all; < 0: none */
    double in_use;   /* weight that its own users have now */
    double wanted;   /* more weight that its own users ask for */
    double sort_key; /* groups are served lowest first, then by index; the root last of equals */
    /* results */
    double subtree_quota; /* of the group and all below it */
    double quota;         /* of the group itself */
    double requested;     /* what it asked for and did not get */
    double allocated;     /* what it may use in all, in_use included */
};

/* Sets subtree_quota and quota of all for a pool of this weight. */
void group_plan_quotas(struct group_entry *groups, size_t count, double total, bool oversubscribe);
/* Sets allocated of all (quotas must be set) for requested as the caller has set it; returns the
 * surplus that nobody took.  O(groups log groups). */
double group_plan_allocate(struct group_entry *groups, size_t count);
/* The sort key where GROUP_SORT_EXPR says nothing: the most starved first (in_use over quota),
 * groups without quota after them, the root last. */
double group_plan_sort_key(const struct group_entry *groups, size_t index);

/* The group of a submitter "a.b.user@domain": the deepest configured one along its name; 0 when
 * none is.  Names are compared without case.  O(groups). */
size_t group_plan_of(const struct group_entry *groups, size_t count, const char *submitter);

#endif
