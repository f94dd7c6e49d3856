/* negotiator/groups.c - reads the configured accounting groups: see groups.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "negotiator/groups.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/daemon/daemon_checking.h"
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "base/text.h"
#include "classad/ad.h"
#include "negotiator/accountant.h"

#define KNOB_NAME_MAX 640 /* most bytes of a knob's name, with the terminating zero */
#define DEPTH_MAX     32

/* Returns the value of PREFIX_<group>; NULL: not set. */
static const char *text_of(const struct config *config, const char *prefix, const char *group)
{
    char name[KNOB_NAME_MAX];
    (void)snprintf(name, sizeof name, "%s_%s", prefix, group);
    const char *text = config_text(config, name);
    return text != NULL && text[0] != '\0' ? text : NULL;
}

static bool number_of(const struct config *config, const char *prefix, const char *group,
                      double *ret)
{
    const char *text = text_of(config, prefix, group);
    double value;
    if (text == NULL) {
        return false;
    }
    if (text_parse_double(text, &value, NULL) != 0) {
        value = 0; /* cannot be: the table of knobs has checked it */
    }
    *ret = value;
    return true;
}

static bool truth_of(const struct config *config, const char *prefix, const char *group,
                     bool otherwise)
{
    const char *text = text_of(config, prefix, group);
    bool value = otherwise;
    if (text != NULL) {
        (void)text_parse_bool(text, &value, NULL); /* the table of knobs has checked it */
    }
    return value;
}

/* ---- names */

static unsigned count_dots(const char *name)
{
    unsigned count = 0;
    for (; *name != '\0'; name++) {
        count += *name == '.' ? 1 : 0;
    }
    return count;
}

/* Returns whether name is like "a.b": words of letters, digits, _ and - with single dots between
 * them. */
static bool is_group(const char *name)
{
    char before = '.';
    for (const char *at = name; *at != '\0'; at++) {
        char c = text_lower(*at);
        bool word = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
        if (!word && (c != '.' || before == '.')) {
            return false;
        }
        before = c;
    }
    return before != '.' && strlen(name) < ACCOUNTANT_NAME_MAX && count_dots(name) < DEPTH_MAX;
}

static int by_depth(const void *left, const void *right)
{
    const char *a = *(const char *const *)left, *b = *(const char *const *)right;
    unsigned depth_a = count_dots(a), depth_b = count_dots(b);
    return depth_a != depth_b ? (depth_a < depth_b ? -1 : 1) : text_compare_nocase(a, b);
}

size_t groups_find(const struct groups *groups, const char *name)
{
    const struct group_entry *entry = strmap_get(groups->index, name);
    return entry != NULL ? (size_t)(entry - groups->entries) : groups->count;
}

/* Returns the index of the parent; groups->count when it is not configured. */
static size_t parent_of(const struct groups *groups, const char *name)
{
    const char *dot = strrchr(name, '.');
    if (dot == NULL) {
        return 0;
    }
    char *parent = mem_strndup(name, (size_t)(dot - name));
    size_t index = groups_find(groups, parent);
    mem_free(parent);
    return index;
}

/* ---- reading */

/* Called with each name of GROUP_NAMES that is left out. */
typedef void (*left_out_f)(void *arg, const char *name, const char *why);

static void add_group(struct groups *groups, const struct config *config, left_out_f left_out,
                      void *arg, const char *name)
{
    size_t parent = is_group(name) ? parent_of(groups, name) : groups->count;
    if (parent == groups->count) {
        left_out(arg, name,
                 "ignored: not a valid group name, or the parent group is not in GROUP_NAMES");
        return;
    }
    if (groups_find(groups, name) < groups->count) {
        left_out(arg, name, "listed twice in GROUP_NAMES; the second entry is ignored");
        return;
    }
    struct group_entry entry = {.name = mem_strdup(name), .parent = parent, .ceiling = -1};
    entry.is_dynamic = !number_of(config, "GROUP_QUOTA", name, &entry.config_quota) &&
                       number_of(config, "GROUP_QUOTA_DYNAMIC", name, &entry.config_quota);
    entry.accept_surplus =
        truth_of(config, "GROUP_ACCEPT_SURPLUS", name, config_bool(config, "GROUP_ACCEPT_SURPLUS"));
    entry.autoregroup =
        truth_of(config, "GROUP_AUTOREGROUP", name, config_bool(config, "GROUP_AUTOREGROUP"));
    double factor = 0;
    (void)number_of(config, "GROUP_PRIO_FACTOR", name, &factor); /* not set: none */
    groups->prio_factors[groups->count] = factor;
    groups->entries[groups->count] = entry;
    (void)strmap_set(groups->index, name, &groups->entries[groups->count++]); /* was absent */
}

