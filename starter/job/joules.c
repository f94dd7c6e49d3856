/* starter/job/joules.c - counts the energy that the run uses.
 *
 * It is counted here and not by the startd, because only we know the job's CPU time up to its very
 * end, and the job's result must contain all of it.  The startd tells what a core and a CPU second
 * cost now (ReservedWatts, UsedWatts; startd/machine/meter_plan.h has the rule); we add up and tell
 * it the sum.  Counted from the first process of the run to its last; receiving files costs the job
 * nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "starter/job/joules.h"

#include "base/loop.h"
#include "classad/ad.h"
#include "starter/job_run.h"
#include "starter/starter.h"
#include "wire/wire.h"

#define JOULES_PER_KWH 3600000.0
#define TELL_MS        60000 /* also: how old the rates may be */
#define LATE_MS        30000 /* looks come each second: later than that, the machine was asleep */

void joules_rates(struct starter *starter, const struct ad *args)
{
    struct starter_joules *joules = &starter->run.joules;
    joules->reserved_w = ad_real_or(args, "ReservedWatts", joules->reserved_w);
    joules->used_w = ad_real_or(args, "UsedWatts", joules->used_w);
}

void joules_begin(struct starter *starter)
{
    struct starter_joules *joules = &starter->run.joules;
    const struct ad *slot = NULL;
    if (joules->looked_ms != 0) {
        return; /* something of the run was there before */
    }
    (void)ad_get_ad(starter->run.record, "Slot", &slot); /* without one: one core */
    joules->cores = slot != NULL ? ad_real_or(slot, "Cpus", 1) : 1;
    joules->looked_ms = joules->told_ms = loop_now_ms(starter->env.loop);
}

void joules_look(struct starter *starter, double cpu_s)
{
    struct starter_joules *joules = &starter->run.joules;
    uint64_t now_ms = loop_now_ms(starter->env.loop);
    if (joules->looked_ms == 0) {
        return; /* nothing has run */
    }
    uint64_t gone_ms = now_ms - joules->looked_ms;
    double core_s = gone_ms <= LATE_MS ? (double)gone_ms / 1000 * joules->cores : 0;
    joules->looked_ms = now_ms;
    joules->core_s += core_s;
    joules->total_j += joules->reserved_w * core_s;
    if (cpu_s > joules->cpu_s) {
        joules->total_j += joules->used_w * (cpu_s - joules->cpu_s);
        joules->cpu_s = cpu_s;
    }
}

void joules_report(const struct starter *starter, struct ad *args)
{
    const struct starter_joules *joules = &starter->run.joules;
    if (joules->total_j > 0) {
        ad_set_real(args, "RemoteEnergyUsed", joules->total_j / JOULES_PER_KWH);
    }
}

void joules_put(const struct starter *starter, struct ad *args)
{
    ad_set_real(args, "EnergyJoules", starter->run.joules.total_j);
    ad_set_real(args, "CoreSeconds", starter->run.joules.core_s);
}

static void energy_answered(void *arg, struct wire_reply *reply)
{
    if (reply->status == 0 && reply->args != NULL) {
        joules_rates(arg, reply->args);
    } /* else: the next time */
}

void joules_tell(struct starter *starter, bool at_once)
{
    struct starter_joules *joules = &starter->run.joules;
    uint64_t now_ms = loop_now_ms(starter->env.loop);
    struct wire *wire = uplink_wire(starter->startd);
    if (wire == NULL || (!at_once && now_ms - joules->told_ms < TELL_MS)) {
        return;
    }
    joules->told_ms = now_ms;
    struct ad *args = job_run_startd_who(starter);
    joules_put(starter, args);
    const struct wire_body body = job_run_startd_body(starter, args);
    (void)wire_call(wire, VERB_STARTER_ENERGY, &body, 0, energy_answered,
                    starter); /* else: the next time */
    ad_destroy(args);
}
