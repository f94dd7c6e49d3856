/* sim/faults.h - makes go wrong, by seed, what chaos.h does not: programs that cannot be started,
 * exhausted memory, the death of keepers, daemons that stand still while jobs run, disks that fail
 * for a while, damaged rows, names that do not resolve, clients that die while they ask.
 *
 * chaos.h ends processes and machines at once and breaks links; here a fault lasts, or looks like
 * an end of the job.  Each kind can be had alone, so that a planted bug shows which kind finds it.
 * What must hold under these faults: fault_truth.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_FAULTS_H
#define SIM_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/sim.h"

struct fault_truth;
struct faults;

enum fault_kind {
    FAULT_FORK,   /* a machine starts no program for a while */
    FAULT_MEMORY, /* the kernel of a machine kills a job or a daemon for lack of memory */
    FAULT_KEEPER, /* the keeper of a job's cage is killed */
    FAULT_STILL,  /* daemons stand still for up to two minutes while jobs run */
    FAULT_DISK,   /* a disk is full, fails, or is mounted for reading only */
    FAULT_ROWS,   /* while the schedd is down, a bit flips in its store */
    FAULT_NAMES,  /* names do not resolve, or to another machine */
    FAULT_CLIENT, /* the client, or the schedd, is killed while it submits, removes or asks */
    FAULT_MAX
};
#define FAULTS_ALL ((1U << FAULT_MAX) - 1)
/* Returns the bit of the kind with this name ("fork", "memory", ...), FAULTS_ALL for "all", and 0
 * for any other name. */
unsigned faults_by_name(const char *name);

struct faults_options {
    uint64_t seed, begin_us, end_us;
    uint64_t pause_max_us; /* longest pause between two faults */
    unsigned kinds;        /* bits: 1 << enum fault_kind */
    unsigned nodes;
    struct sim_host *central;
    const char *store; /* path of the schedd's store on the central machine */
    /* is told of damaged rows, and of kinds that end the schedd lawfully */
    struct fault_truth *truth;
};
struct faults *faults_create(struct sim *sim, const struct faults_options *options);
/* To be called when a process sends bytes, as struct sim_observer's sent: may plan the death of a
 * client that does, or that a startd stands still which asks its schedd. */
void faults_sent(struct faults *faults, struct sim_process *from, bool by_client, const char *route,
                 size_t length);
void faults_destroy(struct faults *faults); /* NULL is allowed */

#endif
