/* schedd/site_log.h - writes EVENT_LOG, the log with the events of all jobs of the schedd.
 *
 * Design.  As for the owners' logs, each event is a row in the store until it stands in the file
 * (event_rows.h).  The file belongs to the site and not to an owner, so the schedd writes it itself
 * and needs no shadow.  The file is rotated when it is larger than EVENT_LOG_MAX_SIZE, but only
 * between two batches, and not before the first batch after a start of the schedd: that batch may
 * contain events that the previous process has already written, and looks for them in the file.  If
 * the file cannot be written, one message for each reason goes to the daemon's log, and the jobs go
 * on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_SITE_LOG_H
#define SCHEDD_SITE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "eventlog/event_text.h"

struct config;
struct err;
struct schedd;
struct site_log;

/* The knobs of EVENT_LOG; the strings are borrowed from the configuration. */
struct site_log_settings {
    const char *path;  /* path of the file; NULL: the log is not written */
    int64_t bytes_max; /* size at which the file is rotated; 0: never */
    /* number of old files to keep; 1: "<path>.old"; more: "<path>.1" and so on */
    int64_t rotations;
    bool sync; /* true: flush the file to the disk before the row of an event is deleted */
    struct event_format format;
    const char *const *attributes; /* NULL-terminated: job attributes to show behind each event */
};
/* Sets only the members of *ret that point into config; its other members stay unchanged. */
void site_log_settings_borrow(const struct config *config, struct site_log_settings *ret);
/* Reads the knobs of EVENT_LOG into all members of *ret.  Returns 0, or -EINVAL with err and *ret
 * untouched. */
int site_log_settings_read(const struct config *config, struct site_log_settings *ret,
                           struct err *err);

/* creates the writer of the log; does not open the file yet */
struct site_log *site_log_create(struct schedd *schedd);
void site_log_destroy(struct site_log *log); /* waits for the write under way; NULL is allowed */

/* Appends the texts of events to the log, in order.  The texts are copied; at most
 * LOG_APPEND_ITEMS_MAX, and one call at a time.  done(arg, result) is called later on the loop:
 * with 0, also when the file cannot be written; with -EAGAIN when the file is locked, and the
 * caller may try again later. */
void site_log_append(struct site_log *log, const char *const *texts, size_t count,
                     void (*done)(void *arg, int result), void *arg);

#endif
