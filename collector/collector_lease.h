/* collector/collector_lease.h - one holder at a time of a named role (the pool's negotiator).
 *
 * A lease ends when its time is over, when it is given back and when the connection it was taken
 * over ends.  Leases live in memory: a collector that starts anew gives a role to who asks first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COLLECTOR_COLLECTOR_LEASE_H
#define COLLECTOR_COLLECTOR_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#define LEASE_ROLES_MAX   1000
#define LEASE_NAME_MAX    256 /* bytes of a role or holder */
#define LEASE_SECONDS_MAX 3600

struct collector_leases;
struct err;

struct lease_wish {
    const char *role;
    const char *holder;   /* unique to the process that asks */
    const char *identity; /* of its token: nobody else renews or gives back */
    int64_t duration_s;   /* 0 gives it back */
    uint64_t session;     /* the connection that asks */
};

struct collector_leases *collector_leases_create(void);
void collector_leases_destroy(struct collector_leases *leases);

/* 0: the wish's holder has the role for duration_s from now on, or has given it back.  -EBUSY:
 * another has it, err says who and for how long.  -EINVAL: an empty or too long name, a duration
 * below 0 or above LEASE_SECONDS_MAX.  -ENOSPC: LEASE_ROLES_MAX. */
int collector_leases_take(struct collector_leases *leases, const struct lease_wish *wish,
                          uint64_t now_ms, struct err *err);
/* Who has the role, to be told to others: borrowed until the next call.  False: nobody. */
struct lease_holder {
    const char *holder, *identity;
    int64_t remaining_s;
};
bool collector_leases_holder(const struct collector_leases *leases, const char *role,
                             uint64_t now_ms, struct lease_holder *ret);
void collector_leases_session_over(struct collector_leases *leases, uint64_t session);

#endif
