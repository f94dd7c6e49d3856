/* cli/power_show_plan.c - see power_show_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/power_show_plan.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "cli/table_plan.h"
#include "offline_ads/offline_ads.h"

static void put_date_of(const struct ad *ad, const char *name, const struct ad_context *context,
                        struct strbuf *out)
{
    int64_t at;
    if (ad_get_int(ad, name, &at) == 0) {
        table_plan_date(at, context, out);
    }
}

static void put_seconds_of(const struct ad *ad, const char *name, struct strbuf *out)
{
    double seconds;
    if (ad_get_real(ad, name, &seconds) == 0) {
        strbuf_printf(out, "%.1f", seconds);
    }
}

static void cell_name(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    table_plan_string(ad, "Name", out);
}

static void cell_state(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    table_plan_string(ad, "PowerState", out);
}

static void cell_state_time(const struct ad *ad, const struct ad_context *context,
                            struct strbuf *out)
{
    int64_t at;
    if (ad_get_int(ad, "EnteredPowerState", &at) == 0) {
        table_plan_duration(context->now_s - at, out);
    }
}

static void cell_method(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    table_plan_string(ad, "PowerMethod", out);
}

static void cell_waiting(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    table_plan_int(ad, "JobsWaiting", out);
}

static void cell_attempts(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    table_plan_int(ad, "WakeAttempts", out);
}

static void cell_last_boot(const struct ad *ad, const struct ad_context *context,
                           struct strbuf *out)
{
    (void)context;
    put_seconds_of(ad, "LastWakeSeconds", out);
}

static void cell_today(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    table_plan_int(ad, "WakesToday", out);
}

static void cell_deadline(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    table_plan_int(ad, "WakeDeadline", out);
}

bool power_show_lock(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    if (ad_bool_or(ad, "PowerLocked", false)) {
        const char *reason = ad_string_or(ad, "PowerLockedReason", "");
        int64_t until_s = ad_int_or(ad, "PowerLockedUntil", 0);
        strbuf_printf(out, "is locked%s by %s",
                      ad_bool_or(ad, "PowerLockedByDrain", false) ? " (drained while asleep)" : "",
                      ad_string_or(ad, "PowerLockedBy", "?"));
        if (until_s != 0) {
            strbuf_puts(out, " until ");
            table_plan_date(until_s, context, out);
        }
        strbuf_printf(out, "%s%s", reason[0] != '\0' ? ": " : "", reason);
        return true;
    }
    if (ad_bool_or(ad, "PowerKeptOff", false)) {
        const char *reason = ad_string_or(ad, "PowerKeptOffReason", "");
        strbuf_puts(out, "stays off until somebody switches the machine on by name");
        strbuf_printf(out, reason[0] != '\0' ? " (%s)" : "%s", reason);
        return true;
    }
    return false;
}

void power_show_holds(const struct ad *ad, const struct ad_context *context, const char *between,
                      struct strbuf *out)
{
    const char *held = ad_string_or(ad, "HibernationHeldBy", "");
    size_t begin = out->length;
    int64_t until_s = ad_int_or(ad, "PowerKeepUntil", 0);
    (void)power_show_lock(ad, context, out);
    if (until_s > context->now_s) {
        const char *why = ad_string_or(ad, "PowerKeepReason", "");
        strbuf_puts(out, out->length > begin ? between : "");
        strbuf_puts(out, "kept up until ");
        table_plan_date(until_s, context, out);
        strbuf_printf(out, " by %s%s%s", ad_string_or(ad, "PowerKeepBy", "?"),
                      why[0] != '\0' ? ": " : "", why);
    }
    if (held[0] != '\0' && (until_s <= context->now_s || strncmp(held, "kept up by ", 11) != 0)) {
        strbuf_printf(out, "%sheld back: %s", out->length > begin ? between : "", held);
    }
    if (ad_bool_or(ad, "WouldWake", false)) {
        strbuf_printf(out, "%swould be woken without ROOSTER_DRY_RUN",
                      out->length > begin ? between : "");
    }
    if (ad_has(ad, "WakeHeldBy")) {
        strbuf_printf(out, "%sis not woken yet: %s", out->length > begin ? between : "",
                      ad_string_or(ad, "WakeHeldBy", ""));
    }
}

/* Returns whether slots of the machine drain, or are drained, also while it sleeps; appends who
 * wants that, and why. */
static bool put_drain(const struct ad *ad, struct strbuf *out)
{
    const char *reason = ad_string_or(ad, "DrainReason", "");
    if (!ad_bool_or(ad, "Draining", false)) {
        return false;
    }
    strbuf_printf(out, "drain requested by %s%s%s", ad_string_or(ad, "DrainingRequester", "?"),
                  reason[0] != '\0' ? ": " : "", reason);
    return true;
}

static void cell_state_reason(const struct ad *ad, const struct ad_context *context,
                              struct strbuf *out)
{
    struct strbuf holds;
    size_t begin = out->length;
    strbuf_init(&holds, 0);
    power_show_holds(ad, context, "; ", &holds);
    /* A machine that was switched off by name has the same reason for being off and staying off. */
    if (!ad_bool_or(ad, "PowerKeptOff", false) ||
        strstr(strbuf_text(&holds), ad_string_or(ad, "PowerStateReason", "?")) == NULL) {
        table_plan_string(ad, "PowerStateReason", out);
    }
    if (holds.length > 0) {
        strbuf_printf(out, "%s%s", out->length > begin ? "; " : "", strbuf_text(&holds));
    }
    strbuf_clear(&holds);
    if (put_drain(ad, &holds)) {
        strbuf_printf(out, "%s%s", out->length > begin ? "; " : "", strbuf_text(&holds));
    }
    strbuf_fini(&holds);
}

