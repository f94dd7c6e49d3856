/* shadow/run/shadow_run.h - struct run: one run of a job, with its phase and all that belongs to
 * it.
 *
 * Design.  A run is one pair (job, epoch) that was given to a claim.  Files are touched on a lane,
 * that is a worker thread's queue.  There are a few lanes for all runs, and a job always uses the
 * same one, so its works follow one another, and a file server that hangs blocks only the runs on
 * the lanes that wait for it.  A run counts its users (works on a lane, reports to the schedd) and
 * is freed when it is over and has no user.
 *
 *   open        the starter fetches input, runs the job, sends output
 *   syncing     JOB_DONE has come: the staged output is being made durable
 *   reporting   JOB_RESULT was sent to the schedd
 *   placing     the result is committed: the files are moved to their places
 *   finishing   JOB_PLACED (or a hold) was sent to the schedd
 *   over
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_RUN_SHADOW_RUN_H
#define SHADOW_RUN_SHADOW_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "shadow/stage/stage_files.h"
#include "shadow/turns.h"

struct ad;
struct link;
struct loop_lane;
struct loop_timer;
struct os_file;
struct remote;
struct shadow;

#define RUN_ID_SIZE    32 /* bytes of a job's id, with the terminating zero */
#define RUN_NONCE_SIZE 33 /* bytes of a run's nonce, with the terminating zero */

enum run_phase {
    RUN_OPEN,
    RUN_SYNCING,
    RUN_REPORTING,
    RUN_PLACING,
    RUN_FINISHING,
    RUN_OVER,
    RUN_PHASES
};

enum run_output {                     /* what happens to the output, as JOB_DONE says */
                  RUN_OUTPUT_PLACED,  /* the output is moved to its places */
                  RUN_OUTPUT_SPOOLED, /* the job was evicted: the output is kept for its next run */
                  RUN_OUTPUT_NONE     /* no output files: nothing is staged or placed */
};

struct run_ckpt {
    /* numbers of the newest committed checkpoint and of the one before it; 0: none */
    int64_t latest, previous;
    bool is_over; /* the job's checkpoints were dropped; new ones are refused */
};

/* Wall clock, in ms, when transfers began or ended; 0: has not happened yet. */
struct run_times {
    int64_t input_began_ms, input_ended_ms, output_began_ms;
};

/* The attempts to move the output to its places. */
struct run_placing {
    unsigned tries;           /* number of attempts that failed for a reason that may pass */
    struct loop_timer *timer; /* time for the next attempt, owned; NULL: none was needed */
};

struct run {
    struct shadow *shadow;
    char id[RUN_ID_SIZE];
    char nonce[RUN_NONCE_SIZE];
    int64_t epoch;
    struct ad *job;
    struct ad *lane_job; /* a copy of the ad `job`, for works on the lane */
    enum run_phase phase;
    bool dropped;  /* removed from shadow->runs; freed when `uses` is 0 */
    unsigned uses; /* number of users that run_use() has added */
    struct loop_lane *lane;
    struct link *link; /* the starter's connection; NULL: not connected */
    /* directories of the output: `part` while files arrive, `stage` when all have arrived */
    char *part, *stage;
    char *spool;   /* directory for the output if the job is evicted */
    char *spooled; /* directory with files that an earlier run left; NULL: none */
    bool is_spent; /* `spooled` is no longer needed and can be removed */
    enum run_output output;
    struct run_placing placing;
    struct vec inputs; /* input files, each a struct transfer_entry; filled by JOB_FETCH */
    int64_t input_bytes;
    struct run_turn turns[2]; /* the schedd's permission to transfer input ([0]) and output ([1]) */
    struct stage_files files; /* files of the output; used on the lane only */
    /* the owner's files for live stdout ([0]) and stderr ([1]); used on the lane only */
    struct os_file *live[2];
    struct run_ckpt ckpt;
    struct run_times times;
    struct remote *remote; /* owned by remote.c; NULL: the job has no remote system calls */
    struct vec waiting;    /* JOB_DONE requests not answered yet, each a struct wire_request */
};

/* Makes a run and adds it to shadow->runs.  nonce: the secret by which the starter proves itself.
 * The ad job is copied. */
struct run *run_create(struct shadow *shadow, const char *id, int64_t epoch, const char *nonce,
                       const struct ad *job);
/* Returns the run of this job and epoch; NULL: no such run here. */
struct run *run_find(const struct shadow *shadow, const char *id, int64_t epoch);
/* Moves the run to the phase; aborts the process if the run may not move there. */
void run_move(struct run *run, enum run_phase phase);
/* Sets in args, for the job's event log, when the run's transfers started and ended.  Sets nothing
 * for a job that transfers no files. */
void run_note_transfers(const struct run *run, struct ad *args);
void run_use(struct run *run); /* keeps the run in memory until run_unuse() */
/* Ends one run_use().  If no other run_use() is left, frees the run, provided it was dropped. */
void run_unuse(struct run *run);
/* Answers each JOB_DONE that waits: with status 0, or with a negative status and
 * the error's text. */
void run_answer_done(struct run *run, int status, const char *text);

#endif
