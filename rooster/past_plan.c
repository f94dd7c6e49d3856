/* rooster/past_plan.c - a machine's record of wakes: see past_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rooster/past_plan.h"

#include <string.h>

#include "base/check.h"
#include "base/strbuf.h"
#include "classad/ad.h"

/* Attributes of the machine that are compared: the same in all its slots, and not changing by
 * themselves, as free disk space does. */
static const char *const COMPARED[] = {
    "DetectedCpus", "DetectedMemory", "TotalCpus",     "TotalMemory",   "MachineResources",
    "Arch",         "OpSysAndVer",    "KernelVersion", "CondorVersion", "HardwareAddress",
    "Subnet"};

void past_add(struct past *past, bool came, int64_t at_s)
{
    past->came = past->came << 1 | (came ? 1U : 0U);
    past->count += past->count < PAST_KEPT ? 1 : 0;
    past->proven_s = came ? at_s : past->proven_s;
}

void past_came_late(struct past *past, int64_t at_s)
{
    past->came |= 1U;
    past->proven_s = at_s;
}

static double success_rate(const struct past *past)
{
    unsigned came = 0;
    for (unsigned i = 0; i < past->count; i++) {
        came += past->came >> i & 1U;
    }
    return (double)came / past->count;
}

static void set_differed(struct past *past, const char *text)
{
    if (strlen(text) < PAST_DIFFERED_MAX) {
        past->is_compared = true;
        memcpy(past->differed, text, strlen(text) + 1);
    }
}

const char *past_differed(const struct past *past)
{
    return past->is_compared ? past->differed : NULL;
}

void past_recall(struct past *past, const struct ad *record)
{
    const char *outcome = ad_string_or(record, "Outcome", "");
    bool wake = strcmp(ad_string_or(record, "Kind", "Wake"), "Wake") == 0;
    /* One that slept at once came, whatever is held against it. */
    bool slept = strcmp(ad_string_or(record, "Fault", ""), "AsleepAgain") == 0;
    bool came = slept || strcmp(outcome, "Up") == 0;
    int64_t attempts = ad_int_or(record, "Attempts", 1);
    if (ad_has(record, "Differed")) {
        set_differed(past, ad_string_or(record, "Differed", ""));
    }
    if (!wake || (!came && strcmp(outcome, "Failed") != 0)) {
        return;
    }
    for (int64_t i = came ? 1 : 0; i < attempts && i < PAST_KEPT; i++) {
        past_add(past, false, 0);
    }
    if (came) {
        int64_t at_s = ad_int_or(record, "EndTime", ad_int_or(record, "StartTime", 0));
        past_add(past, true, at_s > 0 ? at_s : 0); /* else it would never be as it is shown */
    }
}

/* ---- what differs ---------------------------------------------------------------------------- */

struct ad *past_promise(const struct ad *offline)
{
    struct ad *ad = ad_create();
    (void)ad_copy_attr(ad, "OfflineBootId", offline, "OfflineBootId"); /* absent: so it stays */
    for (size_t i = 0; i < ARRAY_COUNT(COMPARED); i++) {
        (void)ad_copy_attr(ad, COMPARED[i], offline, COMPARED[i]);
    }
    return ad;
}

static void print_value(const struct ad *ad, const char *name, struct strbuf *out)
{
    struct ad_value value;
    if (ad_eval_attr(ad, NULL, name, NULL, &value) == 0) {
        ad_value_print_bare(&value, out);
    } else {
        strbuf_puts(out, "nothing");
    }
    ad_value_fini(&value);
}

/* Appends "NAME old -> new"; only the name if there is no room for the values. */
static void add_difference(struct strbuf *all, const char *name, struct strbuf *was,
                           struct strbuf *is)
{
    size_t more = strlen(name) + was->length + is->length + strlen(",   -> ");
    if (all->length > 0) {
        strbuf_puts(all, ", ");
    }
    strbuf_puts(all, name);
    if (all->length + more < PAST_DIFFERED_MAX) {
        strbuf_printf(all, " %s -> %s", strbuf_text(was), strbuf_text(is));
    }
}

void past_compare(struct past *past, const struct ad *promise, const struct ad *live)
{
    const char *boot = ad_string_or(live, "BootId", "");
    struct strbuf all;
    if (boot[0] == '\0' || strcmp(boot, ad_string_or(promise, "OfflineBootId", "")) == 0) {
        return;
    }
    strbuf_init(&all, 0);
    for (size_t i = 0; i < ARRAY_COUNT(COMPARED); i++) {
        struct strbuf was, is;
        strbuf_init(&was, 0);
        strbuf_init(&is, 0);
        print_value(promise, COMPARED[i], &was);
        print_value(live, COMPARED[i], &is);
        if (strcmp(strbuf_text(&was), strbuf_text(&is)) != 0 &&
            all.length + strlen(COMPARED[i]) + strlen(", ") < PAST_DIFFERED_MAX) {
            add_difference(&all, COMPARED[i], &was, &is);
        }
        strbuf_fini(&was);
        strbuf_fini(&is);
    }
    set_differed(past, strbuf_text(&all));
    strbuf_fini(&all);
}

/* ---- in ads ---------------------------------------------------------------------------------- */

void past_put(const struct past *past, struct ad *ad)
{
    if (past->proven_s > 0) {
        ad_set_int(ad, "LastWakeTime", past->proven_s);
    }
    if (past->count > 0) {
        ad_set_real(ad, "WakeSuccessRate", success_rate(past));
        ad_set_int(ad, "WakesTried", past->count);
    }
    if (past->is_compared) {
        ad_set_string(ad, "LastBootDiffered", past->differed);
    }
}

bool past_is_in(const struct past *past, const struct ad *ad)
{
    static const double NEAR = 0.001; /* a rate of 32 orders moves in steps of 0.03 */
    double told = ad_real_or(ad, "WakeSuccessRate", -1);
    double is = past->count > 0 ? success_rate(past) : told;
    return (past->proven_s == 0 || past->proven_s == ad_int_or(ad, "LastWakeTime", 0)) &&
           (past->count == 0 || past->count == ad_int_or(ad, "WakesTried", 0)) &&
           told - is < NEAR && is - told < NEAR &&
           (!past->is_compared ||
            (ad_has(ad, "LastBootDiffered") &&
             strcmp(past->differed, ad_string_or(ad, "LastBootDiffered", "")) == 0));
}
