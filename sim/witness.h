/* sim/witness.h - a program that watches the pool as a user can, and checks the promise of time.
 *
 * The promise: a slot that is free, and that some idle job matches, does not stay free for longer
 * than WITNESS_PROMPT_US beside a matching job that is idle for longer than that.  The witness
 * keeps copies of all jobs (from the schedd) and all slots (from the collector) and compares them
 * each second.  A job counts as idle as long as its user sees it so (JobStatus 1), also while a
 * claim for it is being made: so a claim that the schedd waits for in vain is found, too.
 *
 * The daemons watch the promise, too (wire/start_promise.h): a line promise.broken in the log of
 * one is a broken promise here.
 *
 * And a promise of truth: a slot of a machine that is off does not look free for longer than
 * WITNESS_TRUE_US, whatever else is broken, while the witness hears the collector.
 *
 * The promise of time does not hold while something is broken.  So nothing is counted before
 * WITNESS_SETTLE_US after the last accident (sim_last_accident_us()); a machine that a schedd
 * avoids, because starters failed on it, is an accident until it is avoided no more.  Slots of
 * machines that are off do not count although their ads are still there, nor do jobs that wait for
 * the end of the lease of a claim on such a machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIM_WITNESS_H
#define SIM_WITNESS_H

#include <stdint.h>

#include "sim/sim.h"

struct judge;

#define WITNESS_PROMPT_US (5 * SIM_S)
#define WITNESS_SETTLE_US (60 * SIM_S)
#define WITNESS_TRUE_US   (60 * SIM_S)

struct witness {
    const char *collector_address; /* "tcp:..." */
    const char *schedd_socket;     /* "unix:..." */
    const char *token_path, *ca_path;
    struct judge *judge;    /* is told of a broken promise */
    uint64_t quiet_from_us; /* before this time nothing is counted: somebody preempts at random */
    uint64_t checks;        /* out: how many times a free slot was compared with an idle job */
    uint64_t off_checks;    /* out: how many times a slot of a machine that is off was examined */
};

/* Sets *program to the witness's program; witness is borrowed and must outlive the run. */
void witness_program(struct sim_program *program, struct witness *witness);

#endif
