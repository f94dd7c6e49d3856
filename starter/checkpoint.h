/* starter/checkpoint.h - checkpoints of the job that runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_CHECKPOINT_H
#define STARTER_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"
#include "starter/checkpoint_plan.h"

struct ad;
struct digest;
struct os_file;
struct starter;
struct wire_request;

enum starter_ckpt_step {
    CKPT_IDLE,
    CKPT_DUMPING, /* roost-ckpt runs */
    CKPT_SENDING, /* to the shadow */
    CKPT_TELLING, /* CKPT_DONE */
};

/* Beside the sandbox: the account's, but nothing that the job has to know of. */
#define STARTER_CKPT_DIRECTORY "ckpt"
#define STARTER_CKPT_INPUTS    "inputs" /* in there: ckpt_inputs.c */
#define STARTER_CKPT_COPY_NAME "copy"   /* the same: of the job's files, as they were last */
#define STARTER_CKPT_COPY      STARTER_CKPT_DIRECTORY "/" STARTER_CKPT_COPY_NAME
#define STARTER_CKPT_KNOWN     STARTER_CKPT_DIRECTORY "/known" /* of the files in the one in hand */
#define STARTER_CKPT_SENT      STARTER_CKPT_DIRECTORY "/sent"  /* in the one that counts */
#define CKPT_ID_SIZE           17

struct starter_ckpt {  /* checkpoint.c */
    bool wanted;       /* the job's owner does, and it can be had here */
    char why_not[200]; /* it cannot */
    enum starter_ckpt_step step;
    pid_t pid;           /* of roost-ckpt; 0: it does not run */
    int64_t sequence;    /* of the latest that counts */
    int64_t number;      /* of the one in hand */
    bool has_one;        /* there is something to go on from */
    struct ad *manifest; /* of the one in hand */
    pid_t follower;      /* of roost-ckpt follow; 0: there is none */
    unsigned follows;    /* that were begun */
    /* Which image the shadow has, if what changes is known since then ("": not), and which is in
     * hand: hexadecimal. */
    char committed_id[CKPT_ID_SIZE], made_id[CKPT_ID_SIZE];
    bool copies;       /* there is room for a copy of its files */
    bool is_copied;    /* the archive in hand is made of that */
    bool is_changes;   /* and has what changed only */
    bool has_sent;     /* the latest that counts was made so: what changed since is known */
    bool is_delta;     /* the one in hand */
    unsigned losses;   /* images that the shadow could not build upon */
    bool base_lost;    /* it was refused for that: a whole one is due */
    char files[2][64]; /* below the run's directory: image, archive */
    uint64_t sizes[2];
    /* sending */
    size_t file_at, puts; /* 2: both are there; how many are not answered */
    bool is_asked;        /* what the shadow has of it is known */
    struct os_file *file;
    struct digest *digest;
    uint64_t offset, sent;
    int status; /* the first refusal, while others are on their way; and its words */
    char why[256];
    unsigned tries, resends;
    struct vec waiting; /* struct wire_request: who asked for one */
    size_t asking;      /* of them: for the one in hand */
    /* ms of the loop's clock; 0: not yet */
    uint64_t began_ms, sending_ms, took_ms, next_ms;
    struct checkpoint_costs costs;
    uint64_t job_began_ms, still_ms, frozen_ms, run_ms;
    int64_t taken_s, run_s; /* of the last that was committed */
    /* the job is to end with it */
    bool ends_run, once_more, job_ended;
    uint64_t stop_by_ms;
};

/* When the job ad is here: can it be checkpointed? */
void checkpoint_decide(struct starter *starter);
void checkpoint_begin(struct starter *starter); /* the job runs */
void checkpoint_note_frozen(struct starter *starter, bool frozen);
void checkpoint_tick(struct starter *starter); /* when TIMER_CKPT has run out */
void checkpoint_asked(struct starter *starter, struct wire_request *request); /* takes it */
void checkpoint_tell_startd(struct starter *starter);
/* The job is told to stop, gently, in so long.  True: its end is a matter of here. */
bool checkpoint_stops(struct starter *starter, uint64_t grace_ms);
/* The job has ended.  True: job_run_give_up() comes when its last checkpoint is safe. */
bool checkpoint_holds_end(struct starter *starter);
/* The job has ended, and its last checkpoint is on its way. */
bool checkpoint_is_sent(const struct starter *starter);
void checkpoint_forget(struct starter *starter); /* the run is over */
/* The one in hand is safe; or it is given up, and why. */
void checkpoint_committed(struct starter *starter);
void checkpoint_abandon(struct starter *starter, int status, const char *why);

#endif
