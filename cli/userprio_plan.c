/* cli/userprio_plan.c - the tables of `roost userprio`: see userprio_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/userprio_plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "classad/ad.h"
#include "classad/ad_time.h"
#include "cli/table_plan.h"

#define NAME_WIDTH  18
#define INDENT      2
#define NOW_S       60 /* usage in the last NOW_S seconds is shown as "now" */
#define COLUMNS_MAX 16
#define CELL_MAX    512
#define ROOT        "<none>"

static bool is_group(const struct ad *ad)
{
    return ad_bool_or(ad, "IsAccountingGroup", false);
}

static const char *name_of(const struct ad *ad)
{
    return ad_string_or(ad, "Name", "");
}

static int by_priority(const void *left, const void *right)
{
    const struct ad *a = *(const struct ad *const *)left, *b = *(const struct ad *const *)right;
    double priority_a = ad_real_or(a, "Priority", 0), priority_b = ad_real_or(b, "Priority", 0);
    if (priority_a < priority_b || priority_a > priority_b) {
        return priority_a < priority_b ? -1 : 1;
    }
    return is_group(a) != is_group(b) ? (is_group(a) ? -1 : 1) : strcmp(name_of(a), name_of(b));
}

void userprio_plan_sort(const struct ad **ads, size_t count)
{
    if (count > 1) {
        qsort(ads, count, sizeof(const struct ad *), by_priority);
    }
}

/* ---- rows */

struct row {
    const struct ad *ad;
    bool group;
    int indent;
    /* as shown; with -grouprollup, including the groups below */
    double used, weighted_s, requested;
};

struct page {
    const struct userprio_view *view;
    const struct ad_context *context;
    struct row *rows;
    size_t count;
    int64_t updated_s; /* when the negotiator last updated the priorities */
    double used, weighted_s;
    size_t users;
};

static struct row row_of(const struct ad *ad)
{
    return (struct row){.ad = ad,
                        .group = is_group(ad),
                        .used = ad_real_or(ad, "WeightedResourcesUsed", 0),
                        .weighted_s = ad_real_or(ad, "WeightedAccumulatedUsage", 0),
                        .requested = ad_real_or(ad, "Requested", 0)};
}

static bool is_shown(const struct page *page, const struct ad *ad)
{
    return page->view->all_users || ad_real_or(ad, "WeightedResourcesUsed", 0) > 0 ||
           ad_int_or(ad, "LastUsageTime", 0) >= page->context->now_s - USERPRIO_ACTIVE_S;
}

/* True when `name` is the group or below it; all names are below the root group. */
static bool is_below(const char *name, const char *group)
{
    size_t length = strlen(group);
    return strcmp(group, ROOT) == 0 ||
           (strncmp(name, group, length) == 0 && (name[length] == '\0' || name[length] == '.'));
}

static void roll_up(struct row *row, const struct ad *const *ads, size_t count)
{
    row->used = row->weighted_s = row->requested = 0;
    for (size_t i = 0; i < count; i++) {
        if (is_group(ads[i]) && is_below(name_of(ads[i]), name_of(row->ad))) {
            struct row other = row_of(ads[i]);
            row->used += other.used;
            row->weighted_s += other.weighted_s;
            row->requested += other.requested;
        }
    }
}

static int by_group(const void *left, const void *right)
{
    const char *a = name_of(*(const struct ad *const *)left);
    const char *b = name_of(*(const struct ad *const *)right);
    if ((strcmp(a, ROOT) == 0) != (strcmp(b, ROOT) == 0)) {
        return strcmp(a, ROOT) == 0 ? -1 : 1;
    }
    return text_compare_nocase(a, b);
}

static void add_users(struct page *page, const struct ad *const *ads, size_t count,
                      const char *group)
{
    for (size_t i = 0; i < count; i++) {
        if (is_group(ads[i]) || !is_shown(page, ads[i]) ||
            (group != NULL && strcmp(ad_string_or(ads[i], "AccountingGroup", ROOT), group) != 0)) {
            continue;
        }
        struct row row = row_of(ads[i]);
        row.indent = group != NULL ? INDENT : 0;
        page->used += row.used;
        page->weighted_s += row.weighted_s;
        page->users++;
        page->rows[page->count++] = row;
    }
}

