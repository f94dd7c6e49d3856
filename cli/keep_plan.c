/* cli/keep_plan.c - see keep_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/keep_plan.h"

#include "base/text.h"
#include "classad/ad_eval.h"
#include "cli/until_plan.h"

int keep_plan_until(const char *text, int64_t now_s, const struct ad_context *zone, int64_t *ret,
                    struct err *err)
{
    struct ad_context now = *zone;
    now.now_s = now_s;
    if (text_equal_nocase(text, "now")) {
        *ret = 0;
        return 0;
    }
    return until_plan_read(text, &now, ret, err);
}
