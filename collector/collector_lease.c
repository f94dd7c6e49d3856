/* collector/collector_lease.c - see collector_lease.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "collector/collector_lease.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strmap.h"

struct lease {
    char *holder;
    char *identity;
    uint64_t until_ms;
    uint64_t session;
};

struct collector_leases {
    struct strmap *by_role;
};

struct collector_leases *collector_leases_create(void)
{
    struct collector_leases *leases = mem_zalloc(sizeof(*leases));
    leases->by_role = strmap_create(STRMAP_CASE_SENSITIVE);
    return leases;
}

static void lease_destroy(void *value)
{
    struct lease *lease = value;
    if (lease) {
        mem_free(lease->holder);
        mem_free(lease->identity);
        mem_free(lease);
    }
}

void collector_leases_destroy(struct collector_leases *leases)
{
    if (leases) {
        strmap_destroy(leases->by_role, lease_destroy);
        mem_free(leases);
    }
}

static bool name_fits(const char *name)
{
    return *name && strlen(name) <= LEASE_NAME_MAX;
}

static int64_t remaining_s(const struct lease *lease, uint64_t now_ms)
{
    return (int64_t)((lease->until_ms - now_ms + 999) / 1000);
}

bool collector_leases_holder(const struct collector_leases *leases, const char *role,
                             uint64_t now_ms, struct lease_holder *ret)
{
    const struct lease *lease = strmap_get(leases->by_role, role);
    if (!lease || lease->until_ms <= now_ms) {
        return false;
    }
    *ret = (struct lease_holder){lease->holder, lease->identity, remaining_s(lease, now_ms)};
    return true;
}

int collector_leases_take(struct collector_leases *leases, const struct lease_wish *wish,
                          uint64_t now_ms, struct err *err)
{
    if (!name_fits(wish->role) || !name_fits(wish->holder)) {
        return err_set(err, -EINVAL, "Role and Holder must have 1 to %d bytes", LEASE_NAME_MAX);
    }
    if (wish->duration_s < 0 || wish->duration_s > LEASE_SECONDS_MAX) {
        return err_set(err, -EINVAL, "Duration must be 0 to %d seconds", LEASE_SECONDS_MAX);
    }
    struct lease *lease = strmap_get(leases->by_role, wish->role);
    bool over = !lease || lease->until_ms <= now_ms;
    bool mine = lease && strcmp(lease->holder, wish->holder) == 0 &&
                strcmp(lease->identity, wish->identity) == 0;
    if (!over && !mine) {
        return err_set(err, -EBUSY, "%s (%s) holds the role of %s for another %lld s",
                       lease->holder, lease->identity, wish->role,
                       (long long)remaining_s(lease, now_ms));
    }
    if (!lease && wish->duration_s > 0 && strmap_count(leases->by_role) >= LEASE_ROLES_MAX) {
        return err_set(err, -ENOSPC, "too many roles have a holder already");
    }
    lease_destroy(strmap_remove(leases->by_role, wish->role));
    if (wish->duration_s > 0) {
        lease = mem_zalloc(sizeof(*lease));
        lease->holder = mem_strdup(wish->holder);
        lease->identity = mem_strdup(wish->identity);
        lease->until_ms = now_ms + (uint64_t)wish->duration_s * 1000;
        lease->session = wish->session;
        (void)strmap_set(leases->by_role, wish->role, lease);
    }
    return 0;
}

void collector_leases_session_over(struct collector_leases *leases, uint64_t session)
{
    size_t at = 0;
    const char *role;
    void *value;
    while (strmap_next(leases->by_role, &at, &role, &value)) {
        if (((struct lease *)value)->session == session) {
            lease_destroy(strmap_remove(leases->by_role, role));
        }
    }
}
