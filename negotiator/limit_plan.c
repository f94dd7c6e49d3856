/* negotiator/limit_plan.c - concurrency limits: see limit_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "negotiator/limit_plan.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/text.h"

#define DUST 1e-9

struct limit {
    char *name;
    double max; /* < 0: none */
    double used;
    double given;   /* in cycle `cycle` */
    uint64_t cycle; /* given is of that */
};

struct limit_plan {
    struct strmap *limits; /* name -> struct limit */
    limit_max_f max_of;
    void *arg;
    uint64_t cycle;
};

struct limit_plan *limit_plan_create(void)
{
    struct limit_plan *plan = mem_zalloc(sizeof *plan);
    plan->limits = strmap_create(STRMAP_CASE_IGNORED);
    return plan;
}

static void limit_destroy(void *value)
{
    struct limit *limit = value;
    mem_free(limit->name);
    mem_free(limit);
}

void limit_plan_destroy(struct limit_plan *plan)
{
    if (plan != NULL) {
        strmap_destroy(plan->limits, limit_destroy);
        mem_free(plan);
    }
}

static double max_of(const struct limit_plan *plan, const char *name)
{
    double max = plan->max_of != NULL ? plan->max_of(plan->arg, name) : -1;
    return isnan(max) ? 0 : max;
}

void limit_plan_configure(struct limit_plan *plan, limit_max_f max, void *arg)
{
    size_t at = 0;
    void *value;
    plan->max_of = max;
    plan->arg = arg;
    while (strmap_next(plan->limits, &at, NULL, &value)) {
        struct limit *limit = value;
        limit->max = max_of(plan, limit->name);
    }
}

/* ---- lists */

struct item {
    char name[LIMIT_NAME_MAX + 1];
    double count;
};

/* Reads the next name of the list, in lower case; false at the end.  A name that is too long is
 * cut; it still means one limit. */
static bool next_item(const char **at, struct item *ret)
{
    static const char GAPS[] = ", \t\n";
    const char *begin = *at + strspn(*at, GAPS);
    size_t length = strcspn(begin, GAPS);
    *at = begin + length;
    if (length == 0) {
        return false;
    }
    const char *colon = memchr(begin, ':', length);
    size_t name = colon != NULL ? (size_t)(colon - begin) : length;
    name = name < LIMIT_NAME_MAX ? name : LIMIT_NAME_MAX;
    for (size_t i = 0; i < name; i++) {
        ret->name[i] = text_lower(begin[i]);
    }
    ret->name[name] = '\0';
    ret->count = 1;
    if (colon != NULL) {
        char number[64];
        size_t digits = (size_t)(begin + length - colon) - 1;
        double count;
        digits = digits < sizeof number ? digits : sizeof number - 1;
        memcpy(number, colon + 1, digits);
        number[digits] = '\0';
        if (text_parse_double(number, &count, NULL) == 0 && isfinite(count) && count >= 0) {
            ret->count = count;
        }
    }
    return true;
}

/* Returns the limit of that name, made if needed; NULL: there are too many. */
static struct limit *limit_of(struct limit_plan *plan, const char *name)
{
    struct limit *limit = strmap_get(plan->limits, name);
    if (limit == NULL && strmap_count(plan->limits) < LIMIT_NAMES_MAX) {
        limit = mem_zalloc(sizeof *limit);
        limit->name = mem_strdup(name);
        limit->max = max_of(plan, name);
        (void)strmap_set(plan->limits, name, limit); /* was absent */
    }
    return limit;
}

/* ---- use */

void limit_plan_use(struct limit_plan *plan, const char *list, int by)
{
    struct item item;
    unsigned count = 0;
    while (list != NULL && next_item(&list, &item) && count++ < LIMIT_LIST_MAX) {
        struct limit *limit = limit_of(plan, item.name);
        if (limit == NULL) {
            continue;
        }
        limit->used += by * item.count;
        limit->used = limit->used > DUST ? limit->used : 0;
        if (!(limit->used > 0) && by < 0) { /* nobody uses it: known again when somebody does */
            limit_destroy(strmap_remove(plan->limits, item.name));
        }
    }
}

