/* cli/wait_log_plan.h - which jobs of a job event log are over.  Pure.
 *
 * A job is there from its submission (000), a cluster whose jobs are made later from 035, and over
 * with 005 or 009, the cluster with 036.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_WAIT_LOG_PLAN_H
#define CLI_WAIT_LOG_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_entry;
struct strbuf;
struct strmap;

struct wait_log {
    int64_t cluster, proc; /* which; -1: any */
    int64_t number;        /* so many ends are enough; 0: all jobs must be over */
    bool status, echo;     /* what is printed of each event */
    struct strmap *active; /* "12.3" of jobs that are there */
    size_t seen, over;     /* jobs */
};

void wait_log_init(struct wait_log *wait);
void wait_log_fini(struct wait_log *wait);
/* "12", "12.3" or "12.3.0"; false: no id */
bool wait_log_set_job(struct wait_log *wait, const char *id);
/* One event of the log; appends what is to be printed. */
void wait_log_event(struct wait_log *wait, const struct event_entry *event, struct strbuf *out);
bool wait_log_is_done(const struct wait_log *wait);

#endif
