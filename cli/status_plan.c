/* cli/status_plan.c - see status_plan.h.
 *
 * The layouts are HTCondor's, with the power state of the machine beside State and Activity.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/status_plan.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "cli/listing_plan.h"
#include "cli/table_plan.h"

/* ---- cells */

#define STRING_CELL(function, name)                                             \
    static void function(const struct ad *ad, const struct ad_context *context, \
                         struct strbuf *out)                                    \
    {                                                                           \
        (void)context;                                                          \
        table_plan_string(ad, name, out);                                       \
    }
#define INT_CELL(function, name)                                                \
    static void function(const struct ad *ad, const struct ad_context *context, \
                         struct strbuf *out)                                    \
    {                                                                           \
        (void)context;                                                          \
        table_plan_int(ad, name, out);                                          \
    }
#define SINCE_CELL(function, name)                                              \
    static void function(const struct ad *ad, const struct ad_context *context, \
                         struct strbuf *out)                                    \
    {                                                                           \
        since(ad, name, context, out);                                          \
    }

static void since(const struct ad *ad, const char *name, const struct ad_context *context,
                  struct strbuf *out)
{
    int64_t at;
    if (ad_get_int(ad, name, &at) == 0) {
        table_plan_duration(context->now_s - at, out);
    }
}

STRING_CELL(cell_name, "Name")
STRING_CELL(cell_opsys, "OpSys")
STRING_CELL(cell_arch, "Arch")
STRING_CELL(cell_state, "State")
STRING_CELL(cell_activity, "Activity")
STRING_CELL(cell_remote_user, "RemoteUser")
STRING_CELL(cell_job, "JobId")
STRING_CELL(cell_schedd, "ScheddName")
STRING_CELL(cell_user, "User")
STRING_CELL(cell_address, "MyAddress")
INT_CELL(cell_cpus, "Cpus")
INT_CELL(cell_memory, "Memory")
INT_CELL(cell_idle, "IdleJobs")
INT_CELL(cell_running, "RunningJobs")
INT_CELL(cell_held, "HeldJobs")
INT_CELL(cell_total_idle, "TotalIdleJobs")
INT_CELL(cell_total_running, "TotalRunningJobs")
INT_CELL(cell_total_held, "TotalHeldJobs")
INT_CELL(cell_waking, "WakesUnderWay")
INT_CELL(cell_wakes, "WakesTotal")
INT_CELL(cell_wakes_failed, "WakesFailed")
SINCE_CELL(cell_activity_time, "EnteredCurrentActivity")
SINCE_CELL(cell_state_time, "EnteredCurrentState")
SINCE_CELL(cell_power_time, "EnteredPowerState")

SINCE_CELL(cell_cycle_age, "LastNegotiationCycleEnd")
INT_CELL(cell_cycle_ms, "LastNegotiationCycleDurationMs")
INT_CELL(cell_cycle_pairs, "LastNegotiationCyclePairs")
INT_CELL(cell_cycles, "TotalNegotiationCycles")
INT_CELL(cell_matches, "TotalMatches")
INT_CELL(cell_holds, "TotalOfflineMatches")
INT_CELL(cell_offline_ads, "OfflineAds")

/* Where an ad's daemon runs: Machine, else the host of its address. */
static void cell_host(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    const char *address = ad_string_or(ad, "MyAddress", "");
    const char *machine = ad_string_or(ad, "Machine", "");
    if (machine[0] != '\0' || strncmp(address, "tcp:", 4) != 0) {
        strbuf_puts(out, machine);
        return;
    }
    const char *colon = strrchr(address, ':');
    strbuf_append(out, address + 4, colon > address + 4 ? (size_t)(colon - address - 4) : 0);
}

static void cell_load(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    double load;
    if (ad_get_real(ad, "LoadAvg", &load) == 0) {
        strbuf_printf(out, "%.3f", load);
    }
}

static void cell_keyboard(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    int64_t idle;
    if (ad_get_int(ad, "KeyboardIdle", &idle) == 0) {
        table_plan_duration(idle, out);
    }
}

static bool is_offline(const struct ad *ad)
{
    return ad_bool_or(ad, "Offline", false);
}

/* A live ad is word from a running machine; an offline ad without the rooster's word is a machine
 * that went to sleep. */
