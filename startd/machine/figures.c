/* startd/machine/figures.c - measures what the policy expressions look at: idle times, load, clock.
 *
 * It is measured once for the machine (every POLLING_INTERVAL, less often while nothing depends on
 * it, and when somebody asks), then written into the slots' ads in place: an ad is not sent just
 * because its figures are newer.  Names and meanings are HTCondor's: LoadAvg of a slot is its share
 * of the owner's load plus the load of its own job (CondorLoadAvg).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/machine/figures.h"

#include "base/check.h"
#include "base/config/config.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "base/text.h"
#include "classad/ad.h"
#include "startd/claim/claim.h"
#include "startd/claim/claim_facts.h"
#include "startd/owner/load_plan.h"
#include "startd/machine/meter.h"
#include "startd/slot/slot.h"
#include "startd/slot/slot_facts.h"
#include "startd/startd_context.h"
#include "startd/startd_state.h"
#include "wire/pool_figures.h"

/* ---- measuring */

static int64_t idle_later(int64_t idle_s, int64_t later_s)
{
    return idle_s < OS_NEVER_IDLE_S ? idle_s + later_s : idle_s;
}

static void limit_to(int64_t *idle_s, int64_t most_s)
{
    *idle_s = *idle_s < most_s ? *idle_s : most_s;
}

/* Idle times of now, from what was seen and what was reported since. */
static void count_idleness(struct figures *figures, uint64_t now_ms)
{
    int64_t later_s = (int64_t)((now_ms - figures->seen_ms) / 1000);
    figures->idle.keyboard_s = idle_later(figures->seen.keyboard_s, later_s);
    figures->idle.console_s = idle_later(figures->seen.console_s, later_s);
    if (figures->console_told) {
        int64_t told_s = (int64_t)((now_ms - figures->console_used_ms) / 1000);
        figures->idle.console_s =
            told_s < figures->idle.console_s ? told_s : figures->idle.console_s;
    }
    if (figures->idle.console_s < figures->idle.keyboard_s) {
        figures->idle.keyboard_s = figures->idle.console_s;
    }
}

static void measure_idleness(struct startd *startd)
{
    const struct config *config = startd->env.config;
    struct figures *figures = &startd->figures;
    struct os_terminals which = {.sessions_only = !config_bool(config, "STARTD_HAS_BAD_UTMP")};
    which.console = config_list(config, "CONSOLE_DEVICES", &which.console_count);
    uint64_t now_ms = loop_now_ms(startd->env.loop);
    struct os_idleness most = {.keyboard_s = OS_NEVER_IDLE_S, .console_s = OS_NEVER_IDLE_S};
    if (figures->seen_ms != 0) { /* a second for rounding */
        int64_t later_s = (int64_t)((now_ms - figures->seen_ms) / 1000) + 1;
        most.keyboard_s = idle_later(figures->seen.keyboard_s, later_s);
        most.console_s = idle_later(figures->seen.console_s, later_s);
    }
    os_idleness(startd->env.os, &which, &figures->seen);
    /* The terminals have wall times.  When the wall clock was set, they seem to be idle for years;
     * but nothing becomes idle faster than time passes. */
    limit_to(&figures->seen.keyboard_s, most.keyboard_s);
    limit_to(&figures->seen.console_s, most.console_s);
    figures->seen_ms = now_ms;
    count_idleness(figures, figures->seen_ms);
}

/* Returns the pid of the starter whose descendants make the slot's load; 0: none. */
static pid_t root_of(const struct slot *slot)
{
    const struct claim *claim = slot->claim;
    return claim == NULL ? 0 : claim->starter.pid != 0 ? claim->starter.pid : claim->kept.pid;
}

/* Looks at a knob of the starter: processes that the kernel throttles do not count as load. */
static bool cpus_are_limited(const struct config *config)
{
    bool limited = false;
    const char *text = config_text(config, "CGROUP_LIMIT_CPUS");
    return text != NULL && text_parse_bool(text, &limited, NULL) == 0 && limited;
}

static void measure_jobs(struct startd *startd, double elapsed_s)
{
    size_t count = 0;
    pid_t *roots = mem_alloc(startd->slot_count * sizeof *roots);
    int64_t *running = mem_alloc(startd->slot_count * sizeof *running);
    bool limited = cpus_are_limited(startd->env.config);
    for (size_t i = 0; i < startd->slot_count; i++) {
        if (root_of(startd->slots[i]) > 0) {
            roots[count++] = root_of(startd->slots[i]);
        }
    }
    if (count > 0) {
        os_families_running(startd->env.os, roots, count, running);
    }
    count = 0;
    for (size_t i = 0; i < startd->slot_count; i++) {
        struct slot *slot = startd->slots[i];
        struct load_job job = {0};
        if (root_of(slot) > 0) {
            job.running = running[count++];
            job.suspended = claim_is_suspended(slot->claim);
            job.cpus = limited ? (double)slot->total.amount[RESOURCE_CPUS] : 0.0;
        }
        slot->condor_load = load_plan_decay(slot->condor_load, load_plan_job(&job), elapsed_s);
    }
    mem_free(roots);
    mem_free(running);
}

