/* eventlog/event_text.h - prints one event of a job as HTCondor writes it into a job event log.
 *
 * Design.  An event is an ad with the attribute names of HTCondor's own JSON and XML logs (MyType,
 * EventTypeNumber, Cluster, Proc, Subproc, and those of the event).  So these two forms are the ad
 * itself, and the text form is printed from it.  The text needs one more attribute,
 * EVENT_RESOURCES: the names of the resources whose use is listed ("Cpus Disk Memory"); JSON and
 * XML do not show it.  Pure: time and time zone are arguments.
 *
 * Source: what HTCondor 25 writes (tests/conformance/eventlog).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef EVENTLOG_EVENT_TEXT_H
#define EVENTLOG_EVENT_TEXT_H

#include <stdbool.h>
#include <stdint.h>

struct ad;
struct err;
struct strbuf;

#define EVENT_RESOURCES "PartitionableResources"
#define EVENT_END       "...\n" /* the line after each event of the text form */

enum event_type { /* HTCondor's numbers of events */
                  EVENT_SUBMIT = 0,
                  EVENT_EXECUTE = 1,
                  EVENT_EXECUTABLE_ERROR = 2,
                  EVENT_CHECKPOINTED = 3,
                  EVENT_EVICTED = 4,
                  EVENT_TERMINATED = 5,
                  EVENT_IMAGE_SIZE = 6,
                  EVENT_SHADOW_EXCEPTION = 7,
                  EVENT_GENERIC = 8,
                  EVENT_ABORTED = 9,
                  EVENT_SUSPENDED = 10,
                  EVENT_UNSUSPENDED = 11,
                  EVENT_HELD = 12,
                  EVENT_RELEASED = 13,
                  EVENT_REMOTE_ERROR = 21,
                  EVENT_DISCONNECTED = 22,
                  EVENT_RECONNECTED = 23,
                  EVENT_RECONNECT_FAILED = 24,
                  EVENT_AD_INFORMATION = 28,
                  EVENT_ATTRIBUTE_UPDATE = 33,
                  EVENT_CLUSTER_SUBMIT = 35,
                  EVENT_CLUSTER_REMOVE = 36,
                  EVENT_FACTORY_PAUSED = 37,
                  EVENT_FACTORY_RESUMED = 38,
                  EVENT_FILE_TRANSFER = 40,
                  EVENT_DATAFLOW_SKIPPED = 46
};

enum event_transfer { /* values of Type in a FileTransferEvent */
                      TRANSFER_IN_QUEUED = 1,
                      TRANSFER_IN_STARTED = 2,
                      TRANSFER_IN_FINISHED = 3,
                      TRANSFER_OUT_QUEUED = 4,
                      TRANSFER_OUT_STARTED = 5,
                      TRANSFER_OUT_FINISHED = 6
};

enum event_form { EVENT_AS_TEXT, EVENT_AS_XML, EVENT_AS_JSON };

struct event_format {
    enum event_form form;
    bool legacy;     /* true: dates as "11/20 09:08:50"; false: as "2026-11-20 09:08:50" */
    bool utc;        /* true: times in UTC; false: local times */
    bool sub_second; /* true: with milliseconds, which JSON and XML always have */
};

/* Reads a value of a knob such as EVENT_LOG_FORMAT_OPTIONS: the words ISO_DATE, LEGACY, UTC,
 * SUB_SECOND, XML, JSON, each optionally after '!' (not), separated by blanks, commas or '|'.
 * Returns 0 and sets *ret; or -EINVAL with err naming the unknown word. */
int event_format_parse(const char *words, struct event_format *ret, struct err *err);

/* Makes the ad of an event, with the attributes that all events have.  Owned by the caller. */
struct ad *event_create(enum event_type type, int64_t cluster, int64_t proc);

/* Appends the printed event, with its EVENT_END, to out.  utc_ms: the time of the event, in
 * milliseconds since 1970.  zone_s: seconds that local time is ahead of UTC at that time. */
void event_print(const struct ad *event, int64_t utc_ms, int32_t zone_s,
                 const struct event_format *format, struct strbuf *out);

/* Appends a CPU usage such as "Usr 0 00:00:10, Sys 0 00:00:00". */
void event_usage_text(double user_s, double system_s, struct strbuf *out);

#endif
