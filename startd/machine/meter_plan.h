/* startd/machine/meter_plan.h - how much power this machine draws, and which part each job causes.
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

/* Highest credible draw of one RAPL zone, watts; if the zone's counter says more, that counter was
 * reset. */
#define METER_ZONE_WATTS_MAX 2000.0
/* Highest credible load of a UPS, watts; more than any UPS delivers. */
#define METER_UPS_WATTS_MAX 1e7

enum meter_source { METER_NONE, METER_MODEL, METER_RAPL, METER_NUT };
/* returns "None", "Model", "RAPL" or "NUT" */
const char *meter_source_name(enum meter_source source);

/* Returns whether a directory of /sys/class/powercap is a zone (a part with its own energy counter)
 * that must be counted; name: the contents of its file `name`.  Zones of processor packages and of
 * memory count.  Not counted: zones of cores and graphics, which are parts of a package; psys,
 * which contains the packages; and intel-rapl-mmio, which shows the package a second time. */
bool meter_plan_is_counted(const char *directory, const char *name);
/* Returns the joules used between two values of a zone's counter (microjoules), read elapsed_s
 * seconds apart.  The counter starts again at 0 after range_uj (0: unknown).  Returns a negative
 * number if the counter was reset in between. */
double meter_plan_zone_j(uint64_t before_uj, uint64_t now_uj, uint64_t range_uj, double elapsed_s);
/* Reads a non-negative number, as sysfs writes it, into *ret.  Returns false if text is not a
 * number. */
bool meter_plan_number(const char *text, uint64_t *ret);

/* Computes watts from the output of `upsc`: ups.realpower, or else ups.load percent of
 * ups.realpower.nominal.  Returns 0; or -ENODATA with the reason in err if these values are missing
 * or exceed METER_UPS_WATTS_MAX. */
int meter_plan_ups_w(const char *text, double *ret, struct err *err);

/* CPU time of all CPUs since boot, in clock ticks. */
struct meter_cpu {
    uint64_t busy, total;
    int64_t count; /* number of CPUs */
};
/* Reads the text of /proc/stat.  Returns false if the text has another format. */
bool meter_plan_cpu(const char *proc_stat, struct meter_cpu *ret);
/* Returns the share of the CPUs that was used between the times at which before and now were read,
 * 0 to 1; a negative number if the share is unknown. */
double meter_plan_use(const struct meter_cpu *before, const struct meter_cpu *now);

/* The machine's draw as configured, watts; 0: not configured. */
struct meter_watts {
    double asleep_w, idle_w, busy_w;
};
/* Returns the draw, in watts, that the configured figures give when a share `use` (0 to 1) of the
 * CPUs is used; 0 if nothing is configured. */
double meter_plan_model_w(const struct meter_watts *watts, double use);

/* The rates by which a job's share of the machine's draw is computed, watts. */
struct meter_rates {
    double reserved_w; /* watts for each core of the job's slot, used or not */
    /* watts for each CPU that the job keeps busy, which is the same as joules for each CPU
     * second */
    double used_w;
};

struct meter_look {
    enum meter_source source;
    struct meter_watts watts;
    /* the machine's draw now, watts: measured, or computed from the configured figures */
    double draw_w;
    double lowest_w; /* lowest draw measured so far, watts; 0: none measured */
    double use;      /* share of the CPUs in use, 0 to 1; negative: unknown */
    double cpus;     /* number of CPUs of the machine */
    double cores;    /* number of cores that all slots offer together; may differ from `cpus` */
};
/* Computes the rates for jobs.  If the use of CPUs is unknown, used_w is 0 and reserved_w covers
 * the machine's whole draw (if that is computed from configured figures: the draw with all CPUs at
 * work).  If the CPUs are almost idle, used_w stays as in `before`, because dividing by almost 0
 * would give a random number. */
void meter_plan_rates(const struct meter_look *look, const struct meter_rates *before,
                      struct meter_rates *ret);

#endif
