/* cli/drain_show_plan.c - see drain_show_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/drain_show_plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/hostlist.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "classad/ad_eval.h"
#include "cli/table_plan.h"

static const char GRACEFUL_END[] = "ExpectedMachineGracefulDrainingCompletion";
static const char QUICK_END[] = "ExpectedMachineQuickDrainingCompletion";
static const char FAST_END[] = "ExpectedMachineFastDrainingCompletion";
static const char GRACEFUL_BADPUT[] = "ExpectedMachineGracefulDrainingBadput";
static const char QUICK_BADPUT[] = "ExpectedMachineQuickDrainingBadput";
static const char FAST_BADPUT[] = "ExpectedMachineFastDrainingBadput";

static enum drain_schedule schedule_of(const struct ad *ad)
{
    enum drain_schedule schedule = DRAIN_GRACEFUL;
    (void)drain_schedule_parse(ad_string_or(ad, "DrainingSchedule", ""), &schedule);
    return schedule;
}

/* Returns the attribute that tells when the last job ends; peaceful: absent without a deadline. */
static const char *end_name(enum drain_schedule schedule)
{
    return schedule == DRAIN_GRACEFUL ? GRACEFUL_END
           : schedule == DRAIN_QUICK  ? QUICK_END
           : schedule == DRAIN_FAST   ? FAST_END
                                      : "DrainingDeadline";
}

/* Returns the attribute of the estimated badput; "": it is not estimated. */
static const char *badput_name(enum drain_schedule schedule)
{
    return schedule == DRAIN_GRACEFUL ? GRACEFUL_BADPUT
           : schedule == DRAIN_QUICK  ? QUICK_BADPUT
           : schedule == DRAIN_FAST   ? FAST_BADPUT
                                      : "";
}

/* ---- results */

void drain_show_names(const char *const *names, size_t count, const char *what, struct strbuf *out)
{
    if (count == 0) {
        return;
    }
    size_t begin = out->length;
    hostlist_fold(names, count, out);
    strbuf_printf(out, ": %s\n", what);
    table_plan_clean(out, begin);
}

/* The cost of draining the requested slots: the latest end and the sum of the badput. */
struct cost {
    int64_t wait_s, badput_s, end_s;
    bool jobs; /* a job runs; a job that has just begun has no cost yet, but takes time to end */
};

static void add_cost(const struct ad *ad, struct cost *cost)
{
    enum drain_schedule schedule = schedule_of(ad);
    int64_t end_s = ad_int_or(ad, end_name(schedule), 0);
    int64_t wait_s = end_s - ad_int_or(ad, FAST_END, end_s); /* of that machine's clock */
    cost->wait_s = wait_s > cost->wait_s ? wait_s : cost->wait_s;
    cost->end_s = end_s > cost->end_s ? end_s : cost->end_s;
    cost->badput_s += ad_int_or(ad, badput_name(schedule), 0);
    cost->jobs |= (wait_s > 0 && schedule != DRAIN_PEACEFUL) ||
                  ad_int_or(ad, QUICK_END, 0) > ad_int_or(ad, FAST_END, INT64_MAX) ||
                  ad_int_or(ad, QUICK_BADPUT, 0) > 0 || ad_int_or(ad, GRACEFUL_BADPUT, 0) > 0 ||
                  ad_int_or(ad, FAST_BADPUT, 0) > 0;
}

static void put_started(const struct ad *first, size_t count, const struct cost *cost,
                        const struct ad_context *context, struct strbuf *out)
{
    static const char *const HOW[] = {"gracefully", "quickly", "fast", "peacefully"};
    static const char *const THEN[] = {"",
                                       ", then the drain is over",
                                       ", then its startd ends",
                                       ", then its startd starts again",
                                       ", then it sleeps",
                                       ", then it is switched off"};
    enum drain_then then = DRAIN_THEN_STAY;
    (void)drain_then_parse(ad_string_or(first, "OnCompletion", ""), &then);
    strbuf_printf(out, "draining %s, ", HOW[schedule_of(first)]);
    if (!cost->jobs) {
        strbuf_puts(out, "no jobs are running");
    } else if (schedule_of(first) == DRAIN_PEACEFUL) {
        strbuf_puts(out, "the jobs run to their end");
        if (cost->end_s > 0) {
            strbuf_puts(out, ", at most until ");
            table_plan_date(cost->end_s, context, out);
        }
    } else {
        if (cost->wait_s > 0) {
            strbuf_puts(out, "the last job ends by ");
            table_plan_date(cost->end_s, context, out);
        } else {
            strbuf_puts(out, "the jobs are ending now");
        }
        strbuf_puts(out, ", badput ");
        table_plan_duration(cost->badput_s, out);
        strbuf_puts(out, cost->wait_s > 0 ? " at most" : "");
    }
    strbuf_puts(out, THEN[then]);
    const char *id = ad_string_or(first, "DrainingRequestId", "");
    if (count == 1 && id[0] != '\0') {
        strbuf_printf(out, " (request %s)", id);
    }
}

