/* cli/wait_log_plan.h - tracks in a job event log which jobs are done.  Pure.
 *
 * A job is active from its submit event (000) until event 005 or 009; a cluster whose jobs are
 * created later is active from event 035 until 036.
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
    int64_t cluster, proc; /* which jobs to wait for; -1: any cluster, any proc */
    int64_t number;        /* wait until this many jobs ended; 0: until all jobs ended */
    bool status, echo;     /* -status: print a line for each event; -echo: print the whole event */
    struct strmap *active; /* active jobs, keys such as "12.3" */
    size_t seen, over;     /* numbers of jobs submitted and ended so far */
};

void wait_log_init(struct wait_log *wait);
void wait_log_fini(struct wait_log *wait);
/* Sets which job to wait for: "12", "12.3" or "12.3.0"; false: not a job id. */
bool wait_log_set_job(struct wait_log *wait, const char *id);
/* Handles one event of the log; appends what is to be printed. */
void wait_log_event(struct wait_log *wait, const struct event_entry *event, struct strbuf *out);
bool wait_log_is_done(const struct wait_log *wait);

#endif