static void share_owner_load(struct startd *startd)
{
    struct figures *figures = &startd->figures;
    struct load_share *shares = mem_alloc(startd->slot_count * sizeof *shares);
    figures->condor_load = 0.0;
    for (size_t i = 0; i < startd->slot_count; i++) {
        const struct slot *slot = startd->slots[i];
        struct resources own = slot->total;
        if (slot->kind == SLOT_PARTITIONABLE) {
            slot_free_resources(slot, &own);
        }
        int64_t cpus = own.amount[RESOURCE_CPUS];
        shares[i] = (struct load_share){
            .cpus = cpus > 0 ? (double)cpus : 0.0,
            .of_owner = slot->state == SLOT_OWNER || slot->activity == SLOT_SUSPENDED,
            .is_free = slot->claim == NULL,
        };
        figures->condor_load += slot->condor_load;
    }
    load_plan_share(figures->load - figures->condor_load, shares, startd->slot_count);
    for (size_t i = 0; i < startd->slot_count; i++) {
        startd->slots[i]->owner_load = shares[i].owner;
    }
    mem_free(shares);
}

void figures_measure(struct startd *startd)
{
    struct figures *figures = &startd->figures;
    uint64_t now_ms = loop_now_ms(startd->env.loop);
    double elapsed_s =
        figures->measured_ms != 0 ? (double)(now_ms - figures->measured_ms) / 1000.0 : 0.0;
    measure_idleness(startd);
    figures->load = os_load_average(startd->env.os);
    if (figures->measured_ms == 0 || elapsed_s >= 1.0) { /* not all processes for each question */
        figures->measured_ms = now_ms;
        measure_jobs(startd, elapsed_s);
    }
    meter_look(startd);
    share_owner_load(startd);
    for (size_t i = 0; i < startd->slot_count; i++) {
        figures_write(startd->slots[i], startd->slots[i]->ad);
    }
}

void figures_expect(struct startd *startd)
{
    CHECK(startd->figures.measured_ms != 0);
    count_idleness(&startd->figures, loop_now_ms(startd->env.loop));
}

void figures_freshen(struct startd *startd)
{
    uint64_t age_ms = loop_now_ms(startd->env.loop) - startd->figures.seen_ms;
    uint64_t most_ms = (uint64_t)config_duration_s(startd->env.config, "POLLING_INTERVAL") * 1000;
    if (startd->figures.measured_ms != 0 && age_ms > most_ms) {
        figures_measure(startd);
    }
}

static bool is_any_of(const struct strmap *names, const char *const *of, size_t count)
{
    bool found = false;
    for (size_t i = 0; i < count; i++) {
        found = found || strmap_get(names, of[i]) != NULL;
    }
    return found;
}

bool figures_are_read(const struct ad_expr *expr, const struct ad *ad, bool load_only)
{
    /* What figures_write() writes; the times at which a state began change with the wall clock. */
    static const char *const LOAD[] = {
        "LoadAvg",     "CondorLoadAvg",  "TotalLoadAvg",     "TotalCondorLoadAvg", "CpuIsBusy",
        "CpuBusyTime", "PowerIdleWatts", "PowerAsleepWatts", "PowerBusyWatts",     "PowerDrawWatts",
        "PowerSource", "EnergySince",    "EnergyJoules",     "EnergySeconds",      "EnergyOfUsers"};
    static const char *const OTHERS[] = {"KeyboardIdle",
                                         "ConsoleIdle",
                                         "MyCurrentTime",
                                         "CurrentTime",
                                         "ClockMin",
                                         "ClockDay",
                                         "ClockDate",
                                         "DaemonStartTime",
                                         "EnteredCurrentState",
                                         "EnteredCurrentActivity"};
    if (expr == NULL || ad_expr_is_literal(expr)) {
        return false;
    }
    struct strmap *target = strmap_create(STRMAP_CASE_IGNORED);
    struct strmap *names = strmap_create(STRMAP_CASE_IGNORED);
    ad_refs(expr, ad, target, names);
    bool reads = is_any_of(names, LOAD, ARRAY_COUNT(LOAD)) ||
                 (!load_only && is_any_of(names, OTHERS, ARRAY_COUNT(OTHERS)));
    strmap_destroy(target, NULL);
    strmap_destroy(names, NULL);
    return reads;
}