static void add_group(struct page *page, const struct ad *const *ads, size_t count,
                      const struct ad *group)
{
    struct row row = row_of(group);
    if (page->view->rollup) {
        roll_up(&row, ads, count);
    }
    page->rows[page->count++] = row;
    if (page->view->quotas == USERPRIO_NO_QUOTAS) {
        add_users(page, ads, count, name_of(group));
    }
}

/* Collects the rows: with -grouporder, groups sorted by name, each followed by its users; else
 * users alone. */
static bool gather_rows(struct page *page, const struct ad *const *ads, size_t count)
{
    const struct ad **groups = mem_alloc((count + 1) * sizeof *groups);
    size_t group_count = 0;
    bool real = false;
    for (size_t i = 0; i < count; i++) {
        if (is_group(ads[i])) {
            groups[group_count++] = ads[i];
            real = real || strcmp(name_of(ads[i]), ROOT) != 0;
        }
        int64_t updated_s = ad_int_or(ads[i], "LastUpdate", 0);
        page->updated_s = updated_s > page->updated_s ? updated_s : page->updated_s;
    }
    bool grouped = real || page->view->group_order || page->view->rollup ||
                   page->view->quotas != USERPRIO_NO_QUOTAS;
    if (grouped) {
        if (group_count > 1) {
            qsort(groups, group_count, sizeof *groups, by_group);
        }
        for (size_t i = 0; i < group_count; i++) {
            add_group(page, ads, count, groups[i]);
        }
    } else {
        add_users(page, ads, count, NULL);
    }
    mem_free(groups);
    return grouped;
}

/* ---- cells */

static void put_number(double value, struct strbuf *out)
{
    table_plan_fixed(value, 2, out);
}

static void put_when(int64_t at_s, const struct ad_context *context, struct strbuf *out)
{
    struct ad_calendar calendar;
    if (at_s <= 0) {
        return;
    }
    if (context->zone_offset_s != NULL) {
        at_s += context->zone_offset_s(context->arg, at_s);
    }
    ad_calendar_of(at_s, &calendar);
    strbuf_printf(out, "%02d/%02d/%04d %02d:%02d", calendar.month, calendar.day, (int)calendar.year,
                  calendar.hour, calendar.minute);
}

static void put_since(int64_t seconds, struct strbuf *out)
{
    strbuf_printf(out, "%" PRId64 "+%02d:%02d", seconds / 86400, (int)(seconds % 86400 / 3600),
                  (int)(seconds % 3600 / 60));
}

typedef void (*part_f)(const struct page *page, const struct row *row, struct strbuf *out);

static void part_quota(const struct page *page, const struct row *row, struct strbuf *out)
{
    (void)page;
    if (row->group) {
        put_number(ad_real_or(row->ad, "ConfigQuota", 0), out);
    }
}

static void part_effective_quota(const struct page *page, const struct row *row, struct strbuf *out)
{
    (void)page;
    if (row->group) {
        put_number(ad_real_or(row->ad, "EffectiveQuota", 0), out);
    }
}

static void part_subtree_quota(const struct page *page, const struct row *row, struct strbuf *out)
{
    (void)page;
    if (row->group) {
        put_number(ad_real_or(row->ad, "SubtreeQuota", 0), out);
    }
}

static void part_surplus(const struct page *page, const struct row *row, struct strbuf *out)
{
    (void)page;
    if (row->group) {
        strbuf_puts(out, ad_string_or(row->ad, "SurplusPolicy", ""));
    }
}

static void part_requested(const struct page *page, const struct row *row, struct strbuf *out)
{
    (void)page;
    if (row->group) {
        strbuf_printf(out, "%.0f", row->requested);
    }
}

static void part_effective(const struct page *page, const struct row *row, struct strbuf *out)
{
    (void)page;
    if (!row->group) {
        put_number(ad_real_or(row->ad, "Priority", 0), out);
    }
}

static void part_real(const struct page *page, const struct row *row, struct strbuf *out)
{
    (void)page;
    double factor = ad_real_or(row->ad, "PriorityFactor", 1);
    if (!row->group) {
        put_number(ad_real_or(row->ad, "RealPriority",
                              factor > 0 ? ad_real_or(row->ad, "Priority", 0) / factor : 0),
                   out);
    }
}

