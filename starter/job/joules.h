/* starter/job/joules.h - what the run has of the machine's energy.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_JOB_JOULES_H
#define STARTER_JOB_JOULES_H

#include <stdbool.h>
#include <stdint.h>

struct ad;
struct starter;

struct starter_joules {
    double reserved_w, used_w; /* for a core that the job has, for a CPU at work */
    double cores;
    uint64_t looked_ms; /* 0: nothing has run yet */
    uint64_t told_ms;
    double cpu_s, core_s, total_j; /* counted so far */
};

void joules_rates(struct starter *starter, const struct ad *args);  /* at which it is counted now */
void joules_begin(struct starter *starter);                         /* something runs */
void joules_look(struct starter *starter, double cpu_s);            /* that it has used in all */
void joules_report(const struct starter *starter, struct ad *args); /* for the job ad */
void joules_put(const struct starter *starter, struct ad *args);    /* for the startd */
void joules_tell(struct starter *starter, bool at_once);            /* or only if it is time */

#endif