static const char *power_state(const struct ad *ad)
{
    return ad_string_or(ad, "PowerState", is_offline(ad) ? "Off" : "On");
}

static void cell_power(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    strbuf_puts(out, power_state(ad));
}

static void cell_reason(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    table_plan_string(ad, "PowerStateReason", out);
}

static void cell_last_match(const struct ad *ad, const struct ad_context *context,
                            struct strbuf *out)
{
    int64_t at;
    if (ad_get_int(ad, "MachineLastMatchTime", &at) == 0) {
        table_plan_date(at, context, out);
    } else {
        strbuf_puts(out, "never");
    }
}

/* ---- columns: a new one is one row here */

static const struct column MACHINES[] = {
    {"Name", TABLE_LEFT, 34, TABLE_LEFT, true, cell_name},
    {"OpSys", TABLE_LEFT, 10, TABLE_LEFT, true, cell_opsys},
    {"Arch", TABLE_LEFT, 8, TABLE_LEFT, true, cell_arch},
    {"State", TABLE_LEFT, 7, TABLE_LEFT, true, cell_state},
    {"Activity", TABLE_LEFT, 8, TABLE_LEFT, true, cell_activity},
    {"Power", TABLE_LEFT, 5, TABLE_LEFT, true, cell_power},
    {"LoadAv", TABLE_LEFT, 6, TABLE_RIGHT, true, cell_load},
    {"Mem", TABLE_LEFT, 6, TABLE_RIGHT, true, cell_memory},
    {"ActvtyTime", TABLE_RIGHT, 11, TABLE_RIGHT, true, cell_activity_time},
};
static const struct column STATES[] = {
    {"Name", TABLE_LEFT, 34, TABLE_LEFT, true, cell_name},
    {"Cpu", TABLE_RIGHT, 3, TABLE_RIGHT, true, cell_cpus},
    {"Mem", TABLE_RIGHT, 5, TABLE_RIGHT, true, cell_memory},
    {"LoadAv", TABLE_RIGHT, 6, TABLE_RIGHT, true, cell_load},
    {"KbdIdle", TABLE_RIGHT, 12, TABLE_RIGHT, true, cell_keyboard},
    {"State", TABLE_LEFT, 7, TABLE_LEFT, true, cell_state},
    {"StateTime", TABLE_RIGHT, 12, TABLE_RIGHT, true, cell_state_time},
    {"Activ", TABLE_LEFT, 5, TABLE_LEFT, true, cell_activity},
    {"ActvtyTime", TABLE_RIGHT, 12, TABLE_RIGHT, true, cell_activity_time},
    {"Power", TABLE_LEFT, 5, TABLE_LEFT, true, cell_power},
    {"PowerTime", TABLE_RIGHT, 11, TABLE_RIGHT, true, cell_power_time},
};
static const struct column CLAIMED[] = {
    {"Name", TABLE_LEFT, 34, TABLE_LEFT, true, cell_name},
    {"OpSys", TABLE_LEFT, 10, TABLE_LEFT, true, cell_opsys},
    {"Arch", TABLE_LEFT, 8, TABLE_LEFT, true, cell_arch},
    {"LoadAv", TABLE_LEFT, 6, TABLE_RIGHT, true, cell_load},
    {"RemoteUser", TABLE_LEFT, 20, TABLE_LEFT, true, cell_remote_user},
    {"JobId", TABLE_RIGHT, 8, TABLE_RIGHT, true, cell_job},
};
static const struct column OFFLINE[] = {
    {"Name", TABLE_LEFT, 34, TABLE_LEFT, true, cell_name},
    {"Power", TABLE_LEFT, 5, TABLE_LEFT, true, cell_power},
    {"PowerTime", TABLE_RIGHT, 11, TABLE_RIGHT, true, cell_power_time},
    {"LastMatch", TABLE_RIGHT, 11, TABLE_RIGHT, true, cell_last_match},
    {"Reason", TABLE_LEFT, 6, TABLE_LEFT, true, cell_reason},
};
static const struct column SCHEDDS[] = {
    {"Name", TABLE_LEFT, 4, TABLE_LEFT, true, cell_name},
    {"Machine", TABLE_LEFT, 15, TABLE_LEFT, true, cell_host},
    {"RunningJobs", TABLE_RIGHT, 11, TABLE_RIGHT, true, cell_total_running},
    {"IdleJobs", TABLE_RIGHT, 10, TABLE_RIGHT, true, cell_total_idle},
    {"HeldJobs", TABLE_RIGHT, 10, TABLE_RIGHT, true, cell_total_held},
};
static const struct column SUBMITTERS[] = {
    {"Name", TABLE_LEFT, 22, TABLE_LEFT, true, cell_user},
    {"Schedd", TABLE_LEFT, 15, TABLE_LEFT, true, cell_schedd},
    {"RunningJobs", TABLE_RIGHT, 11, TABLE_RIGHT, true, cell_running},
    {"IdleJobs", TABLE_RIGHT, 10, TABLE_RIGHT, true, cell_idle},
    {"HeldJobs", TABLE_RIGHT, 10, TABLE_RIGHT, true, cell_held},
};
static const struct column DAEMONS[] = {
    {"Name", TABLE_LEFT, 20, TABLE_LEFT, true, cell_name},
    {"Machine", TABLE_LEFT, 18, TABLE_LEFT, true, cell_host},
    {"Address", TABLE_LEFT, 7, TABLE_LEFT, true, cell_address},
};
static const struct column NEGOTIATORS[] = {
    {"Name", TABLE_LEFT, 20, TABLE_LEFT, true, cell_name},
    {"LastCycle", TABLE_RIGHT, 11, TABLE_RIGHT, true, cell_cycle_age},
    {"(ms)", TABLE_RIGHT, 5, TABLE_RIGHT, true, cell_cycle_ms},
    {"Pairs", TABLE_RIGHT, 7, TABLE_RIGHT, true, cell_cycle_pairs},
    {"Cycles", TABLE_RIGHT, 7, TABLE_RIGHT, true, cell_cycles},
    {"Matches", TABLE_RIGHT, 7, TABLE_RIGHT, true, cell_matches},
    {"Offline", TABLE_RIGHT, 7, TABLE_RIGHT, true, cell_holds},
};
static const struct column COLLECTORS[] = {
    {"Name", TABLE_LEFT, 20, TABLE_LEFT, true, cell_name},
    {"Machine", TABLE_LEFT, 18, TABLE_LEFT, true, cell_host},
    {"Address", TABLE_LEFT, 20, TABLE_LEFT, true, cell_address},
    {"Offline", TABLE_RIGHT, 7, TABLE_RIGHT, true, cell_offline_ads},
};
static const struct column ROOSTERS[] = {
    {"Name", TABLE_LEFT, 20, TABLE_LEFT, true, cell_name},
    {"Waking", TABLE_RIGHT, 6, TABLE_RIGHT, true, cell_waking},
    {"Wakes", TABLE_RIGHT, 6, TABLE_RIGHT, true, cell_wakes},
    {"Failed", TABLE_RIGHT, 6, TABLE_RIGHT, true, cell_wakes_failed},
};