static void cell_machine(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    table_plan_string(ad, "Machine", out);
}

static void put_until(const struct ad *ad, const char *name, struct strbuf *out)
{
    int64_t end_s = ad_int_or(ad, name, 0);
    table_plan_duration(end_s - ad_int_or(ad, FAST_END, end_s), out);
}

static void cell_graceful_end(const struct ad *ad, const struct ad_context *context,
                              struct strbuf *out)
{
    (void)context;
    put_until(ad, GRACEFUL_END, out);
}

static void cell_quick_end(const struct ad *ad, const struct ad_context *context,
                           struct strbuf *out)
{
    (void)context;
    put_until(ad, QUICK_END, out);
}

static void cell_graceful_badput(const struct ad *ad, const struct ad_context *context,
                                 struct strbuf *out)
{
    (void)context;
    table_plan_duration(ad_int_or(ad, GRACEFUL_BADPUT, 0), out);
}

static void cell_quick_badput(const struct ad *ad, const struct ad_context *context,
                              struct strbuf *out)
{
    (void)context;
    table_plan_duration(ad_int_or(ad, QUICK_BADPUT, 0), out);
}

static void cell_fast_badput(const struct ad *ad, const struct ad_context *context,
                             struct strbuf *out)
{
    (void)context;
    table_plan_duration(ad_int_or(ad, FAST_BADPUT, 0), out);
}

static void cell_unsaved(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    table_plan_duration(ad_int_or(ad, "ExpectedMachineFastDrainingUnsaved", 0), out);
}

static const struct column ESTIMATES[] = {
    {"Machine", TABLE_LEFT, 20, TABLE_LEFT, true, cell_machine},
    {"GracefulIn", TABLE_RIGHT, 11, TABLE_RIGHT, true, cell_graceful_end},
    {"Badput", TABLE_RIGHT, 11, TABLE_RIGHT, true, cell_graceful_badput},
    {"QuickIn", TABLE_RIGHT, 11, TABLE_RIGHT, true, cell_quick_end},
    {"Badput", TABLE_RIGHT, 11, TABLE_RIGHT, true, cell_quick_badput},
    {"FastBadput", TABLE_RIGHT, 11, TABLE_RIGHT, true, cell_fast_badput},
    {"Unsaved", TABLE_RIGHT, 11, TABLE_RIGHT, true, cell_unsaved},
};

static void destroy_names(void *arg)
{
    vec_fini(arg, NULL);
    mem_free(arg);
}

/* Adds a machine to those of which the same is to be said. */
static void add_name(struct strmap *groups, const char *what, const char *machine)
{
    struct vec *same = strmap_get(groups, what);
    if (same == NULL) {
        same = mem_zalloc(sizeof *same);
        (void)strmap_set(groups, what, same);
    }
    vec_push(same, (char *)(uintptr_t)machine);
}

/* Prints what is to be said, with its machines, in the order in which it first came. */
static void put_groups(const struct strmap *groups, struct strbuf *out)
{
    size_t at = 0;
    const char *what;
    void *value;
    while (strmap_next(groups, &at, &what, &value)) {
        const struct vec *names = value;
        drain_show_names((const char *const *)names->items, names->count, what, out);
    }
}

