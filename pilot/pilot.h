/* pilot/pilot.h - the pilot's keeper process: makes a directory, runs the startd in this
 * directory, and then removes the directory.
 *
 * The pilot is three programs in one file, distinguished by the name under which it is called:
 * roost-pilot (this keeper), and roost-startd and roost-starter, which are links in the pilot's
 * directory.  The keeper only waits for its startd: when the startd has ended in any way, the
 * keeper ends the starters, removes the directory, and ends.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PILOT_PILOT_H
#define PILOT_PILOT_H

struct err;
struct loop;
struct os;
struct pilot;
struct pilot_options;

/* Name of an environment variable with the pilot's directory.  All daemons of the pilot have this
 * variable, so pilot_untie() finds them by it. */
#define PILOT_ENV_DIR "ROOST_PILOT_DIR"
/* Name of an environment variable with the process id of the keeper. */
#define PILOT_ENV_PID "ROOST_PILOT_PID"

/* Makes the pilot's directory and starts its startd, which logs to standard error.  When the startd
 * and its starters have ended, the pilot stops the loop with the pilot's exit status.  Returns 0
 * and sets *ret; on failure returns a negative errno and leaves nothing behind. */
int pilot_create(struct loop *loop, struct os *os, const struct pilot_options *options,
                 struct pilot **ret, struct err *err);
/* Removes the pilot's directory and frees the pilot.  Must be called after the loop has stopped.
 * NULL is allowed. */
void pilot_destroy(struct pilot *pilot);

/* Called in the startd's process: arranges that this process gets SIGTERM when the keeper dies. */
void pilot_tie(struct os *os);
/* Called in the startd's process, at its end: removes the pilot's directory if the keeper is
 * dead. */
void pilot_untie(struct os *os);

/* ---- pilot_linux.c: calls of the operating system */
/* Makes a symbolic link at path to the program of this process.  The link works even if the
 * program's file is removed, as long as the process runs.  Returns 0 or -errno. */
int pilot_link_self(const char *path, struct err *err);
/* pilot_parent() returns the process id of this process's parent. pilot_end_with_parent() arranges
 * that this process gets SIGTERM when its parent dies. */
int pilot_parent(void);
void pilot_end_with_parent(void);

#endif
