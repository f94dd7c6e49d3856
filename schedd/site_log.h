/* schedd/site_log.h - the event log of the whole queue (EVENT_LOG), written by the schedd itself.
 *
 * Design.  Its events are rows like those of the owners' logs (event_rows.h), which go when they
 * are in the file; but the file is the site's, so that no shadow writes it.  It is rotated when it
 * has grown beyond EVENT_LOG_MAX_SIZE, between two batches and never before the first of this
 * process's life: what an earlier life wrote is looked for in the file, and must be found there.
 * A log that cannot be written is said once for each reason; nothing waits for it.
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

/* Of the knobs; the texts are borrowed from the configuration. */
struct site_log_settings {
    const char *path;  /* NULL: there is none */
    int64_t bytes_max; /* 0: it is never rotated */
    int64_t rotations; /* old files that are kept: 1 is "<path>.old", more "<path>.1" and so on */
    bool sync;         /* on the disk before the event is forgotten */
    struct event_format format;
    const char *const *attributes; /* of the job, told behind each event */
};
/* Sets only what points into the configuration. */
void site_log_settings_borrow(const struct config *config, struct site_log_settings *ret);
int site_log_settings_read(const struct config *config, struct site_log_settings *ret,
                           struct err *err);

struct site_log *site_log_create(struct schedd *schedd);
void site_log_destroy(struct site_log *log); /* waits for what is being written */

/* Appends the texts, in order; done(arg, result) comes later, on the loop: 0, also when the file
 * cannot be written; -EAGAIN: another process has it locked, or this one is busy with it.  One at a
 * time; texts are copied. */
void site_log_append(struct site_log *log, const char *const *texts, size_t count,
                     void (*done)(void *arg, int result), void *arg);

#endif
