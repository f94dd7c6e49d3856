/* starter/ckpt/checkpoint.h - checkpoints of the running job: when one is taken, and what becomes
 * of it.
 *
 * A checkpoint is an image of the job's processes and an archive of its files, of one moment.  The
 * program roost-ckpt makes both beside the job (ckpt_take.h); they are sent to the shadow
 * (ckpt_send.h) and removed here.  A checkpoint is valid when the schedd has committed it.  Only
 * one checkpoint is made at a time.
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

/* What is being done with the checkpoint in hand, the one that is being made or sent. */
enum starter_ckpt_step {
    CKPT_IDLE,    /* no checkpoint is being made or sent */
    CKPT_DUMPING, /* roost-ckpt is making image and archive */
    CKPT_SENDING, /* image and archive are being sent to the shadow */
    /* CKPT_DONE was sent, which asks the shadow to commit the checkpoint; no answer yet */
    CKPT_TELLING,
};

/* Name of a directory for checkpoints in the run's directory, beside the sandbox.  The directory
 * belongs to the job's account, but the job does not use it. */
#define STARTER_CKPT_DIRECTORY "ckpt"
/* Name of a file in STARTER_CKPT_DIRECTORY: the list of the job's inputs (ckpt_inputs.h). */
#define STARTER_CKPT_INPUTS "inputs"
/* Name of a directory in STARTER_CKPT_DIRECTORY: a copy of the job's files. */
#define STARTER_CKPT_COPY_NAME "copy"
/* Path of the directory STARTER_CKPT_COPY_NAME, relative to the run's directory. */
#define STARTER_CKPT_COPY STARTER_CKPT_DIRECTORY "/" STARTER_CKPT_COPY_NAME
/* Path, relative to the run's directory, of the list of the job's files and their states in the
 * checkpoint that is being made or sent. */
#define STARTER_CKPT_KNOWN STARTER_CKPT_DIRECTORY "/known"
/* Path, relative to the run's directory, of the list of the job's files and their states in the
 * last committed checkpoint. */
#define STARTER_CKPT_SENT STARTER_CKPT_DIRECTORY "/sent"
/* bytes of an image's id: 16 hexadecimal digits and the terminating zero */
#define CKPT_ID_SIZE 17

/* The latest checkpoint that the schedd has committed. */
struct ckpt_kept {
    int64_t sequence;
    bool has_one; /* true: there is a committed checkpoint, of this run or an earlier one */
    /* Id of the image of the latest committed checkpoint: the next image may contain only the
     * changes to that image.  "": the next image must be whole. */
    char id[CKPT_ID_SIZE];
    /* true: STARTER_CKPT_SENT is valid, so that the next archive may contain only changed files */
    bool has_sent;
    /* true: the last image contained only changes to an image that the shadow lacks; make a whole
     * image at once */
    bool is_lost;
    unsigned losses; /* how often the shadow lacked an earlier image in this run */
    /* taken_s: when the latest committed checkpoint was taken, seconds since 1970; run_s: seconds
     * of run time that this checkpoint saves. */
    int64_t taken_s, run_s;
};

/* The checkpoint that is being made or sent. */
struct ckpt_in_hand {
    int64_t number; /* the sequence number that this checkpoint will have */
    /* attributes of the checkpoint for the schedd, owned; NULL until image and archive are
     * complete */
    struct ad *manifest;
    char id[CKPT_ID_SIZE]; /* id of the image of the checkpoint in hand */
    /* the archive is made from the copy of the job's files (STARTER_CKPT_COPY) */
    bool is_copied;
    /* the archive contains only files that changed since the last committed checkpoint */
    bool is_changes;
    bool is_delta;     /* the image contains only the changes to the last committed image */
    char files[2][64]; /* paths of image and archive, below the run's directory */
    uint64_t sizes[2]; /* sizes of image and archive, bytes */
    unsigned tries;    /* how often roost-ckpt has failed to make this checkpoint */
    /* how many requests are answered by the checkpoint in hand: the first ones of
     * starter_ckpt.waiting */
    size_t asking;
    /* Ms of the loop's clock: began_ms: when roost-ckpt was first started for the checkpoint in
     * hand; sending_ms: when its sending began (0: it has not begun). */
    uint64_t began_ms, sending_ms;
    /* took_ms: ms from began_ms until CKPT_DONE was sent; run_ms: ms that the job had run when
     * roost-ckpt was started. */
    uint64_t took_ms, run_ms;
};

