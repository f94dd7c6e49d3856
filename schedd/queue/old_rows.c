/* schedd/queue/old_rows.c - see old_rows.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/queue/old_rows.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "store/store.h"

#define OLD_NONCE    "_roost_priv_Nonce"
#define OLD_CLAIM_ID "ClaimId"

static const char *const RENAMED[][2] = {
    {"_roost_privRunCkpts", "RunCkpts"},
    {"_roost_privRunSaved", "RunSavedTime"},
    {"_roost_privRunSavedSuspension", "RunSavedSuspensionTime"},
    {"_roost_privCkptBooks", "CkptBooks"},
    {"_roost_privSuspensions", "RunSuspensions"},
    {"_roost_privSuspendedS", "RunSuspensionTime"},
    {"_roost_privEvicting", "EvictionUntold"},
    {"_roost_privExit", "ExitVerdict"},
    {"_roost_priv_LoggedImageSize", "LoggedImageSize"},
};

static int put_row(struct store_conversion *conversion, const char *table, const char *key,
                   const struct ad *ad, struct err *err)
{
    struct strbuf bytes;
    strbuf_init(&bytes, STORE_VALUE_MAX);
    ad_encode(ad, true, &bytes);
    int result =
        bytes.failed
            ? err_set(err, -ENOMEM, "cannot convert row '%s' of table '%s': the row is too large",
                      key, table)
            : store_convert_put(conversion, table, key, bytes.data, bytes.length, err);
    strbuf_fini(&bytes);
    return result;
}

static bool rename_notes(struct ad *ad, bool keep)
{
    bool changed = false;
    for (size_t i = 0; i < ARRAY_COUNT(RENAMED); i++) {
        if (!ad_has(ad, RENAMED[i][0])) {
            continue;
        }
        if (keep) {
            (void)ad_copy_attr(ad, RENAMED[i][1], ad, RENAMED[i][0]); /* it is there */
        }
        ad_remove(ad, RENAMED[i][0]);
        changed = true;
    }
    return changed;
}

static int take_secrets(struct store_conversion *conversion, const char *key, struct ad *ad,
                        bool is_job, bool *changed, struct err *err)
{
    const char *nonce = ad_string_or(ad, OLD_NONCE, "");
    int result = is_job && nonce[0] != '\0'
                     ? store_convert_put(conversion, "nonces", key, nonce, strlen(nonce), err)
                     : 0;
    *changed = ad_has(ad, OLD_NONCE) || ad_has(ad, OLD_CLAIM_ID);
    ad_remove(ad, OLD_NONCE);
    ad_remove(ad, OLD_CLAIM_ID);
    return result;
}

static int convert_row(struct store_conversion *conversion, const char *table, const char *key,
                       const void *value, size_t length, struct err *err)
{
    struct ad *ad = NULL;
    bool is_job = strcmp(table, "jobs") == 0, changed = false;
    if (ad_decode(value, length, NULL, &ad, NULL) != 0) {
        return 0; /* a damaged row stays as it is; loading it logs an error */
    }
    int result = take_secrets(conversion, key, ad, is_job, &changed, err);
    changed = rename_notes(ad, is_job) || changed;
    if (result == 0 && changed) {
        result = put_row(conversion, table, key, ad, err);
    }
    ad_destroy(ad);
    return result;
}

static const char *const WITH_ADS_OF_JOBS[] = {"jobs", "history", NULL};

const struct store_migration OLD_ROWS[] = {
    {.tables = WITH_ADS_OF_JOBS, .convert = convert_row},
};
