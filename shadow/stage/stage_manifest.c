/* shadow/stage/stage_manifest.c - see stage_manifest.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "shadow/stage/stage_manifest.h"

#include <errno.h>

#include "base/err.h"
#include "classad/ad.h"
#include "shadow/run/run_work.h"
#include "transfer/transfer_names.h"

int stage_manifest_each(struct work *work, const struct ad *result_ad, size_t *ret_count,
                        int (*each)(struct work *work, const char *name, const char *checksum))
{
    struct ad_value names;
    struct ad_value sums;
    (void)ad_eval_attr(result_ad, NULL, "Files", NULL, &names);    /* absent: no elements */
    (void)ad_eval_attr(result_ad, NULL, "Checksums", NULL, &sums); /* the same */
    int result = 0;
    size_t count = ad_value_count(&names);
    if (count != ad_value_count(&sums) || count > TRANSFER_FILES_MAX) {
        result = err_set(&work->err, -EINVAL,
                         "Files and Checksums have different lengths, or more than %d entries",
                         TRANSFER_FILES_MAX);
    }
    for (size_t i = 0; result == 0 && i < count; i++) {
        struct ad_value name;
        struct ad_value sum;
        ad_value_item(&names, i, &name);
        ad_value_item(&sums, i, &sum);
        if (name.type == AD_TYPE_STRING && sum.type == AD_TYPE_STRING) {
            result = each(work, name.string.text, sum.string.text);
        } else {
            result = err_set(&work->err, -EINVAL, "Files and Checksums must be lists of strings");
        }
        ad_value_fini(&sum);
        ad_value_fini(&name);
    }
    ad_value_fini(&sums);
    ad_value_fini(&names);
    *ret_count = count;
    return result;
}

bool stage_manifest_is_empty(const struct ad *result_ad)
{
    struct ad_value names;
    (void)ad_eval_attr(result_ad, NULL, "Files", NULL, &names); /* absent: undefined */
    bool none = names.type == AD_TYPE_UNDEFINED ||
                (names.type == AD_TYPE_LIST && ad_value_count(&names) == 0);
    ad_value_fini(&names);
    return none;
}