size_t drain_show_results(enum drain_verb verb, const struct ad *const *ads, size_t count,
                          const struct ad_context *context, struct strbuf *out,
                          struct strbuf *failures)
{
    const struct ad **good = mem_alloc((count + 1) * sizeof(const struct ad *));
    const char **names = mem_alloc((count + 1) * sizeof(const char *));
    struct strmap *reasons = strmap_create(STRMAP_CASE_SENSITIVE);
    struct cost cost = {0};
    struct strmap *asleep = strmap_create(STRMAP_CASE_SENSITIVE);
    size_t good_count = 0, asleep_count = 0;
    for (size_t i = 0; i < count; i++) {
        const char *machine = ad_string_or(ads[i], "Machine", "?");
        const char *done_asleep = ad_string_or(ads[i], "DoneAsleep", "");
        if (verb == DRAIN_VERB_START && done_asleep[0] != '\0') {
            add_name(asleep, done_asleep, machine);
            asleep_count++;
            continue;
        }
        if (ad_int_or(ads[i], "ErrorCode", 0) == 0) {
            names[good_count] = machine;
            good[good_count++] = ads[i];
            add_cost(ads[i], &cost);
            continue;
        }
        add_name(reasons, ad_string_or(ads[i], "ErrorString", "?"), machine);
    }
    if (good_count > 0 && verb == DRAIN_VERB_ESTIMATE) {
        table_plan_print(ESTIMATES, ARRAY_COUNT(ESTIMATES), true, good, good_count, context, out);
    } else if (good_count > 0) {
        struct strbuf what;
        strbuf_init(&what, 0);
        if (verb == DRAIN_VERB_START) {
            put_started(good[0], good_count, &cost, context, &what);
        } else {
            strbuf_puts(&what, "the drain requests have ended");
        }
        drain_show_names(names, good_count, strbuf_text(&what), out);
        if (verb == DRAIN_VERB_START && cost.jobs && cost.wait_s == 0 &&
            schedule_of(good[0]) == DRAIN_GRACEFUL) {
            strbuf_puts(out, "Warning: no running job has retirement time "
                             "(MAXJOBRETIREMENTTIME), so the jobs are asked to end now; "
                             "--peaceful waits until jobs have ended.\n");
        }
        strbuf_fini(&what);
    }
    put_groups(asleep, out);
    put_groups(reasons, failures);
    strmap_destroy(asleep, destroy_names);
    strmap_destroy(reasons, destroy_names);
    mem_free(names);
    mem_free(good);
    return count - good_count - asleep_count;
}

/* ---- status */

static void add_one(struct ad *ad, const char *name, bool counts)
{
    ad_set_int(ad, name, ad_int_or(ad, name, 0) + (counts ? 1 : 0));
}

static int by_machine(const void *a, const void *b)
{
    const struct ad *const *left = a, *const *right = b;
    return strcmp(ad_string_or(*left, "Machine", ""), ad_string_or(*right, "Machine", ""));
}

/* A machine that was asleep when it was drained is locked, and has no request. */
static void put_lock(const struct ad *slot, struct ad *machine)
{
    ad_set_string(machine, "DrainingState", "Locked");
    (void)ad_copy_attr(machine, "DrainReason", slot, "PowerLockedReason"); /* perhaps none */
    (void)ad_copy_attr(machine, "DrainingRequester", slot, "PowerLockedBy");
    (void)ad_copy_attr(machine, "LastDrainStartTime", slot, "PowerLockedSince");
}