/* ---- totals */

typedef const char *(*group_f)(const struct ad *ad, struct strbuf *scratch);

struct group {
    char *key;
    int64_t counts[10]; /* of TOTALS */
};

/* The states counted, and the width of their columns; the last one is ours: machines asleep, which
 * are counted under their State, too. */
static const struct {
    const char *heading, *state;
    int width;
} TOTALS[] = {
    {"Total", NULL, 5},        {"Owner", "Owner", 5},
    {"Claimed", "Claimed", 7}, {"Unclaimed", "Unclaimed", 9},
    {"Matched", "Matched", 7}, {"Preempting", "Preempting", 10},
    {"Drain", "Drained", 6},   {"Backfill", "Backfill", 8},
    {"BkIdle", NULL, 6},       {"Offline", NULL, 7},
};
_Static_assert(ARRAY_COUNT(TOTALS) == 10, "struct group");
enum { TOTAL_ALL = 0, TOTAL_OFFLINE = 9, TOTAL_KEY_WIDTH = 14 };

static void count_in(struct group *group, const struct ad *ad)
{
    const char *state = ad_string_or(ad, "State", "");
    group->counts[TOTAL_ALL]++;
    group->counts[TOTAL_OFFLINE] += is_offline(ad) ? 1 : 0;
    for (size_t i = 0; i < ARRAY_COUNT(TOTALS); i++) {
        if (TOTALS[i].state != NULL && strcmp(TOTALS[i].state, state) == 0) {
            group->counts[i]++;
        }
    }
}

