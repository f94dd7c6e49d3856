/* cli/power_report_plan.c - see power_report_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/power_report_plan.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/check.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "classad/ad.h"
#include "cli/table_plan.h"

static const char *const FIGURES[] = {"OnSeconds",     "AsleepSeconds", "BusyCoreSeconds",
                                      "EnergyUsed",    "EnergyOfJobs",  "EnergySaved",
                                      "EnergyAlwaysOn"};
/* gaps below this, such as those of a restart, are not mentioned */
#define UNCOUNTED_MIN_S 60

int power_report_since(const char *text, int64_t now_s, int64_t *ret)
{
    static const char LIKE[] = "2026-11-01";
    char whole[40] = "2026-11-01T00:00:00Z";
    int64_t since_ms;
    if (strlen(text) != strlen(LIKE)) {
        return -EINVAL;
    }
    memcpy(whole, text, strlen(LIKE));
    if (text_parse_utc(whole, &since_ms, NULL) != 0 || since_ms < 0 || since_ms / 1000 > now_s) {
        return -EINVAL;
    }
    *ret = since_ms / 1000;
    return 0;
}

static void put_figure(const struct ad *ad, const char *name, double unit, int digits,
                       struct strbuf *out)
{
    double value;
    if (ad_get_real(ad, name, &value) == 0) {
        table_plan_fixed(value / unit, digits, out);
    }
}

static void cell_name(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    table_plan_string(ad, "Name", out);
}

static void cell_on(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    put_figure(ad, "OnSeconds", 3600, 1, out);
}

static void cell_asleep(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    put_figure(ad, "AsleepSeconds", 3600, 1, out);
}

static void cell_cores(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    put_figure(ad, "BusyCoreSeconds", 3600, 1, out);
}

static void cell_used(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    put_figure(ad, "EnergyUsed", 1, 3, out);
}

static void cell_jobs(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    put_figure(ad, "EnergyOfJobs", 1, 3, out);
}

static void cell_saved(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    put_figure(ad, "EnergySaved", 1, 3, out);
}

static void cell_always_on(const struct ad *ad, const struct ad_context *context,
                           struct strbuf *out)
{
    (void)context;
    put_figure(ad, "EnergyAlwaysOn", 1, 3, out);
}

static void cell_percent(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    double always_on = ad_real_or(ad, "EnergyAlwaysOn", 0);
    (void)context;
    if (always_on > 0) {
        table_plan_fixed(100 * ad_real_or(ad, "EnergySaved", 0) / always_on, 1, out);
    }
}

static const struct column NODES[] = {
    {"Name", TABLE_LEFT, 20, TABLE_LEFT, true, cell_name},
    {"OnHours", TABLE_RIGHT, 9, TABLE_RIGHT, true, cell_on},
    {"AsleepHours", TABLE_RIGHT, 11, TABLE_RIGHT, true, cell_asleep},
    {"CoreHours", TABLE_RIGHT, 9, TABLE_RIGHT, true, cell_cores},
    {"kWh", TABLE_RIGHT, 10, TABLE_RIGHT, true, cell_used},
    {"JobskWh", TABLE_RIGHT, 10, TABLE_RIGHT, true, cell_jobs},
    {"AlwaysOn", TABLE_RIGHT, 10, TABLE_RIGHT, true, cell_always_on},
    {"SavedkWh", TABLE_RIGHT, 10, TABLE_RIGHT, true, cell_saved},
    {"Saved%", TABLE_RIGHT, 6, TABLE_RIGHT, true, cell_percent},
};
static const struct column USERS[] = {
    {"Name", TABLE_LEFT, 20, TABLE_LEFT, true, cell_name},
    {"CoreHours", TABLE_RIGHT, 9, TABLE_RIGHT, true, cell_cores},
    {"kWh", TABLE_RIGHT, 10, TABLE_RIGHT, true, cell_used},
};

void power_report_show(const struct ad *const *ads, size_t count, const struct ad_context *context,
                       struct strbuf *out)
{
    struct ad *total = ad_create();
    if (count == 0) {
        ad_destroy(total);
        return;
    }
    bool users = strcmp(ad_string_or(ads[0], "Kind", ""), "User") == 0;
    ad_set_string(total, "Name", "Total");
    for (size_t i = 0; i < ARRAY_COUNT(FIGURES); i++) {
        double sum = 0;
        for (size_t j = 0; j < count; j++) {
            sum += ad_real_or(ads[j], FIGURES[i], 0);
        }
        ad_set_real(total, FIGURES[i], sum);
    }
    struct table *table = users ? table_plan_begin(USERS, ARRAY_COUNT(USERS), context)
                                : table_plan_begin(NODES, ARRAY_COUNT(NODES), context);
    for (size_t i = 0; i < count; i++) {
        table_plan_add(table, ads[i]);
    }
    table_plan_add(table, total);
    table_plan_end(table, true, NULL, NULL, NULL, out);
    double uncounted_s = ad_real_or(ads[0], "UncountedSeconds", 0); /* all have the same */
    if (uncounted_s >= UNCOUNTED_MIN_S) {
        strbuf_printf(out,
                      "\nFor %.1f hours of that time no rooster was running; for these hours, the "
                      "report has only what the machines counted.\n",
                      uncounted_s / 3600);
    }
    ad_destroy(total);
}

/* Appends text as a quoted CSV field; a quote inside it is doubled. */
static void put_quoted(const char *text, struct strbuf *out)
{
    strbuf_puts(out, "\"");
    for (; *text != '\0'; text++) {
        strbuf_printf(out, *text == '"' ? "\"%c" : "%c", *text);
    }
    strbuf_puts(out, "\"");
}

void power_report_csv(const struct ad *const *ads, size_t count, struct strbuf *out)
{
    strbuf_puts(out, "Kind,Name");
    for (size_t i = 0; i < ARRAY_COUNT(FIGURES); i++) {
        strbuf_printf(out, ",%s", FIGURES[i]);
    }
    strbuf_puts(out, ",UncountedSeconds\r\n");
    for (size_t j = 0; j < count; j++) {
        strbuf_printf(out, "%s,", ad_string_or(ads[j], "Kind", ""));
        put_quoted(ad_string_or(ads[j], "Name", ""), out);
        for (size_t i = 0; i < ARRAY_COUNT(FIGURES); i++) {
            strbuf_printf(out, ",%.6f", ad_real_or(ads[j], FIGURES[i], 0));
        }
        strbuf_printf(out, ",%.0f\r\n", ad_real_or(ads[j], "UncountedSeconds", 0));
    }
}
