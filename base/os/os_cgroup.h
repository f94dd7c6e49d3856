/* base/os/os_cgroup.h - control groups (cgroups): limits, usage, freezing and killing of a group of
 * processes.
 *
 * Design note: there are three layouts. cgroup v2 with its controllers; v1 with one hierarchy for
 * each controller; and both side by side, where v2 has no controllers but can freeze, kill and
 * count CPU time.  A group is made in each hierarchy that is useful, below the group of the process
 * that makes it, so that this process's limits limit the jobs too.  Each question goes to the
 * hierarchy that answers it best.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_OS_OS_CGROUP_H
#define BASE_OS_OS_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct os;
struct os_cgroup;

struct os_cgroup_limits { /* limits of one cgroup; in each field 0 or NULL: no limit */
    int64_t memory_bytes;
    bool no_swap; /* true: memory_bytes limits memory and swap together; false: memory alone */
    int64_t processes;
    /* 100 is usual; two busy groups share CPU time in the ratio of their weights. */
    int64_t cpu_weight;
    double cpus; /* CPUs that may be used at a time, e.g. 1.5 */
    /* CPUs on which alone the processes run, whatever they ask for: "0,2-3"; NULL: any.  Has no
     * effect where no cpuset hierarchy can do this; os_cgroup_controls() then does not contain
     * "cpuset". */
    const char *cpu_list;
};

struct os_cgroup_usage {
    bool has_cpu, has_memory, has_oom; /* true: CPU times, memory, oom_kills below are known */
    double user_cpu_s, system_cpu_s;
    int64_t memory_bytes;      /* memory in use now, without cached files */
    int64_t memory_peak_bytes; /* most memory in use so far, with cached files; 0: unknown */
    /* processes that the kernel killed for lack of memory, because of the group's own limit or
     * because a group above it, or the machine, had none left */
    uint64_t oom_kills;
    /* how often the group's own memory limit was reached; 0: the limit was never reached, so the
     * oom_kills have another cause */
    uint64_t limit_hits;
    int64_t processes; /* now */
};

/* Makes the group `base`/`name` below the group of this process; base and name are one path
 * component each.  A limit that no controller can enforce is not an error; os_cgroup_controls()
 * tells which limits are enforced.  Returns 0; -ENOTSUP: this process cannot write to any
 * hierarchy; or another -errno. */
int os_cgroup_create(struct os *os, const char *base, const char *name,
                     const struct os_cgroup_limits *limits, struct os_cgroup **ret,
                     struct err *err);
/* Opens an existing group whose maker has died. places: the text that os_cgroup_places() returned
 * to the maker.  Never fails: hierarchies in which the group no longer exists are ignored. */
struct os_cgroup *os_cgroup_open(struct os *os, const char *places);
/* Returns the group's directories, one on each line.  The text belongs to the group. */
const char *os_cgroup_places(const struct os_cgroup *group);
/* Returns what the group can do, as words for a log: "memory cpu pids freezer kill".  The text
 * belongs to the group. */
const char *os_cgroup_controls(const struct os_cgroup *group);
void os_cgroup_figures(struct os_cgroup *group, struct os_cgroup_usage *ret);
/* Changes the memory limit; no_swap must be as it was at the group's creation.  Returns 0;
 * -ENOTSUP: the group cannot limit memory; -EBUSY (cgroup v1 only): more than `bytes` are in use
 * and cannot be freed; in cgroup v2 the kernel then kills processes of the group instead. */
int os_cgroup_limit_memory(struct os_cgroup *group, int64_t bytes, bool no_swap);
/* Stops all processes of the group (frozen true) or lets them run again.  Returns 0; -ENOTSUP:
 * no hierarchy can freeze. */
int os_cgroup_freeze(struct os_cgroup *group, bool frozen);
/* Kills all processes of the group, also frozen ones. */
void os_cgroup_kill(struct os_cgroup *group);
/* Kills the processes of the group, waits at most wait_ms until all are dead, and resets the
 * group: counters begin at 0, limits stay.  Returns 0; after any failure the group must be
 * removed; -ESTALE: something could not be reset (memory still charged to the group, a group
 * below it, a peak value). */
int os_cgroup_renew(struct os_cgroup *group, unsigned wait_ms, struct err *err);
/* Kills the processes of the group, waits at most wait_ms until all are dead, and removes the
 * group.  Returns 0; -EBUSY: a process did not die in time; then the group's directory remains. */
int os_cgroup_remove(struct os_cgroup *group, unsigned wait_ms, struct err *err);
/* Frees the struct; the cgroup itself stays.  NULL is allowed. */
void os_cgroup_close(struct os_cgroup *group);

#endif
