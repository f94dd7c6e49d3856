/* sim/os_cage_sim.c - base/os/os_cage.h, os_cgroup.h, os_figures.h and os_traffic.h for a simulated
 * process: there are no cgroups, a cage has only its
 * bind mounts and its lease, and of what is counted there are only the kernel's kills.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/os/os_cage.h"
#include "base/os/os_cgroup.h"
#include "base/os/os_figures.h"
#include "base/os/os_traffic.h"
#include "sim/sim_private.h"

pid_t os_caged_pid(struct os *os, pid_t pid)
{
    (void)os;
    return pid;
}

int os_cgroup_create(struct os *os, const char *base, const char *name,
                     const struct os_cgroup_limits *limits, struct os_cgroup **ret, struct err *err)
{
    (void)os;
    (void)base;
    (void)limits;
    (void)ret;
    return err_set(err, -ENOTSUP, "%s: no cgroups in a simulation", name);
}

struct os_cgroup *os_cgroup_open(struct os *os, const char *places)
{
    (void)os;
    (void)places;
    return NULL;
}

const char *os_cgroup_places(const struct os_cgroup *group)
{
    (void)group;
    return "";
}

const char *os_cgroup_controls(const struct os_cgroup *group)
{
    (void)group;
    return "";
}

void os_cgroup_figures(struct os_cgroup *group, struct os_cgroup_usage *ret)
{
    (void)group;
    *ret = (struct os_cgroup_usage){0};
}

int os_cgroup_renew(struct os_cgroup *group, unsigned wait_ms, struct err *err)
{
    (void)group;
    (void)wait_ms;
    return err_set(err, -ENOTSUP, "no cgroups in a simulation");
}

int os_cgroup_limit_memory(struct os_cgroup *group, int64_t bytes, bool no_swap)
{
    (void)group;
    (void)bytes;
    (void)no_swap;
    return -ENOTSUP;
}

int os_cgroup_freeze(struct os_cgroup *group, bool frozen)
{
    (void)group;
    (void)frozen;
    return -ENOTSUP;
}

void os_cgroup_kill(struct os_cgroup *group)
{
    (void)group;
}

int os_cgroup_remove(struct os_cgroup *group, unsigned wait_ms, struct err *err)
{
    (void)group;
    (void)wait_ms;
    (void)err;
    return 0;
}

void os_cgroup_close(struct os_cgroup *group)
{
    (void)group;
}

struct os_traffic *os_traffic_create(struct os *os)
{
    (void)os;
    return NULL;
}

void os_traffic_destroy(struct os_traffic *traffic)
{
    (void)traffic;
}

void os_traffic_look(struct os_traffic *traffic, const struct os_cgroup *group,
                     const struct os_figures *family)
{
    (void)family;
    (void)traffic;
    (void)group;
}

void os_traffic_total(const struct os_traffic *traffic, uint64_t *received, uint64_t *sent)
{
    (void)traffic;
    *received = *sent = 0;
}

void os_descendants_figures(struct os *os, bool exact, struct os_figures *ret)
{
    (void)os;
    (void)exact;
    *ret = (struct os_figures){0};
}

void os_tree_figures(struct os *os, const char *path, int64_t max_files,
                     struct os_tree_figures *ret)
{
    (void)os;
    (void)path;
    (void)max_files;
    *ret = (struct os_tree_figures){.complete = true};
}

uint64_t os_oom_kills(struct os *os)
{
    return os->process->host->faults.oom_kills;
}

static bool has_lease_at(const struct sim_process *process, const void *path)
{
    return process->lease_path != NULL && strcmp(process->lease_path, path) == 0;
}

void os_cage_renew(struct os *os, const char *lease_path, uint64_t end_ms)
{
    struct sim_process *caged =
        sim_process_first(&os->process->host->processes, has_lease_at, lease_path);
    if (caged != NULL) {
        sim_process_lease(caged, end_ms);
    }
}

bool os_cage_can_lease(struct os *os)
{
    return os->process->sim->options.lease_timers;
}
