/* pilot/pilot.h - the keeper: makes a directory, runs the startd in it, removes all of it.
 *
 * The pilot is three programs in one file, told apart by the name under which it is called:
 * roost-pilot (this keeper), roost-startd and roost-starter, which are links in the pilot's
 * directory.  The keeper does nothing but wait for its startd: whatever happens to that, what is
 * left of it is ended and removed.
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

#define PILOT_ENV_DIR "ROOST_PILOT_DIR" /* in the environment of all its daemons: the mark */
#define PILOT_ENV_PID "ROOST_PILOT_PID" /* the keeper's */

/* Makes the directory and starts the startd, which logs to our stderr.  The loop is stopped with
 * the pilot's exit status when everything has ended.  On failure nothing is left. */
int pilot_create(struct loop *loop, struct os *os, const struct pilot_options *options,
                 struct pilot **ret, struct err *err);
/* Once the loop has stopped.  NULL is allowed. */
void pilot_destroy(struct pilot *pilot);

/* The startd's side, in a process of its own: ends it (SIGTERM) when the keeper dies. */
void pilot_tie(struct os *os);
/* After it: when the keeper is dead, removes the directory in its place. */
void pilot_untie(struct os *os);

/* ---- pilot_linux.c */
/* A symbolic link to the running program, that holds when its file is removed. */
int pilot_link_self(const char *path, struct err *err);
/* SIGTERM for us when our parent dies; false when it is dead already. */
int pilot_parent(void);
void pilot_end_with_parent(void);

#endif
