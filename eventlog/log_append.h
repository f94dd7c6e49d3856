/* eventlog/log_append.h - appends events to log files, each once, whatever dies in between.
 *
 * Design.  Who has events (the schedd's store) gives them in batches, the same batch again until it
 * was told that the batch is done.  Killed between the append and that answer, a writer must not
 * append again what is there.  So before it appends it notes, in a small file of its own, where
 * each log ended; the first batch of a writer's life looks into the logs from there on, takes what
 * it finds in order as written, and completes a text that was cut.  The note is not made durable,
 * for a killed process loses nothing of it; after a crash of the machine (another boot id) the last
 * LOG_APPEND_LOOK_BYTES of each log are looked at in its place.  Rejected: an fsync of the note
 * before each append, twice the waiting for the disk.
 *
 * Logs are opened to append and locked like HTCondor's writers do, so that jobs of several clusters
 * and owners, and DAGMan, may share one.  To be called off the loop thread.
 *
 * Unlike HTCondor's, a log that is a symbolic link is not written.  The execute machine of a job
 * with remote system calls may change names in the job's directory, and it has a say in an event's
 * text (the reason of a hold): by a link it would write to any file of the owner's, such as the
 * keys that may log in.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef EVENTLOG_LOG_APPEND_H
#define EVENTLOG_LOG_APPEND_H

#include <stdbool.h>
#include <stddef.h>

struct err;
struct os;

#define LOG_APPEND_ITEMS_MAX  256
#define LOG_APPEND_LOOK_BYTES ((size_t)1 << 20)

struct log_append_item {
    const char *path; /* absolute, no line break in it */
    const char *text; /* one event */
    int status;       /* set: 0 it is in the log, or -errno: it is not, and why */
};

struct log_append {
    struct os *os;
    const char *note_path; /* of this writer alone */
    const char *boot_id;
    bool is_first; /* of this writer's life: something may have been written before */
    bool force;    /* does not wait for the lock of another */
    bool sync;     /* on the disk before it returns */
};

/* Appends items[0..count) in order, at most LOG_APPEND_ITEMS_MAX.  0: all were tried, each has its
 * status.  -EAGAIN: another process has the lock of one of the logs.  Another error: the note could
 * not be written.  When it fails nothing was appended. */
int log_append(const struct log_append *how, struct log_append_item *items, size_t count,
               struct err *err);

#endif
