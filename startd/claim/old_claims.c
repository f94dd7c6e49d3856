/* startd/claim/old_claims.c - see old_claims.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/claim/old_claims.h"

#include <errno.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "store/store.h"

static int convert_claim(struct store_conversion *conversion, const char *table, const char *key,
                         const void *value, size_t length, struct err *err)
{
    struct ad *ad = NULL;
    if (ad_decode(value, length, NULL, &ad, NULL) != 0) {
        return 0; /* a damaged row stays as it is: who loads it says so */
    }
    int result = 0;
    if (ad_has(ad, OLD_CLAIM_ID)) {
        struct strbuf bytes;
        strbuf_init(&bytes, STORE_VALUE_MAX);
        ad_remove(ad, OLD_CLAIM_ID);
        ad_encode(ad, true, &bytes);
        result =
            bytes.failed
                ? err_set(err, -ENOMEM, "a row of the table %s is too large to be stored", table)
                : store_convert_put(conversion, table, key, bytes.data, bytes.length, err);
        strbuf_fini(&bytes);
    }
    ad_destroy(ad);
    return result;
}

static const char *const CLAIMS[] = {"claims", NULL};

const struct store_migration STARTD_OLD_ROWS[] = {
    {.tables = CLAIMS, .convert = convert_claim},
};
