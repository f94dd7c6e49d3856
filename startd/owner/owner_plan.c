/* startd/owner/owner_plan.c - see owner_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/owner/owner_plan.h"

#include <string.h>

#include "base/text.h"

/* bytes, without the terminating zero; longer names are no account's name */
#define OWNER_MAX 255

bool owner_plan_is_believed(const char *uid_domain, const char *owners, const char *user)
{
    char owner[OWNER_MAX + 1];
    const char *at = strrchr(user, '@');
    if (uid_domain[0] == '\0' || at == NULL || at == user || at - user > OWNER_MAX) {
        return false;
    }
    size_t length = (size_t)(at - user);
    memcpy(owner, user, length);
    owner[length] = '\0';
    return text_equal_nocase(at + 1, uid_domain) &&
           (owners[0] == '\0' || text_glob(owners, owner, false));
}