static void cell_start(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    put_date_of(ad, "StartTime", context, out);
}

static void cell_machine(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    table_plan_string(ad, "Machine", out);
}

static void cell_kind(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    table_plan_string(ad, "Kind", out);
}

static void cell_outcome(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    table_plan_string(ad, "Outcome", out);
}

static void cell_seconds(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    put_seconds_of(ad, "Seconds", out);
}

static void cell_tries(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    table_plan_int(ad, "Attempts", out);
}

static void cell_how(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    table_plan_string(ad, "Method", out);
}

static void cell_asked_by(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    table_plan_string(ad, "AskedBy", out);
}

static const struct column STATUS[] = {
    {"Name", TABLE_LEFT, 20, TABLE_LEFT, true, cell_name},
    {"Power", TABLE_LEFT, 10, TABLE_LEFT, true, cell_state},
    {"PowerTime", TABLE_RIGHT, 11, TABLE_RIGHT, true, cell_state_time},
    {"Method", TABLE_LEFT, 8, TABLE_LEFT, true, cell_method},
    {"Waiting", TABLE_RIGHT, 7, TABLE_RIGHT, true, cell_waiting},
    {"Tries", TABLE_RIGHT, 5, TABLE_RIGHT, true, cell_attempts},
    {"Today", TABLE_RIGHT, 5, TABLE_RIGHT, true, cell_today},
    {"LastBoot", TABLE_RIGHT, 8, TABLE_RIGHT, true, cell_last_boot},
    {"Deadline", TABLE_RIGHT, 8, TABLE_RIGHT, true, cell_deadline},
    {"Reason", TABLE_LEFT, 6, TABLE_LEFT, true, cell_state_reason},
};

static const struct column HISTORY[] = {
    {"Start", TABLE_LEFT, 11, TABLE_LEFT, true, cell_start},
    {"Machine", TABLE_LEFT, 20, TABLE_LEFT, true, cell_machine},
    {"Kind", TABLE_LEFT, 5, TABLE_LEFT, true, cell_kind},
    {"Outcome", TABLE_LEFT, 7, TABLE_LEFT, true, cell_outcome},
    {"Seconds", TABLE_RIGHT, 8, TABLE_RIGHT, true, cell_seconds},
    {"Tries", TABLE_RIGHT, 5, TABLE_RIGHT, true, cell_tries},
    {"Method", TABLE_LEFT, 8, TABLE_LEFT, true, cell_how},
    {"AskedBy", TABLE_LEFT, 7, TABLE_LEFT, true, cell_asked_by},
};

void power_show_slots(const struct ad *const *slots, size_t count, struct vec *nodes)
{
    struct strmap *known = strmap_create(STRMAP_CASE_IGNORED);
    for (size_t i = 0; i < count; i++) {
        const char *machine = ad_string_or(slots[i], "Machine", "?");
        if (strmap_get(known, machine) != NULL) {
            continue;
        }
        struct ad *node = ad_copy(slots[i]);
        ad_set_string(node, "MyType", "Node");
        ad_set_string(node, "Name", machine);
        bool is_silent = ad_has(node, OFFLINE_ADS_SILENT);
        if (is_silent || !ad_has(node, "PowerState")) {
            ad_set_string(node, "PowerState", is_silent ? "Unknown" : "On");
        }
        (void)strmap_set(known, machine, node); /* was absent */
        vec_push(nodes, node);
    }
    strmap_destroy(known, NULL);
}

static int by_name(const void *a, const void *b)
{
    const struct ad *const *left = a, *const *right = b;
    return strcmp(ad_string_or(*left, "Name", ""), ad_string_or(*right, "Name", ""));
}

void power_show_sort(const struct ad **ads, size_t count)
{
    if (count > 1) {
        qsort(ads, count, sizeof *ads, by_name);
    }
}

void power_show_status(const struct ad *const *ads, size_t count, const struct ad_context *context,
                       struct strbuf *out)
{
    if (count > 0) {
        table_plan_print(STATUS, ARRAY_COUNT(STATUS), true, ads, count, context, out);
    }
}

void power_show_history(const struct ad *const *ads, size_t count, const struct ad_context *context,
                        struct strbuf *out)
{
    if (count > 0) {
        table_plan_print(HISTORY, ARRAY_COUNT(HISTORY), true, ads, count, context, out);
    }
}

bool power_show_order(const struct ad *answer, struct strbuf *out)
{
    static const struct {
        const char *result, *words;
        bool is_done;
    } RESULTS[] = {
        {"Ordered", "will be woken", true},         {"WouldWake", "would be woken", true},
        {"Waking", "is being woken already", true}, {"AlreadyOn", "is on already", true},
        {"Refused", "cannot be woken", false},      {"Unknown", "is unknown", false},
    };
    const char *result = ad_string_or(answer, "Result", "");
    const char *why = ad_string_or(answer, "ErrorString", "");
    size_t i = 0;
    while (i < ARRAY_COUNT(RESULTS) && strcmp(RESULTS[i].result, result) != 0) {
        i++;
    }
    bool is_known = i < ARRAY_COUNT(RESULTS);
    strbuf_printf(out, "%s %s%s%s", ad_string_or(answer, "Name", "?"),
                  is_known ? RESULTS[i].words : result, why[0] != '\0' ? ": " : "", why);
    return is_known && RESULTS[i].is_done;
}
