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

/* Most bytes of a file in one message, such as a FILE_PUT. */
#define STARTER_PIECE_BYTES ((size_t)1 << 20)

/* Name of a file in the run's directory that contains the path of the job's cgroup in each cgroup
 * hierarchy. */
#define STARTER_CGROUPS_FILE "job.cgroups"
/* Name of a FIFO in the run's directory through which the startd moves the end of the lease, past
 * the starter (os_cage_renew()). */
#define STARTER_LEASE_FILE "job.lease"
/* Name of a file in the sandbox: the job ad, for the job to read. */
#define STARTER_JOB_AD ".job.ad"
/* Name of a file in the sandbox: the slot's ad, for the job to read. */
#define STARTER_MACHINE_AD ".machine.ad"
/* Mode of the files STARTER_JOB_AD and STARTER_MACHINE_AD while they lie in the run's directory,
 * beside the sandbox. */
#define STARTER_AD_BESIDE_MODE 0600

/* The phases of a run, in order. */
enum starter_phase {
    STARTER_FETCH, /* get the job ad and the list of inputs from the shadow */
    STARTER_INPUT, /* receive the inputs, one after the other */
    /* run the scripts before the job, the job's process, and the scripts after it */
    STARTER_RUN,
    STARTER_OUTPUT, /* send the outputs, one after the other */
    STARTER_REPORT, /* tell the shadow how the job ended: JOB_DONE */
    STARTER_CLEAN,  /* kill what is left of the job, empty or remove its directory */
    STARTER_TELL,   /* tell the startd that the run is over */
    STARTER_IDLE,   /* no job: the process waits for the claim's next job */
    STARTER_END,    /* the starter's process exits */
};

/* The programs that run in the job's cage, in this order.  job/job.c starts the job, job/scripts.c
 * starts the others. */
enum starter_script {
    SCRIPT_NONE,
    SCRIPT_PREPARE, /* the site's hook before the job */
    SCRIPT_PRE,     /* the job's PreCmd */
    SCRIPT_JOB,     /* the job itself */
    SCRIPT_POST,    /* the job's PostCmd */
    SCRIPT_EXIT,    /* the site's hook after the job */
    SCRIPT_OVER,    /* all these programs have ended */
};

/* What a part of the run asks starter.c to do soon.  Of two requests, the greater value wins. */
enum starter_wake {
    WAKE_NONE,
    WAKE_GO,   /* take the next step of the run's present phase */
    WAKE_OVER, /* the job and the scripts after it have ended: call job_over() */
};

/* Whether the run was told to stop, and how: with the soft signal, or with KILL. */
enum starter_stopping { RUNS_ON, STOPS_GENTLY, STOPS_AT_ONCE };

/* How long the job may run without a renewal from the startd. */
struct job_lease {
    int64_t length_s;
    /* Ms of the loop's clock: end_ms: when the lease ends; sent_ms: when the startd asked for the
     * newest renewal that we know of (0: not known); last_tick_ms: when TIMER_TICK last fired (0:
     * it has not fired yet); gap_ms: when it was noticed that the machine or this process had stood
     * still (0: never). */
    uint64_t end_ms, sent_ms, last_tick_ms, gap_ms;
    /* The lease's end passed while this process stood still: the startd may have renewed the lease
     * meanwhile, so the job is frozen, and the run ends unless the startd says so soon. */
    bool late;
};

/* The file that is being sent or received. */
struct job_file {
    struct os_file *file;  /* the open file; NULL: no file is being sent or received */
    uint64_t offset;       /* bytes sent or received so far */
    struct digest *digest; /* checksum of the bytes sent or received so far */
};

/* Bytes of the job's files that were received and sent, repeated transfers included. */
struct job_bytes {
    int64_t received, sent;
};

/* The process of the job, or of the script (enum starter_script) that runs now. */
struct job_process {
    /* pid of the site's update hook, which runs beside the job; 0: it does not run */
    pid_t info_pid;
    /* Pid of the process that the starter started: the cage's keeper or, without namespaces, the
     * program itself. 0: nothing runs; -1: the process has ended. */
    pid_t pid;
    /* pid of the job's own process, in the starter's PID namespace; 0: not started yet */
    pid_t job_pid;
    int64_t started_ms; /* when the process was started, loop_now_ms() */
    /* The shadow was told that the job runs.  Of a job that ends within 50 ms, only the end is
     * reported (JOB_DONE). */
    bool started_told;
    struct os_exit exit; /* how the process ended, once pid is -1 */
    int64_t ended_ms;    /* when the process ended, loop_now_ms(); 0: it has not ended */
    /* the machine was suspended (the clock jumped): the job is frozen until the claim is renewed */
    bool gap;
    bool suspended; /* the startd suspended the job */
    bool frozen;    /* the job is frozen now, because of `gap` or `suspended` */
};