static void part_factor(const struct page *page, const struct row *row, struct strbuf *out)
{
    (void)page;
    put_number(ad_real_or(row->ad, "PriorityFactor", 0), out);
}

static void part_used(const struct page *page, const struct row *row, struct strbuf *out)
{
    (void)page;
    strbuf_printf(out, "%.0f", row->used);
}

static void part_total(const struct page *page, const struct row *row, struct strbuf *out)
{
    (void)page;
    put_number(row->weighted_s / 3600, out);
}

static void part_begin(const struct page *page, const struct row *row, struct strbuf *out)
{
    put_when(ad_int_or(row->ad, "BeginUsageTime", 0), page->context, out);
}

static void part_last(const struct page *page, const struct row *row, struct strbuf *out)
{
    put_when(ad_int_or(row->ad, "LastUsageTime", 0), page->context, out);
}

static void part_since(const struct page *page, const struct row *row, struct strbuf *out)
{
    int64_t last_s = ad_int_or(row->ad, "LastUsageTime", 0);
    int64_t since_s = page->context->now_s - last_s;
    if (row->used > 0 || (last_s > 0 && since_s < NOW_S)) {
        strbuf_puts(out, "<now>");
    } else if (last_s > 0) {
        put_since(since_s, out);
    }
}

static void part_floor(const struct page *page, const struct row *row, struct strbuf *out)
{
    double floor = ad_real_or(row->ad, "Floor", 0);
    (void)page;
    if (floor > 0) {
        put_number(floor, out);
    }
}

static void part_ceiling(const struct page *page, const struct row *row, struct strbuf *out)
{
    double ceiling = ad_real_or(row->ad, "Ceiling", -1);
    (void)page;
    if (ceiling >= 0) {
        put_number(ceiling, out);
    }
}

/* the line below the table */
static void total_used(const struct page *page, struct strbuf *out)
{
    strbuf_printf(out, "%.0f", page->used);
}

static void total_weighted(const struct page *page, struct strbuf *out)
{
    put_number(page->weighted_s / 3600, out);
}

static void total_last(const struct page *page, struct strbuf *out)
{
    if (!page->view->all_users) {
        put_when(page->context->now_s - USERPRIO_ACTIVE_S, page->context, out);
    }
}

static void total_since(const struct page *page, struct strbuf *out)
{
    if (!page->view->all_users) {
        put_since(USERPRIO_ACTIVE_S, out);
    }
}

/* ---- columns: a new one is one row here */

enum { ALWAYS, IN_ALL, OF_GROUPS, OF_QUOTAS, NOT_QUOTAS };

static const struct part {
    const char *first, *second; /* headings, padded to the column's width */
    part_f part;
    void (*total)(const struct page *page, struct strbuf *out);
    int when;
    bool usage; /* the column shows usage, not priorities */
} PARTS[] = {
    {"Effective", "  Quota  ", part_effective_quota, NULL, OF_QUOTAS, false},
    {" Config  ", "  Quota  ", part_quota, NULL, OF_GROUPS, false},
    {" Subtree ", "  Quota  ", part_subtree_quota, NULL, OF_QUOTAS, false},
    {"  Use  ", "Surplus", part_surplus, NULL, OF_GROUPS, false},
    {" Effective  ", "  Priority  ", part_effective, NULL, NOT_QUOTAS, false},
    {"  Real  ", "Priority", part_real, NULL, IN_ALL, false},
    {"Priority ", " Factor  ", part_factor, NULL, NOT_QUOTAS, false},
    {"Wghted", "In Use", part_used, total_used, ALWAYS, true},
    {"Total Usage ", "(wghted-hrs)", part_total, total_weighted, NOT_QUOTAS, true},
    {"     Usage      ", "   Start Time   ", part_begin, NULL, IN_ALL, true},
    {"      Last      ", "   Usage Time   ", part_last, total_last, IN_ALL, true},
    {"Time Since", "Last Usage", part_since, total_since, NOT_QUOTAS, true},
    {"Requested", "Resources", part_requested, NULL, OF_GROUPS, false},
    {"Submitter", "  Floor  ", part_floor, NULL, NOT_QUOTAS, false},
    {"Submitter", " Ceiling ", part_ceiling, NULL, NOT_QUOTAS, false},
};

