/* starter/job_run.h - what every part of a run needs of it: its names, its phase, its end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_JOB_RUN_H
#define STARTER_JOB_RUN_H

#include <stdbool.h>
#include <stddef.h>

#include "starter/starter.h"

/* ---- names */
/* A file of the sandbox, in ret. */
const char *job_run_path(const struct starter *starter, const char *name, char *ret, size_t size);
/* The slot's ad; NULL: the record has none. */
const struct ad *job_run_slot(const struct starter *starter);
/* The sandbox, as the job sees it. */
const char *job_run_inside(const struct starter *starter);
/* A file of the directory of images ("": that itself), for us and as the job's programs see it; the
 * caller owns it. */
char *job_run_image_path(const struct starter *starter, const char *name);
char *job_run_image_inside(const struct starter *starter, const char *name);
int job_run_image_directory(struct starter *starter, struct err *err); /* makes it */
/* Are its files at its submit machine?  See remote.c. */
bool job_run_is_remote(const struct starter *starter);
/* Without a file system: its program asks by itself. */
bool job_run_is_wrapped(const struct starter *starter);

/* ---- its phase and its end */
/* Something is due: what wake says is done soon, after what is running now has returned. */
void job_run_wake(struct starter *starter, enum starter_wake wake);
void job_run_enter(struct starter *starter, enum starter_phase phase);
/* The run is over without a result: it is woken to clean up, and to tell the startd why ("": the
 * claim goes on). */
void job_run_give_up(struct starter *starter, const char *reason);
/* The hold that the run is to end with; logged. */
void job_run_note_hold(struct starter *starter, int code, int subcode, const char *reason);
/* The job was not even started, for its own fault: the run ends with that report. */
void job_run_hold(struct starter *starter, int code, int subcode, const char *reason);
/* Nothing is left of the run, and nothing odd was seen: another job may follow. */
bool job_run_may_stay(const struct starter *starter);

/* ---- its links */
struct ad *job_run_hello(const struct starter *starter); /* to a shadow; the caller owns it */
/* What a kept connection is told with its first call, and a new one in its hello: which run; the
 * nonce goes with it.  NULL: it knows.  The caller owns it. */
struct ad *job_run_shadow_who(struct starter *starter);
void job_run_close_shadow(struct starter *starter);
void job_run_dial_again(struct starter *starter); /* over a new connection */
/* Which run it is, as the startd is told with each call; the caller owns it. */
struct ad *job_run_startd_who(const struct starter *starter);
/* args with the proof that we may say so. */
struct wire_body job_run_startd_body(const struct starter *starter, const struct ad *args);

/* ---- what came, and how it ended */
void job_run_close_file(struct starter *starter); /* forgets the file in hand */
void job_run_forget_inputs(struct starter *starter);
/* ExitBySignal, ExitCode ...: how the job ended. */
void job_run_add_exit(const struct starter *starter, struct ad *args);

#endif
