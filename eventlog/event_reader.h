/* eventlog/event_reader.h - reads events from the text of a job event log, also while the log
 * grows.
 *
 * Reads the text form, with dates written in any way, and the XML and JSON forms.  An incomplete
 * event waits for more text.  Text that is not an event, such as a killed writer may leave, is
 * skipped up to the next EVENT_END and counted.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef EVENTLOG_EVENT_READER_H
#define EVENTLOG_EVENT_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_reader;

#define EVENT_BYTES_MAX ((size_t)1 << 20) /* most bytes of one event; a longer event is skipped */

/* One event as it stands in the log. */
struct event_entry {
    /* type: HTCondor's number of the event; proc: -1 when the event is about the whole cluster */
    int64_t type, cluster, proc;
    /* the whole event with EVENT_END; valid until the next event_reader_feed() or
     * event_reader_next() */
    const char *text;
    size_t length;
};

struct event_reader *event_reader_create(void);
void event_reader_destroy(struct event_reader *reader); /* NULL is allowed */
/* Gives the reader the next bytes of the log, which are copied; event_reader_next() then gets the
 * events in them. */
void event_reader_feed(struct event_reader *reader, const char *bytes, size_t length);
/* Gets the next complete event in *ret and returns true; or returns false when event_reader_feed()
 * must first add more bytes. */
bool event_reader_next(struct event_reader *reader, struct event_entry *ret);
/* Returns how many pieces of text were skipped because they were not an event. */
size_t event_reader_skipped(const struct event_reader *reader);

#endif
