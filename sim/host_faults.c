/* sim/host_faults.c - see host_faults.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/host_faults.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "sim/sim_private.h"

static uint64_t fault_until(struct sim_host *host, uint64_t for_us)
{
    uint64_t until_us = host->sim->now_us + for_us;
    sim_accident_until(host->sim, until_us);
    return until_us;
}

/* ---- starting programs ----------------------------------------------------------------------- */

void sim_spawns_fail(struct sim_host *host, int code, uint64_t for_us)
{
    host->faults.spawn_code = code;
    host->faults.spawns_until_us = fault_until(host, for_us);
    sim_trace(host->sim, NULL, "%s: starts no program for %.3f s: %s", host->name,
              (double)for_us / 1e6, err_code_text(code));
}

int sim_spawn_refusal(struct sim_host *host)
{
    if (host->faults.spawns_until_us <= host->sim->now_us) {
        return 0;
    }
    sim_count(host->sim, SIM_COUNT_SPAWN_FAILURES);
    return host->faults.spawn_code;
}

/* ---- the disk -------------------------------------------------------------------------------- */

void sim_disk_refuse(struct sim_host *host, int code, uint64_t room, uint64_t for_us)
{
    host->faults.disk_code = code;
    host->faults.disk_room = room;
    host->faults.disk_until_us = fault_until(host, for_us);
    sim_trace(host->sim, NULL, "%s: its disk fails for %.3f s: %s", host->name,
              (double)for_us / 1e6, err_code_text(code));
}

int sim_disk_fault(const struct sim_host *host)
{
    return host->faults.disk_until_us > host->sim->now_us ? host->faults.disk_code : 0;
}

uint64_t sim_disk_fault_end_us(const struct sim_host *host)
{
    return host->faults.disk_until_us;
}

void sim_disk_freed(struct sim_host *host, size_t bytes)
{
    host->faults.disk_room += bytes;
}

static bool is_refused(struct sim_host *host, enum sim_disk_use use, size_t grown)
{
    switch (host->faults.disk_code) {
    case -EIO:
        return use != SIM_DISK_NAME;
    case -EROFS:
        return use != SIM_DISK_SYNC;
    default:
        break;
    }
    if (use != SIM_DISK_WRITE) {
        return false;
    }
    if (grown > host->faults.disk_room) {
        sim_tree_commit(host); /* as ext4 does before it says that the disk is full */
    }
    if (grown > host->faults.disk_room) {
        return true;
    }
    host->faults.disk_room -= grown;
    return false;
}

int sim_disk_refusal(struct sim_host *host, enum sim_disk_use use, size_t grown)
{
    const struct sim_process *process = host->sim->current;
    if (sim_disk_fault(host) == 0 || process == NULL || process->program->timed ||
        !is_refused(host, use, grown)) {
        return 0;
    }
    sim_count(host->sim, SIM_COUNT_DISK_REFUSALS);
    return host->faults.disk_code;
}

/* ---- names ----------------------------------------------------------------------------------- */

void sim_names_fail(struct sim_host *host, const struct sim_host *other, uint64_t for_us)
{
    host->faults.name_of_all = other;
    host->faults.names_until_us = fault_until(host, for_us);
    sim_trace(host->sim, NULL, "%s: names resolve to %s for %.3f s", host->name,
              other != NULL ? other->name : "nothing", (double)for_us / 1e6);
}

struct sim_host *sim_name_resolve(struct sim_host *host, const char *name)
{
    if (host->faults.names_until_us <= host->sim->now_us) {
        return sim_host_find(host->sim, name);
    }
    sim_count(host->sim, SIM_COUNT_NAME_FAILURES);
    return host->faults.name_of_all != NULL
               ? sim_host_at(host->sim, host->faults.name_of_all->index)
               : NULL;
}

/* ---- processes ------------------------------------------------------------------------------- */

void sim_oom_kill(struct sim_process *process)
{
    process->host->faults.oom_kills++;
    sim_count(process->sim, SIM_COUNT_OOM_KILLS);
    sim_trace(process->sim, process, "killed for lack of memory");
    sim_process_end(process, -1, SIGKILL);
}

void sim_keeper_kill(struct sim_process *process)
{
    CHECK(process->caged);
    process->keeper_killed = true;
    sim_count(process->sim, SIM_COUNT_KEEPER_KILLS);
    sim_trace(process->sim, process, "its keeper is killed");
    sim_process_end(process, -1, SIGKILL);
}

void sim_stand_still(struct sim_process *process, uint64_t for_us)
{
    sim_count(process->sim, SIM_COUNT_STANDS);
    (void)fault_until(process->host, for_us);
    sim_trace(process->sim, process, "stands still for %.3f s", (double)for_us / 1e6);
    sim_process_stand(process, for_us);
}
