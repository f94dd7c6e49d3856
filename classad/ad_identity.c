/* classad/ad_identity.c - see ad_identity.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classad/ad_identity.h"

#include <errno.h>
#include <stddef.h>

#include "base/check.h"
#include "classad/ad.h"

const char *ad_identity_not_literal(const struct ad *ad)
{
    static const char *const NAMES[] = {
        "Name",  "Machine", "StartdUplink",          "ScheddName", "UidDomain", "FileSystemDomain",
        "Owner", "User",    "AuthenticatedIdentity",
    };
    for (size_t i = 0; i < ARRAY_COUNT(NAMES); i++) {
        struct ad_value value;
        int rc = ad_get_literal(ad, NAMES[i], &value);
        if (rc != -ENOENT && (rc != 0 || value.type != AD_TYPE_STRING)) {
            return NAMES[i];
        }
    }
    return NULL;
}

const char *ad_identity_text(const struct ad *ad, const char *name)
{
    struct ad_value value;
    return ad_get_literal(ad, name, &value) == 0 && value.type == AD_TYPE_STRING ? value.string.text
                                                                                 : "";
}
