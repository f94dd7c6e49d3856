/* collector/collector_plan.c - see collector_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "collector/collector_plan.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/text.h"
#include "base/wall_offset.h"
#include "classad/ad.h"
#include "classad/ad_pool.h"
#include "offline_ads/offline_ads.h"

/* Seconds for which the offline ad of a machine is kept that went without a word. */
#define ASSUMED_LIFETIME_S ((int64_t)366 * 24 * 3600)
/* below ASSUMED_LIFETIME_S, so that a wrong clock alone ends no such ad */
#define HEARD_PLAUSIBLE_S ((int64_t)365 * 24 * 3600)
#define LIFETIME_S_MAX    ((int64_t)100 * 366 * 24 * 3600)

/* ---- who ------------------------------------------------------------------------------------- */

static int read_name(const struct ad *ad, const char *attribute, size_t max, const char **ret,
                     struct err *err)
{
    const char *text = NULL;
    if (ad_get_string(ad, attribute, &text) != 0 || !*text) {
        return err_set(err, -EINVAL, "the ad has no %s", attribute);
    }
    if (strlen(text) > max) {
        return err_set(err, -EINVAL, "the ad's %s is longer than %zu bytes", attribute, max);
    }
    for (const char *c = text; *c; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f) {
            return err_set(err, -EINVAL, "the ad's %s contains control characters", attribute);
        }
    }
    *ret = text;
    return 0;
}

int plan_identify(const struct ad *ad, const char **type, const char **name, struct err *err)
{
    int code = read_name(ad, "MyType", PLAN_TYPE_MAX, type, err);
    return code ? code : read_name(ad, "Name", PLAN_NAME_MAX, name, err);
}

bool plan_is_offline(const char *type, const struct ad *ad)
{
    return text_equal_nocase(type, "Machine") && offline_ads_is(ad);
}

/* Returns whether it is the ad of a machine that vanished (Absent = true).  It is kept on disk and
 * shown to those who ask for such ads; nobody matches or wakes it. */
static bool plan_is_absent(const char *type, const struct ad *ad)
{
    return text_equal_nocase(type, "Machine") && ad_bool_or(ad, "Absent", false);
}

bool plan_is_durable(const char *type, const struct ad *ad)
{
    return plan_is_offline(type, ad) || plan_is_absent(type, ad);
}

struct plan_traits plan_traits_of(bool is_machine, const struct ad *ad)
{
    struct plan_traits traits = {.lifetime_s = ad_int_or(ad, "ClassAdLifetime", 0)};
    if (is_machine) {
        traits.absent = ad_bool_or(ad, "Absent", false);
        traits.offline = !traits.absent && offline_ads_is(ad);
    }
    return traits;
}

enum owner {
    OWNER_WORKER,
    OWNER_MASTER,
    OWNER_SCHEDD,
    OWNER_ROOSTER,
    OWNER_FACTORY,
    OWNER_NEGOTIATOR,
    OWNER_COLLECTOR
};

static const struct {
    const char *type;
    enum owner owner;
} OWNERS[] = {
    {"Machine", OWNER_WORKER},        {"DaemonMaster", OWNER_MASTER},
    {"Request", OWNER_SCHEDD},        {"Submitter", OWNER_SCHEDD},
    {"Scheduler", OWNER_SCHEDD},      {"Rooster", OWNER_ROOSTER},
    {"Factory", OWNER_FACTORY},       {"Site", OWNER_FACTORY},
    {"Glidein", OWNER_FACTORY},       {"Negotiator", OWNER_NEGOTIATOR},
    {"Accounting", OWNER_NEGOTIATOR}, {"SubmittingMachine", OWNER_NEGOTIATOR},
    {"Collector", OWNER_COLLECTOR},   {"Revocation", OWNER_COLLECTOR},
    {"PowerLock", OWNER_COLLECTOR},
};

static enum owner owner_of(const char *type)
{
    for (size_t i = 0; i < ARRAY_COUNT(OWNERS); i++) {
        if (text_equal_nocase(OWNERS[i].type, type)) {
            return OWNERS[i].owner;
        }
    }
    return OWNER_WORKER;
}

bool plan_expires(const char *type)
{
    return owner_of(type) != OWNER_COLLECTOR;
}

