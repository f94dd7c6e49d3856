/* base/daemon/daemon_complaint.h - what a daemon of this host said when it ended before its time:
 * $(LOCK)/<name>.stderr.
 *
 * The master starts each daemon with this file, emptied, as standard error; a daemon writes there
 * why it could not start, also when the configuration is so wrong that the daemon has no log yet.
 * If a daemon ends and the file is empty, the master writes how it ended.  A daemon that the
 * collector refuses writes why, and empties the file when the collector has accepted it.  So the
 * file has text if and only if the last run of the daemon has ended, or has something to say.
 * `roost start` reads it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_DAEMON_DAEMON_COMPLAINT_H
#define BASE_DAEMON_DAEMON_COMPLAINT_H

#include <stdbool.h>
#include <stddef.h>

#define DAEMON_COMPLAINT_MAX 512 /* most bytes of a line that is read, with the zero */
/* The line of a daemon that runs and that the collector refuses begins with these words. */
#define DAEMON_CANNOT_JOIN "cannot join the pool: "

struct os;

/* Writes the path of the file to ret.  lock_dir: the directory LOCK; name: "rooster". */
void daemon_complaint_path(const char *lock_dir, const char *name, char *ret, size_t size);
/* Reads the last line, cut to its first DAEMON_COMPLAINT_MAX - 1 bytes.  Returns false, with why
 * "", if the file is empty or cannot be read. */
bool daemon_complaint_read(struct os *os, const char *lock_dir, const char *name,
                           char why[DAEMON_COMPLAINT_MAX]);
/* Makes a line the file's content, in place, because the file may be the standard error of a
 * running daemon; "" empties it.  A failure is ignored: the log has the same. */
void daemon_complaint_write(struct os *os, const char *lock_dir, const char *name, const char *why);

#endif
