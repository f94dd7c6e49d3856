/* startd/machine/meter_plan.h - how much power this machine draws, and whose part is how large.
 *
 * Pure.  Three sources give watts: RAPL, the processor's own counters, which the kernel shows below
 * /sys/class/powercap; NUT, the load that a UPS reports; and a model from configured figures
 * (asleep, idle, all cores at work), which is always possible.
 *
 * One rule for all sources: of the idle draw a job pays its cores' share, whether it uses them or
 * not, because nobody else can use them; what the machine draws beyond that is split by used CPU
 * time.  So all jobs together pay no more than the machine draws, and the rest is the machine's
 * own.  Rejected: shares by cores alone (a job that waits for a disk would pay for one that
 * computes), and by CPU time alone (a job that reserves a machine and sleeps would pay nothing).
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

#define METER_ZONE_WATTS_MAX 2000.0 /* of one zone; more means that its counter was reset */
#define METER_UPS_WATTS_MAX  1e7    /* more than any UPS delivers */

enum meter_source { METER_NONE, METER_MODEL, METER_RAPL, METER_NUT };
const char *meter_source_name(enum meter_source source); /* "None", "Model", "RAPL", "NUT" */

/* Returns whether a directory of /sys/class/powercap is a zone to be counted; name: contents of its
 * file `name`.  Packages and memory count.  Cores and graphics are parts of their package, psys
 * contains the packages, and intel-rapl-mmio shows the same package once more. */
bool meter_plan_is_counted(const char *directory, const char *name);
/* Returns the joules between two values of a zone's counter (microjoules), which starts again at 0
 * after range_uj (0: unknown).  Below 0: the counter was reset in between. */
double meter_plan_zone_j(uint64_t before_uj, uint64_t now_uj, uint64_t range_uj, double elapsed_s);
/* Reads a number as sysfs writes it.  False: not a number. */
bool meter_plan_number(const char *text, uint64_t *ret);

/* Computes watts from the output of `upsc`: ups.realpower, else ups.load percent of
 * ups.realpower.nominal.  0; -ENODATA: neither is there, or the result exceeds METER_UPS_WATTS_MAX;
 * err says which. */
int meter_plan_ups_w(const char *text, double *ret, struct err *err);

struct meter_cpu { /* ticks of all CPUs since boot */
    uint64_t busy, total;
    int64_t count; /* number of CPUs */
};
/* Reads the text of /proc/stat.  False: not understood. */
bool meter_plan_cpu(const char *proc_stat, struct meter_cpu *ret);
/* Returns the share of the CPUs that was used between the two, 0 to 1; below 0: unknown. */
double meter_plan_use(const struct meter_cpu *before, const struct meter_cpu *now);

struct meter_watts { /* as configured; 0: not configured */
    double asleep_w, idle_w, busy_w;
};
/* Returns the model's watts at that share of used CPUs; 0 if nothing is configured. */
double meter_plan_model_w(const struct meter_watts *watts, double use);

struct meter_rates {   /* what a job pays */
    double reserved_w; /* for each core that the job has */
    double used_w;     /* for each CPU at work; equals joules for each CPU second */
};

struct meter_look {
    enum meter_source source;
    struct meter_watts watts;
    double draw_w;   /* watts now: measured, or the model's */
    double lowest_w; /* lowest draw measured so far; 0: none was */
    double use;      /* share of CPUs in use, 0 to 1; below 0: unknown */
    double cpus;     /* of the machine */
    double cores;    /* sum of the slots' cores; may differ from cpus */
};
/* Computes the rates that jobs pay.  If the use of CPUs is unknown, everything is in reserved_w, as
 * if all cores of the model were at work.  If almost no CPU time is used, used_w stays as in
 * `before`: otherwise noise would be divided by almost zero. */
void meter_plan_rates(const struct meter_look *look, const struct meter_rates *before,
                      struct meter_rates *ret);

#endif
