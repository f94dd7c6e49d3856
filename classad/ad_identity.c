/* classad/ad_identity.c - see ad_identity.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classad/ad_identity.h"

#include <errno.h>
#include <stddef.h>

#include "classad/ad.h"
#include "classad/ad_packed.h"

/* Most ads are a body alone, and its shape knows. */
static bool may_have(const struct ad *ad, unsigned which)
{
    return ad->body == NULL || ad->count > 0 || ad->chain != NULL ||
           (ad->body->shape->identities >> which & 1) != 0;
}

const char *ad_identity_not_literal(const struct ad *ad)
{
    for (unsigned i = 0; i < AD_IDENTITY_COUNT; i++) {
        struct ad_value value;
        if (!may_have(ad, i)) {
            continue;
        }
        int rc = ad_get_literal(ad, ad_identity_names[i], &value);
        if (rc != -ENOENT && (rc != 0 || value.type != AD_TYPE_STRING)) {
            return ad_identity_names[i];
        }
    }
    return NULL;
}

const char *ad_identity_text(const struct ad *ad, enum ad_identity which)
{
    struct ad_value value;
    bool is_text = may_have(ad, which) &&
                   ad_get_literal(ad, ad_identity_names[which], &value) == 0 &&
                   value.type == AD_TYPE_STRING;
    return is_text ? value.string.text : "";
}
