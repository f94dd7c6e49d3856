/* cli/status/status_plan.c - see status_plan.h.
 *
 * The layouts are HTCondor's, with the power state of the machine beside State and Activity.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/status/status_plan.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "cli/factory_plan.h"
#include "cli/listing_plan.h"
#include "cli/status/status_cells_plan.h"
#include "cli/status/status_compact_plan.h"
#include "cli/status/status_sort_plan.h"
#include "cli/status/status_totals_plan.h"
#include "cli/power_show_plan.h"
#include "cli/table_plan.h"
#include "offline_ads/offline_ads.h"

/* ---- cells */

/* Defines a cell that shows the first attribute, or the second when the first is missing. */
#define EITHER_CELL(function, name, other)                                             \
    static void function(const struct ad *ad, const struct ad_context *context,        \
                         struct strbuf *out)                                           \
    {                                                                                  \
        (void)context;                                                                 \
        int64_t value;                                                                 \
        if (ad_get_int(ad, name, &value) == 0 || ad_get_int(ad, other, &value) == 0) { \
            table_plan_int_text(value, out);                                           \
        }                                                                              \
    }
#define SINCE_STATE_CELL(function, name)                                        \
    static void function(const struct ad *ad, const struct ad_context *context, \
                         struct strbuf *out)                                    \
    {                                                                           \
        put_state_since(ad, name, context, out);                                \
    }

STATUS_STRING_CELL(cell_type, "MyType")
STATUS_STRING_CELL(cell_name, "Name")
STATUS_STRING_CELL(cell_opsys, "OpSys")
STATUS_STRING_CELL(cell_arch, "Arch")
STATUS_STRING_CELL(cell_remote_user, "RemoteUser")
STATUS_STRING_CELL(cell_client, "ClientMachine")
STATUS_INT_CELL(cell_cpus, "Cpus")
STATUS_INT_CELL(cell_memory, "Memory")
STATUS_INT_CELL(cell_disk, "Disk")
STATUS_INT_CELL(cell_idle, "IdleJobs")
STATUS_INT_CELL(cell_running, "RunningJobs")
STATUS_INT_CELL(cell_held, "HeldJobs")
STATUS_INT_CELL(cell_wanted, "JobCount")
STATUS_INT_CELL(cell_total_idle, "TotalIdleJobs")
STATUS_INT_CELL(cell_total_running, "TotalRunningJobs")
STATUS_INT_CELL(cell_total_held, "TotalHeldJobs")
STATUS_INT_CELL(cell_total_jobs, "TotalJobAds")
EITHER_CELL(cell_shadows, "ShadowsRunning", "TotalRunningJobs")
STATUS_INT_CELL(cell_dags, "TotalSchedulerJobsRunning")
STATUS_INT_CELL(cell_dags_idle, "TotalSchedulerJobsIdle")
STATUS_INT_CELL(cell_recent_done, "RecentJobsCompleted")
STATUS_INT_CELL(cell_recent_start, "RecentJobsStarted")
STATUS_INT_CELL(cell_hosts, "HostsTotal")
STATUS_INT_CELL(cell_detected_cpus, "DetectedCpus")
STATUS_INT_CELL(cell_waking, "WakesUnderWay")
STATUS_INT_CELL(cell_wakes, "WakesTotal")
STATUS_INT_CELL(cell_wakes_failed, "WakesFailed")
STATUS_SINCE_CELL(cell_power_time, "EnteredPowerState")
STATUS_SINCE_CELL(cell_uptime, "DaemonStartTime")
STATUS_INT_CELL(cell_slots, "LastNegotiationCycleTotalSlots0")
STATUS_INT_CELL(cell_submitters, "LastNegotiationCycleActiveSubmitterCount0")
STATUS_INT_CELL(cell_schedds, "LastNegotiationCycleNumSchedulers0")
STATUS_INT_CELL(cell_jobs, "LastNegotiationCycleNumIdleJobs0")
EITHER_CELL(cell_matches, "LastNegotiationCycleMatches0", "TotalMatches")
STATUS_INT_CELL(cell_rejections, "LastNegotiationCycleRejections0")

/* What a machine that does not respond said last of its state is not shown as if it were true. */
static void put_state_since(const struct ad *ad, const char *name, const struct ad_context *context,
                            struct strbuf *out)
{
    status_put_since(ad, offline_ads_is_silent(ad) ? OFFLINE_ADS_SILENT : name, context, out);
}

