/* cli/status/status_cells_plan.c - see status_cells_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/status/status_cells_plan.h"

#include "classad/ad.h"
#include "offline_ads/offline_ads.h"

void status_put_since(const struct ad *ad, const char *name, const struct ad_context *context,
                      struct strbuf *out)
{
    int64_t at;
    if (ad_get_int(ad, name, &at) == 0) {
        table_plan_duration(context->now_s - at, out);
    }
}

bool status_is_offline(const struct ad *ad)
{
    return ad_bool_or(ad, "Offline", false);
}

const char *status_power_state(const struct ad *ad)
{
    if (!status_is_offline(ad) && offline_ads_is_silent(ad)) {
        return "Unknown";
    }
    return ad_string_or(ad, "PowerState", status_is_offline(ad) ? "Off" : "On");
}
