/* cli/power_lock.h - locks machines at the collector (POWER_LOCK): for `roost power` and `roost
 * drain`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_POWER_LOCK_H
#define CLI_POWER_LOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cli;
struct cli_reply;
struct err;
struct listing;
struct vec;

/* Jobs that run on a machine when it is locked run to their end, but their claims must take no
 * further job: it is drained peacefully, with this reason, or with ": " and the lock's reason after
 * it.  Then the lock alone keeps the machine idle. */
#define POWER_LOCK_DRAINS "locked"

struct power_lock_wish {
    bool locks;         /* false: unlock */
    const char *reason; /* NULL: none */
    int64_t until_s;    /* seconds since 1970; 0: until it is unlocked */
    /* Lock: for a drain; a machine that is locked already keeps its lock.  Unlock: only what was
     * locked for a drain. */
    bool drains;
};

/* Asks the collector, to which cli is connected.  The answer is in reply->args: Unknown (machines
 * that are locked now, but have no ad), NotLocked (machines that had no such lock).  Returns 0 or
 * -errno; release reply in any case. */
int power_lock_ask(struct cli *cli, const char *const *nodes, size_t count,
                   const struct power_lock_wish *wish, struct cli_reply *reply, struct err *err);
/* Returns whether the answer's list `attribute` names the machine. */
bool power_lock_is_in(const struct cli_reply *reply, const char *attribute, const char *node);

/* Returns whether a drain with this reason came with a lock. */
bool power_lock_is_drain(const char *reason);

/* Adds to nodes the names (char *, owned) of the machines that have an ad for which the constraints
 * of listing are true, each once, in the order of names.  Returns 0 or -errno. */
int power_lock_select(struct cli *cli, const struct listing *listing, struct vec *nodes,
                      struct err *err);

#endif