SINCE_STATE_CELL(cell_activity_time, "EnteredCurrentActivity")
SINCE_STATE_CELL(cell_state_time, "EnteredCurrentState")

static void cell_state(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    strbuf_puts(out, offline_ads_is_silent(ad) ? "NotResponding" : ad_string_or(ad, "State", ""));
}

static void cell_activity(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    strbuf_puts(out, offline_ads_is_silent(ad) ? "-" : ad_string_or(ad, "Activity", ""));
}

/* Appends text, behind what stands there since `begin`. */
static void put_another(const char *text, size_t begin, struct strbuf *out)
{
    strbuf_puts(out, out->length > begin && text[0] != '\0' ? "; " : "");
    strbuf_puts(out, text);
}

/* Appends what is wrong with the ad, its machine, or the daemon whose ad this is; nothing if
 * nothing is known. */
static void cell_problems(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    int64_t since_s, late = ad_int_or(ad, "StartPromisesLate", 0);
    size_t begin = out->length;
    if (ad_get_int(ad, OFFLINE_ADS_SILENT, &since_s) == 0) {
        strbuf_puts(out, "not responding since ");
        table_plan_date(since_s, context, out);
    }
    put_another(ad_string_or(ad, "AdProblems", ""), begin, out);
    put_another(ad_string_or(ad, "StoreProblem", ""), begin, out);
    put_another(ad_string_or(ad, "DaemonProblems", ""), begin, out);
    if (ad_has(ad, "AvoidedMachines")) {
        strbuf_printf(out,
                      "%sgives no jobs to %s for a while, because starters failed there "
                      "(machine.avoided in its log)",
                      out->length > begin ? "; " : "", ad_string_or(ad, "AvoidedMachines", "?"));
    }
    if (late > 0) {
        strbuf_printf(out, "%s%lld %s beside free slots that match (promise.broken in its log)",
                      out->length > begin ? "; " : "", (long long)late,
                      late == 1 ? "job waits" : "jobs wait");
    }
}

/* Appends the host of a schedd or collector. */
static void cell_host(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    const char *address = ad_string_or(ad, "MyAddress", "");
    const char *machine = ad_string_or(ad, "Machine", ad_string_or(ad, "ScheddName", ""));
    if (machine[0] != '\0' || strncmp(address, "tcp:", 4) != 0) {
        strbuf_puts(out, machine);
        return;
    }
    const char *colon = strrchr(address, ':');
    strbuf_append(out, address + 4, colon > address + 4 ? (size_t)(colon - address - 4) : 0);
}

static void cell_user(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    strbuf_puts(out, ad_string_or(ad, "User", ad_string_or(ad, "Name", "")));
}

static void cell_target_type(const struct ad *ad, const struct ad_context *context,
                             struct strbuf *out)
{
    (void)context;
    strbuf_puts(out, ad_string_or(ad, "TargetType", "None"));
}

static void cell_version(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    strbuf_puts(out, ad_string_or(ad, "RoostVersion", ad_string_or(ad, "CondorVersion", "")));
}

static void cell_load(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    double load;
    if (ad_get_real(ad, "LoadAvg", &load) == 0) {
        table_plan_fixed(load, 3, out);
    }
}

static void cell_keyboard(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    int64_t idle;
    if (ad_get_int(ad, "KeyboardIdle", &idle) == 0) {
        table_plan_duration(idle, out);
    }
}

/* Appends a result of HTCondor's benchmarks, or `otherwise`: many machines never ran the
 * benchmarks. */
static void put_benchmark(const struct ad *ad, const char *name, const char *otherwise,
                          struct strbuf *out)
{
    int64_t value;
    if (ad_get_int(ad, name, &value) == 0) {
        table_plan_int_text(value, out);
    } else {
        strbuf_puts(out, otherwise);
    }
}

static void cell_mips(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    put_benchmark(ad, "Mips", "[?????]", out);
}

static void cell_kflops(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    put_benchmark(ad, "KFlops", "[???????]", out);
}

static void cell_gigabytes(const struct ad *ad, const struct ad_context *context,
                           struct strbuf *out)
{
    (void)context;
    double mib;
    if (ad_get_real(ad, "DetectedMemory", &mib) == 0) {
        table_plan_fixed(mib / 1024, 1, out);
        strbuf_puts(out, " GB");
    }
}

static void cell_power(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    strbuf_puts(out, status_power_state(ad));
    strbuf_puts(out, ad_bool_or(ad, "PowerLocked", false) ? "/Locked" : "");
}

