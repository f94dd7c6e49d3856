/* startd/machine/figures.h - measures what the policy expressions look at: load and idle times.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_MACHINE_FIGURES_H
#define STARTD_MACHINE_FIGURES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/os/os.h"

struct ad;
struct ad_expr;
struct slot;
struct startd;

/* Figures of the whole machine, as last measured. */
struct figures {
    /* when the load of the jobs was last measured, ms of the loop's clock; 0: never */
    uint64_t measured_ms;
    /* load: the machine's load average; condor_load: the part of it that jobs cause. */
    double load, condor_load;
    struct os_idleness idle; /* now */
    struct os_idleness seen; /* at seen_ms, ms of the loop's clock, by the terminals alone */
    uint64_t seen_ms;
    /* true: kbdd or logind has reported when the console was last used; then console_used_ms is
     * that time, ms of the loop's clock. */
    bool console_told;
    uint64_t console_used_ms;
};

/* measures load and idle times, and writes them into the ads of all slots */
void figures_measure(struct startd *startd);
/* Brings the idle times to the present, as they are if nobody has typed since the last
 * figures_measure(); costs no look at the machine.  What is done for good asks figures_measure().
 */
void figures_expect(struct startd *startd);
/* Does what figures_measure() does if that is longer ago than POLLING_INTERVAL: before the figures
 * are shown or judged by. */
void figures_freshen(struct startd *startd);
/* Returns whether the expression, evaluated in this ad, may look at a figure of the machine or of
 * the time of day, also through other attributes.  load_only: only at figures that figures_expect()
 * does not bring to the present. */
bool figures_are_read(const struct ad_expr *expr, const struct ad *ad, bool load_only);
/* Writes the machine's and the slot's figures (load, idle times, time of day, energy) into the
 * slot's ad. */
void figures_write(struct slot *slot, struct ad *ad);
/* Called when kbdd or logind reports that the console was used idle_s seconds ago. */
void figures_console_used(struct startd *startd, int64_t idle_s);

#endif
