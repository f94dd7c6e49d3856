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

struct job_ckpt_probed { /* what jobs can have here, as roost-ckpt probe says */
    struct ad *ckpt;     /* NULL: this machine takes no checkpoints */
    bool has_remote;     /* jobs can have their files at their submit machine */
    bool has_wrapped;    /* jobs can whose programs ask by themselves */
};

void job_ckpt_probe(struct startd *startd); /* blocks for some milliseconds */
void job_ckpt_put_machine(const struct startd *startd, struct ad *ad);
void job_ckpt_put_run(const struct claim *claim, struct ad *ad);
void job_ckpt_taken(struct claim *claim, const struct ad *args);        /* STARTER_CKPT */
void job_ckpt_asked(struct claim *claim, struct wire_request *request); /* CHECKPOINT_CLAIM */

#endif