bool plan_may_advertise(unsigned roles, const char *type)
{
    static const unsigned ROLES[] = {[OWNER_WORKER] = PLAN_WORKER | PLAN_ADMINISTRATOR,
                                     [OWNER_MASTER] =
                                         PLAN_WORKER | PLAN_MASTER | PLAN_ADMINISTRATOR,
                                     [OWNER_SCHEDD] = PLAN_SCHEDD | PLAN_ADMINISTRATOR,
                                     [OWNER_ROOSTER] = PLAN_ROOSTER | PLAN_ADMINISTRATOR,
                                     [OWNER_FACTORY] = PLAN_FACTORY | PLAN_ADMINISTRATOR,
                                     [OWNER_NEGOTIATOR] = PLAN_NEGOTIATOR | PLAN_ADMINISTRATOR,
                                     [OWNER_COLLECTOR] = 0};
    return (roles & ROLES[owner_of(type)]) != 0 ||
           ((roles & PLAN_FACTORY) != 0 && text_equal_nocase(type, "Machine"));
}

bool plan_may_be(unsigned roles, const char *type, const struct ad *ad)
{
    return (roles & (PLAN_WORKER | PLAN_ADMINISTRATOR)) != 0 ||
           !text_equal_nocase(type, "Machine") || offline_ads_is_sample(ad);
}

bool plan_is_of_machine(const char *type)
{
    return owner_of(type) == OWNER_WORKER || owner_of(type) == OWNER_MASTER;
}

const char *plan_holder(const char *type, const char *name, char ret[PLAN_NAME_MAX + 1])
{
    const char *sharp = strrchr(name, '#');
    if (owner_of(type) == OWNER_NEGOTIATOR && !text_equal_nocase(type, "Negotiator")) {
        return NULL;
    }
    if (sharp == NULL || owner_of(type) != OWNER_SCHEDD) {
        return name;
    }
    if (text_equal_nocase(type, "Submitter")) {
        return sharp + 1;
    }
    size_t length = (size_t)(sharp - name) > PLAN_NAME_MAX ? PLAN_NAME_MAX : (size_t)(sharp - name);
    memcpy(ret, name, length);
    ret[length] = '\0';
    return ret;
}

static const char *const NEGOTIATOR_MERGES[] = {"MachineLastMatchTime", "OfflineMatches",
                                                "GivenClaims"};

static const char *const ROOSTER_MERGES[] = {
    "Offline",          "PowerState",           "PowerStateReason", "EnteredPowerState",
    "PowerMethod",      "PowerQuarantineUntil", "WakeAttempts",     "LastWakeTime",
    "LastWakeReason",   "WakeSuccessRate",      "WakesTried",       "LastBootDiffered",
    "PowerDownSeconds",
};