static struct groups *read_groups(const struct config *config, left_out_f left_out, void *arg)
{
    size_t named;
    const char *const *names = config_list(config, "GROUP_NAMES", &named);
    named = named < GROUP_COUNT_MAX ? named : GROUP_COUNT_MAX - 1;
    struct groups *groups = mem_zalloc(sizeof *groups);
    groups->entries = mem_zalloc((named + 1) * sizeof *groups->entries);
    groups->prio_factors = mem_zalloc((named + 1) * sizeof *groups->prio_factors);
    groups->entries[0] = (struct group_entry){.name = mem_strdup(GROUP_ROOT_NAME), .ceiling = -1};
    groups->count = 1;
    groups->index = strmap_create(STRMAP_CASE_IGNORED);
    (void)strmap_set(groups->index, GROUP_ROOT_NAME, &groups->entries[0]); /* the first */
    const char **sorted = mem_alloc((named + 1) * sizeof *sorted);
    for (size_t i = 0; i < named; i++) {
        sorted[i] = names[i];
    }
    if (named > 1) {
        qsort(sorted, named, sizeof *sorted, by_depth);
    }
    for (size_t i = 0; i < named; i++) {
        add_group(groups, config, left_out, arg, sorted[i]);
    }
    mem_free(sorted);
    return groups;
}

static void log_left_out(void *arg, const char *name, const char *why)
{
    log_warn((struct log *)arg, "config.group", why, LOG_TEXT("group", name),
             LOG_TEXT("value", name));
}

struct groups *groups_create(const struct config *config, struct log *log)
{
    struct groups *groups = read_groups(config, log_left_out, log);
    groups->oversubscribe = config_bool(config, "NEGOTIATOR_ALLOW_QUOTA_OVERSUBSCRIPTION");
    groups->round_robin = config_real(config, "GROUP_QUOTA_ROUND_ROBIN_RATE");
    const char *sort = config_expr(config, "GROUP_SORT_EXPR");
    struct err err;
    if (sort != NULL && sort[0] != '\0' &&
        ad_expr_parse(sort, strlen(sort), AD_OLD, &groups->sort, &err) != 0) {
        log_error(log, "config.expr", err.text);
    }
    return groups;
}

void groups_destroy(struct groups *groups)
{
    if (groups == NULL) {
        return;
    }
    for (size_t i = 0; i < groups->count; i++) {
        mem_free((char *)groups->entries[i].name);
    }
    strmap_destroy(groups->index, NULL);
    mem_free(groups->entries);
    mem_free(groups->prio_factors);
    ad_expr_destroy(groups->sort);
    mem_free(groups);
}

const char *groups_name_of(const struct groups *groups, const char *submitter)
{
    return groups->entries[group_plan_of(groups->entries, groups->count, submitter)].name;
}

/* ---- the check */

static void doubt_left_out(void *arg, const char *name, const char *why)
{
    daemon_doubt(arg, "GROUP_NAMES", "GROUP_NAMES: group '%s' is %s", name, why);
}

/* Says that a group that a knob is of does not exist, and which one may have been meant. */
static void doubt_unknown_group(const struct daemon_checking *checking, const struct groups *groups,
                                const char *knob, const char *name)
{
    size_t distance = text_near_enough(name) + 1;
    const char *nearest = NULL;
    for (size_t i = 1; i < groups->count; i++) {
        text_take_nearer(groups->entries[i].name, name, &nearest, &distance);
    }
    daemon_doubt(checking, knob, "%s has no effect: GROUP_NAMES has no group '%s'%s%s", knob, name,
                 nearest != NULL ? "; did you mean " : "", nearest != NULL ? nearest : "");
}

void groups_check(const struct daemon_checking *checking)
{
    static const char *const PREFIXES[] = {"GROUP_QUOTA_DYNAMIC_", "GROUP_QUOTA_",
                                           "GROUP_ACCEPT_SURPLUS_", "GROUP_AUTOREGROUP_",
                                           "GROUP_PRIO_FACTOR_"};
    struct groups *groups = read_groups(checking->config, doubt_left_out, (void *)checking);
    const char *name = NULL;
    const struct knob *knob = NULL;
    size_t at = 0;
    while (config_next(checking->config, &at, &name, &knob)) {
        for (size_t i = 0; i < ARRAY_COUNT(PREFIXES) && knob == NULL; i++) {
            size_t length = strlen(PREFIXES[i]);
            if (strncasecmp(name, PREFIXES[i], length) != 0) {
                continue;
            }
            const char *value = config_text(checking->config, name);
            if (value != NULL && value[0] != '\0' &&
                groups_find(groups, name + length) == groups->count) {
                doubt_unknown_group(checking, groups, name, name + length);
            }
            break;
        }
    }
    groups_destroy(groups);
}

/* ---- a cycle */

static double sort_key(const struct groups *groups, size_t index, const struct ad_context *context)
{
    const struct group_entry *entry = &groups->entries[index];
    if (groups->sort == NULL) {
        return group_plan_sort_key(groups->entries, index);
    }
    struct ad *ad = ad_create();
    ad_set_string(ad, "AccountingGroup", entry->name);
    ad_set_real(ad, "GroupQuota", entry->quota);
    ad_set_real(ad, "SubtreeQuota", entry->subtree_quota);
    ad_set_real(ad, "ConfigQuota", entry->config_quota);
    ad_set_real(ad, "GroupResourcesInUse", entry->in_use);
    double key = ad_eval_rank(groups->sort, ad, NULL, context);
    ad_destroy(ad);
    return isnan(key) ? 0 : key;
}

void groups_begin(struct groups *groups, double total, const struct ad_context *context)
{
    group_plan_quotas(groups->entries, groups->count, total, groups->oversubscribe);
    for (size_t i = 0; i < groups->count; i++) {
        groups->entries[i].sort_key = sort_key(groups, i, context);
    }
}
