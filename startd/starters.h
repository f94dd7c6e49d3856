/* startd/starters.h - starters: one process for each running job, which survives the startd.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_STARTERS_H
#define STARTD_STARTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct claim;
struct err;
struct listener;
struct startd;

struct starters {
    struct listener *listener; /* for starters: unix:$(RUN)/startd.sock */
    struct vec wires;          /* connections that have not said hello, or that belong to a claim */
    /* How many configurations were taken over.  A starter reads its own when it is started. */
    uint64_t configurations;
};

int starters_open(struct startd *startd, struct err *err);
void starters_close(struct startd *startd);
/* Called once at the start: removes the sandboxes that belong to no claim, and ends their
 * processes. */
void starters_sweep(struct startd *startd);

/* Names the directory of the claim's run.  The name is recorded before the directory is made. */
void starters_name_directory(struct claim *claim);
/* Starts a starter for the run of the claim.  0 or -errno. */
int starters_spawn(struct claim *claim, struct err *err);
/* Gives the run to the kept starter of the claim, which must be connected.  0 or -errno. */
int starters_hand_over(struct claim *claim, struct err *err);
/* Called after a restart of the startd: watches the starter of the claim, or finds that it is
 * gone. */
void starters_adopt(struct claim *claim);

/* Ends the kept starter of the claim, if there is one; claim_kept_gone() follows. */
void starters_unkeep(struct claim *claim);
/* Ends all kept starters: their configuration is an old one. */
void starters_unkeep_all(struct startd *startd);

/* Tells the claim's starter to stop its job; fast: at once.  Repeats that more strongly if it does
 * not end. */
void starters_stop(struct claim *claim, bool fast);
void starters_stop_step(void *claim); /* the callback of the claim's stop timer */
/* Tells the starter to suspend its job, or to let it go on, as the claim's suspension says. */
void starters_suspend(struct claim *claim);
/* Tells the starter how long the lease lasts, now that the schedd has renewed it. */
void starters_renewed(struct claim *claim);

#endif