/* Adds the counts of a list to those of the map's names (double[2]), as the which-th. */
static void add_counts(struct strmap *names, const char *list, int which)
{
    struct item item;
    unsigned count = 0;
    while (next_item(&list, &item) && count++ < LIMIT_LIST_MAX) {
        double *counts = strmap_get(names, item.name);
        if (counts == NULL) {
            counts = mem_zalloc(2 * sizeof *counts);
            (void)strmap_set(names, item.name, counts); /* was absent */
        }
        counts[which] += item.count;
    }
}

void limit_plan_either(const char *first, const char *second, struct strbuf *list)
{
    if (first[0] == '\0' || second[0] == '\0') {
        strbuf_printf(list, "%s%s", first, second);
        return;
    }
    struct strmap *names = strmap_create(STRMAP_CASE_IGNORED);
    add_counts(names, first, 0);
    add_counts(names, second, 1);
    size_t at = 0;
    const char *name, *comma = "";
    void *value;
    while (strmap_next(names, &at, &name, &value)) {
        const double *counts = value;
        strbuf_printf(list, "%s%s:%.17g", comma, name,
                      counts[0] > counts[1] ? counts[0] : counts[1]);
        comma = ",";
    }
    strmap_destroy(names, mem_free);
}

double limit_plan_used(const struct limit_plan *plan, const char *name)
{
    const struct limit *limit = strmap_get(plan->limits, name);
    return limit != NULL ? limit->used : 0;
}

void limit_plan_begin(struct limit_plan *plan)
{
    plan->cycle++;
}

static double given_now(const struct limit_plan *plan, const struct limit *limit)
{
    return limit->cycle == plan->cycle ? limit->given : 0;
}

/* Returns how many more jobs fit one name of a list; limit NULL: a name beyond LIMIT_NAMES_MAX. */
static int64_t room_of(const struct limit_plan *plan, const struct limit *limit,
                       const struct item *item)
{
    if (limit == NULL) {
        return 0;
    }
    if (limit->max < 0 || item->count <= 0) {
        return INT64_MAX;
    }
    double jobs = floor((limit->max - limit->used - given_now(plan, limit)) / item->count + DUST);
    return jobs < 1 ? 0 : jobs < 9e15 ? (int64_t)jobs : INT64_MAX;
}

int64_t limit_plan_room(struct limit_plan *plan, const char *list)
{
    struct item item;
    int64_t room = INT64_MAX;
    unsigned count = 0;
    while (list != NULL && next_item(&list, &item)) {
        const struct limit *limit = count++ < LIMIT_LIST_MAX ? limit_of(plan, item.name) : NULL;
        int64_t fit = room_of(plan, limit, &item);
        room = fit < room ? fit : room;
        if (limit == NULL) {
            break;
        }
    }
    return room;
}

void limit_plan_reached(struct limit_plan *plan, const char *list, struct strbuf *names)
{
    struct item item;
    unsigned count = 0;
    const char *comma = "";
    while (list != NULL && next_item(&list, &item) && count++ < LIMIT_LIST_MAX) {
        if (room_of(plan, limit_of(plan, item.name), &item) == 0) {
            strbuf_printf(names, "%s%s", comma, item.name);
            comma = ", ";
        }
    }
}

void limit_plan_take(struct limit_plan *plan, const char *list, int64_t jobs)
{
    struct item item;
    unsigned count = 0;
    while (list != NULL && next_item(&list, &item) && count++ < LIMIT_LIST_MAX) {
        struct limit *limit = limit_of(plan, item.name);
        if (limit != NULL) {
            limit->given = given_now(plan, limit) + item.count * (double)jobs;
            limit->cycle = plan->cycle;
        }
    }
}

const char *limit_plan_next(const struct limit_plan *plan, size_t *at, double *used, double *max)
{
    void *value;
    if (!strmap_next(plan->limits, at, NULL, &value)) {
        return NULL;
    }
    const struct limit *limit = value;
    *used = limit->used;
    *max = limit->max;
    return limit->name;
}
