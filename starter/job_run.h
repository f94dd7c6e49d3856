/* starter/job_run.h - one run of one job: the struct, and the calls that every part of a run needs.
 *
 * The parts of a run (input, cage, checkpoints, output ...) call these functions; they never call
 * starter.c. starter.c drives the phases.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_JOB_RUN_H
#define STARTER_JOB_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/os/os.h"
#include "starter/ckpt/checkpoint.h"
#include "starter/job/deferral.h"
#include "starter/files/input.h"
#include "starter/job/job_place.h"
#include "starter/job/joules.h"
#include "starter/live.h"
#include "starter/files/output.h"
#include "starter/peek.h"
#include "starter/ckpt/resume.h"
#include "starter/shell.h"
#include "starter/starter_plan.h"
#include "starter/files/upload.h"
#include "starter/files/url_program.h"
#include "starter/job/watch.h"
#include "wire/secret_list.h"
#include "wire/wire.h"

struct ad;
struct cage;
struct err;
struct starter;

/* Bytes of a file that one FILE_PUT carries at most. */
#define STARTER_PIECE_BYTES ((size_t)1 << 20)

#define STARTER_CGROUPS_FILE "job.cgroups" /* in the run's directory; names the job's cgroup */
#define STARTER_JOB_AD       ".job.ad"     /* in the sandbox: the job ad, for the job to read */
#define STARTER_MACHINE_AD   ".machine.ad" /* In the sandbox: the slot's ad, for the job to read. */
/* Mode of these two files while they lie in the run's directory, not the sandbox. */
#define STARTER_AD_BESIDE_MODE 0600

/* The phases of a run, in order. */
enum starter_phase {
    STARTER_FETCH,  /* get the job ad and the list of inputs from the shadow */
    STARTER_INPUT,  /* receive the inputs, one after the other */
    STARTER_RUN,    /* the job's process, and the scripts before and after it */
    STARTER_OUTPUT, /* send the outputs, one after the other */
    STARTER_REPORT, /* tell the shadow how the job ended: JOB_DONE */
    STARTER_CLEAN,  /* kill what is left of the job, empty or remove its directory */
    STARTER_TELL,   /* tell the startd that the run is over */
    STARTER_IDLE,   /* no job: the startd keeps this process for the claim's next job */
    STARTER_END,    /* the process exits */
};

/* The programs that run in the job's cage, in this order; job/scripts.c starts them. */
enum starter_script {
    SCRIPT_NONE,
    SCRIPT_PREPARE, /* the site's hook before the job */
    SCRIPT_PRE,     /* the job's PreCmd */
    SCRIPT_JOB,     /* the job itself */
    SCRIPT_POST,    /* the job's PostCmd */
    SCRIPT_EXIT,    /* the site's hook after the job */
    SCRIPT_OVER,    /* all have ended */
};

/* What a part of the run asks starter.c to do soon.  Of two requests the later enumerator wins. */
enum starter_wake {
    WAKE_NONE,
    WAKE_GO,   /* take the next step of the current phase */
    WAKE_OVER, /* the job and the scripts after it have ended: call job_over() */
};

/* Whether the run was told to stop, and how: with the soft signal, or with KILL. */
enum starter_stopping { RUNS_ON, STOPS_GENTLY, STOPS_AT_ONCE };

/* How long the job may run without a renewal from the startd. */
struct job_lease {
    int64_t length_s;
    /* Loop time: when the lease ends, and when TIMER_TICK last ran (0: not yet). */
    uint64_t end_ms, last_tick_ms;
};

struct job_file {          /* the file that is being sent or received */
    struct os_file *file;  /* NULL: none */
    uint64_t offset;       /* bytes sent or received so far */
    struct digest *digest; /* of these bytes */
};

struct job_bytes { /* bytes of files that crossed the network, repeated transfers included */
    int64_t received, sent;
};

struct job_process { /* the job's process, or the script that runs in its place */
    pid_t info_pid;  /* of the update hook that runs beside the job; 0: none runs */
    /* Of the process that we started: the cage's keeper, or without namespaces the program itself.
     * 0: nothing runs; -1: it has ended. */
    pid_t pid;
    pid_t job_pid;     /* of the job's own process, in our PID namespace; 0: not started yet */
    int64_t started_s; /* wall clock */
    /* The shadow knows that the job runs.  A job that ends within STARTER_TELLS_MS is reported
     * once, by JOB_DONE. */
    bool started_told;
    struct os_exit exit; /* how the process ended, once pid is -1 */
    int64_t ended_s;     /* wall clock; 0: not yet */
    bool gap;            /* the clock jumped: the job stands still until its claim is confirmed */
    bool suspended;      /* the startd suspended the job */
    bool frozen;         /* the job stands still now, because of gap or suspended */
};

struct job_stop { /* the order to stop the run before its end */
    enum starter_stopping how;
    enum starter_stop_kind kind; /* why: the job was removed, held, or something else */
    /* Seconds between soft signal and KILL, from the startd; 0: use KILLING_TIMEOUT. */
    int64_t grace_s;
};

struct job_end {      /* how the run ends */
    bool evicted;     /* stopped before its end; its files go back for the job's next run */
    bool delivered;   /* the schedd accepted the job's result, and the job was not evicted */
    struct ad *hold;  /* HoldReason ...; NULL: the job is not held */
    char reason[200]; /* told to the startd; "": nothing is wrong, and the claim continues */
    bool odd;         /* something unusual happened: this process takes no further job */
};

/* One run of one job.  The whole struct is cleared before the process takes the claim's next job,
 * so that nothing of one job is left for the next. */
