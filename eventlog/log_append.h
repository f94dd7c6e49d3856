/* eventlog/log_append.h - appends events to log files, each event once, even if the writer is
 * killed in between.
 *
 * Design.  The owner of the events (the schedd's store) gives them in batches, and gives the same
 * batch again until it was told that the batch is done.  A writer that was killed between the
 * append and this answer must not append the batch again.  So before it appends, it writes a note,
 * a small file of its own, with the size of each log.  The first batch after a start of the writer
 * reads each log from the noted size on: events of the batch that it finds there, in order, count
 * as written, and an event that was cut off is completed.  The note is not flushed to the disk,
 * because it survives when only the process is killed.  After a crash of the machine (another boot
 * id), the last LOG_APPEND_LOOK_BYTES of each log are searched instead.  Rejected: an fsync of the
 * note before each append, which doubles the waiting for the disk.
 *
 * Logs are opened to append and locked as HTCondor's writers do, so that jobs of several clusters
 * and owners, and DAGMan, may share a log.  To be called off the loop thread.
 *
 * Unlike HTCondor, Roost does not write a log that is a symbolic link.  The execute machine of a
 * job with remote system calls may change names in the job's directory, and it can choose a part of
 * an event's text (the reason of a hold).  With a link it could write to any file of the owner,
 * such as the keys that allow a login.
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
    const char *path; /* absolute, without a line break */
    const char *text; /* text of one event */
    int status;       /* result: 0 when the event is in the log, or why not (-errno) */
};

struct log_append {
    struct os *os;
    /* path of the writer's note: a file with the sizes of the logs before the append */
    const char *note_path;
    const char *boot_id; /* id of the machine's present boot */
    /* true: first batch since the writer's start, whose events may be in the logs already */
    bool is_first;
    bool force; /* true: append even if another process has locked a log */
    bool sync;  /* true: flush the logs to the disk */
};

/* Splits a text that has several events.  sizes: the bytes of each, such as "120 122"; "": text is
 * one event.  Fills lengths[0..] and returns how many there are, from 1 to LOG_APPEND_ITEMS_MAX; 1,
 * the whole text, also when the sizes do not fit the text. */
size_t log_append_split(const char *text, const char *sizes, size_t lengths[LOG_APPEND_ITEMS_MAX]);

/* Appends items[0..count), at most LOG_APPEND_ITEMS_MAX, in order.  Returns 0 when all were tried;
 * then each item has its status.  Else nothing was appended, and err has the reason: -EAGAIN when
 * another process has locked one of the logs (unless how->force), or another negative errno when
 * the note could not be written. */
int log_append(const struct log_append *how, struct log_append_item *items, size_t count,
               struct err *err);

#endif
