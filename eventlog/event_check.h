/* eventlog/event_check.h - are the events of a log's jobs a life that a job can have?
 *
 * Design.  One table of states and events: a job is submitted first (000), executes (001) before it
 * terminates (005), leaves a run (004, 012, 021, 024 ...) before it executes again, has nothing
 * after its end.  What is no turn of a life (006, 008, 028, 040 ...) may stand anywhere between.  A
 * hold for output that could not be placed keeps the run's end: released, the job terminates
 * without executing again.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef EVENTLOG_EVENT_CHECK_H
#define EVENTLOG_EVENT_CHECK_H

#include <stddef.h>
#include <stdint.h>

struct event_check;
struct event_entry;

struct event_totals {
    size_t events, jobs, runs;
    size_t terminated, aborted; /* jobs that had their end */
    size_t illegal;             /* events that fit no life */
};

struct event_check *event_check_create(void);
void event_check_destroy(struct event_check *check); /* NULL is allowed */
/* The log's next event.  NULL: it fits; else what the job had come to ("is over"), a static text;
 * the event counts as illegal and leaves the job as it was. */
const char *event_check_next(struct event_check *check, const struct event_entry *event);
void event_check_totals(const struct event_check *check, struct event_totals *ret);

#endif