void figures_console_used(struct startd *startd, int64_t idle_s)
{
    struct figures *figures = &startd->figures;
    uint64_t now_ms = loop_now_ms(startd->env.loop);
    uint64_t idle_ms = (uint64_t)(idle_s > 0 ? idle_s : 0) * 1000;
    uint64_t used_ms = idle_ms < now_ms ? now_ms - idle_ms : 0;
    if (!figures->console_told || used_ms > figures->console_used_ms) {
        figures->console_used_ms = used_ms;
        figures->console_told = true;
    }
}

/* ---- writing */

/* Slots above a configured number never see the owner: for them nobody has typed since we were
 * started, and some time before. */
static int64_t idle_of(const struct slot *slot, const char *knob, int64_t idle_s)
{
    const struct startd *startd = slot->startd;
    if (slot->id <= config_int(startd->env.config, knob)) {
        return idle_s;
    }
    return loop_since_s(startd->env.loop, startd->started_ms) +
           config_duration_s(startd->env.config, "DISCONNECTED_KEYBOARD_IDLE_BOOST");
}

static void write_clock(const struct startd *startd, int64_t now_s, struct ad *ad)
{
    ad_set_int(ad, "MyCurrentTime", now_s);
    ad_set_int(ad, "CurrentTime", now_s);
    pool_figures_put_clock(now_s + os_zone_offset_s(startd->env.os, now_s), ad);
}

/* Together with CurrentTime: when the wall clock was set, HIBERNATE and PREEMPT must not see the
 * old stamps beside the new time. */
static void write_stamps(const struct slot *slot, struct ad *ad)
{
    struct loop *loop = slot->startd->env.loop;
    ad_set_int(ad, "DaemonStartTime", loop_wall_of_s(loop, slot->startd->started_ms));
    ad_set_int(ad, "EnteredCurrentState", loop_wall_of_s(loop, slot->entered_state_ms));
    ad_set_int(ad, "EnteredCurrentActivity", loop_wall_of_s(loop, slot->entered_activity_ms));
}

/* CpuBusy is an expression of the ad; we must remember since when it is true. */
static void write_busy(struct slot *slot, struct ad *ad)
{
    struct ad_context context = startd_context(slot->startd);
    const struct ad_expr *expr = ad_lookup(ad, "CpuBusy");
    bool busy = expr != NULL && ad_eval_bool(expr, ad, NULL, &context) == AD_TRUE;
    const struct loop *loop = slot->startd->env.loop;
    if (!busy) {
        slot->cpu_busy_ms = 0;
    } else if (slot->cpu_busy_ms == 0) {
        slot->cpu_busy_ms = (int64_t)loop_now_ms(loop);
    }
    ad_set_bool(ad, "CpuIsBusy", busy);
    ad_set_int(ad, "CpuBusyTime", busy ? loop_since_s(loop, slot->cpu_busy_ms) : 0);
}

void figures_write(struct slot *slot, struct ad *ad)
{
    const struct startd *startd = slot->startd;
    const struct figures *figures = &startd->figures;
    int64_t now_s = loop_wall_s(startd->env.loop);
    ad_set_real(ad, "LoadAvg", slot->owner_load + slot->condor_load);
    ad_set_real(ad, "CondorLoadAvg", slot->condor_load);
    ad_set_real(ad, "TotalLoadAvg", figures->load);
    ad_set_real(ad, "TotalCondorLoadAvg", figures->condor_load);
    int64_t console_s = idle_of(slot, "SLOTS_CONNECTED_TO_CONSOLE", figures->idle.console_s);
    int64_t keyboard_s = idle_of(slot, "SLOTS_CONNECTED_TO_KEYBOARD", figures->idle.keyboard_s);
    ad_set_int(ad, "KeyboardIdle", keyboard_s < console_s ? keyboard_s : console_s);
    ad_set_int(ad, "ConsoleIdle", console_s);
    meter_write(slot, ad);
    write_clock(startd, now_s, ad);
    write_stamps(slot, ad);
    write_busy(slot, ad);
    if (slot->claim != NULL && claim_plan_has_run(slot->claim->stage) &&
        slot->claim->run.start_ms != 0) {
        ad_set_int(ad, "TotalJobRunTime", claim_in_all_s(slot->claim));
        ad_set_int(ad, "JobStart", loop_wall_of_s(startd->env.loop, slot->claim->run.start_ms));
        ad_set_int(ad, "TotalJobSuspendTime", claim_suspended_s(slot->claim));
    }
}
