/* startd/machine/meter_plan.h - what this machine draws, and which part of that is whose.
 *
 * Pure.  Three sources, each of which gives watts: RAPL, the processor's own counters as the kernel
 * shows them below /sys/class/powercap; NUT, what a UPS says of its load; and a model of figures
 * that are configured (asleep, on and idle, all cores at work), which every machine can have.
 *
 * Whose it is, by one rule for all sources: a job has its cores' share of what the machine draws
 * idle, whether it uses them or not, for nobody else can; what the machine draws beyond that is
 * split by the CPU time that is used.  So what jobs have adds up to no more than the machine's, and
 * the rest is the machine's own.  Rejected: a share by cores alone (who waits for a disk would pay
 * for who computes), and by CPU time alone (who reserves a machine and sleeps would pay nothing).
 *
 * Sources: https://docs.kernel.org/power/powercap/powercap.html; NUT's list of variables
 * (ups.realpower, ups.load, ups.realpower.nominal).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_MACHINE_METER_PLAN_H
#define STARTD_MACHINE_METER_PLAN_H

#include <stdbool.h>
#include <stdint.h>

struct err;

#define METER_ZONE_WATTS_MAX 2000.0 /* of one zone: more than that was no draw, but a reset */
#define METER_UPS_WATTS_MAX  1e7    /* no UPS delivers more */

enum meter_source { METER_NONE, METER_MODEL, METER_RAPL, METER_NUT };
const char *meter_source_name(enum meter_source source); /* "None", "Model", "RAPL", "NUT" */

/* Is that directory of /sys/class/powercap a zone to be counted, by what its file `name` says?
 * Packages and memory: cores and graphics are part of their package, psys contains the packages,
 * and what intel-rapl-mmio shows is the same package once more. */
bool meter_plan_is_counted(const char *directory, const char *name);
/* The joules between two looks at a zone's counter (microjoules), which begins at 0 again beyond
 * range_uj (0: not said).  Below 0: it was reset between, nothing can be said. */
double meter_plan_zone_j(uint64_t before_uj, uint64_t now_uj, uint64_t range_uj, double elapsed_s);
/* A number as sysfs writes it; false: it is none. */
bool meter_plan_number(const char *text, uint64_t *ret);

/* What `upsc` wrote, to watts: ups.realpower, else ups.load of ups.realpower.nominal.  -ENODATA:
 * neither is there, or not below METER_UPS_WATTS_MAX; err says so. */
int meter_plan_ups_w(const char *text, double *ret, struct err *err);

struct meter_cpu { /* ticks since boot */
    uint64_t busy, total;
    int64_t count; /* of CPUs */
};
bool meter_plan_cpu(const char *proc_stat, struct meter_cpu *ret);
/* The share of the CPUs that was used between the two, 0 to 1; below 0: not known. */
double meter_plan_use(const struct meter_cpu *before, const struct meter_cpu *now);

struct meter_watts { /* as configured, 0: not said */
    double asleep_w, idle_w, busy_w;
};
/* With that share of the CPUs used; 0 when nothing is configured. */
double meter_plan_model_w(const struct meter_watts *watts, double use);

struct meter_rates {   /* of a job */
    double reserved_w; /* for each core that it has */
    double used_w;     /* for each CPU at work, so also joules for a CPU second */
};

struct meter_look {
    enum meter_source source;
    struct meter_watts watts;
    double draw_w;   /* measured, or the model's */
    double lowest_w; /* that was measured; 0: nothing was */
    double use;      /* of the CPUs, 0 to 1; below 0: not known */
    double cpus;     /* of the machine */
    double cores;    /* that its slots have, which may be others */
};
/* Where the use of the CPUs is not known: all is in reserved_w, the model's cores being all at
 * work.  Where next to nothing is used, before->used_w is kept: noise is not to be divided by
 * nothing. */
void meter_plan_rates(const struct meter_look *look, const struct meter_rates *before,
                      struct meter_rates *ret);

#endif
