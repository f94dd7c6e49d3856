/* base/os/os_cgroup.h - control groups: limits, figures, freezing and the end of a group of
 * processes.
 *
 * Design note: three layouts are met.  cgroup v2 with its controllers; v1, one hierarchy for each
 * controller; and both side by side, where v2 has no controllers but can freeze, kill and count CPU
 * time.  A group is made in each hierarchy that is of use, below the group that we are in ourselves
 * (what contains us contains the jobs), and each question goes to the best that answers.
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

struct os_cgroup_limits { /* 0: none */
    int64_t memory_bytes;
    bool no_swap; /* memory_bytes counts memory and swap together */
    int64_t processes;
    int64_t cpu_weight; /* 100 is usual; two groups share in the ratio of their weights */
    double cpus;        /* never more than these at a time */
    /* "0,2-3": it runs on no other CPU, whatever it asks the kernel for; NULL: on any.  A wish:
     * where no cpuset hierarchy takes it, the controls have no word "cpuset". */
    const char *cpu_list;
};

struct os_cgroup_usage {
    bool has_cpu, has_memory, has_oom;
    double user_cpu_s, system_cpu_s;
    int64_t memory_bytes;      /* without what is only cached of files */
    int64_t memory_peak_bytes; /* with it; 0 where it is not known */
    uint64_t oom_kills;        /* processes killed because memory_bytes was reached */
    int64_t processes;         /* now */
};

/* Makes the group `base`/`name` (one component each).  *controls says what took hold, for a log:
 * "memory cpu pids freezer kill".  A limit that nothing can keep is not an error: has_memory of the
 * figures tells.  -ENOTSUP: there is no hierarchy that we may write to. */
int os_cgroup_create(struct os *os, const char *base, const char *name,
                     const struct os_cgroup_limits *limits, struct os_cgroup **ret,
                     struct err *err);
/* Again the group that os_cgroup_places() described, of a process that died; never fails: what is
 * gone is gone. */
struct os_cgroup *os_cgroup_open(struct os *os, const char *places);
/* Its directories, one a line; borrowed. */
const char *os_cgroup_places(const struct os_cgroup *group);
const char *os_cgroup_controls(const struct os_cgroup *group);
void os_cgroup_figures(struct os_cgroup *group, struct os_cgroup_usage *ret);
/* Another limit of memory than the one that it was made with; no_swap as there.  0; -ENOTSUP: it
 * has none; -EBUSY: so much is in use that cannot be taken away (where that is known: else the
 * kernel kills for it). */
int os_cgroup_limit_memory(struct os_cgroup *group, int64_t bytes, bool no_swap);
/* 0, or -ENOTSUP where no freezer is at hand. */
int os_cgroup_freeze(struct os_cgroup *group, bool frozen);
/* Kills every process of it, frozen ones too. */
void os_cgroup_kill(struct os_cgroup *group);
/* Kills what is in it, waits for at most wait_ms until all are dead, and makes it as good as new:
 * its figures begin anew, its limits stay.  Not 0: it is to be removed; -ESTALE: something of its
 * use stays (memory that is still charged to it, a group below it, a peak that cannot be set back).
 */
int os_cgroup_renew(struct os_cgroup *group, unsigned wait_ms, struct err *err);
/* Kills what is in it, waits for at most wait_ms until all are dead, and removes the group.
 * -EBUSY: something did not die (it is then no more than a name that is left). */
int os_cgroup_remove(struct os_cgroup *group, unsigned wait_ms, struct err *err);
/* Frees the handle; the group stays where it is.  NULL is allowed. */
void os_cgroup_close(struct os_cgroup *group);

#endif
