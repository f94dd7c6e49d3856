/* pilot/pilot.h - the pilot's keeper process: makes a directory, runs the startd in it, removes it
 * all.
 *
 * The pilot is three programs in one file, distinguished by the name under which it is called:
 * roost-pilot (this keeper), and roost-startd and roost-starter, which are links in the pilot's
 * directory.  The keeper only waits for its startd: whatever happens to the startd, the keeper ends
 * and removes what is left of it.
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

/* in the environment of all its daemons, by which they are found */
#define PILOT_ENV_DIR "ROOST_PILOT_DIR"
#define PILOT_ENV_PID "ROOST_PILOT_PID" /* process id of the keeper */

/* Makes the directory and starts the startd, which logs to our stderr.  When everything has ended,
 * stops the loop with the pilot's exit status.  Returns 0 and sets *ret; on failure a negative
 * errno, and nothing is left over. */
int pilot_create(struct loop *loop, struct os *os, const struct pilot_options *options,
                 struct pilot **ret, struct err *err);
/* Call it after the loop has stopped.  NULL is allowed. */
void pilot_destroy(struct pilot *pilot);

/* For the startd's process: arranges that it gets SIGTERM when the keeper dies. */
void pilot_tie(struct os *os);
/* For the startd's process, at its end: removes the directory if the keeper is dead. */
void pilot_untie(struct os *os);

/* ---- pilot_linux.c */
/* Makes a symbolic link to the running program, which works even after the program's file is
 * removed. */
int pilot_link_self(const char *path, struct err *err);
/* pilot_parent() returns our parent's process id.  pilot_end_with_parent() sends us SIGTERM when
 * our parent dies. */
int pilot_parent(void);
void pilot_end_with_parent(void);

#endif
