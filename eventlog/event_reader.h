/* eventlog/event_reader.h - a job event log's text, as it grows, to its events.
 *
 * Takes the text form, whatever way its dates are written, and the XML and JSON forms.  An event
 * that is not complete is waited for; what is no event is skipped up to the next EVENT_END and
 * counted, as a writer may have been cut.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef EVENTLOG_EVENT_READER_H
#define EVENTLOG_EVENT_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_reader;

#define EVENT_BYTES_MAX ((size_t)1 << 20) /* of one event; a longer one is skipped */

struct event_entry {
    int64_t type, cluster, proc; /* proc -1: of the cluster */
    const char *text;            /* all of it, EVENT_END included; until the next call */
    size_t length;
};

struct event_reader *event_reader_create(void);
void event_reader_destroy(struct event_reader *reader); /* NULL is allowed */
/* What the log has next. */
void event_reader_feed(struct event_reader *reader, const char *bytes, size_t length);
/* The next event that is complete; false: more is needed. */
bool event_reader_next(struct event_reader *reader, struct event_entry *ret);
size_t event_reader_skipped(const struct event_reader *reader); /* what was no event */

#endif
