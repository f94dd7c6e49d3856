/* wire/pool_figures.c - see pool_figures.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wire/pool_figures.h"

#include <stdio.h>

#include "base/check.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "classad/ad_time.h"

#define ANYBODY "negotiator/"

static const char *const NAMES[] = {"PoolIdleJobs", "PoolIdleJobsWait", "MatchingIdleJobs",
                                    "MatchingIdleJobsWait"};

bool pool_figures_are_read(const struct ad_expr *expr, const struct ad *my)
{
    struct strmap *external = strmap_create(STRMAP_CASE_IGNORED);
    struct strmap *internal = strmap_create(STRMAP_CASE_IGNORED);
    bool read = false;
    ad_refs(expr, my, external, internal);
    for (size_t i = 0; i < ARRAY_COUNT(NAMES) && !read; i++) {
        read = strmap_get(external, NAMES[i]) != NULL || strmap_get(internal, NAMES[i]) != NULL;
    }
    strmap_destroy(external, NULL);
    strmap_destroy(internal, NULL);
    return read;
}

void pool_figures_put(const struct pool_figures *figures, struct ad *ad)
{
    const int64_t values[] = {figures != NULL ? figures->jobs : -1,
                              figures != NULL ? figures->wait_s : -1,
                              figures != NULL && figures->has_matching ? figures->matching : -1,
                              figures != NULL && figures->has_matching ? figures->matching_wait_s
                                                                       : -1};
    for (size_t i = 0; i < ARRAY_COUNT(NAMES); i++) {
        if (values[i] >= 0) {
            ad_set_int(ad, NAMES[i], values[i]);
        } else {
            ad_remove(ad, NAMES[i]);
        }
    }
}

void pool_figures_print(const struct pool_figures *figures, char *ret, size_t size)
{
    if (figures == NULL) {
        (void)snprintf(ret, size, "the figures of the queue are not known");
    } else if (figures->has_matching) {
        (void)snprintf(ret, size,
                       "MatchingIdleJobs = %lld, MatchingIdleJobsWait = %lld, PoolIdleJobs = %lld",
                       (long long)figures->matching, (long long)figures->matching_wait_s,
                       (long long)figures->jobs);
    } else {
        (void)snprintf(ret, size, "PoolIdleJobs = %lld, PoolIdleJobsWait = %lld",
                       (long long)figures->jobs, (long long)figures->wait_s);
    }
}

void pool_figures_put_clock(int64_t local_s, struct ad *ad)
{
    struct ad_calendar at;
    char date[40];
    ad_calendar_of(local_s, &at);
    (void)snprintf(date, sizeof date, "%04lld-%02d-%02d", (long long)at.year, at.month, at.day);
    ad_set_int(ad, "ClockMin", at.hour * 60 + at.minute);
    ad_set_int(ad, "ClockDay", at.weekday);
    ad_set_string(ad, "ClockDate", date);
}

int64_t pool_figures_ask(struct wire *wire, const char *const *machines, size_t count,
                         wire_reply_f call, void *arg)
{
    struct ad *args = ad_create();
    ad_set_strings(args, "Machines", machines, count);
    const struct wire_body body = {.args = args};
    int64_t rc = wire_relay(wire, ANYBODY, VERB_POOL_FIGURES, &body, 0, call, arg);
    ad_destroy(args);
    return rc;
}

bool pool_figures_read(const struct ad *args, const struct ad *machine, struct pool_figures *ret)
{
    int64_t jobs = args != NULL ? ad_int_or(args, "PoolIdleJobs", -1) : -1;
    int64_t matching = machine != NULL ? ad_int_or(machine, "MatchingIdleJobs", -1) : -1;
    if (jobs < 0) {
        return false;
    }
    *ret = (struct pool_figures){.jobs = jobs,
                                 .wait_s = ad_int_or(args, "PoolIdleJobsWait", 0),
                                 .has_matching = matching >= 0};
    if (matching >= 0) {
        ret->matching = matching;
        ret->matching_wait_s = ad_int_or(machine, "MatchingIdleJobsWait", 0);
    }
    return true;
}
