/* factory/glidein.c - see glidein.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "factory/glidein.h"

#include <stdio.h>
#include <string.h>

#include "classad/ad.h"
#include "factory/site.h"

static const char *const NAMES[GLIDEIN_STATES] = {
    [GLIDEIN_INTENDED] = "Intended", [GLIDEIN_QUEUED] = "Queued", [GLIDEIN_HELD] = "Held",
    [GLIDEIN_STARTED] = "Started",   [GLIDEIN_JOINED] = "Joined", [GLIDEIN_LEFT] = "Left",
};

const char *glidein_state_name(enum glidein_state state)
{
    return NAMES[state];
}

struct ad *glidein_to_ad(const struct glidein *glidein, const char *factory)
{
    struct ad *ad = ad_create();
    ad_set_string(ad, "MyType", "Glidein");
    ad_set_string(ad, "Name", glidein->name);
    ad_set_string(ad, "Factory", factory);
    ad_set_string(ad, "Site", glidein->site->name);
    ad_set_string(ad, "State", NAMES[glidein->state]);
    ad_set_string(ad, "SiteId", glidein->site_id);
    ad_set_string(ad, "Reason", glidein->reason);
    ad_set_int(ad, "SubmitTime", glidein->submitted_s);
    ad_set_bool(ad, "Served", glidein->served);
    ad_set_int(ad, "Claims", (int64_t)glidein->claims);
    if (glidein->cause == GLIDEIN_ORDERED) {
        ad_set_bool(ad, "Ordered", true);
    }
    if (glidein->cause == GLIDEIN_TRIAL) {
        ad_set_bool(ad, "Test", true);
    }
    return ad;
}

bool glidein_from_ad(const struct ad *ad, struct glidein *ret, const char **site)
{
    const char *name = ad_string_or(ad, "Name", "");
    const char *state = ad_string_or(ad, "State", "");
    *ret = (struct glidein){.state = GLIDEIN_STATES};
    for (int i = 0; i < GLIDEIN_STATES; i++) {
        ret->state = strcmp(NAMES[i], state) == 0 ? (enum glidein_state)i : ret->state;
    }
    *site = ad_string_or(ad, "Site", "");
    if (name[0] == '\0' || strlen(name) >= sizeof(ret->name) || ret->state == GLIDEIN_STATES) {
        return false;
    }
    (void)snprintf(ret->name, sizeof(ret->name), "%s", name);
    (void)snprintf(ret->site_id, sizeof(ret->site_id), "%s", ad_string_or(ad, "SiteId", ""));
    (void)snprintf(ret->key, sizeof(ret->key), "%s", ad_string_or(ad, GLIDEIN_KEY, ""));
    ret->submitted_s = ad_int_or(ad, "SubmitTime", 0);
    ret->served = ad_bool_or(ad, "Served", false);
    ret->cause = ad_bool_or(ad, "Ordered", false) ? GLIDEIN_ORDERED
                 : ad_bool_or(ad, "Test", false)  ? GLIDEIN_TRIAL
                                                  : GLIDEIN_FOR_JOBS;
    return true;
}
