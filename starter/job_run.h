/* starter/job_run.h - what every part of a run needs of it: its names, its phase, its end.
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

#define STARTER_PIECE_BYTES ((size_t)1 << 20) /* of a file, in one FILE_PUT */

#define STARTER_CGROUPS_FILE   "job.cgroups" /* beside the record: where the job's cgroup is */
#define STARTER_JOB_AD         ".job.ad"     /* in the sandbox */
#define STARTER_MACHINE_AD     ".machine.ad"
#define STARTER_AD_BESIDE_MODE 0600 /* while they are beside the sandbox */

enum starter_phase {
    STARTER_FETCH,  /* the job ad and the list of inputs */
    STARTER_INPUT,  /* one input after the other */
    STARTER_RUN,    /* the job's process */
    STARTER_OUTPUT, /* one output after the other */
    STARTER_REPORT, /* JOB_DONE */
    STARTER_CLEAN,  /* kill what is left, remove the sandbox */
    STARTER_TELL,   /* the startd */
    STARTER_IDLE,   /* kept for the claim's next job */
    STARTER_END,
};

/* What runs in the job's cage, one after the other: see scripts.c. */
enum starter_script {
    SCRIPT_NONE,
    SCRIPT_PREPARE,
    SCRIPT_PRE,
    SCRIPT_JOB,
    SCRIPT_POST,
    SCRIPT_EXIT,
    SCRIPT_OVER,
};

/* What a part of the run asks of starter.c: the later one outdoes the earlier one. */
enum starter_wake {
    WAKE_NONE,
    WAKE_GO,   /* what the phase needs next */
    WAKE_OVER, /* the job and what runs after it have ended: job_over() */
};

enum starter_stopping { RUNS_ON, STOPS_GENTLY, STOPS_AT_ONCE };

struct job_lease {
    int64_t length_s;
    uint64_t end_ms, last_tick_ms;
};

struct job_file { /* that is being sent or received */
    struct os_file *file;
    uint64_t offset;
    struct digest *digest;
};

struct job_bytes { /* of files, what was sent again included */
    int64_t received, sent;
};

struct job_process {
    pid_t info_pid; /* of the hook beside the job; 0: none runs */
    pid_t pid;      /* of its process, or of what keeps its cage; 0 not yet, -1 no more */
    pid_t job_pid;  /* of the job itself */
    int64_t started_s;
    bool started_told; /* a job that ends within STARTER_TELLS_MS is told of once, by JOB_DONE */
    struct os_exit exit;
    int64_t ended_s;
    bool gap;       /* the clock jumped: the job waits for its claim */
    bool suspended; /* the machine's owner is back */
    bool frozen;    /* it stands still, for one of these */
};

struct job_stop { /* of the run, before its end */
    enum starter_stopping how;
    enum starter_stop_kind kind;
    int64_t grace_s; /* between soft signal and KILL, as the startd says; 0: KILLING_TIMEOUT */
};

struct job_end {      /* of the run */
    bool evicted;     /* what there is goes back for the next run */
    bool delivered;   /* JOB_DONE was accepted, and it was no eviction */
    struct ad *hold;  /* HoldReason ... when the job could not be started for its own fault */
    char reason[200]; /* for the startd: "" the claim goes on */
    bool odd;         /* something was not as it should be: no further job for this process */
};

/* One run of one job: gone as a whole when the process is kept for the next one, so that nothing of
 * one job is there for the next. */
struct job_run {
    char *directory, *sandbox;
    struct ad *record;                  /* what the startd wrote */
    struct secret_list *secrets;        /* of the record */
    struct wire_secret claim_id, nonce; /* among them, as they are sent */
    struct ad *job;                     /* as the shadow gave it */
    char job_id[64];
    int64_t epoch;
    struct job_lease lease;
    struct job_account account;
    enum starter_phase phase;
    bool busy; /* an answer is awaited */
    enum starter_wake wake;
    bool shadow_kept;  /* it served an earlier run, and has not been told of this one */
    unsigned failures; /* to dial it */
    struct job_stop stop;
    struct job_end end;
    struct job_file in_hand;
    struct job_bytes bytes;
    /* its parts */
    struct starter_inputs input;
    struct starter_urls urls;
    struct starter_resume resume;
    struct starter_deferred deferred;
    struct cage *cage;
    enum starter_script script; /* in hand */
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