static bool is_wanted(const struct part *part, const struct userprio_view *view, bool grouped)
{
    bool quotas = view->quotas != USERPRIO_NO_QUOTAS;
    if (view->columns != USERPRIO_BOTH) {
        bool mine = part->when == IN_ALL || part->when == NOT_QUOTAS || part->when == ALWAYS;
        return mine && part->usage == (view->columns == USERPRIO_USAGE);
    }
    switch (part->when) {
    case IN_ALL:
        return view->all && !quotas;
    case OF_GROUPS:
        return grouped;
    case OF_QUOTAS:
        return view->quotas == USERPRIO_QUOTAS;
    case NOT_QUOTAS:
        return !quotas;
    default:
        return true;
    }
}

static void put_rule(const struct part *const *parts, size_t count, int width, struct strbuf *out)
{
    for (int i = 0; i < width; i++) {
        strbuf_putc(out, '-');
    }
    for (size_t c = 0; c < count; c++) {
        strbuf_putc(out, ' ');
        for (size_t i = 0; i < strlen(parts[c]->first); i++) {
            strbuf_putc(out, '-');
        }
    }
    strbuf_putc(out, '\n');
}

static void put_part(struct strbuf *cell, const struct part *part, struct strbuf *out)
{
    strbuf_putc(out, ' ');
    table_plan_pad(strbuf_text(cell), (int)strlen(part->first), TABLE_RIGHT, out);
}

static void put_row(const struct page *page, const struct row *row, const struct part *const *parts,
                    size_t count, int width, struct strbuf *out)
{
    struct strbuf name;
    strbuf_init(&name, CELL_MAX);
    for (int i = 0; i < row->indent; i++) {
        strbuf_putc(&name, ' ');
    }
    for (const char *at = name_of(row->ad); *at != '\0'; at++) {
        strbuf_putc(&name, (unsigned char)*at < ' ' || *at == 0x7f ? '?' : *at);
    }
    table_plan_pad(strbuf_text(&name), width, TABLE_LEFT, out);
    strbuf_fini(&name);
    for (size_t c = 0; c < count; c++) {
        struct strbuf cell;
        strbuf_init(&cell, CELL_MAX);
        parts[c]->part(page, row, &cell);
        put_part(&cell, parts[c], out);
        strbuf_fini(&cell);
    }
    strbuf_putc(out, '\n');
}

static void put_totals(const struct page *page, const struct part *const *parts, size_t count,
                       int width, struct strbuf *out)
{
    struct strbuf name;
    strbuf_init(&name, 0);
    strbuf_printf(&name, "Number of users: %zu", page->users);
    table_plan_pad(strbuf_text(&name), width, TABLE_LEFT, out);
    strbuf_fini(&name);
    for (size_t c = 0; c < count; c++) {
        struct strbuf cell;
        strbuf_init(&cell, CELL_MAX);
        if (parts[c]->total != NULL) {
            parts[c]->total(page, &cell);
        }
        put_part(&cell, parts[c], out);
        strbuf_fini(&cell);
    }
    strbuf_putc(out, '\n');
}

static void put_headings(const struct part *const *parts, size_t count, int width, bool grouped,
                         struct strbuf *out)
{
    table_plan_pad(grouped ? "Group" : "", width, TABLE_LEFT, out);
    for (size_t c = 0; c < count; c++) {
        strbuf_printf(out, " %s", parts[c]->first);
    }
    strbuf_putc(out, '\n');
    table_plan_pad(grouped ? "  User Name" : "User Name", width, TABLE_LEFT, out);
    for (size_t c = 0; c < count; c++) {
        strbuf_printf(out, " %s", parts[c]->second);
    }
    strbuf_putc(out, '\n');
}

