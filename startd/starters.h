/* startd/starters.h - starters: one process for each running job, which survives the startd.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_STARTERS_H
#define STARTD_STARTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct loop_timer;
struct claim;
struct err;
struct listener;
struct startd;

struct starters {
    /* accepts connections of starters and kbdd: unix:$(RUN)/startd.sock */
    struct listener *listener;
    /* struct wire: connections of kbdd, and of starters that have not said yet which claim they
     * run */
    struct vec wires;
    /* How often the configuration was read.  A starter reads it only when it is started, so by this
     * number an outdated starter is recognised. */
    uint64_t configurations;
    /* gives memory back to the kernel: set at each start of a job, expires when no more start */
    struct loop_timer *trim_timer;
};

int starters_open(struct startd *startd, struct err *err);
void starters_close(struct startd *startd);
/* Called once when the startd starts: kills the processes of sandboxes that belong to no claim, and
 * removes these sandboxes. */
void starters_sweep(struct startd *startd);

/* Sets claim->run.directory, the path for the directory of the claim's run.  The directory is made
 * later, when its name is on disk. */
void starters_name_directory(struct claim *claim);
/* Makes the directory of the claim's run and starts a starter for it.  Returns 0 or -errno. */
int starters_spawn(struct claim *claim, struct err *err);
/* Gives the claim's run to the starter that was kept from the claim's last job; that starter must
 * be connected.  Returns 0 or -errno. */
int starters_hand_over(struct claim *claim, struct err *err);
/* Called after a restart of the startd: watches the starter of a restored claim; if that starter
 * has died, cleans up after it and ends the claim. */
void starters_adopt(struct claim *claim);

/* Ends the claim's kept starter, if it has one; claim_kept_gone() is called when its process has
 * ended. */
void starters_unkeep(struct claim *claim);
/* Ends all kept starters, because the configuration has changed and they have read the old one. */
void starters_unkeep_all(struct startd *startd);

/* Orders the claim's starter to stop its job; fast: to kill it at once.  If the starter does not
 * end in time, it is ordered to kill the job, and later killed itself. */
void starters_stop(struct claim *claim, bool fast);
/* Timer callback: the claim's starter has not ended in time; orders it to kill its job, or, if that
 * was ordered before, kills the starter. */
void starters_stop_step(void *claim);
/* Orders the claim's starter to suspend its job or to let it continue, according to
 * claim->suspension. */
void starters_suspend(struct claim *claim);
/* Called when the schedd has renewed the claim's lease: tells the starter how long the lease
 * lasts. */
void starters_renewed(struct claim *claim);

#endif