/* Appends why the machine is in its power state; a lock says more than a state. */
static void cell_reason(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    if (!power_show_lock(ad, context, out)) {
        table_plan_string(ad, "PowerStateReason", out);
    }
}

static void cell_last_match(const struct ad *ad, const struct ad_context *context,
                            struct strbuf *out)
{
    int64_t before = ad_int_or(ad, "PreviousMatchTime", 0);
    int64_t at = ad_int_or(ad, "MachineLastMatchTime", before);
    if (at > 0) {
        table_plan_date(at, context, out);
    } else { /* a machine that was woken may have been matched before its last boot */
        strbuf_puts(out, ad_has(ad, "LastWakeTime") ? "unknown" : "never");
    }
}

static void cell_went_absent(const struct ad *ad, const struct ad_context *context,
                             struct strbuf *out)
{
    int64_t at = ad_int_or(ad, "AbsentSince", ad_int_or(ad, "LastHeardFrom", -1));
    if (at >= 0) {
        table_plan_date(at, context, out);
    }
}

static void cell_will_forget(const struct ad *ad, const struct ad_context *context,
                             struct strbuf *out)
{
    int64_t at = ad_int_or(ad, "AbsentSince", ad_int_or(ad, "LastHeardFrom", -1));
    int64_t lifetime = ad_int_or(ad, "ClassAdLifetime", 0);
    if (at >= 0 && lifetime > 0 && at < INT64_MAX - lifetime) {
        table_plan_date(at + lifetime, context, out);
    } else {
        strbuf_puts(out, "never");
    }
}

static void cell_cycle_end(const struct ad *ad, const struct ad_context *context,
                           struct strbuf *out)
{
    int64_t at =
        ad_int_or(ad, "LastNegotiationCycleEnd0", ad_int_or(ad, "LastNegotiationCycleEnd", -1));
    if (at > 0) {
        table_plan_date(at, context, out);
    }
}

static void cell_cycle_s(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    table_plan_int_text(ad_int_or(ad, "LastNegotiationCycleDuration0",
                                  ad_int_or(ad, "LastNegotiationCycleDurationMs", 0) / 1000),
                        out);
}

/* ---- columns: a new one is one row here */

#define LEFT_COLUMN(heading, width, cell)                  \
    {                                                      \
        heading, TABLE_LEFT, width, TABLE_LEFT, true, cell \
    }
#define RIGHT_COLUMN(heading, width, cell)                   \
    {                                                        \
        heading, TABLE_RIGHT, width, TABLE_RIGHT, true, cell \
    }
#define MACHINE_COLUMNS                                                       \
    LEFT_COLUMN("Name", 34, cell_name), LEFT_COLUMN("OpSys", 10, cell_opsys), \
        LEFT_COLUMN("Arch", 8, cell_arch)