void userprio_plan_print(const struct userprio_view *view, const struct ad *const *ads,
                         size_t count, const struct ad_context *context, struct strbuf *out)
{
    struct page page = {.view = view, .context = context};
    const struct part *parts[COLUMNS_MAX];
    size_t part_count = 0;
    int width = NAME_WIDTH;
    page.rows = mem_alloc((count + 1) * sizeof *page.rows);
    bool grouped = gather_rows(&page, ads, count);
    for (size_t i = 0; i < ARRAY_COUNT(PARTS); i++) {
        if (is_wanted(&PARTS[i], view, grouped)) {
            parts[part_count++] = &PARTS[i];
        }
    }
    for (size_t i = 0; i < page.count; i++) {
        size_t length = strlen(name_of(page.rows[i].ad)) + (size_t)page.rows[i].indent;
        width = length > (size_t)width && length < CELL_MAX ? (int)length : width;
    }
    strbuf_puts(out, "Last Priority Update: ");
    table_plan_date(page.updated_s, context, out);
    strbuf_putc(out, '\n');
    put_headings(parts, part_count, width, grouped, out);
    put_rule(parts, part_count, width, out);
    for (size_t i = 0; i < page.count; i++) {
        put_row(&page, &page.rows[i], parts, part_count, width, out);
    }
    put_rule(parts, part_count, width, out);
    put_totals(&page, parts, part_count, width, out);
    mem_free(page.rows);
}

/* ---- history and machines: plain tables */

static void cell_name(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    table_plan_string(ad, "Name", out);
}

static void cell_hour(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    put_when(ad_int_or(ad, "BeginTime", 0), context, out);
}

/* Appends a day.  Days are counted in UTC. */
static void cell_day(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    struct ad_calendar calendar;
    (void)context;
    ad_calendar_of(ad_int_or(ad, "BeginTime", 0), &calendar);
    strbuf_printf(out, "%02d/%02d/%04d", calendar.month, calendar.day, (int)calendar.year);
}

static void cell_weighted(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    put_number(ad_real_or(ad, "WeightedUsage", 0) / 3600, out);
}

static void cell_hours(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    put_number(ad_real_or(ad, "Usage", 0) / 3600, out);
}

static void cell_prio(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    put_number(ad_real_or(ad, "Prio", 0), out);
}

static void cell_users(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    table_plan_int(ad, "Users", out);
}

static void cell_running(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    table_plan_int(ad, "Running", out);
}

static void cell_idle(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    table_plan_int(ad, "Idle", out);
}

void userprio_plan_history(const struct ad *const *ads, size_t count, bool by_hour,
                           const struct ad_context *context, struct strbuf *out)
{
    static const struct column DAYS[] = {
        {"Day (UTC)", TABLE_LEFT, 10, TABLE_LEFT, true, cell_day},
        {"User Name", TABLE_LEFT, NAME_WIDTH, TABLE_LEFT, true, cell_name},
        {"wghted-hrs", TABLE_RIGHT, 12, TABLE_RIGHT, true, cell_weighted},
        {"slot-hrs", TABLE_RIGHT, 12, TABLE_RIGHT, true, cell_hours},
    };
    static const struct column HOURS[] = {
        {"Hour", TABLE_LEFT, 16, TABLE_LEFT, true, cell_hour},
        {"User Name", TABLE_LEFT, NAME_WIDTH, TABLE_LEFT, true, cell_name},
        {"wghted-hrs", TABLE_RIGHT, 12, TABLE_RIGHT, true, cell_weighted},
        {"slot-hrs", TABLE_RIGHT, 12, TABLE_RIGHT, true, cell_hours},
    };
    table_plan_print(by_hour ? HOURS : DAYS, ARRAY_COUNT(DAYS), true, ads, count, context, out);
}

void userprio_plan_machines(const struct ad *const *ads, size_t count,
                            const struct ad_context *context, struct strbuf *out)
{
    static const struct column MACHINES[] = {
        {"Submitting Machine", TABLE_LEFT, 30, TABLE_LEFT, true, cell_name},
        {"Prio", TABLE_RIGHT, 12, TABLE_RIGHT, true, cell_prio},
        {"Users", TABLE_RIGHT, 6, TABLE_RIGHT, true, cell_users},
        {"Running", TABLE_RIGHT, 8, TABLE_RIGHT, true, cell_running},
        {"Idle", TABLE_RIGHT, 8, TABLE_RIGHT, true, cell_idle},
    };
    table_plan_print(MACHINES, ARRAY_COUNT(MACHINES), true, ads, count, context, out);
}
