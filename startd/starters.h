/* startd/starters.h - one process for each running job, which outlives us.
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
    struct listener *listener; /* unix:$(RUN)/startd.sock */
    struct vec wires;          /* accepted, hello not yet said or already matched */
    uint64_t configurations;   /* so many were taken over: starters read theirs when they start */
};

int starters_open(struct startd *startd, struct err *err);
void starters_close(struct startd *startd);
/* The directory of the claim's run, which is to be known before anything of it is. */
void starters_name_directory(struct claim *claim);
int starters_spawn(struct claim *claim, struct err *err);
/* Gives the run to the starter that was kept, which must be connected. */
int starters_hand_over(struct claim *claim, struct err *err);
/* Lets the kept one go; claim_kept_gone() follows. */
void starters_unkeep(struct claim *claim);
void starters_unkeep_all(struct startd *startd); /* their configuration is an old one */
void starters_adopt(struct claim *claim); /* after our restart: watch it, or find that it is gone */
void starters_stop(struct claim *claim, bool fast);
void starters_stop_step(void *claim);       /* the stop's timer */
void starters_suspend(struct claim *claim); /* or lets go on: as the claim's suspension says */
void starters_renewed(struct claim *claim);
void starters_sweep(struct startd *startd); /* at start: sandboxes that no claim knows */

#endif