/* What is tried again after a while, because the machine lacked something. */
struct job_again {
    unsigned tries; /* number of times that it was tried in vain */
    enum starter_wake wake;
};

/* The startd's order to stop the run before its end. */
struct job_stop {
    enum starter_stopping how;
    enum starter_stop_kind kind; /* why: the job was removed, held, or something else */
    bool by_signal; /* a process that is not our startd's connection told it: SIGTERM */
    /* Seconds between soft signal and KILL, from the startd; 0: use KILLING_TIMEOUT. */
    int64_t grace_s;
};

/* How the run ends. */
struct job_end {
    /* the job was stopped before its end, and its files are sent back for its next run */
    bool evicted;
    bool delivered; /* the schedd accepted the job's result, and the job was not evicted */
    /* attributes of the hold (HoldReason ...), owned; NULL: the job is not held */
    struct ad *hold;
    char reason[200]; /* reason told to the startd; "": nothing is wrong, and the claim continues */
    /* The text in `reason` says what the machine lacks just now, or that it killed the job: the job
     * is idle again and is never held for that, and the machine is avoided for a while. */
    bool machine_fault;
    bool odd; /* something unusual happened, so this starter takes no further job */
};

/* One run of one job.  The whole struct is cleared before the process takes the claim's next job,
 * so that nothing of one job is left for the next. */
struct job_run {
    /* directory: absolute path of the run's directory; sandbox: absolute path of the sandbox, which
     * lies in it. */
    char *directory, *sandbox;
    struct ad *record;           /* what the startd wrote about this run in the file job.record */
    struct secret_list *secrets; /* the secrets of the record */
    /* the claim id and the nonce, two of `secrets`, in the form in which messages take them */
    struct wire_secret claim_id, nonce;
    struct ad *job;  /* the job ad, from the shadow; NULL: not received yet */
    char job_id[64]; /* "cluster.proc" */
    /* ClaimEpoch: grows with each run of the job; results of an older run are refused. */
    int64_t epoch;
    struct job_lease lease;
    struct job_account account; /* the user that the job runs as */
    enum starter_phase phase;
    /* a step is under way and waits for an answer of the shadow or for a program */
    bool busy;
    enum starter_wake wake; /* what starter.c must do soon; WAKE_NONE: nothing */
    /* true: the connection to the shadow was kept from an earlier run, and the shadow was not told
     * of this run yet. */
    bool shadow_kept;
    unsigned failures; /* number of failed attempts to connect to the shadow in a row */
    struct job_stop stop;
    struct job_end end;
    struct job_file in_hand; /* the file that is being sent or received now */
    struct job_bytes bytes;
    /* The members from `input` to `output` are the states of the run's parts; the struct of each
     * part is declared in the part's header. */
    struct starter_inputs input;
    struct starter_urls urls;
    struct starter_resume resume;
    struct starter_deferred deferred;
    struct cage *cage;          /* the job's cage, owned; NULL: not made yet */
    enum starter_script script; /* which program (script or job) runs now, or ran last */
    struct job_process process;
    struct job_again again;
    struct starter_watch watch;
    struct starter_joules joules;
    struct starter_ckpt ckpt;
    struct starter_streams live;
    struct starter_peeks peeks;
    struct starter_shells shells;
    struct starter_uploads upload;
    struct starter_outputs output;
};

/* ---- paths of the run, kinds of jobs */
/* Writes the path of the file `name` of the sandbox into ret, cut off if it is too long, and
 * returns ret. */
const char *job_run_path(const struct starter *starter, const char *name, char *ret, size_t size);
/* Returns the slot's ad, borrowed from run.record, the startd's description of the run; NULL when
 * that contains no slot's ad. */
const struct ad *job_run_slot(const struct starter *starter);
/* Returns the path at which the job sees its sandbox.  Borrowed. */
const char *job_run_inside(const struct starter *starter);
/* Both return the path of the file `name` in the directory of checkpoint images:
 * job_run_image_path() as the starter sees it, job_run_image_inside() as the job's programs see it.
 * name "": the directory itself.  The caller owns the string. */
