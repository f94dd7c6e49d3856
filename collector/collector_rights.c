/* collector/collector_rights.c - converts a caller's token to the roles of collector_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stddef.h>

#include "collector/collector_plan.h"
#include "collector/collector_verbs.h"
#include "wire/verbs.h"
#include "wire/wire.h"

bool collector_is_holder(const struct wire_peer *peer, const char *type, const char *name)
{
    char text[PLAN_NAME_MAX + 1];
    const char *holder = plan_holder(type, name, text);
    return holder == NULL || wire_peer_may_advertise(peer, holder);
}

unsigned collector_roles(const struct wire_peer *peer)
{
    static const struct {
        uint32_t scope;
        unsigned role;
    } ROLES[] = {{SCOPE_ADVERTISE, PLAN_WORKER},
                 {SCOPE_SCHEDD, PLAN_SCHEDD},
                 {SCOPE_ROOSTER, PLAN_ROOSTER},
                 {SCOPE_MASTER, PLAN_MASTER},
                 {SCOPE_NEGOTIATOR, PLAN_NEGOTIATOR},
                 {SCOPE_FACTORY, PLAN_FACTORY},
                 {SCOPE_ADMINISTRATOR, PLAN_ADMINISTRATOR}};
    unsigned roles = 0;
    for (size_t i = 0; i < sizeof ROLES / sizeof ROLES[0]; i++) {
        roles |= (peer->scopes & ROLES[i].scope) != 0 ? ROLES[i].role : 0;
    }
    return roles;
}