static const struct column MACHINES[] = {
    MACHINE_COLUMNS,
    LEFT_COLUMN("State", 7, cell_state),
    LEFT_COLUMN("Activity", 8, cell_activity),
    LEFT_COLUMN("Power", 5, cell_power),
    {"LoadAv", TABLE_LEFT, 6, TABLE_RIGHT, true, cell_load},
    {"Mem", TABLE_LEFT, 6, TABLE_RIGHT, true, cell_memory},
    RIGHT_COLUMN("ActvtyTime", 11, cell_activity_time),
};
static const struct column MACHINES_WIDE[] = {
    MACHINE_COLUMNS,
    LEFT_COLUMN("State", 9, cell_state),
    LEFT_COLUMN("Activity", 8, cell_activity),
    LEFT_COLUMN("Power", 5, cell_power),
    {"LoadAv", TABLE_LEFT, 6, TABLE_RIGHT, true, cell_load},
    {"Mem", TABLE_LEFT, 6, TABLE_RIGHT, true, cell_memory},
    RIGHT_COLUMN("ActivityTime", 12, cell_activity_time),
};
static const struct column STATES[] = {
    LEFT_COLUMN("Name", 34, cell_name),
    LEFT_COLUMN("Cpu", 3, cell_cpus),
    {" Mem", TABLE_LEFT, 5, TABLE_RIGHT, true, cell_memory},
    {"LoadAv", TABLE_LEFT, 6, TABLE_RIGHT, true, cell_load},
    {"  KbdIdle", TABLE_LEFT, 12, TABLE_RIGHT, true, cell_keyboard},
    LEFT_COLUMN("State", 7, cell_state),
    {"  StateTime", TABLE_LEFT, 12, TABLE_RIGHT, true, cell_state_time},
    LEFT_COLUMN("Activ", 5, cell_activity),
    {"  ActvtyTime", TABLE_LEFT, 12, TABLE_RIGHT, true, cell_activity_time},
    LEFT_COLUMN("Power", 5, cell_power),
    RIGHT_COLUMN("PowerTime", 11, cell_power_time),
};
static const struct column SERVERS[] = {
    MACHINE_COLUMNS,
    {"LoadAv", TABLE_LEFT, 6, TABLE_RIGHT, true, cell_load},
    {"Memory", TABLE_LEFT, 8, TABLE_RIGHT, true, cell_memory},
    {"Disk", TABLE_LEFT, 9, TABLE_RIGHT, true, cell_disk},
    {"Mips", TABLE_LEFT, 7, TABLE_RIGHT, true, cell_mips},
    {"KFlops", TABLE_LEFT, 9, TABLE_RIGHT, true, cell_kflops},
};
static const struct column CLAIMED[] = {
    MACHINE_COLUMNS,
    {"LoadAv", TABLE_LEFT, 6, TABLE_RIGHT, true, cell_load},
    LEFT_COLUMN("RemoteUser", 20, cell_remote_user),
    LEFT_COLUMN("ClientMachine", 16, cell_client),
};
static const struct column OFFLINE[] = {
    LEFT_COLUMN("Name", 34, cell_name),
    LEFT_COLUMN("Power", 5, cell_power),
    RIGHT_COLUMN("PowerTime", 11, cell_power_time),
    RIGHT_COLUMN("LastMatch", 11, cell_last_match),
    LEFT_COLUMN("Reason", 6, cell_reason),
};
static const struct column ABSENT[] = {
    LEFT_COLUMN("Name", 34, cell_name),
    LEFT_COLUMN("OpSys", 10, cell_opsys),
    LEFT_COLUMN("Arch", 10, cell_arch),
    LEFT_COLUMN("Went Absent", 11, cell_went_absent),
    LEFT_COLUMN("Will Forget", 11, cell_will_forget),
};
static const struct column PROBLEMS[] = {
    LEFT_COLUMN("Name", 34, cell_name),
    LEFT_COLUMN("MyType", 12, cell_type),
    LEFT_COLUMN("Problems", 8, cell_problems),
};
static const struct column SCHEDDS[] = {
    LEFT_COLUMN("Name", 4, cell_name),
    LEFT_COLUMN("Machine", 15, cell_host),
    RIGHT_COLUMN("RunningJobs", 11, cell_total_running),
    RIGHT_COLUMN("IdleJobs", 10, cell_total_idle),
    RIGHT_COLUMN("HeldJobs", 10, cell_total_held),
};
static const struct column SCHEDDS_RUN[] = {
    LEFT_COLUMN("Name", 20, cell_name),
    RIGHT_COLUMN("TotalJobs", 9, cell_total_jobs),
    RIGHT_COLUMN("Shadows", 7, cell_shadows),
    RIGHT_COLUMN("ActiveDAGs", 10, cell_dags),
    RIGHT_COLUMN("IdleDAGs", 8, cell_dags_idle),
    RIGHT_COLUMN("RcntDone", 8, cell_recent_done),
    RIGHT_COLUMN("RcntStart", 9, cell_recent_start),
};
static const struct column SUBMITTERS[] = {
    LEFT_COLUMN("Name", 22, cell_user),
    LEFT_COLUMN("Machine", 15, cell_host),
    RIGHT_COLUMN("RunningJobs", 11, cell_running),
    RIGHT_COLUMN("IdleJobs", 10, cell_idle),
    RIGHT_COLUMN("HeldJobs", 10, cell_held),
};
static const struct column REQUESTS[] = {
    LEFT_COLUMN("Name", 34, cell_name),
    LEFT_COLUMN("User", 20, cell_user),
    RIGHT_COLUMN("Jobs", 8, cell_wanted),
};
static const struct column MASTERS[] = {
    LEFT_COLUMN("Name", 20, cell_name),
    LEFT_COLUMN("Version", 14, cell_version),
    RIGHT_COLUMN("Cpus", 4, cell_detected_cpus),
    {"  Memory", TABLE_LEFT, 10, TABLE_RIGHT, true, cell_gigabytes},
    {"   Uptime", TABLE_LEFT, 13, TABLE_RIGHT, true, cell_uptime},
};
static const struct column NEGOTIATORS[] = {
    LEFT_COLUMN("Name", 20, cell_name),
    {"LastCycleEnd", TABLE_LEFT, 12, TABLE_RIGHT, true, cell_cycle_end},
    RIGHT_COLUMN("(Sec)", 5, cell_cycle_s),
    RIGHT_COLUMN("Slots", 7, cell_slots),
    RIGHT_COLUMN("Submitrs", 8, cell_submitters),
    RIGHT_COLUMN("Schedds", 7, cell_schedds),
    RIGHT_COLUMN("Jobs", 7, cell_jobs),
    RIGHT_COLUMN("Matches", 7, cell_matches),
    RIGHT_COLUMN("Rejections", 10, cell_rejections),
};
static const struct column COLLECTORS[] = {
    LEFT_COLUMN("Name", 28, cell_name),
    LEFT_COLUMN("Machine", 18, cell_host),
    RIGHT_COLUMN("RunningJobs", 11, cell_running),
    RIGHT_COLUMN("IdleJobs", 10, cell_idle),
    RIGHT_COLUMN("HostsTotal", 10, cell_hosts),
};
static const struct column ROOSTERS[] = {
    LEFT_COLUMN("Name", 20, cell_name),
    RIGHT_COLUMN("Waking", 6, cell_waking),
    RIGHT_COLUMN("Wakes", 6, cell_wakes),
    RIGHT_COLUMN("Failed", 6, cell_wakes_failed),
};
static const struct column ANY[] = {
    LEFT_COLUMN("MyType", 18, cell_type),
    LEFT_COLUMN("TargetType", 18, cell_target_type),
    LEFT_COLUMN("Name", 4, cell_name),
};