struct job_run {
    char *directory, *sandbox;   /* both absolute; the sandbox lies in the directory */
    struct ad *record;           /* what the startd wrote about this run in the file job.record */
    struct secret_list *secrets; /* the secrets of the record */
    struct wire_secret claim_id, nonce; /* two of these secrets, ready to be sent */
    struct ad *job;                     /* the job ad, from the shadow; NULL: not received yet */
    char job_id[64];                    /* "cluster.proc" */
    /* ClaimEpoch: grows with each run of the job; results of an older run are refused. */
    int64_t epoch;
    struct job_lease lease;
    struct job_account account; /* the user that the job runs as */
    enum starter_phase phase;
    bool busy;              /* a step is under way: an answer from the shadow is awaited */
    enum starter_wake wake; /* what is due soon; WAKE_NONE: nothing */
    /* The connection served an earlier run; its shadow does not know of this run yet. */
    bool shadow_kept;
    unsigned failures; /* attempts to connect to the shadow that failed in a row */
    struct job_stop stop;
    struct job_end end;
    struct job_file in_hand; /* the file that is being sent or received now */
    struct job_bytes bytes;
    /* The states of the parts.  Each struct is declared in the header of its part. */
    struct starter_inputs input;
    struct starter_urls urls;
    struct starter_resume resume;
    struct starter_deferred deferred;
    struct cage *cage;          /* NULL: not made yet */
    enum starter_script script; /* which program runs now, or ran last */
    struct job_process process;
    struct starter_watch watch;
    struct starter_joules joules;
    struct starter_ckpt ckpt;
    struct starter_streams live;
    struct starter_peeks peeks;
    struct starter_shells shells;
    struct starter_uploads upload;
    struct starter_outputs output;
};

/* ---- names */
/* Writes the path of the sandbox's file `name` into ret and returns ret.  Cuts a path that is too
 * long. */
const char *job_run_path(const struct starter *starter, const char *name, char *ret, size_t size);
/* Returns the slot's ad, borrowed from the record; NULL when the record has none. */
const struct ad *job_run_slot(const struct starter *starter);
/* Returns the path at which the job sees its sandbox.  Borrowed. */
const char *job_run_inside(const struct starter *starter);
/* Return the path of the file `name` in the directory of checkpoint images: as we see it, and as
 * the job's programs see it. name "": the directory itself.  The caller owns the string. */
char *job_run_image_path(const struct starter *starter, const char *name);
char *job_run_image_inside(const struct starter *starter, const char *name);
/* Makes the directory of checkpoint images and gives it to the job's account.  0 or -errno. */
int job_run_image_directory(struct starter *starter, struct err *err);
/* Returns whether the job's files stay at its submit machine; remote.h explains such jobs. */
bool job_run_is_remote(const struct starter *starter);
/* True for a remote job on a machine without the file system for it: a library linked into the
 * job's program sends the program's file calls to the submit machine instead. */
bool job_run_is_wrapped(const struct starter *starter);

/* ---- its phase and its end */
/* Notes that `wake` is due, and makes starter.c do it soon: after the code that runs now has
 * returned to the loop. */
void job_run_wake(struct starter *starter, enum starter_wake wake);
/* Moves the run to a later phase and logs that.  A CHECK forbids going back. */
void job_run_enter(struct starter *starter, enum starter_phase phase);
/* Ends the run without a result: starter.c cleans up and tells the startd why. reason "": nothing
 * is wrong, and the claim continues.  Does nothing when the run is being cleaned up already. */
void job_run_give_up(struct starter *starter, const char *reason);
/* Notes and logs that the run is to end with a hold of the job (HoldReasonCode, HoldReasonSubCode,
 * HoldReason).  The caller still has to end what runs. */
void job_run_note_hold(struct starter *starter, int code, int subcode, const char *reason);
/* Holds a job of which no process is left or was started: notes the hold and moves the run to
 * STARTER_REPORT. */
void job_run_hold(struct starter *starter, int code, int subcode, const char *reason);
/* True when the run was without incident and the process has not reached STARTER_MAX_JOBS: the
 * startd may give it another job. */
bool job_run_may_stay(const struct starter *starter);

/* ---- its links */
/* Returns the ad that names this run to a shadow: JobId and ClaimEpoch.  The caller owns it. */
struct ad *job_run_hello(const struct starter *starter);
/* Returns job_run_hello() when the shadow at the other end of a kept connection was not told of
 * this run yet; the caller sends the ad, with the nonce, in its first call.  Later calls return
 * NULL: the shadow knows.  The caller owns the ad. */
struct ad *job_run_shadow_who(struct starter *starter);
/* Closes the connection to the shadow, if any, and stops the timer that would make a new one. */
void job_run_close_shadow(struct starter *starter);
void job_run_dial_again(struct starter *starter); /* closes it, and connects anew at once */
/* Returns the ad that names this run in each call to the startd: JobId, ClaimEpoch, Pid.  The
 * caller owns it. */
struct ad *job_run_startd_who(const struct starter *starter);
/* Returns a message body of args and the claim id, which proves that the call is from this run.
 * Both are borrowed. */
struct wire_body job_run_startd_body(const struct starter *starter, const struct ad *args);

/* ---- what came, and how it ended */
/* Closes the file that is being sent or received, and forgets how far that was. */
void job_run_close_file(struct starter *starter);
/* Forgets the list of inputs. */
void job_run_forget_inputs(struct starter *starter);
/* Adds how the job ended to args: ExitBySignal, and ExitCode or ExitSignal and JobCoreDumped. */
void job_run_add_exit(const struct starter *starter, struct ad *args);

#endif
