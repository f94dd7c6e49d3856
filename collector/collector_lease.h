/* collector/collector_lease.h - leases: a named role (the pool's negotiator) has one holder at a
 * time.
 *
 * A lease ends when its time is over, when it is given back, and when the connection over which it
 * was taken ends.  Leases are only in memory: after a restart the role goes to whoever asks first.
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

/* A request for a lease. */
struct lease_wish {
    const char *role;
    const char *holder; /* name of the holder, unique to the asking process */
    /* identity of the asker's token; only it may renew the lease or give it back */
    const char *identity;
    int64_t duration_s; /* 0: give the lease back */
    uint64_t session;   /* number of the connection that asks */
};

struct collector_leases *collector_leases_create(void);
void collector_leases_destroy(struct collector_leases *leases);

/* Gives the role to the wish's holder for duration_s from now on, or takes it back.  Returns 0;
 * -EBUSY: another holder has it, err says who and for how long; -EINVAL: an empty or too long name,
 * or a duration below 0 or above LEASE_SECONDS_MAX; -ENOSPC: LEASE_ROLES_MAX. */
int collector_leases_take(struct collector_leases *leases, const struct lease_wish *wish,
                          uint64_t now_ms, struct err *err);
/* Who holds a role; texts are borrowed until the next call. */
struct lease_holder {
    const char *holder, *identity;
    int64_t remaining_s;
};
/* Fills *ret with the holder of the role.  False: nobody holds it. */
bool collector_leases_holder(const struct collector_leases *leases, const char *role,
                             uint64_t now_ms, struct lease_holder *ret);
/* The connection has ended: ends its leases. */
void collector_leases_session_over(struct collector_leases *leases, uint64_t session);

#endif
