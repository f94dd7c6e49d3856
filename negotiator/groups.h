/* negotiator/groups.h - reads the accounting groups from the configuration.
 *
 * GROUP_NAMES and the knobs of each group are read when the daemon starts and when its
 * configuration changes.  group_plan.h does the arithmetic.
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
struct daemon_checking;
struct log;
struct strmap;

struct groups {                  /* the groups; only groups_begin() and group_plan.h change them */
    struct group_entry *entries; /* entries[0] is the root; parents come before children */
    double *prio_factors;        /* GROUP_PRIO_FACTOR_<group> of each group, by index; 0: not set */
    size_t count;
    struct strmap *index; /* name of a group -> its entry in entries */
    struct ad_expr *sort; /* GROUP_SORT_EXPR; NULL: not set, group_plan_sort_key() gives the key */
    bool oversubscribe;   /* NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION */
    double round_robin;   /* GROUP_QUOTA_ROUND_ROBIN_RATE; <= 0: no limit */
};

/* Reads the groups from config and returns them; the caller frees them by groups_destroy().  Logs
 * and leaves out a badly configured group. */
struct groups *groups_create(const struct config *config, struct log *log);
void groups_destroy(struct groups *groups); /* NULL is allowed */
/* Doubts names in GROUP_NAMES that are left out, and knobs of groups that GROUP_NAMES does not
 * have. */
void groups_check(const struct daemon_checking *checking);
/* Returns the name of the account of a submitter's group; GROUP_ROOT_NAME: the submitter is in no
 * other group than the root. */
const char *groups_name_of(const struct groups *groups, const char *submitter);
/* Returns the index of a group by name, compared without case; groups->count when unknown. */
size_t groups_find(const struct groups *groups, const char *name);
/* Computes the quotas of the groups for a pool of weight `total`, and their sort keys from what
 * they use now (in_use).  context: for evaluating GROUP_SORT_EXPR. */
void groups_begin(struct groups *groups, double total, const struct ad_context *context);

#endif