/* Progress of sending a checkpoint. */
struct ckpt_sending {
    /* file_at: which file is being sent: 0 the image, 1 the archive, 2 neither, both are sent;
     * puts: number of CKPT_PUT requests, each with some bytes of the file, that are not answered
     * yet. */
    size_t file_at, puts;
    /* true: the shadow has said how many bytes it has of the file that is being sent */
    bool is_asked;
    struct os_file *file;
    struct digest *digest;
    /* offset: how many bytes of the file that is being sent were sent or had already been at the
     * shadow; sent: how many bytes of both files were sent. */
    uint64_t offset, sent;
    /* Status (negative errno) of the first CKPT_PUT that the shadow refused, kept until all
     * CKPT_PUT requests are answered; 0: none refused. */
    int status;
    char why[256];    /* the shadow's reason for the refusal that `status` tells */
    unsigned resends; /* how often the shadow asked for the checkpoint's files again */
};

/* Times that decide when a checkpoint is due, in ms of the loop's clock; 0: the event
 * of that name has not happened, or no checkpoint is planned. */
struct ckpt_clock {
    struct checkpoint_costs costs; /* how long earlier checkpoints of this run took */
    /* next_ms: when the next checkpoint is due; job_began_ms: when the job began; still_ms: for how
     * long the job was frozen; frozen_ms: since when it is frozen (0: it is not). */
    uint64_t next_ms, job_began_ms, still_ms, frozen_ms;
};

/* How a run ends that was told to stop and takes a last checkpoint. */
struct ckpt_end {
    /* ends_run: the run ends after the checkpoint in hand; once_more: when that is committed, take
     * another one if there is time; job_ended: the job's process has ended. */
    bool ends_run, once_more, job_ended;
    uint64_t stop_by_ms; /* when the job must have ended, ms of the loop's clock */
};

struct starter_ckpt {
    bool wanted; /* true: the job wants checkpoints, and they can be taken here */
    /* why checkpoints cannot be taken although the job wants them; "": they can be taken, or the
     * job does not want them */
    char why_not[200];
    enum starter_ckpt_step step;
    pid_t pid; /* pid of the running `roost-ckpt dump`; 0: none runs */
    /* pid of the running `roost-ckpt follow`, which records what memory changes; 0: none runs */
    pid_t follower;
    unsigned follows; /* how often `roost-ckpt follow` was started in this run */
    bool copies;      /* true: the disk has room for a copy of the job's files */
    /* struct wire_request: requests for a checkpoint that are not answered yet */
    struct vec waiting;
    struct ckpt_kept kept;
    struct ckpt_in_hand in_hand;
    struct ckpt_sending send;
    struct ckpt_clock clock;
    struct ckpt_end end;
};

/* Called when the job ad has been received: finds out whether the job wants checkpoints and can
 * have them here.  Sets run.ckpt.wanted, or why_not. */
void checkpoint_decide(struct starter *starter);
/* Called when the job has started: from now on a timer checks whether a checkpoint is due. */
void checkpoint_begin(struct starter *starter);
/* Called when the job was frozen (frozen true) or continues: the time between does not count as run
 * time. */
void checkpoint_note_frozen(struct starter *starter, bool frozen);
/* Callback of TIMER_CKPT while the job runs: takes a checkpoint if one is due, continues sending
 * one, or kills a roost-ckpt that takes too long. */
void checkpoint_tick(struct starter *starter);
/* Handles a request to take a checkpoint of the job now, and answers it: at once if no checkpoint
 * can be made, else when a checkpoint is committed or has failed. */
void checkpoint_asked(struct starter *starter, struct wire_request *request);
/* Tells the startd when the latest checkpoint of this run was taken and how much run time it saves;
 * does nothing if none was taken. */
void checkpoint_tell_startd(struct starter *starter);
/* Called when the job must stop within grace_ms.  Returns true if the checkpoint code ends the job,
 * after a last checkpoint if there is time; false if the caller must send the job its soft
 * signal. */
bool checkpoint_stops(struct starter *starter, uint64_t grace_ms);
/* Called when the job's process has ended.  Returns true if its last checkpoint is still being made
 * or sent: then job_run_give_up() is called when that is finished.  Returns false, and drops any
 * checkpoint in hand, if the run can end now. */
bool checkpoint_holds_end(struct starter *starter);
/* Returns whether the run waits only for the job's last checkpoint: the job's process has ended,
 * and the checkpoint is still being made or sent. */
bool checkpoint_is_sent(const struct starter *starter);
/* Called at the end of the run: drops the checkpoint in hand, kills the programs that work for
 * checkpoints, and refuses all waiting requests for one. */
void checkpoint_forget(struct starter *starter);
/* Called when the schedd has committed the checkpoint in hand: answers the requests for it, and
 * decides what comes next. */
void checkpoint_committed(struct starter *starter);
/* Called when the checkpoint in hand has failed: drops it, and refuses the requests that it would
 * have answered. status: negative errno; why: the reason.  After -ENODATA (the image contains only
 * changes to an image that the shadow lacks) a whole image is made at once, for the same
 * requests. */
void checkpoint_abandon(struct starter *starter, int status, const char *why);

#endif