/* ---- views: a new one is one row here */

struct status_view {
    const char *option; /* name without its dash */
    size_t letters;     /* shortest accepted abbreviation of the option, in letters */
    const char *type;
    const char *constraint; /* NULL: all ads of the type */
    const struct column *columns;
    size_t column_count;    /* 0: totals only */
    status_totals_f totals; /* NULL: no totals */
    const char *const *attributes;
    /* columns for wide output, the same number; NULL: the same columns */
    const struct column *wide;
    bool compact;
};

#define ATTRIBUTES(...)                                \
    (const char *const[])                              \
    {                                                  \
        "Name", "Machine", "SlotID", __VA_ARGS__, NULL \
    }
#define COUNTED "Arch", "OpSys", "State", "Activity", "Offline", OFFLINE_ADS_SILENT
#define MACHINE_ATTRIBUTES                                                                         \
    ATTRIBUTES(COUNTED, "PowerState", "LoadAvg", "Memory", "EnteredCurrentActivity", "AdProblems", \
               "PowerLocked")
#define SERVER_ATTRIBUTES                                                            \
    ATTRIBUTES(COUNTED, "LoadAvg", "Memory", "Disk", "Mips", "KFlops", "RemoteUser", \
               "ClientMachine")
#define SCHEDD_ATTRIBUTES                                                                       \
    ATTRIBUTES("MyAddress", "ScheddName", "TotalRunningJobs", "TotalIdleJobs", "TotalHeldJobs", \
               OFFLINE_ADS_SILENT)
#define COLUMNS(table) .columns = (table), .column_count = ARRAY_COUNT(table)

#define MACHINE(name, min, where, table, sums, ...)                                   \
    {                                                                                 \
        .option = (name), .letters = (min), .type = "Machine", .constraint = (where), \
        COLUMNS(table), .totals = (sums), .attributes = __VA_ARGS__                   \
    }
#define OTHER(name, min, what, table, sums, ...)                                              \
    {                                                                                         \
        .option = (name), .letters = (min), .type = (what), COLUMNS(table), .totals = (sums), \
        .attributes = __VA_ARGS__                                                             \
    }

