/* cli/status/status_totals_plan.c - see status_totals_plan.h.
 *
 * The layouts are HTCondor's, with a column for sleeping machines.  Two of HTCondor's figures
 * differ here: the column Total of -state counts the ads; and where ads lack an attribute, a sum
 * covers the other ads and says how many lack it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/status/status_totals_plan.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "cli/status/status_cells_plan.h"
#include "cli/table_plan.h"
#include "offline_ads/offline_ads.h"

enum { SUMS_MAX = 10, KEY_WIDTH = 14 };

struct group {
    char *key;
    double sums[SUMS_MAX];
    int64_t count;
};

/* One kind of totals: how ads are grouped, what is added up, how a line is printed. */
struct totals {
    void (*key)(const struct ad *ad, struct strbuf *out);
    void (*add)(struct group *group, const struct ad *ad);
    /* prints a line's figures, after the key */
    void (*print)(const struct group *group, struct strbuf *out);
    const char *headings; /* headings of the columns after the key */
    bool in_order;        /* groups are printed in order of appearance, not alphabetically */
};

struct groups {
    const struct totals *totals;
    struct strmap *by_key;
    struct vec list;
    struct group *last; /* the group of the last ad; the next ad often belongs to it, too */
    struct strbuf scratch;
};

static struct group *group_of(struct groups *groups, const char *key)
{
    if (groups->last && strcmp(groups->last->key, key) == 0) {
        return groups->last;
    }
    struct group *group = strmap_get(groups->by_key, key);
    if (!group) {
        group = mem_zalloc(sizeof *group);
        group->key = mem_strdup(key);
        (void)strmap_set(groups->by_key, key, group);
        vec_push(&groups->list, group);
    }
    groups->last = group;
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

static void print_line(const struct totals *totals, const struct group *group, int width,
                       struct strbuf *out)
{
    table_plan_pad(group->key, width, TABLE_RIGHT, out);
    totals->print(group, out);
    strbuf_putc(out, '\n');
}

static void groups_begin(struct groups *groups, const struct totals *totals)
{
    *groups = (struct groups){.totals = totals, .by_key = strmap_create(STRMAP_CASE_SENSITIVE)};
    strbuf_init(&groups->scratch, 0);
}

static void groups_add(struct groups *groups, const struct ad *ad)
{
    strbuf_clear(&groups->scratch);
    groups->totals->key(ad, &groups->scratch);
    struct group *group = group_of(groups, strbuf_text(&groups->scratch));
    group->count++;
    groups->totals->add(group, ad);
}

static void groups_end(struct groups *groups, bool natural, struct strbuf *out)
{
    const struct totals *totals = groups->totals;
    char total[] = "Total";
    struct group all = {.key = total};
    for (size_t i = 0; i < groups->list.count; i++) {
        const struct group *group = groups->list.items[i];
        all.count += group->count;
        for (size_t k = 0; k < SUMS_MAX; k++) {
            all.sums[k] += group->sums[k];
        }
    }
    if (groups->list.count > 1 && !totals->in_order) {
        qsort(groups->list.items, groups->list.count, sizeof *groups->list.items, group_order);
    }
    int width = natural ? (int)strlen(total) : KEY_WIDTH;
    for (size_t i = 0; i < groups->list.count; i++) {
        int length = (int)strlen(((struct group *)groups->list.items[i])->key);
        width = length > width ? length : width;
    }
    strbuf_putc(out, '\n');
    table_plan_pad("", width, TABLE_LEFT, out);
    strbuf_puts(out, totals->headings);
    strbuf_puts(out, "\n\n");
    for (size_t i = 0; i < groups->list.count; i++) {
        print_line(totals, groups->list.items[i], width, out);
    }
    strbuf_puts(out, groups->list.count > 0 ? "\n" : "");
    print_line(totals, &all, width, out);
}

static void groups_fini(struct groups *groups)
{
    vec_fini(&groups->list, group_destroy);
    strmap_destroy(groups->by_key, NULL);
    strbuf_fini(&groups->scratch);
}

static void print_totals(const struct totals *totals, const struct ad *const *ads, size_t count,
                         bool natural, struct strbuf *out)
{
    struct groups groups;
    groups_begin(&groups, totals);
    for (size_t i = 0; i < count; i++) {
        groups_add(&groups, ads[i]);
    }
    groups_end(&groups, natural, out);
    groups_fini(&groups);
}

/* ---- keys */

void status_short_platform(const struct ad *ad, struct strbuf *out)
{
    const char *arch = ad_string_or(ad, "Arch", "?");
    const char *opsys = ad_string_or(ad, "OpSysAndVer", ad_string_or(ad, "OpSys", "?"));
    strbuf_puts(out, strcmp(arch, "X86_64") == 0  ? "x64"
                     : strcmp(arch, "INTEL") == 0 ? "x86"
                                                  : arch);
    strbuf_putc(out, '/');
    strbuf_puts(out, opsys);
}

static void by_platform(const struct ad *ad, struct strbuf *out)
{
    strbuf_puts(out, ad_string_or(ad, "Arch", "?"));
    strbuf_putc(out, '/');
    strbuf_puts(out, ad_string_or(ad, "OpSys", "?"));
}

static void by_activity(const struct ad *ad, struct strbuf *out)
{
    strbuf_puts(out, ad_string_or(ad, "Activity", "?"));
}

static void by_power(const struct ad *ad, struct strbuf *out)
{
    strbuf_puts(out, status_power_state(ad));
}

/* Appends the submitter's name without the schedd. */
static void by_user(const struct ad *ad, struct strbuf *out)
{
    strbuf_puts(out, ad_string_or(ad, "User", ad_string_or(ad, "Name", "?")));
}

/* ---- states; sleeping machines are counted in a column of their own */

enum { OWNER, CLAIMED, UNCLAIMED, MATCHED, PREEMPTING, DRAINED, BACKFILL, BACKFILL_IDLE, OFFLINE };

static void add_state(struct group *group, const struct ad *ad)
{
    static const char *const STATES[] = {"Owner",      "Claimed", "Unclaimed", "Matched",
                                         "Preempting", "Drained", "Backfill"};
    /* the state of a machine that does not respond is of the past */
    const char *state = offline_ads_is_silent(ad) ? "" : ad_string_or(ad, "State", "");
    for (size_t i = 0; i < ARRAY_COUNT(STATES); i++) {
        if (strcmp(STATES[i], state) == 0) {
            bool idle = i == BACKFILL && strcmp(ad_string_or(ad, "Activity", ""), "Idle") == 0;
            group->sums[idle ? (size_t)BACKFILL_IDLE : i]++;
            break;
        }
    }
    group->sums[OFFLINE] += status_is_offline(ad) ? 1 : 0;
}

#define WHOLE(group, index) ((long long)(group)->sums[index])

static void print_states(const struct group *group, struct strbuf *out)
{
    strbuf_printf(out, " %5lld %5lld %7lld %9lld %7lld %10lld %6lld %8lld %6lld %7lld",
                  (long long)group->count, WHOLE(group, OWNER), WHOLE(group, CLAIMED),
                  WHOLE(group, UNCLAIMED), WHOLE(group, MATCHED), WHOLE(group, PREEMPTING),
                  WHOLE(group, DRAINED), WHOLE(group, BACKFILL), WHOLE(group, BACKFILL_IDLE),
                  WHOLE(group, OFFLINE));
}

static void print_activities(const struct group *group, struct strbuf *out)
{
    strbuf_printf(out, " %5lld %5lld %9lld %7lld %10lld %7lld %6lld %8lld %6lld %7lld",
                  (long long)group->count, WHOLE(group, OWNER), WHOLE(group, UNCLAIMED),
                  WHOLE(group, CLAIMED), WHOLE(group, PREEMPTING), WHOLE(group, MATCHED),
                  WHOLE(group, DRAINED), WHOLE(group, BACKFILL), WHOLE(group, BACKFILL_IDLE),
                  WHOLE(group, OFFLINE));
}

#define STATE_HEADINGS \
    " Total Owner Claimed Unclaimed Matched Preempting  Drain Backfill BkIdle Offline"
#define ACTIVITY_HEADINGS \
    " Total Owner Unclaimed Claimed Preempting Matched  Drain Backfill BkIdle Offline"

static const struct totals PLATFORM = {by_platform, add_state, print_states, STATE_HEADINGS, false};
static const struct totals ACTIVITY = {by_activity, add_state, print_activities, ACTIVITY_HEADINGS,
                                       false};
static const struct totals POWER = {by_power, add_state, print_states, STATE_HEADINGS, false};

void status_totals_platform(const struct ad *const *ads, size_t count, bool natural,
                            struct strbuf *out)
{
    print_totals(&PLATFORM, ads, count, natural, out);
}

void status_totals_short_platform(const struct ad *const *ads, size_t count, bool natural,
                                  struct strbuf *out)
{
    static const struct totals TOTALS = {status_short_platform, add_state, print_states,
                                         STATE_HEADINGS, false};
    print_totals(&TOTALS, ads, count, natural, out);
}

void status_totals_activity(const struct ad *const *ads, size_t count, bool natural,
                            struct strbuf *out)
{
    print_totals(&ACTIVITY, ads, count, natural, out);
}

void status_totals_power(const struct ad *const *ads, size_t count, bool natural,
                         struct strbuf *out)
{
    print_totals(&POWER, ads, count, natural, out);
}

/* ---- counting ads that are not kept; the order of ads does not change the result */

struct status_count {
    struct groups groups;
};

struct status_count *status_count_begin(status_totals_f kind)
{
    const struct totals *totals = kind == status_totals_platform   ? &PLATFORM
                                  : kind == status_totals_activity ? &ACTIVITY
                                  : kind == status_totals_power    ? &POWER
                                                                   : NULL;
    if (totals == NULL) {
        return NULL;
    }
    struct status_count *count = mem_alloc(sizeof *count);
    groups_begin(&count->groups, totals);
    return count;
}

void status_count_add(struct status_count *count, const struct ad *ad)
{
    groups_add(&count->groups, ad);
}

void status_count_end(struct status_count *count, bool natural, struct strbuf *out)
{
    groups_end(&count->groups, natural, out);
    status_count_destroy(count);
}

void status_count_destroy(struct status_count *count)
{
    if (count != NULL) {
        groups_fini(&count->groups);
        mem_free(count);
    }
}

/* ---- capabilities */

enum { MEMORY, DISK, MIPS, KFLOPS, LOAD, AVAILABLE, LACKING };

static double number_of(const struct ad *ad, const char *name, bool *lacks)
{
    double number = 0;
    *lacks = ad_get_real(ad, name, &number) != 0 || *lacks;
    return number;
}

static void add_server(struct group *group, const struct ad *ad)
{
    const char *state = offline_ads_is_silent(ad) ? "" : ad_string_or(ad, "State", "");
    bool lacks = false;
    group->sums[MEMORY] += number_of(ad, "Memory", &lacks);
    group->sums[DISK] += number_of(ad, "Disk", &lacks);
    group->sums[MIPS] += number_of(ad, "Mips", &lacks);
    group->sums[KFLOPS] += number_of(ad, "KFlops", &lacks);
    group->sums[LOAD] += number_of(ad, "LoadAvg", &lacks);
    group->sums[AVAILABLE] +=
        strcmp(state, "Unclaimed") == 0 || strcmp(state, "Claimed") == 0 ? 1 : 0;
    group->sums[LACKING] += lacks ? 1 : 0;
}

static void print_server(const struct group *group, struct strbuf *out)
{
    strbuf_printf(out, " %8lld %5lld %11lld %11lld %11lld %11lld", (long long)group->count,
                  WHOLE(group, AVAILABLE), WHOLE(group, MEMORY), WHOLE(group, DISK),
                  WHOLE(group, MIPS), WHOLE(group, KFLOPS));
}

static void print_claimed(const struct group *group, struct strbuf *out)
{
    strbuf_printf(out, " %8lld %12lld %12lld   %.3f", (long long)group->count, WHOLE(group, MIPS),
                  WHOLE(group, KFLOPS),
                  group->count > 0 ? group->sums[LOAD] / (double)group->count : 0);
}

static void say_what_lacks(const struct ad *const *ads, size_t count, struct strbuf *out)
{
    struct group all = {0};
    for (size_t i = 0; i < count; i++) {
        add_server(&all, ads[i]);
    }
    if (all.sums[LACKING] > 0) {
        strbuf_printf(
            out, "\n              (Omitted %lld malformed ads in computed attribute totals)\n\n",
            WHOLE(&all, LACKING));
    }
}

void status_totals_server(const struct ad *const *ads, size_t count, bool natural,
                          struct strbuf *out)
{
    static const struct totals TOTALS = {by_platform, add_server, print_server,
                                         "    Slots Avail  Memory        Disk        MIPS"
                                         "      KFLOPS",
                                         false};
    print_totals(&TOTALS, ads, count, natural, out);
    say_what_lacks(ads, count, out);
}

void status_totals_claimed(const struct ad *const *ads, size_t count, bool natural,
                           struct strbuf *out)
{
    static const struct totals TOTALS = {by_platform, add_server, print_claimed,
                                         " Machines         MIPS       KFLOPS   AvgLoadAvg", false};
    print_totals(&TOTALS, ads, count, natural, out);
    say_what_lacks(ads, count, out);
}

/* ---- jobs */

static void add_schedd(struct group *group, const struct ad *ad)
{
    group->sums[0] += (double)ad_int_or(ad, "TotalRunningJobs", 0);
    group->sums[1] += (double)ad_int_or(ad, "TotalIdleJobs", 0);
    group->sums[2] += (double)ad_int_or(ad, "TotalHeldJobs", 0);
}

static void print_schedd(const struct group *group, struct strbuf *out)
{
    strbuf_printf(out, "%18lld %18lld %18lld", WHOLE(group, 0), WHOLE(group, 1), WHOLE(group, 2));
}

static void add_submitter(struct group *group, const struct ad *ad)
{
    group->sums[0] += (double)ad_int_or(ad, "RunningJobs", 0);
    group->sums[1] += (double)ad_int_or(ad, "IdleJobs", 0);
    group->sums[2] += (double)ad_int_or(ad, "HeldJobs", 0);
}

static void print_submitter(const struct group *group, struct strbuf *out)
{
    strbuf_printf(out, " %10lld %10lld %10lld", WHOLE(group, 0), WHOLE(group, 1), WHOLE(group, 2));
}

void status_totals_schedds(const struct ad *const *ads, size_t count, bool natural,
                           struct strbuf *out)
{
    struct group all = {.key = NULL};
    (void)natural;
    for (size_t i = 0; i < count; i++) {
        add_schedd(&all, ads[i]);
    }
    strbuf_puts(out, "\n                TotalRunningJobs      TotalIdleJobs      TotalHeldJobs\n\n"
                     "\n");
    table_plan_pad("Total", KEY_WIDTH, TABLE_RIGHT, out);
    print_schedd(&all, out);
    strbuf_putc(out, '\n');
}

void status_totals_submitters(const struct ad *const *ads, size_t count, bool natural,
                              struct strbuf *out)
{
    static const struct totals TOTALS = {by_user, add_submitter, print_submitter,
                                         "RunningJobs   IdleJobs   HeldJobs", true};
    print_totals(&TOTALS, ads, count, natural, out);
}

/* ---- on a narrow terminal */

/* Finds the column under a heading, with the blanks before the heading.  Returns the column's
 * width; 0: there is no such column, or a row has more than a zero in it. */
static size_t empty_column(const char *text, const char *heading, size_t *begin)
{
    const char *at = strstr(text, heading);
    if (at == NULL) {
        return 0;
    }
    const char *line = at;
    while (line > text && line[-1] != '\n') {
        line--;
    }
    size_t end = (size_t)(at - line) + strlen(heading);
    *begin = (size_t)(at - line);
    while (*begin > 0 && line[*begin - 1] == ' ') {
        --*begin;
    }
    for (const char *row = strchr(at, '\n'); row != NULL; row = strchr(row, '\n')) {
        row++;
        size_t length = strcspn(row, "\n");
        for (size_t i = *begin; i < end && i < length; i++) {
            if (row[i] != ' ' && !(row[i] == '0' && i + 1 == end)) {
                return 0;
            }
        }
    }
    return end - *begin;
}

static size_t longest_line(const char *text)
{
    size_t longest = 0;
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        longest = length > longest ? length : longest;
        text += length + (text[length] == '\n' ? 1 : 0);
    }
    return longest;
}

void status_totals_narrow(struct strbuf *text, int columns)
{
    static const char *const RARE[] = {"BkIdle", "Backfill", "Drain", "Preempting", "Matched"};
    for (size_t i = 0; i < ARRAY_COUNT(RARE) && columns > 0; i++) {
        size_t begin = 0, width;
        if (longest_line(strbuf_text(text)) <= (size_t)columns) {
            return;
        }
        width = empty_column(strbuf_text(text), RARE[i], &begin);
        struct strbuf less;
        strbuf_init(&less, 0);
        for (const char *line = strbuf_text(text); *line != '\0';) {
            size_t length = strcspn(line, "\n");
            for (size_t k = 0; k < length; k++) {
                if (k < begin || k >= begin + width) {
                    strbuf_putc(&less, line[k]);
                }
            }
            line += length;
            if (*line == '\n') {
                strbuf_putc(&less, *line++);
            }
        }
        strbuf_clear(text);
        strbuf_append(text, less.data, less.length);
        strbuf_fini(&less);
    }
}
