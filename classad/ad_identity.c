/* classad/ad_identity.c - see ad_identity.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classad/ad_identity.h"

#include <errno.h>
#include <stddef.h>

#include "classad/ad.h"
#include "classad/ad_packed.h"

/* Returns which of these attributes are among the entries, one bit for each. */
static uint16_t in_entries(const struct ad *ad)
{
    uint16_t found = 0;
    for (size_t i = 0; i < ad->count; i++) {
        found |= ad_name_identity(ad->entries[i].name->text, ad->entries[i].name->length);
    }
    return found;
}

/* Returns the text of a string attribute, wherever the ad has it; "": absent; NULL: not a string
 * literal. */
static const char *find_text(const struct ad *ad, const char *name)
{
    struct ad_value value;
    int rc = ad_get_literal(ad, name, &value);
    if (rc == -ENOENT) {
        return "";
    }
    return rc == 0 && value.type == AD_TYPE_STRING ? value.string.text : NULL;
}

/* Returns the text of a string in this place of the body; NULL: not a string. */
static const char *body_text(const struct ad_body *body, uint32_t place)
{
    struct ad_bytes value = ad_body_value(body, place);
    return value.data[0] == AD_NODE_STRING ? (const char *)value.data + 1 : NULL;
}

const char *ad_identity_read(const struct ad *ad, struct ad_identity_texts *ret)
{
    const struct ad_body *body = ad->hidden == NULL && ad->chain == NULL ? ad->body : NULL;
    unsigned searched = body != NULL ? in_entries(ad) : (1u << AD_IDENTITY_COUNT) - 1;
    unsigned placed = body != NULL ? body->shape->identities & ~searched : 0;
    const char *not_literal = NULL;
    for (unsigned i = 0; i < AD_IDENTITY_COUNT; i++) {
        ret->text[i] = "";
    }
    for (unsigned left = searched | placed; left != 0; left &= left - 1) {
        unsigned i = ad_lowest_bit(left);
        ret->text[i] = (placed >> i & 1) != 0 ? body_text(body, body->shape->identity_places[i])
                                              : find_text(ad, ad_identity_names[i]);
        if (ret->text[i] == NULL) {
            ret->text[i] = "";
            not_literal = not_literal != NULL ? not_literal : ad_identity_names[i];
        }
    }
    return not_literal;
}