static const struct status_view VIEWS[] = {
    {.option = "",
     .letters = 1,
     .type = "Machine",
     COLUMNS(MACHINES),
     .wide = MACHINES_WIDE,
     .totals = status_totals_platform,
     .attributes = MACHINE_ATTRIBUTES},
    {.option = "startd",
     .letters = 4,
     .type = "Machine",
     COLUMNS(MACHINES),
     .wide = MACHINES_WIDE,
     .totals = status_totals_platform,
     .attributes = MACHINE_ATTRIBUTES},
    {.option = "available",
     .letters = 2,
     .type = "Machine",
     .constraint = "State == \"Unclaimed\" && NotRespondingSince is undefined",
     COLUMNS(MACHINES),
     .wide = MACHINES_WIDE,
     .totals = status_totals_platform,
     .attributes = MACHINE_ATTRIBUTES},
    MACHINE("state", 4, NULL, STATES, status_totals_activity,
            ATTRIBUTES(COUNTED, "PowerState", "EnteredPowerState", "Cpus", "Memory", "LoadAvg",
                       "KeyboardIdle", "EnteredCurrentState", "EnteredCurrentActivity",
                       "PowerLocked")),
    MACHINE("server", 2, NULL, SERVERS, status_totals_server, SERVER_ATTRIBUTES),
    MACHINE("claimed", 2, "State == \"Claimed\" && NotRespondingSince is undefined", CLAIMED,
            status_totals_claimed, SERVER_ATTRIBUTES),
    MACHINE("offline", 3, "Offline =?= true", OFFLINE, status_totals_power,
            ATTRIBUTES(COUNTED, "PowerState", "EnteredPowerState", "PowerStateReason",
                       "MachineLastMatchTime", "PreviousMatchTime", "LastWakeTime", "PowerLocked",
                       "PowerLockedBy", "PowerLockedReason", "PowerLockedUntil",
                       "PowerLockedByDrain", "PowerKeptOff", "PowerKeptOffReason")),
    {.option = "problems",
     .letters = 2,
     .type = "Any",
     .constraint = "(AdProblems =!= undefined || StoreProblem =!= undefined || "
                   "DaemonProblems =!= undefined || NotRespondingSince =!= undefined || "
                   "StartPromisesLate > 0 || "
                   "(MyType == \"Scheduler\" && AvoidedMachines =!= undefined))",
     COLUMNS(PROBLEMS),
     .attributes = ATTRIBUTES("MyType", "AdProblems", "StoreProblem", "DaemonProblems",
                              "AvoidedMachines", "StartPromisesLate", OFFLINE_ADS_SILENT)},
    MACHINE("absent", 2, "Absent =?= true", ABSENT, NULL,
            ATTRIBUTES(COUNTED, "AbsentSince", "LastHeardFrom", "ClassAdLifetime")),
    {.option = "compact",
     .letters = 3,
     .type = "Machine",
     .totals = status_totals_short_platform,
     .compact = true,
     .attributes =
         ATTRIBUTES(COUNTED, "OpSysAndVer", "TotalSlotMemory", "TotalSlotCpus", "Cpus", "Memory",
                    "Gpus", "GPUs", "LoadAvg", "TotalLoadAvg", "SlotType", "PartitionableSlot",
                    "NumDynamicSlots", "ChildMemory", "RecentJobStarts",
                    "RecentStatsLifetimeStarter", "DynamicSlot", "PowerState")},
    OTHER("schedd", 2, "Scheduler", SCHEDDS, status_totals_schedds, SCHEDD_ATTRIBUTES),
    OTHER("run", 1, "Scheduler", SCHEDDS_RUN, NULL,
          ATTRIBUTES("TotalJobAds", "ShadowsRunning", "TotalRunningJobs",
                     "TotalSchedulerJobsRunning", "TotalSchedulerJobsIdle", "RecentJobsCompleted",
                     "RecentJobsStarted", OFFLINE_ADS_SILENT)),
    OTHER("submitters", 3, "Submitter", SUBMITTERS, status_totals_submitters,
          ATTRIBUTES("User", "ScheddName", "MyAddress", "RunningJobs", "IdleJobs", "HeldJobs")),
    OTHER("requests", 3, "Request", REQUESTS, NULL, ATTRIBUTES("User", "JobCount")),
    OTHER("negotiator", 2, "Negotiator", NEGOTIATORS, NULL,
          ATTRIBUTES("LastNegotiationCycleEnd0", "LastNegotiationCycleEnd",
                     "LastNegotiationCycleDuration0", "LastNegotiationCycleDurationMs",
                     "LastNegotiationCycleTotalSlots0", "LastNegotiationCycleActiveSubmitterCount0",
                     "LastNegotiationCycleNumSchedulers0", "LastNegotiationCycleNumIdleJobs0",
                     "LastNegotiationCycleMatches0", "TotalMatches",
                     "LastNegotiationCycleRejections0", OFFLINE_ADS_SILENT)),
    OTHER("collector", 3, "Collector", COLLECTORS, NULL,
          ATTRIBUTES("MyAddress", "RunningJobs", "IdleJobs", "HostsTotal")),
    OTHER("master", 1, "DaemonMaster", MASTERS, NULL,
          ATTRIBUTES("RoostVersion", "CondorVersion", "DetectedCpus", "DetectedMemory",
                     "DaemonStartTime")),
    OTHER("rooster", 3, "Rooster", ROOSTERS, NULL,
          ATTRIBUTES("WakesUnderWay", "WakesTotal", "WakesFailed", OFFLINE_ADS_SILENT)),
    OTHER("factory", 2, "Factory", factory_plan_factory_columns, NULL,
          ATTRIBUTES("Sites", "Glideins", "DaemonStartTime")),
    OTHER("site", 2, "Site", factory_plan_site_columns, NULL,
          ATTRIBUTES("State", "Wanted", "Coming", "Queued", "Held", "Running", "Idle", "Total",
                     "Samples")),
    OTHER("glidein", 2, "Glidein", factory_plan_glidein_columns, NULL,
          ATTRIBUTES("Site", "State", "SiteId", "SubmitTime", "Claims", "Reason")),
    OTHER("any", 3, "Any", ANY, NULL, ATTRIBUTES("MyType", "TargetType")),
    OTHER("accounting", 3, "Accounting", ANY, NULL, ATTRIBUTES("MyType", "TargetType")),
};