char *job_run_image_path(const struct starter *starter, const char *name);
char *job_run_image_inside(const struct starter *starter, const char *name);
/* Makes the directory of checkpoint images and gives it to the job's account.  Returns 0 or
 * -errno. */
int job_run_image_directory(struct starter *starter, struct err *err);
/* Returns whether the job's files stay at its submit machine; remote.h explains such jobs. */
bool job_run_is_remote(const struct starter *starter);
/* Returns true for a job whose files stay at its submit machine, if this machine lacks the file
 * system for such jobs: then a library that is linked into the job's program sends the program's
 * file calls to the submit machine. */
bool job_run_is_wrapped(const struct starter *starter);

/* ---- the run's phase and its end */
/* Makes starter.c do what `wake` says, at the latest in the next pass of the event loop. */
void job_run_wake(struct starter *starter, enum starter_wake wake);
/* Moves the run to a later phase and logs that; ends the process if the phase is not a later
 * one. */
void job_run_enter(struct starter *starter, enum starter_phase phase);
/* Ends the run without a result: starter.c cleans up and tells the startd why. reason "": nothing
 * is wrong, and the claim continues.  Does nothing when the run is being cleaned up already. */
void job_run_give_up(struct starter *starter, const char *reason);
/* Ends the run without a result, as job_run_give_up() does, because of the machine: see
 * `machine_fault` of struct job_end. */
void job_run_blame_machine(struct starter *starter, const char *reason);
/* Ends the run without a result because of an error: blames the machine if err_is_shortage(code).
 * Otherwise as job_run_give_up(). */
void job_run_give_up_for(struct starter *starter, int code, const char *reason);
/* Called when a program could not be started.  If code says that the machine lacks something just
 * now (err_is_shortage()), and few tries were made, logs the reason, has starter.c do what `wake`
 * says after a short time, and returns true. */
bool job_run_tries_again(struct starter *starter, int code, const char *reason,
                         enum starter_wake wake);
/* Notes and logs that the run must end with a hold of the job: code is HoldReasonCode, subcode
 * HoldReasonSubCode, reason HoldReason.  The caller must still end the programs that run. */
void job_run_note_hold(struct starter *starter, int code, int subcode, const char *reason);
/* Holds a job that has no running process: notes the hold (code, subcode and reason as for
 * job_run_note_hold()) and moves the run to STARTER_REPORT. */
void job_run_hold(struct starter *starter, int code, int subcode, const char *reason);
/* Returns whether the startd may give this process another job: nothing unusual happened in the
 * run, and the process has not reached STARTER_MAX_JOBS. */
bool job_run_may_stay(const struct starter *starter);

/* ---- the run's connections to shadow and startd */
/* Returns the ad that names this run to a shadow: JobId and ClaimEpoch.  The caller owns it. */
struct ad *job_run_hello(const struct starter *starter);
/* If the connection to the shadow was kept from an earlier run and the shadow was not told of this
 * run yet, returns the ad that names this run (job_run_hello()); the caller owns it and must send
 * it, with the nonce, in its next call to the shadow.  Otherwise, and for later calls, returns
 * NULL. */
struct ad *job_run_shadow_who(struct starter *starter);
/* Closes the connection to the shadow, if any, and stops the timer that would make a new one. */
void job_run_close_shadow(struct starter *starter);
/* closes the connection to the shadow, and makes a new one at once */
void job_run_dial_again(struct starter *starter);
/* Returns the ad that names this run in each call to the startd: JobId, ClaimEpoch, Pid.  The
 * caller owns it. */
struct ad *job_run_startd_who(const struct starter *starter);
/* Returns the body of a message to the startd: args and the claim id, which proves that the message
 * is from this run.  Both are borrowed. */
struct wire_body job_run_startd_body(const struct starter *starter, const struct ad *args);

/* ---- the run's files, and how the job ended */
/* Closes the file that is being sent or received, if any, and clears run.in_hand. */
void job_run_close_file(struct starter *starter);
/* Forgets the list of inputs. */
void job_run_forget_inputs(struct starter *starter);
/* Returns for how many seconds the job's process has run, or had run when it ended. */
int64_t job_run_length_s(const struct starter *starter);
/* Adds attributes about how the job ended to args: ExitBySignal, and either ExitCode, or ExitSignal
 * and JobCoreDumped. */
void job_run_add_exit(const struct starter *starter, struct ad *args);

#endif
