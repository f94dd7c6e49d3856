/* startd/claim/job_ckpt.h - whether this machine takes checkpoints of jobs, and what the last
 * checkpoint of a run saved.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_CLAIM_JOB_CKPT_H
#define STARTD_CLAIM_JOB_CKPT_H

#include <stdbool.h>

struct ad;
struct claim;
struct startd;
struct wire_request;

/* What this machine can do for jobs, as `roost-ckpt probe` and `roost-rsys-mount --probe`
 * reported. */
struct job_ckpt_probed {
    /* attributes about checkpoints for the slots' ads; NULL: the machine cannot take checkpoints */
    struct ad *ckpt;
    /* true: the machine can mount the file system for jobs whose files stay at their submit
     * machine */
    bool has_remote;
    /* True: the machine can run jobs whose files stay at their submit machine without mounting a
     * file system, if the jobs' programs are linked with Roost's wrappers. */
    bool has_wrapped;
    /* true: jobs run in a container that a timer of the kernel kills at the end of the lease */
    bool has_lease_timer;
};

/* Runs the probes of roost-ckpt and roost-rsys-mount and fills startd->probed; blocks for some
 * milliseconds. */
void job_ckpt_probe(struct startd *startd);
/* Writes what the probes reported (startd->probed) into a slot's ad. */
void job_ckpt_put_machine(const struct startd *startd, struct ad *ad);
/* Writes into a slot's ad when the last checkpoint of the claim's run was taken; writes nothing if
 * none was taken. */
void job_ckpt_put_run(const struct claim *claim, struct ad *ad);
/* Notes what a starter reports about its latest checkpoint in the arguments of STARTER_CKPT. */
void job_ckpt_taken(struct claim *claim, const struct ad *args);
/* Handles CHECKPOINT_CLAIM, the schedd's request to take a checkpoint now: passes it to the starter
 * and answers it. */
void job_ckpt_asked(struct claim *claim, struct wire_request *request);

#endif