const struct status_view *status_view_find(const char *option)
{
    for (size_t i = 1; i < ARRAY_COUNT(VIEWS); i++) {
        if (listing_is(option, VIEWS[i].option, VIEWS[i].letters)) {
            return &VIEWS[i];
        }
    }
    return option[0] == '\0' ? &VIEWS[0] : NULL;
}

const char *status_view_type(const struct status_view *view)
{
    return view->type;
}

const char *status_view_constraint(const struct status_view *view)
{
    return view->constraint;
}

const char *const *status_view_attributes(const struct status_view *view)
{
    return view->attributes;
}

/* Appends the totals, narrowed to the terminal, and releases them. */
static void put_totals(struct strbuf *totals, const struct terminal *terminal, struct strbuf *out)
{
    status_totals_narrow(totals, terminal->columns);
    strbuf_append(out, totals->data, totals->length);
    strbuf_fini(totals);
}

void status_plan_print(const struct status_view *view, const struct status_how *how,
                       const struct ad *const *ads, size_t count, const struct ad_context *context,
                       struct strbuf *out)
{
    if (count == 0) {
        return;
    }
    const struct column *columns = how->wide && view->wide ? view->wide : view->columns;
    if (view->compact && !how->totals_only) {
        status_compact_print(ads, count, context, out);
    } else if (!how->totals_only) {
        struct table *table = table_plan_begin(columns, view->column_count, context);
        table_plan_look(table, &how->terminal);
        for (size_t i = 0; i < count; i++) {
            table_plan_add(table, ads[i]);
        }
        table_plan_end(table, true, NULL, NULL, NULL, out);
    }
    if (view->totals) {
        struct strbuf totals;
        strbuf_init(&totals, 0);
        view->totals(ads, count, how->wide, &totals);
        put_totals(&totals, &how->terminal, out);
    }
}

/* ---- warnings */

/* the warning names so many ads; -problems shows all */
#define PROBLEMS_NAMED 5

static bool has_problems(const struct status_view *view, const struct ad *ad)
{
    return view->columns != PROBLEMS && /* else it shows them in a column */
           (ad_string_or(ad, "AdProblems", "")[0] != '\0' || offline_ads_is_silent(ad));
}

static void put_problem(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    size_t begin = out->length;
    strbuf_printf(out, "%s: ", ad_string_or(ad, "Name", "?"));
    cell_problems(ad, context, out);
    strbuf_putc(out, '\n');
    table_plan_clean(out, begin);
}

static void put_problem_count(size_t found, struct strbuf *out)
{
    if (found > PROBLEMS_NAMED) {
        strbuf_printf(out, "and %zu more; `roost status -problems` shows all\n",
                      found - PROBLEMS_NAMED);
    }
}

size_t status_plan_warn(const struct status_view *view, const struct ad *const *ads, size_t count,
                        const struct ad_context *context, struct strbuf *out)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        if (has_problems(view, ads[i]) && found++ < PROBLEMS_NAMED) {
            put_problem(ads[i], context, out);
        }
    }
    put_problem_count(found, out);
    return found;
}

