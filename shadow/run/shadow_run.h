/* shadow/run/shadow_run.h - a run: its phases, what there is of it, its life.
 *
 * Design.  A run is one (job, epoch) that was given to a claim.  What touches files is done on a
 * lane, a few lanes for all runs, those of a job on one of them: its works follow one another, and
 * a hung file server blocks only the runs of the lanes that wait for it.  A run is counted by what
 * still uses it (works on a lane, reports to the schedd) and freed when it is over and nothing
 * does.
 *
 *   open        the starter fetches, runs, sends
 *   syncing     JOB_DONE came: the stage is being made durable
 *   reporting   JOB_RESULT is with the schedd
 *   placing     the result is committed: files are moved to their places
 *   finishing   JOB_PLACED (or the hold) is with the schedd
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
struct os_file;
struct remote;
struct shadow;

#define RUN_ID_SIZE    32
#define RUN_NONCE_SIZE 33

enum run_phase {
    RUN_OPEN,
    RUN_SYNCING,
    RUN_REPORTING,
    RUN_PLACING,
    RUN_FINISHING,
    RUN_OVER,
    RUN_PHASES
};

enum run_output { /* what becomes of it, as JOB_DONE said */
                  RUN_OUTPUT_PLACED,
                  RUN_OUTPUT_SPOOLED, /* the job is evicted */
                  RUN_OUTPUT_NONE     /* no file was named: nothing is staged or placed */
};

struct run_ckpt {
    int64_t latest, previous; /* that the schedd has committed; 0: none */
    bool is_over;             /* the job has left: what comes is not kept */
};

struct run_times { /* wall clock; 0: not yet */
    int64_t input_began_ms, input_ended_ms, output_began_ms;
};

struct run {
    struct shadow *shadow;
    char id[RUN_ID_SIZE];
    char nonce[RUN_NONCE_SIZE];
    int64_t epoch;
    struct ad *job;
    struct ad *lane_job; /* the same, for works on the lane */
    enum run_phase phase;
    bool dropped; /* not in shadow->runs any more: freed when uses is 0 */
    unsigned uses;
    struct loop_lane *lane;
    struct link *link;  /* its starter's connection, NULL: none */
    char *part, *stage; /* directories: while it is filled, and when it is complete */
    char *spool;        /* where it goes instead when the job is evicted */
    char *spooled;      /* what an earlier run has left there, NULL: nothing */
    bool is_spent;      /* spooled is of no more use */
    enum run_output output;
    struct vec inputs; /* struct transfer_entry, after JOB_FETCH */
    int64_t input_bytes;
    struct run_turn turns[2]; /* of input, of output */
    struct stage_files files; /* of its output; touched on the lane only */
    struct os_file *live[2];  /* the same: where streams of the running job go */
    struct run_ckpt ckpt;
    struct run_times times;
    struct remote *remote; /* remote.c; NULL: it has no remote system calls */
    struct vec waiting;    /* struct wire_request: JOB_DONE to be answered */
};

struct run *run_create(struct shadow *shadow, const char *id, int64_t epoch, const char *nonce,
                       const struct ad *job);
struct run *run_find(const struct shadow *shadow, const char *id, int64_t epoch);
void run_move(struct run *run, enum run_phase phase);
/* When a transfer was, for the job's event log; a job that transfers nothing says nothing. */
void run_note_transfers(const struct run *run, struct ad *args);
void run_use(struct run *run);
void run_unuse(struct run *run); /* may free it */
/* Answers all JOB_DONE that wait: status 0, or negative with the text. */
void run_answer_done(struct run *run, int status, const char *text);

#endif