static bool is_among(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (ad_name_compare(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* An administrator switches a sleeping machine off: it stays off until it is switched on by name,
 * which ends its offline ads. */
static const char *const ADMINISTRATOR_MERGES[] = {"PowerKeptOff", "PowerKeptOffReason",
                                                   "PowerKeptOffBy"};

bool plan_may_merge(unsigned roles, const char *attribute)
{
    if ((roles & (PLAN_NEGOTIATOR | PLAN_ADMINISTRATOR)) != 0 &&
        is_among(attribute, NEGOTIATOR_MERGES, ARRAY_COUNT(NEGOTIATOR_MERGES))) {
        return true;
    }
    if ((roles & PLAN_ADMINISTRATOR) != 0 &&
        is_among(attribute, ADMINISTRATOR_MERGES, ARRAY_COUNT(ADMINISTRATOR_MERGES))) {
        return true;
    }
    return (roles & (PLAN_ROOSTER | PLAN_ADMINISTRATOR)) != 0 &&
           is_among(attribute, ROOSTER_MERGES, ARRAY_COUNT(ROOSTER_MERGES));
}

/* ---- when ------------------------------------------------------------------------------------ */

bool plan_is_old(const struct plan_stamp *have, const struct plan_stamp *got)
{
    if (got->epoch == 0 || have->epoch == 0) {
        return false;
    }
    if (got->epoch == have->epoch) {
        return got->sequence < have->sequence;
    }
    return got->session < have->session;
}

bool plan_is_successor(const struct plan_stamp *last, const struct plan_stamp *got)
{
    return got->epoch != 0 && got->epoch == last->epoch && last->sequence < INT64_MAX &&
           got->sequence == last->sequence + 1;
}

bool plan_is_gap(const struct plan_stamp *last, const struct plan_stamp *got)
{
    return got->epoch != 0 && got->epoch == last->epoch && got->sequence > last->sequence &&
           got->sequence - 1 > last->sequence;
}

uint64_t plan_lifetime_ms(int64_t own_s, int64_t classad_lifetime_s)
{
    int64_t lifetime_s = own_s > 0 ? own_s : classad_lifetime_s;
    return (uint64_t)(lifetime_s < LIFETIME_S_MAX ? lifetime_s : LIFETIME_S_MAX) * 1000;
}

int64_t plan_absent_lifetime_s(const struct ad *absent, int64_t expire_after_s)
{
    int64_t lifetime_s = ad_int_or(absent, "ClassAdLifetime", 0);
    if (lifetime_s <= 0 || (expire_after_s > 0 && expire_after_s < lifetime_s)) {
        lifetime_s = expire_after_s;
    }
    return lifetime_s > 0 ? lifetime_s : INT64_MAX;
}

int64_t plan_heard_ms(const struct ad *ad, int64_t wall_s, uint64_t now_ms)
{
    int64_t heard_s = ad_int_or(ad, "LastHeardFrom", 0);
    return wall_offset_earlier_ms(ad_int_or(ad, "AbsentSince", heard_s), wall_s, now_ms, false,
                                  HEARD_PLAUSIBLE_S);
}

/* ---- what ------------------------------------------------------------------------------------ */

/* Copies old without the attributes named by `Delete`; MyType and Name always stay. */
static struct ad *copy_without(const struct ad *old, const struct ad_value *names, size_t count)
{
    struct ad *ad = ad_copy(old);
    for (size_t i = 0; i < count; i++) {
        struct ad_value name;
        ad_value_item(names, i, &name);
        if (name.type == AD_TYPE_STRING) {
            ad_remove(ad, name.string.text);
        }
        ad_value_fini(&name);
    }
    (void)ad_copy_attr(ad, "MyType", old, "MyType");
    (void)ad_copy_attr(ad, "Name", old, "Name");
    return ad;
}

struct ad *plan_change(struct ad_pool *pool, const struct ad *old, const struct ad *changes,
                       const struct ad *args)
{
    if (!ad_has(args, "Delete")) {
        return ad_change(pool, old, changes);
    }
    struct ad_value names;
    (void)ad_eval_attr(args, NULL, "Delete", NULL, &names); /* no list: nothing to remove */
    struct ad *rest = copy_without(old, &names, ad_value_count(&names));
    ad_value_fini(&names);
    ad_pack(pool, old, rest);
    struct ad *ad = ad_change(pool, rest, changes);
    ad_destroy(rest);
    return ad;
}

struct ad *plan_assume_asleep(const struct ad *last, bool is_off, int64_t now_s)
{
    const struct offline_ads_how how = {.now_s = now_s, .lifetime_s = ASSUMED_LIFETIME_S};
    struct ad *ad = offline_ads_make(last, &how);
    offline_ads_make_whole(ad);
    if (is_off) {
        ad_remove(ad, OFFLINE_ADS_SILENT);
    }
    ad_remove(ad, "OfflineBootId"); /* the next live ad of any boot ends it */
    return ad;
}

struct ad *plan_make_absent(const struct ad *last, int64_t now_s, int64_t lifetime_s)
{
    static const char *const GONE[] = {
        "Offline",         "OfflineMatches",       "OfflineBootId",
        "PowerMethod",     "MachineLastMatchTime", "StartdUplink",
        "ClassAdLifetime", "GivenClaims",          OFFLINE_ADS_SILENT};
    struct ad *ad = ad_create();
    size_t at = 0;
    const char *name;
    const struct ad_expr *expr;
    while (ad_next(last, &at, &name, &expr)) {
        if (!ad_attr_is_private(name) && !is_among(name, GONE, ARRAY_COUNT(GONE))) {
            ad_set(ad, name, ad_expr_ref(expr));
        }
    }
    ad_set_bool(ad, "Absent", true);
    ad_set_int(ad, "AbsentSince", now_s);
    if (lifetime_s > 0) {
        ad_set_int(ad, "ClassAdLifetime", lifetime_s);
    }
    ad_set_string(ad, "PowerState", "Unknown");
    ad_set_string(ad, "PowerStateReason", "the machine stopped sending ads");
    ad_set_int(ad, "EnteredPowerState", now_s);
    return ad;
}
