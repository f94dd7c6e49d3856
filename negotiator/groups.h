/* negotiator/groups.h - the accounting groups that are configured.
 *
 * GROUP_NAMES and the knobs of each name are read once for each configuration; the arithmetic is
 * group_plan's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NEGOTIATOR_GROUPS_H
#define NEGOTIATOR_GROUPS_H

#include <stdbool.h>
#include <stddef.h>

#include "negotiator/group_plan.h"

struct ad_context;
struct ad_expr;
struct config;
struct log;
struct strmap;

struct groups { /* read only, but for what groups_begin() and group_plan set in the entries */
    struct group_entry *entries; /* [0] the root; parents before children */
    double *prio_factors;        /* 0: none */
    size_t count;
    struct strmap *index; /* name -> its entry */
    struct ad_expr *sort; /* GROUP_SORT_EXPR; NULL: group_plan_sort_key() */
    bool oversubscribe;   /* NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION */
    double round_robin;   /* GROUP_QUOTA_ROUND_ROBIN_RATE */
};

/* A group that is configured badly is left out and logged: the others are served. */
struct groups *groups_create(const struct config *config, struct log *log);
void groups_destroy(struct groups *groups); /* NULL is allowed */
/* The account name of a submitter's group. */
const char *groups_name_of(const struct groups *groups, const char *submitter);
/* Index by name, without case; groups->count when there is none. */
size_t groups_find(const struct groups *groups, const char *name);
/* Sets quotas for a pool of this weight, and the sort keys by what the groups have in use. */
void groups_begin(struct groups *groups, double total, const struct ad_context *context);

#endif
