/* eventlog/event_check.h - checks that the events of each job in a log are in a possible order.
 *
 * Design.  One table of states and events.  A job is submitted first (000), executes (001) before
 * it terminates (005), ends a run (004, 012, 021, 024, ...) before it executes again, and has no
 * event after its end.  Events that change no state (006, 008, 028, 040, ...) may stand anywhere in
 * between.  After a hold because output could not be placed, the job is released and terminates
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
    /* numbers of jobs that have terminated (event 005) and that were aborted (event 009) */
    size_t terminated, aborted;
    size_t illegal; /* number of events in an impossible order */
};

struct event_check *event_check_create(void);
void event_check_destroy(struct event_check *check); /* NULL is allowed */
/* Checks the log's next event.  Returns NULL if the event is possible in the job's present state.
 * Else counts the event as illegal, leaves the job's state unchanged, and returns that state as a
 * static string, such as "is over". */
const char *event_check_next(struct event_check *check, const struct event_entry *event);
/* Writes the totals of the events that were checked so far to *ret. */
void event_check_totals(const struct event_check *check, struct event_totals *ret);

#endif