/* ---- ads that are not kept */

struct problem {
    size_t row;
    size_t place; /* place of the row in the sorted table */
    char *text;
};

struct status_rows {
    const struct status_view *view;
    bool wide;
    struct terminal terminal;
    struct ad_context context;
    struct table *table;         /* NULL: totals only */
    struct status_order *order;  /* order of the rows; NULL: totals only */
    struct status_count *totals; /* NULL: no totals */
    size_t count;
    struct vec problems; /* struct problem */
};

struct status_rows *status_rows_begin(const struct status_view *view, const struct status_how *how,
                                      const struct ad_context *context)
{
    struct status_count *totals = view->totals != NULL ? status_count_begin(view->totals) : NULL;
    if (view->compact || (view->totals != NULL && totals == NULL)) {
        return NULL;
    }
    struct status_rows *rows = mem_zalloc(sizeof *rows);
    rows->view = view;
    rows->wide = how->wide;
    rows->terminal = how->terminal;
    rows->context = *context;
    rows->totals = totals;
    rows->order = status_order_create();
    if (!how->totals_only) {
        const struct column *columns = how->wide && view->wide ? view->wide : view->columns;
        rows->table = table_plan_begin(columns, view->column_count, &rows->context);
        table_plan_look(rows->table, &how->terminal);
    }
    return rows;
}

static void problem_destroy(void *arg)
{
    struct problem *problem = arg;
    mem_free(problem->text);
    mem_free(problem);
}

void status_rows_add(struct status_rows *rows, const struct ad *ad)
{
    if (has_problems(rows->view, ad)) {
        struct problem *problem = mem_alloc(sizeof *problem);
        struct strbuf text;
        strbuf_init(&text, 0);
        put_problem(ad, &rows->context, &text);
        problem->row = rows->count;
        problem->place = rows->count;
        problem->text = mem_strdup(strbuf_text(&text));
        vec_push(&rows->problems, problem);
        strbuf_fini(&text);
    }
    status_order_add(rows->order, ad);
    if (rows->table != NULL) {
        table_plan_add(rows->table, ad);
    }
    if (rows->totals != NULL) {
        status_count_add(rows->totals, ad);
    }
    rows->count++;
}

size_t status_rows_count(const struct status_rows *rows)
{
    return rows->count;
}

static int problem_order(const void *a, const void *b)
{
    const struct problem *const *left = a, *const *right = b;
    return (*left)->place < (*right)->place ? -1 : 1;
}

static void put_problems(struct status_rows *rows, const uint32_t *order, struct strbuf *out)
{
    size_t count = rows->problems.count;
    if (order != NULL && count > 1) {
        size_t *places = mem_alloc(rows->count * sizeof *places);
        for (size_t i = 0; i < rows->count; i++) {
            places[order[i]] = i;
        }
        for (size_t i = 0; i < count; i++) {
            struct problem *problem = rows->problems.items[i];
            problem->place = places[problem->row];
        }
        mem_free(places);
        qsort(rows->problems.items, count, sizeof *rows->problems.items, problem_order);
    }
    for (size_t i = 0; i < count && i < PROBLEMS_NAMED; i++) {
        strbuf_puts(out, ((struct problem *)rows->problems.items[i])->text);
    }
    put_problem_count(count, out);
}

void status_rows_end(struct status_rows *rows, bool natural,
                     void (*emit)(void *arg, struct strbuf *out), void *emit_arg,
                     struct strbuf *out, struct strbuf *warnings)
{
    const uint32_t *order = natural ? NULL : status_order_list(rows->order);
    if (rows->table != NULL && rows->count > 0) {
        table_plan_end(rows->table, true, order, emit, emit_arg, out);
        rows->table = NULL;
    }
    if (rows->totals != NULL && rows->count > 0) {
        struct strbuf totals;
        strbuf_init(&totals, 0);
        status_count_end(rows->totals, rows->wide, &totals);
        rows->totals = NULL;
        put_totals(&totals, &rows->terminal, out);
    }
    put_problems(rows, order, warnings);
}

void status_rows_destroy(struct status_rows *rows)
{
    if (rows == NULL) {
        return;
    }
    table_plan_destroy(rows->table);
    status_count_destroy(rows->totals);
    status_order_destroy(rows->order);
    vec_fini(&rows->problems, problem_destroy);
    mem_free(rows);
}
