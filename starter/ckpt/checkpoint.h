/* starter/ckpt/checkpoint.h - checkpoints of the job that runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_CKPT_CHECKPOINT_H
#define STARTER_CKPT_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"
#include "starter/ckpt/checkpoint_plan.h"

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

struct ckpt_kept { /* the latest that counts */
    int64_t sequence;
    bool has_one; /* there is something to go on from */
    /* Which image the shadow has, if what changes is known since then ("": not): hexadecimal. */
    char id[CKPT_ID_SIZE];
    bool has_sent;   /* what changed since in the job's files is known */
    bool is_lost;    /* the shadow could not build upon it: a whole one is due */
    unsigned losses; /* images that the shadow could not build upon */
    int64_t taken_s, run_s;
};

struct ckpt_in_hand { /* the one that is made, or sent */
    int64_t number;
    struct ad *manifest;
    char id[CKPT_ID_SIZE]; /* of its image */
    bool is_copied;        /* the archive is made of the copy of the job's files */
    bool is_changes;       /* and has what changed only */
    bool is_delta;         /* the image has what changed only */
    char files[2][64];     /* below the run's directory: image, archive */
    uint64_t sizes[2];
    unsigned tries;
    size_t asking; /* so many of those who wait asked for this one */
    /* ms of the loop's clock; 0: not yet */
    uint64_t began_ms, sending_ms;
    uint64_t took_ms, run_ms;
};

struct ckpt_sending {
    size_t file_at, puts; /* 2: both are there; how many are not answered */
    bool is_asked;        /* what the shadow has of it is known */
    struct os_file *file;
    struct digest *digest;
    uint64_t offset, sent;
    int status; /* the first refusal, while others are on their way; and its words */
    char why[256];
    unsigned resends;
};

struct ckpt_clock { /* ms of the loop's clock; 0: not yet */
    struct checkpoint_costs costs;
    uint64_t next_ms, job_began_ms, still_ms, frozen_ms;
};

struct ckpt_end { /* the job is to end with it */
    bool ends_run, once_more, job_ended;
    uint64_t stop_by_ms;
};

struct starter_ckpt {
    bool wanted;       /* the job's owner does, and it can be had here */
    char why_not[200]; /* it cannot */
    enum starter_ckpt_step step;
    pid_t pid;          /* of roost-ckpt; 0: it does not run */
    pid_t follower;     /* of roost-ckpt follow; 0: there is none */
    unsigned follows;   /* that were begun */
    bool copies;        /* there is room for a copy of the job's files */
    struct vec waiting; /* struct wire_request: who asked for one */
    struct ckpt_kept kept;
    struct ckpt_in_hand in_hand;
    struct ckpt_sending send;
    struct ckpt_clock clock;
    struct ckpt_end end;
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
