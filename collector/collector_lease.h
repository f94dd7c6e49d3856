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

#define LEASE_ROLES_MAX 1000
/* most bytes of the name of a role or a holder, without the terminating zero */
#define LEASE_NAME_MAX    256
#define LEASE_SECONDS_MAX 3600

struct collector_leases;
struct err;

/* A request for a lease. */
struct lease_wish {
    const char *role;
    const char *holder; /* name of the holder, unique to the asking process */
    /* identity of the token of the asking process; a process with another identity cannot renew the
     * lease or give it back */
    const char *identity;
    int64_t duration_s; /* length of the lease from now on; 0: give it back */
    uint64_t session;   /* number of the connection over which the wish came */
};

struct collector_leases *collector_leases_create(void);
void collector_leases_destroy(struct collector_leases *leases);

/* Gives the role to the wish's holder for duration_s from now on; with duration_s 0, ends that
 * holder's lease.  Returns 0; -EBUSY: another holder has the role, err says who and for how long;
 * -EINVAL: a name is empty or too long, or duration_s is below 0 or above LEASE_SECONDS_MAX;
 * -ENOSPC: there are LEASE_ROLES_MAX roles already. */
int collector_leases_take(struct collector_leases *leases, const struct lease_wish *wish,
                          uint64_t now_ms, struct err *err);
/* Who holds a role.  The texts are valid until the next call of a function of this header. */
struct lease_holder {
    const char *holder, *identity;
    int64_t remaining_s;
};
/* Fills *ret with the holder of the role and returns true; returns false if nobody holds it. */
bool collector_leases_holder(const struct collector_leases *leases, const char *role,
                             uint64_t now_ms, struct lease_holder *ret);
/* Ends the leases that were taken over this connection.  To be called when it has closed. */
void collector_leases_session_over(struct collector_leases *leases, uint64_t session);

#endif
