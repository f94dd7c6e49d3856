/* startd/claim/job_ckpt.h - whether this machine takes checkpoints of jobs, and what the last one
 * saved.
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

struct job_ckpt_probed { /* what this machine can do for jobs, found out by `roost-ckpt probe` */
    struct ad *ckpt;     /* attributes for the ads; NULL: it cannot take checkpoints */
    bool has_remote;  /* it has a file system for jobs whose files stay at their submit machine */
    bool has_wrapped; /* the same for jobs whose programs are linked with our wrappers */
};

/* Finds that out; blocks for some milliseconds. */
void job_ckpt_probe(struct startd *startd);
/* Writes it into an ad. */
void job_ckpt_put_machine(const struct startd *startd, struct ad *ad);
/* Writes what the run's last checkpoint saved into an ad. */
void job_ckpt_put_run(const struct claim *claim, struct ad *ad);
/* Notes what a starter reports of a checkpoint (STARTER_CKPT). */
void job_ckpt_taken(struct claim *claim, const struct ad *args);
/* Takes CHECKPOINT_CLAIM, a request to take a checkpoint now, and passes it to the starter. */
void job_ckpt_asked(struct claim *claim, struct wire_request *request);

#endif
