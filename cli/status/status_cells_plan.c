/* cli/status/status_cells_plan.c - see status_cells_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/status/status_cells_plan.h"

#include "classad/ad.h"
#include "offline_ads/offline_ads.h"

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
