/* sim/host_faults.h - faults of a simulated machine that last for a while, and sudden ends of
 * processes for which the machine is to blame.
 *
 * The bodies of base/os/ and of SQLite's VFS ask here whether an operation must fail.  A fault ends
 * by itself, or with the machine's power.  Only daemons and their helpers meet the faults: a job
 * that cannot write is the job's own failure, and the simulator's own work never fails.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_HOST_FAULTS_H
#define SIM_HOST_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/sim.h"

/* ---- making faults --------------------------------------------------------------------------- */

/* Programs cannot be started; code: -EAGAIN or -ENOMEM.  Those that run are not affected. */
void sim_spawns_fail(struct sim_host *host, int code, uint64_t for_us);
/* The disk refuses what is written.  -EIO: contents and syncs; -EROFS: contents and names; -ENOSPC:
 * contents that need more than `room` bytes and what is freed meanwhile. */
void sim_disk_refuse(struct sim_host *host, int code, uint64_t room, uint64_t for_us);
/* Names of machines do not resolve on this machine (other NULL), or all to the machine `other`. */
void sim_names_fail(struct sim_host *host, const struct sim_host *other, uint64_t for_us);
/* The kernel kills the process for lack of memory, and counts that. */
void sim_oom_kill(struct sim_process *process);
/* Kills the keeper of the process's cage, and with it the process. */
void sim_keeper_kill(struct sim_process *process);
/* Lets the process stand still, as SIGSTOP does, for so long. */
void sim_stand_still(struct sim_process *process, uint64_t for_us);

/* A row of a store in which sim_row_flip() has flipped a bit. */
struct sim_row {
    char table[32], key[128]; /* key: as it was before */
    char key_now[128];
    /* SimNumber and SimBatch of the ad that the row is; -1: it has none */
    int64_t number, batch;
};
/* Flips one bit in the value, or in the key, of a row of the table that is chosen at random; the
 * row's checksum stays as it was.  No process may have the store open.  Returns false if the table
 * has no row, or an earlier flip in the chosen row is not found yet. */
bool sim_row_flip(struct sim_host *host, const char *path, const char *table, struct sim_row *ret);

/* ---- asking, for the bodies of base/ --------------------------------------------------------- */

/* Returns 0, or the error of the attempt to start a program. */
int sim_spawn_refusal(struct sim_host *host);
enum sim_disk_use { SIM_DISK_WRITE, SIM_DISK_SYNC, SIM_DISK_NAME };
/* Returns 0, or the error of an operation of the running process; grown: how many bytes it needs.
 */
int sim_disk_refusal(struct sim_host *host, enum sim_disk_use use, size_t grown);
void sim_disk_freed(struct sim_host *host, size_t bytes);
/* Returns what is wrong with the disk now: -EIO, -EROFS, -ENOSPC, or 0. */
int sim_disk_fault(const struct sim_host *host);
/* Returns when the last such fault ends or has ended; 0: there was none. */
uint64_t sim_disk_fault_end_us(const struct sim_host *host);
/* Returns the machine to which a name resolves on this machine; NULL: the name does not resolve. */
struct sim_host *sim_name_resolve(struct sim_host *host, const char *name);

#endif