void drain_show_machines(const struct ad *const *slots, size_t count, struct vec *machines)
{
    static const char *const COPIED[] = {"Machine",
                                         "DrainingRequestId",
                                         "DrainingRequester",
                                         "DrainingSchedule",
                                         "DrainReason",
                                         "LastDrainStartTime",
                                         "DrainingDeadline",
                                         GRACEFUL_END,
                                         GRACEFUL_BADPUT,
                                         QUICK_END,
                                         QUICK_BADPUT,
                                         FAST_END,
                                         FAST_BADPUT,
                                         "TotalDrainingBadputTime",
                                         "TotalDrainingUnclaimedTime"};
    struct strmap *known = strmap_create(STRMAP_CASE_IGNORED);
    struct strbuf key;
    strbuf_init(&key, 0);
    for (size_t i = 0; i < count; i++) {
        bool is_locked = ad_bool_or(slots[i], "PowerLockedByDrain", false);
        if (!ad_bool_or(slots[i], "Draining", false) && !is_locked) {
            continue;
        }
        strbuf_clear(&key);
        strbuf_printf(&key, "%s %s", ad_string_or(slots[i], "Machine", "?"),
                      ad_string_or(slots[i], "DrainingRequestId", ""));
        struct ad *machine = strmap_get(known, strbuf_text(&key));
        if (machine == NULL) {
            machine = ad_create();
            (void)strmap_set(known, strbuf_text(&key), machine);
            vec_push(machines, machine);
            for (size_t j = 0; j < ARRAY_COUNT(COPIED); j++) {
                (void)ad_copy_attr(machine, COPIED[j], slots[i], COPIED[j]);
            }
            ad_set_string(machine, "DrainingState", "Drained");
            if (!ad_bool_or(slots[i], "Draining", false)) {
                put_lock(slots[i], machine);
            }
        }
        if (is_locked && !ad_bool_or(slots[i], "Draining", false)) {
            continue;
        }
        const char *state = ad_string_or(slots[i], "State", "");
        bool is_asleep = ad_bool_or(slots[i], "Offline", false); /* and drained when it is awake */
        bool is_idle = is_asleep || strcmp(ad_string_or(slots[i], "Activity", ""), "Idle") == 0;
        bool is_drained = is_asleep || strcmp(state, "Drained") == 0;
        add_one(machine, "DrainingSlots", true);
        add_one(machine, "DrainedSlots", is_drained);
        add_one(machine, "DrainingJobs",
                (strcmp(state, "Claimed") == 0 && !is_idle) || strcmp(state, "Preempting") == 0);
        if (!is_drained || !is_idle) {
            ad_set_string(machine, "DrainingState", "Draining");
        }
    }
    strbuf_fini(&key);
    strmap_destroy(known, NULL);
    if (machines->count > 1) {
        qsort(machines->items, machines->count, sizeof *machines->items, by_machine);
    }
}

void drain_show_machines_free(struct vec *machines)
{
    for (size_t i = 0; i < machines->count; i++) {
        ad_destroy(machines->items[i]);
    }
    vec_fini(machines, NULL);
}

static void cell_request(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    table_plan_string(ad, "DrainingRequestId", out);
}

static void cell_schedule(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    table_plan_string(ad, "DrainingSchedule", out);
}

static void cell_state(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    table_plan_string(ad, "DrainingState", out);
}

static void cell_since(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    int64_t at_s;
    if (ad_get_int(ad, "LastDrainStartTime", &at_s) == 0) {
        table_plan_date(at_s, context, out);
    }
}

static void cell_slots(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    strbuf_printf(out, "%" PRId64 "/%" PRId64, ad_int_or(ad, "DrainedSlots", 0),
                  ad_int_or(ad, "DrainingSlots", 0));
}

static void cell_jobs(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    table_plan_int(ad, "DrainingJobs", out);
}

static void cell_until(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    int64_t end_s;
    if (ad_int_or(ad, "DrainingJobs", 0) > 0 &&
        ad_get_int(ad, end_name(schedule_of(ad)), &end_s) == 0) {
        table_plan_date(end_s, context, out);
    }
}

static void cell_requester(const struct ad *ad, const struct ad_context *context,
                           struct strbuf *out)
{
    (void)context;
    table_plan_string(ad, "DrainingRequester", out);
}

static void cell_reason(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    table_plan_string(ad, "DrainReason", out);
}

static const struct column STATUS[] = {
    {"Machine", TABLE_LEFT, 20, TABLE_LEFT, true, cell_machine},
    {"State", TABLE_LEFT, 8, TABLE_LEFT, true, cell_state},
    {"HowFast", TABLE_LEFT, 8, TABLE_LEFT, true, cell_schedule},
    {"Since", TABLE_LEFT, 11, TABLE_LEFT, true, cell_since},
    {"Drained", TABLE_RIGHT, 7, TABLE_RIGHT, true, cell_slots},
    {"Jobs", TABLE_RIGHT, 4, TABLE_RIGHT, true, cell_jobs},
    {"Until", TABLE_LEFT, 11, TABLE_LEFT, true, cell_until},
    {"Request", TABLE_LEFT, 16, TABLE_LEFT, true, cell_request},
    {"Requester", TABLE_LEFT, 9, TABLE_LEFT, true, cell_requester},
    {"Reason", TABLE_LEFT, 6, TABLE_LEFT, true, cell_reason},
};

void drain_show_status(const struct ad *const *machines, size_t count,
                       const struct ad_context *context, struct strbuf *out)
{
    if (count > 0) {
        table_plan_print(STATUS, ARRAY_COUNT(STATUS), true, machines, count, context, out);
    }
}