static const char *by_platform(const struct ad *ad, struct strbuf *scratch)
{
    strbuf_clear(scratch);
    strbuf_printf(scratch, "%s/%s", ad_string_or(ad, "Arch", "?"), ad_string_or(ad, "OpSys", "?"));
    return strbuf_text(scratch);
}

static const char *by_activity(const struct ad *ad, struct strbuf *scratch)
{
    (void)scratch;
    return ad_string_or(ad, "Activity", "?");
}

static const char *by_power(const struct ad *ad, struct strbuf *scratch)
{
    (void)scratch;
    return power_state(ad);
}

static struct group *group_of(struct vec *groups, const char *key)
{
    for (size_t i = 0; i < groups->count; i++) {
        struct group *group = groups->items[i];
        if (strcmp(group->key, key) == 0) {
            return group;
        }
    }
    struct group *group = mem_zalloc(sizeof *group);
    group->key = mem_strdup(key);
    vec_push(groups, group);
    return group;
}

static void group_destroy(void *arg)
{
    struct group *group = arg;
    mem_free(group->key);
    mem_free(group);
}

static int group_order(const void *a, const void *b)
{
    const struct group *const *left = a, *const *right = b;
    return strcmp((*left)->key, (*right)->key);
}

static void print_group(const struct group *group, int width, struct strbuf *out)
{
    table_plan_pad(group->key, width, TABLE_RIGHT, out);
    for (size_t i = 0; i < ARRAY_COUNT(TOTALS); i++) {
        strbuf_printf(out, " %*lld", TOTALS[i].width, (long long)group->counts[i]);
    }
    strbuf_putc(out, '\n');
}

static void print_totals(group_f group_by, const struct ad *const *ads, size_t count,
                         struct strbuf *out)
{
    struct vec groups = {0};
    struct group all = {.key = mem_strdup("Total")};
    struct strbuf scratch;
    int width = TOTAL_KEY_WIDTH;
    strbuf_init(&scratch, 0);
    for (size_t i = 0; i < count; i++) {
        const char *key = group_by(ads[i], &scratch);
        width = (int)strlen(key) > width ? (int)strlen(key) : width;
        count_in(group_of(&groups, key), ads[i]);
        count_in(&all, ads[i]);
    }
    if (groups.count > 1) {
        qsort(groups.items, groups.count, sizeof *groups.items, group_order);
    }
    strbuf_putc(out, '\n');
    table_plan_pad("", width, TABLE_LEFT, out);
    for (size_t i = 0; i < ARRAY_COUNT(TOTALS); i++) {
        strbuf_printf(out, " %*s", TOTALS[i].width, TOTALS[i].heading);
    }
    strbuf_puts(out, "\n\n");
    for (size_t i = 0; i < groups.count; i++) {
        print_group(groups.items[i], width, out);
    }
    strbuf_putc(out, '\n');
    print_group(&all, width, out);
    vec_fini(&groups, group_destroy);
    mem_free(all.key);
    strbuf_fini(&scratch);
}

/* Sums of what three columns of schedds and submitters show. */
static void print_job_totals(const char *const names[3], const char *const *headings,
                             const struct ad *const *ads, size_t count, struct strbuf *out)
{
    int64_t sums[3] = {0, 0, 0};
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < 3; k++) {
            sums[k] += ad_int_or(ads[i], names[k], 0);
        }
    }
    strbuf_printf(out, "\n%14s %18s %18s %18s\n\n%14s %18lld %18lld %18lld\n", "", headings[0],
                  headings[1], headings[2], "Total", (long long)sums[0], (long long)sums[1],
                  (long long)sums[2]);
}

static void schedd_totals(const struct ad *const *ads, size_t count, struct strbuf *out)
{
    static const char *const NAMES[3] = {"TotalRunningJobs", "TotalIdleJobs", "TotalHeldJobs"};
    print_job_totals(NAMES, NAMES, ads, count, out);
}

