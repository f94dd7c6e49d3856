/* base/node_groups.h - the groups of machines that a configuration names: NODE_GROUP_RACK1 is
 * `@rack1` in a list of hosts (base/hostlist.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_NODE_GROUPS_H
#define BASE_NODE_GROUPS_H

struct config;
struct daemon_checking;
struct err;

/* Sets *ret to the text of a group, which lives as long as the configuration.  Returns 0; -EINVAL:
 * there is no such group, err has the nearest one. */
int node_groups_find(const struct config *config, const char *name, const char **ret,
                     struct err *err);
/* Doubts the groups that cannot be used: they name a group that does not exist, or contain
 * themselves. */
void node_groups_check(const struct daemon_checking *checking);

#endif
