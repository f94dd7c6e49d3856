/* starter/ckpt/checkpoint.h - checkpoints of the running job: when one is taken, and what becomes
 * of it.
 *
 * A checkpoint is an image of the job's processes and an archive of its files, of one moment.  The
 * program roost-ckpt makes both beside the job (ckpt_take.h); they are sent to the shadow
 * (ckpt_send.h) and removed here.  A checkpoint counts when the schedd has committed it.  One is
 * made at a time.
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

/* What happens to the checkpoint in hand. */
enum starter_ckpt_step {
    CKPT_IDLE,    /* no checkpoint is in hand */
    CKPT_DUMPING, /* roost-ckpt makes image and archive */
    CKPT_SENDING, /* both are sent to the shadow */
    CKPT_TELLING, /* CKPT_DONE is on its way: the shadow is asked to commit */
};

/* A directory of the run's directory, beside the sandbox.  It belongs to the job's account; the job
 * need not know of it.  The names below are relative to the run's directory unless they say
 * otherwise. */
#define STARTER_CKPT_DIRECTORY "ckpt"
/* In STARTER_CKPT_DIRECTORY: the list of the job's inputs, see ckpt_inputs.h. */
#define STARTER_CKPT_INPUTS    "inputs"
#define STARTER_CKPT_COPY_NAME "copy" /* in STARTER_CKPT_DIRECTORY: a copy of the job's files */
#define STARTER_CKPT_COPY      STARTER_CKPT_DIRECTORY "/" STARTER_CKPT_COPY_NAME /* the same copy */
/* States of the files in the checkpoint in hand. */
#define STARTER_CKPT_KNOWN STARTER_CKPT_DIRECTORY "/known"
/* States of the files in the last checkpoint that counts. */
#define STARTER_CKPT_SENT STARTER_CKPT_DIRECTORY "/sent"
#define CKPT_ID_SIZE      17 /* bytes of an image's id: 16 hexadecimal digits and the zero */

struct ckpt_kept { /* the latest checkpoint that counts */
    int64_t sequence;
    bool has_one; /* there is a checkpoint that a next run could continue from */
    /* Id of the image that the shadow has, if the next image may hold only what changed since; "":
     * the next image must be whole. */
    char id[CKPT_ID_SIZE];
    bool has_sent;   /* STARTER_CKPT_SENT is valid: the archive may hold only changed files */
    bool is_lost;    /* the shadow could not apply the last changes: make a whole image at once */
    unsigned losses; /* how often that happened in this run */
    int64_t taken_s, run_s; /* wall clock when it was taken; seconds of run time that it saves */
};

struct ckpt_in_hand {      /* the checkpoint that is being made or sent */
    int64_t number;        /* its sequence number, if it comes to count */
    struct ad *manifest;   /* describes it to the schedd; NULL until image and archive are there */
    char id[CKPT_ID_SIZE]; /* of its image */
    bool is_copied;        /* the archive is made from the copy of the job's files */
    bool is_changes;       /* the archive holds only changed files */
    bool is_delta;         /* the image holds only what changed */
    char files[2][64];     /* paths of image and archive, below the run's directory */
    uint64_t sizes[2];     /* bytes of image and archive */
    unsigned tries;        /* how often roost-ckpt failed on it */
    size_t asking;         /* how many of the waiting requests this checkpoint answers */
    /* Loop time, ms; 0: not yet.  When roost-ckpt was first started, when sending began. */
    uint64_t began_ms, sending_ms;
    /* ms from began_ms until CKPT_DONE was sent; ms that the job had run by then. */
    uint64_t took_ms, run_ms;
};

struct ckpt_sending { /* how far sending is */
    /* 0 image, 1 archive, 2 both are sent; pieces that are not answered yet. */
    size_t file_at, puts;
    bool is_asked; /* the shadow has told how much of the file it has */
    struct os_file *file;
    struct digest *digest;
    uint64_t offset, sent; /* bytes of this file, bytes in all */
    int status;    /* the first refusal, kept until all pieces on their way are answered; 0: none */
    char why[256]; /* text of that refusal */
    unsigned resends; /* times that the shadow asked for a file again */
};

struct ckpt_clock {                /* times in ms of the loop's clock; 0: not yet */
    struct checkpoint_costs costs; /* what earlier checkpoints of this run took */
    /* When the next checkpoint is due; when the job began; how long it stood still; when it was
     * frozen (0: it is not). */
    uint64_t next_ms, job_began_ms, still_ms, frozen_ms;
};

struct ckpt_end { /* the end of a run that ends with a checkpoint */
    /* ends_run: the run ends after this checkpoint; once_more: take a fresh one after the one in
     * hand if time allows; job_ended: the job's process is gone. */
    bool ends_run, once_more, job_ended;
    uint64_t stop_by_ms; /* loop time by which the job must be gone */
};

struct starter_ckpt {
    bool wanted;       /* the job wants checkpoints, and they are possible here */
    char why_not[200]; /* why they are not possible; "" otherwise */
    enum starter_ckpt_step step;
    pid_t pid;          /* of `roost-ckpt dump`; 0: it does not run */
    pid_t follower;     /* of `roost-ckpt follow`, which records what changes; 0: it does not run */
    unsigned follows;   /* how many followers were started in this run */
    bool copies;        /* the disk has room for a copy of the job's files */
    struct vec waiting; /* struct wire_request: those who asked for a checkpoint and wait for it */
    struct ckpt_kept kept;
    struct ckpt_in_hand in_hand;
    struct ckpt_sending send;
    struct ckpt_clock clock;
    struct ckpt_end end;
};

/* Finds out, once the job ad is here, whether the job wants checkpoints and can have them: sets
 * `wanted` or `why_not`. */
void checkpoint_decide(struct starter *starter);
/* Called when the job has started: begins to look for the time of the first checkpoint. */
void checkpoint_begin(struct starter *starter);
/* Called when the job was frozen, or continues: time that it stands still is no run time. */
void checkpoint_note_frozen(struct starter *starter, bool frozen);
/* Callback of TIMER_CKPT while the job runs: takes a checkpoint if one is due, sends on, or kills a
 * roost-ckpt that takes too long. */
void checkpoint_tick(struct starter *starter);
/* Takes the request for a checkpoint, and answers it: at once if none can be made, else when one is
 * committed or has failed. */
void checkpoint_asked(struct starter *starter, struct wire_request *request);
/* Tells the startd what the latest checkpoint saves; nothing if there is none. */
void checkpoint_tell_startd(struct starter *starter);
/* Called when the job is told to stop within grace_ms.  True: the checkpoint code ends the job,
 * after a last checkpoint if there is time.  False: the caller sends the soft signal. */
bool checkpoint_stops(struct starter *starter, uint64_t grace_ms);
/* Called when the job's process has ended.  True: its last checkpoint is still being made or sent,
 * and job_run_give_up() is called when that is over.  False: nothing is under way any more. */
bool checkpoint_holds_end(struct starter *starter);
/* Returns whether the job's process has ended and its last checkpoint is still being made or
 * sent. */
bool checkpoint_is_sent(const struct starter *starter);
/* Drops the checkpoint in hand, ends the programs, refuses those who wait.  Called at the end of
 * the run. */
void checkpoint_forget(struct starter *starter);
/* The checkpoint in hand was committed by the schedd: it counts now. */
void checkpoint_committed(struct starter *starter);
/* The checkpoint in hand failed, with a negative errno and a text: drops it and tells those who
 * wait.  -ENODATA: the shadow lacks the image it builds upon, and a whole one is made at once. */
void checkpoint_abandon(struct starter *starter, int status, const char *why);

#endif