static void submitter_totals(const struct ad *const *ads, size_t count, struct strbuf *out)
{
    static const char *const NAMES[3] = {"RunningJobs", "IdleJobs", "HeldJobs"};
    print_job_totals(NAMES, NAMES, ads, count, out);
}

static void platform_totals(const struct ad *const *ads, size_t count, struct strbuf *out)
{
    print_totals(by_platform, ads, count, out);
}

static void activity_totals(const struct ad *const *ads, size_t count, struct strbuf *out)
{
    print_totals(by_activity, ads, count, out);
}

static void power_totals(const struct ad *const *ads, size_t count, struct strbuf *out)
{
    print_totals(by_power, ads, count, out);
}

/* ---- views: a new one is one row here */

struct status_view {
    const char *option; /* without dash */
    size_t letters;     /* at least, of the option */
    const char *type;
    const char *constraint; /* NULL: all of the type */
    const struct column *columns;
    size_t column_count; /* 0: totals only */
    void (*totals)(const struct ad *const *ads, size_t count, struct strbuf *out); /* NULL: none */
};

#define COLUMNS(table) (table), ARRAY_COUNT(table)
static const struct status_view VIEWS[] = {
    {"", 1, "Machine", NULL, COLUMNS(MACHINES), platform_totals},
    {"state", 4, "Machine", NULL, COLUMNS(STATES), activity_totals},
    {"run", 1, "Machine", "State == \"Claimed\"", COLUMNS(CLAIMED), NULL},
    {"claimed", 2, "Machine", "State == \"Claimed\"", COLUMNS(CLAIMED), NULL},
    {"available", 2, "Machine", "State == \"Unclaimed\"", COLUMNS(MACHINES), platform_totals},
    {"offline", 3, "Machine", "Offline =?= true", COLUMNS(OFFLINE), power_totals},
    {"total", 3, "Machine", NULL, NULL, 0, platform_totals},
    {"schedd", 2, "Scheduler", NULL, COLUMNS(SCHEDDS), schedd_totals},
    {"submitters", 3, "Submitter", NULL, COLUMNS(SUBMITTERS), submitter_totals},
    {"negotiator", 3, "Negotiator", NULL, COLUMNS(NEGOTIATORS), NULL},
    {"collector", 4, "Collector", NULL, COLUMNS(COLLECTORS), NULL},
    {"master", 3, "DaemonMaster", NULL, COLUMNS(DAEMONS), NULL},
    {"rooster", 3, "Rooster", NULL, COLUMNS(ROOSTERS), NULL},
};

const struct status_view *status_view_find(const char *option)
{
    for (size_t i = 1; i < ARRAY_COUNT(VIEWS); i++) {
        if (listing_is(option, VIEWS[i].option, VIEWS[i].letters)) {
            return &VIEWS[i];
        }
    }
    return option[0] == '\0' ? &VIEWS[0] : NULL;
}

const char *status_view_type(const struct status_view *view)
{
    return view->type;
}

const char *status_view_constraint(const struct status_view *view)
{
    return view->constraint;
}

static int by_slot(const void *a, const void *b)
{
    const struct ad *left = *(const struct ad *const *)a, *right = *(const struct ad *const *)b;
    int order = strcmp(ad_string_or(left, "Machine", ""), ad_string_or(right, "Machine", ""));
    if (order == 0) {
        int64_t left_id = ad_int_or(left, "SlotID", 0), right_id = ad_int_or(right, "SlotID", 0);
        order = left_id < right_id ? -1 : left_id > right_id ? 1 : 0;
    }
    return order != 0 ? order
                      : strcmp(ad_string_or(left, "Name", ""), ad_string_or(right, "Name", ""));
}

void status_plan_sort(const struct ad **ads, size_t count)
{
    if (count > 1) {
        qsort(ads, count, sizeof *ads, by_slot);
    }
}

void status_plan_print(const struct status_view *view, const struct ad *const *ads, size_t count,
                       const struct ad_context *context, struct strbuf *out)
{
    if (count == 0) {
        return;
    }
    if (view->column_count > 0) {
        table_plan_print(view->columns, view->column_count, true, ads, count, context, out);
    }
    if (view->totals != NULL) {
        view->totals(ads, count, out);
    }
}
