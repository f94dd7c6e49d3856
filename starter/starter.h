/* starter/starter.h - the starter's own structures, shared by the files of this folder.
 *
 * One process for one run of one job at a time.  It goes through phases in order; what a phase
 * still has to do can be begun again from scratch after a lost connection (starter_go()).
 *
 * A run that ended as it should leaves nothing behind, and the startd may keep the starter for the
 * claim's next job (STARTER_IDLE): a new process, its configuration and its handshake with the
 * shadow cost more than a short job.  Whatever was odd about a run ends its starter: a failed
 * clean-up, a hold, a stop, a suspension, a gap of the clock.  All of struct starter that is not
 * named in starter_forget_run() is the run's and gone with it, so that nothing of one job is there
 * for the next.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_STARTER_H
#define STARTER_STARTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "base/daemon.h"
#include "base/digest.h"
#include "base/os.h"
#include "base/os_cgroup.h"
#include "base/vec.h"
#include "starter/checkpoint_plan.h"
#include "starter/starter_plan.h"
#include "transfer/transfer_walk.h"
#include "wire/secret_list.h"

struct ad;
struct cage;
struct knob_table;
struct loop_timer;
struct transfer_plugins;
struct uplink;
struct wire;
struct wire_context;
struct wire_request;

#define STARTER_PIECE_BYTES  ((size_t)1 << 20) /* of a file, in one FILE_PUT */
#define STARTER_PUTS_MAX     16                /* FILE_PUTs on their way at once */
#define STARTER_RECORD_BYTES ((size_t)16 << 20)

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

struct starter_input {
    char *name; /* in the sandbox */
    enum transfer_type type;
    char *target;     /* of a link */
    bool is_spooled;  /* an earlier run of the job made it: it goes back in any case */
    char *url;        /* it comes from there, not from the shadow; NULL otherwise */
    unsigned damaged; /* times that it came so */
    int64_t size_bytes;
    mode_t mode;
    char checksum[DIGEST_HEX_SIZE]; /* as received */
    int64_t mtime_s;                /* as written */
};

/* upload.c: before all other output. */
enum starter_uploads { UPLOADS_UNKNOWN, UPLOADS_LISTED, UPLOADS_OVER };

struct starter_put { /* not answered yet */
    bool ends;       /* its entry */
    size_t bytes;
};

struct starter_live { /* a stream that goes to the owner while the job runs */
    uint64_t offset;  /* acknowledged */
    uint64_t sent;    /* on its way behind that */
    bool ends, over;
    unsigned fails;
};

/* What was seen of the job so far. */
struct starter_watch {
    struct loop_timer *timer;
    uint64_t next_walk_ms, next_slow_ms, next_tell_ms;
    bool has_memory; /* its cgroup counts memory */
    bool looked;     /* while it ran */
    int64_t memory_kib, memory_peak_kib, group_peak_kib, image_kib;
    int64_t disk_kib, files, processes;
    double user_cpu_s, system_cpu_s;
    uint64_t oom_kills;
    struct os_traffic *traffic; /* NULL: nothing was looked at yet */
    uint64_t next_net_ms;
};

struct starter_joules {        /* joules.c */
    double reserved_w, used_w; /* for a core that the job has, for a CPU at work */
    double cores;
    uint64_t looked_ms; /* 0: nothing has run yet */
    uint64_t told_ms;
    double cpu_s, core_s, total_j; /* counted so far */
};

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

struct starter_ckpt { /* checkpoint.c */
    struct loop_timer *timer;
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

enum starter_resume_step {
    RESUME_UNKNOWN,
    RESUME_LOOKING,
    RESUME_GETTING,
    RESUME_UNPACKING, /* what came packed */
    RESUME_CHECKING,
    RESUME_READY, /* the image is here, and is for here */
    RESUME_NONE,  /* it begins at its start */
};

struct starter_resume { /* resume.c */
    enum starter_resume_step step;
    pid_t pid;            /* of roost-ckpt; 0: it does not run */
    struct vec manifests; /* struct ad, the latest first */
    size_t at, file_at;
    struct os_file *file;
    struct digest *digest;
    uint64_t offset, asked;
    size_t gets; /* that are not answered */
    bool is_unpacked;
    char why[300];  /* the run ends, when the shadow has been told */
    unsigned waits; /* for the disk on which they are */
};

#define STARTER_CGROUPS_FILE   "job.cgroups" /* beside the record: where the job's cgroup is */
#define STARTER_JOB_AD         ".job.ad"     /* in the sandbox */
#define STARTER_MACHINE_AD     ".machine.ad"
#define STARTER_AD_BESIDE_MODE 0600 /* while they are beside the sandbox */

struct starter {
    struct daemon_env env;
    char *directory, *sandbox;
    struct ad *record;                  /* what the startd wrote */
    struct secret_list *secrets;        /* of the record */
    struct wire_secret claim_id, nonce; /* among them, as they are sent */
    struct ad *job;                     /* as the shadow gave it */
    char job_id[64];
    int64_t epoch, lease_s;
    struct wire_context *wires;
    struct uplink *startd;
    struct wire *shadow; /* NULL while not connected */
    char *shadow_place;  /* where that one leads, and whom it trusts there */
    bool shadow_kept;    /* it served an earlier run, and has not been told of this one */
    int64_t runs;        /* that this process has begun */
    char *nest;          /* nest.c: the last run's directory, empty, for the next; NULL: none */
    struct os_cgroup *nest_group; /* and its cgroup, as new; NULL: none */
    struct os_cgroup_limits nest_limits;
    char *nest_cpus; /* of nest_limits */
    struct loop_timer *dial_timer, *lease_timer, *tick_timer, *kill_timer, *begun_timer;
    unsigned failures;
    uint64_t lease_end_ms, last_tick_ms;
    enum starter_phase phase;
    bool busy; /* an answer is awaited */
    enum starter_wake wake;
    struct loop_timer *wake_timer; /* set: something is due */
    /* who it runs as */
    bool change_user;
    bool is_owner; /* the job's own account */
    uid_t uid;
    gid_t gid;
    /* files */
    struct vec inputs;   /* struct starter_input */
    size_t input_at;     /* the first that is not here yet */
    int64_t input_bytes; /* of the files before it */
    bool input_made;     /* its directories and links */
    int64_t input_call;
    struct transfer_plugins *plugins; /* NULL: not asked for yet */
    size_t url_at;                    /* in inputs */
    unsigned url_tries;
    bool url_is_curls;
    struct vec uploads; /* struct upload: output that goes to URLs */
    size_t upload_at;
    enum starter_uploads upload_step;
    struct ad *upload_hold;         /* HoldReason ...: some of it could not be sent */
    struct vec outputs;             /* struct transfer_entry; path below the sandbox */
    struct vec checksums;           /* of those that were sent */
    int64_t output_bytes;           /* of all of them */
    size_t output_at, output_acked; /* next to be sent, to be acknowledged */
    unsigned put_failures;          /* of the submit host's storage, in this run's output */
    bool output_doubted;            /* what the shadow has of it could not be stored */
    bool output_asks;               /* what the shadow has of the file in hand is not known */
    struct starter_put puts[STARTER_PUTS_MAX];
    size_t puts_count;
    struct starter_live live[2]; /* stdout, stderr */
    struct loop_timer *live_timer;
    size_t live_at;
    bool live_busy;
    bool evicted;       /* what there is goes back for the next run */
    bool delivered;     /* JOB_DONE was accepted, and it was no eviction */
    struct ad *missing; /* HoldReason ...: some output that the job names is not there */
    unsigned resends;   /* of all outputs */
    struct os_file *file;
    uint64_t offset;
    int64_t received_bytes, sent_bytes; /* of files, what was sent again included */
    struct digest *digest;
    /* the job */
    struct cage *cage;
    struct starter_ckpt ckpt;
    struct starter_resume resume;
    struct starter_watch watch;
    struct starter_joules joules;
    enum starter_script script; /* in hand */
    pid_t info_pid;             /* of the hook beside the job; 0: none runs */
    pid_t pid;     /* of its process, or of what keeps its cage; 0 not yet, -1 no more */
    pid_t job_pid; /* of the job itself */
    int64_t started_s;
    bool started_told; /* a job that ends within STARTER_TELLS_MS is told of once, by JOB_DONE */
    struct os_exit exit;
    int64_t ended_s;
    bool gap;       /* the clock jumped: the job waits for its claim */
    bool suspended; /* the machine's owner is back */
    bool frozen;    /* it stands still, for one of these */
    bool stopping, stop_fast;
    enum starter_stop_kind stop_kind;
    /* deferral.c */
    struct loop_timer *deferral_timer;
    enum starter_deferral deferral;
    bool deferral_known, deferral_waited, deferral_over;
    int64_t begin_s, begin_until_s;
    int64_t grace_s; /* between soft signal and KILL, as the startd says; 0: KILLING_TIMEOUT */
    LIST_HEAD(, peek) peeks; /* peek.c: looks that wait for more */
    struct loop_timer *peek_timer;
    LIST_HEAD(, shell) shells; /* shell.c */
    int64_t shell_number;      /* of the last one */
    bool peeks_over;           /* nothing of the job is left that could write */
    struct ad *hold;  /* HoldReason ... when the job could not be started for its own fault */
    char reason[200]; /* for the startd: "" the claim goes on */
    bool odd;         /* something was not as it should be: no further job for this process */
};

extern const struct knob_table starter_knobs;
extern const struct daemon starter_daemon;

/* Does what the phase needs next, if nothing is under way and the way is open. */
void starter_go(struct starter *starter);
/* The run is over without a result: cleans up and tells the startd why ("": the claim goes on). */
void starter_give_up(struct starter *starter, const char *reason);
void starter_stop(struct starter *starter, bool fast);
/* Begins the run whose record is in that directory. */
int starter_begin(struct starter *starter, const char *directory, struct err *err);
/* The startd keeps us: all of the run is forgotten. */
void starter_rest(struct starter *starter);

/* ---- shadow_link.c */
void shadow_link_dial(struct starter *starter);

/* ---- startd_link.c */
int startd_link_open(struct starter *starter, struct err *err);
void startd_link_tell(struct starter *starter); /* STARTER_DONE, then the end */
void startd_link_close(struct starter *starter);

/* ---- joules.c: what the run has of the machine's energy */
void joules_rates(struct starter *starter, const struct ad *args);  /* at which it is counted now */
void joules_begin(struct starter *starter);                         /* something runs */
void joules_look(struct starter *starter, double cpu_s);            /* that it has used in all */
void joules_report(const struct starter *starter, struct ad *args); /* for the job ad */
void joules_put(const struct starter *starter, struct ad *args);    /* for the startd */
void joules_tell(struct starter *starter, bool at_once);            /* or only if it is time */

#define STARTER_URL_TRIES_MAX 3 /* of one URL, before the job is held */

/* ---- input.c, collect.c, output.c: one step each */
void input_fetch(struct starter *starter);
void input_next(struct starter *starter);
void output_collect(struct starter *starter);
/* HTCondor's sentence, into ret. */
void output_cannot_be_read(const struct starter *starter, const char *name, int code,
                           const char *why, char *ret, size_t size);
/* Does what a job has made by the time it is stopped go back, too? */
bool output_is_spooled(const struct starter *starter);
void output_next(struct starter *starter);
void output_report(struct starter *starter);
void output_forget(struct starter *starter);
void output_cut(struct starter *starter); /* the connection is another */

/* ---- job.c */
void job_start(struct starter *starter);
void job_tell_started(struct starter *starter);
void job_begun(void *arg); /* the job has lived for STARTER_TELLS_MS: its start is told */
void job_stop(struct starter *starter, bool fast);
void job_freeze(struct starter *starter); /* or lets it go on: as gap and suspended say */
void job_clean(struct starter *starter);
void job_over(struct starter *starter); /* it and what runs after it have ended */

/* ---- nest.c: what is kept of a run's directory for the next run */
/* Empties the run's directory, of which no process is left, and keeps it; false: it is to be
 * removed. */
bool nest_keep(struct starter *starter);
/* Is the run's sandbox that of the kept directory, as new?  What else is kept is removed then. */
bool nest_has_sandbox(struct starter *starter);
void nest_remove(struct starter *starter); /* what is kept, if anything */
/* Keeps the group, which then is nobody else's, if it can be made as new; false: it is to be
 * removed. */
bool nest_keep_group(struct starter *starter, struct os_cgroup *group,
                     const struct os_cgroup_limits *limits);
/* The group that is kept, if it has those limits; NULL: there is none. */
struct os_cgroup *nest_take_group(struct starter *starter, const struct os_cgroup_limits *limits);
/* Where a file of the sandbox waits between two runs; the caller owns it. */
char *nest_ad_path(const struct starter *starter, const char *name);

/* ---- deferral.c */
/* True: it is not the job's time yet, WAKE_GO comes again; or it is held, its time is over. */
bool deferral_holds_back(struct starter *starter);
void deferral_tick(void *starter); /* the deferral_timer's */

/* ---- live.c: streams that go to the owner while the job runs */
bool live_is(const struct starter *starter, const char *name); /* is that file one? */
void live_look(void *starter);                                 /* the live_timer's */
void live_begin(struct starter *starter);
bool live_is_over(const struct starter *starter);
void live_cut(struct starter *starter); /* the connection is another */
void live_forget(struct starter *starter);

/* ---- fetch.c: inputs that are URLs */
bool fetch_is_needed(struct starter *starter);
void fetch_next(struct starter *starter); /* comes back by WAKE_GO */
void fetch_forget(struct starter *starter);

/* ---- upload.c: output that goes to URLs, while the cage is there and the sandbox is the account's
 */
bool upload_is_needed(struct starter *starter);             /* comes back by WAKE_OVER */
bool upload_has_destination(const struct starter *starter); /* cheap: some URL is named at all */
bool upload_next(struct starter *starter); /* false: that one could not even be begun */
/* Is that file of the sandbox one of them?  It is kept for upload_next() the first time. */
bool upload_takes(struct starter *starter, const char *name, const char *path, int64_t size_bytes);
void upload_forget(struct starter *starter);

/* ---- url_program.c: programs that know URLs, in the job's cage and as its account */
enum url_program_way { URL_FETCH, URL_UPLOAD };
/* Fetches the URL to that name below the sandbox, or sends it.  1: not now, the run is
 * woken when it is known who can; -ENOTSUP: nobody can. */
int url_program_run(struct starter *starter, enum url_program_way way, const char *url,
                    const char *name, os_exit_f on_exit, struct err *err);
/* What it said, of why it failed: at most size - 1 bytes. */
void url_program_message(struct starter *starter, const struct os_exit *how, char *ret,
                         size_t size);
bool url_program_is_hopeless(const struct starter *starter, const struct os_exit *how);
void url_program_tidy(struct starter *starter); /* removes its files from the sandbox */

/* ---- scripts.c: what runs before and after the job */
bool scripts_before(struct starter *starter); /* false: it is the job's turn */
bool scripts_after(struct starter *starter);  /* false: all of them have ended */
/* The site's hook that wants to know how the job that runs gets on; fails without consequences. */
void scripts_tell(struct starter *starter);
void scripts_forget(struct starter *starter); /* of the run: its hook's end is not waited for */

/* ---- cage.c: what the job is shut in */
/* os_spawn() in the job's cage, which is made at the first call.  -ENOTSUP: it cannot be had, and
 * nothing may run without it. */
int cage_spawn(struct starter *starter, const struct os_spawn *spec, os_exit_f on_exit, pid_t *ret,
               struct err *err);
/* The same for a program beside the job that runs: where the job is, counted as it is. */
int cage_spawn_beside(struct starter *starter, const struct os_spawn *spec, os_exit_f on_exit,
                      pid_t *ret, struct err *err);
bool cage_has_walls(const struct starter *starter); /* nothing outside was within its reach */
/* The name of its /tmp in path, which is in the run's directory; NULL: it has none there. */
const char *cage_scratch_inner(const struct starter *starter, const char *path);
int64_t cage_memory_limit_mib(const struct starter *starter);            /* 0: none */
const struct os_cgroup *cage_group(const struct starter *starter);       /* NULL: it has none */
void cage_figures(struct starter *starter, struct os_cgroup_usage *ret); /* all 0 without a group */
/* While there is a copy of the job to make an image of, each page that either writes to is there
 * twice: the job is not to be killed for that.  Until it is said to be over its limit of memory is
 * twice as much. */
void cage_allow_copy(struct starter *starter, bool copied);
void cage_kill(struct starter *starter); /* all that is in it; returns at once */
void cage_freeze(struct starter *starter, bool frozen);
void cage_empty(struct starter *starter); /* nothing lives in it after this */
void cage_close(struct starter *starter);

/* The i-th directory of ours that the job has at another place; false: there is none. */
bool cage_scratch(const struct starter *starter, size_t index, const char **from, const char **to);
/* The same for all that is mounted at a place of its own, the scratch directories among them. */
bool cage_mount_point(const struct starter *starter, size_t index, const char **to);

/* ---- checkpoint.c */
/* When the job ad is here: can it be checkpointed? */
void checkpoint_decide(struct starter *starter);
void checkpoint_begin(struct starter *starter); /* the job runs */
void checkpoint_note_frozen(struct starter *starter, bool frozen);
void checkpoint_tick(struct starter *starter); /* when ckpt.timer has run out */
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

/* ---- ckpt_take.c */
/* The one in hand counts (or not): from now on what changed since is known, if that can be. */
void ckpt_take_note_sent(struct starter *starter, bool counts);
/* Begins to make image and archive: ckpt.pid, files. */
int ckpt_take_spawn(struct starter *starter, os_exit_f on_exit, struct err *err);
char *ckpt_take_report(struct starter *starter); /* what was said of them, or why not */
/* ckpt.manifest, made_id, is_delta, sizes; of a report.  -ENODATA: it is of no use to the shadow.
 */
int ckpt_take_manifest(struct starter *starter, const char *report, struct err *err);
void ckpt_take_follow(struct starter *starter); /* starts a follower, if there should be one */
void ckpt_take_end(struct starter *starter);    /* none of these programs is left */

/* ---- ckpt_program.c: roost-ckpt */
/* Puts what makes a program one that can be resumed in front of its words. */
void ckpt_program_words(struct starter *starter, struct vec *argv);
void ckpt_program_environment(const struct starter *starter, struct vec *entries);
/* It was not the job that ended, but what it runs below: the run is over. */
bool ckpt_program_was_killed(struct starter *starter);
/* Beside the job, as its account, in the run's directory; said, errors: files, or NULL. */
int ckpt_program_run(struct starter *starter, const char *const *argv, const char *said,
                     const char *errors, os_exit_f on_exit, pid_t *ret, struct err *err);

/* ---- ckpt_inputs.c */
int ckpt_inputs_save(struct starter *starter, struct err *err); /* before the job begins */
void ckpt_inputs_load(struct starter *starter);                 /* of one that goes on */

/* ---- ckpt_send.c */
void ckpt_send_begin(struct starter *starter); /* image and archive are there */
void ckpt_send_next(struct starter *starter);  /* goes on */
void checkpoint_cut(struct starter *starter);  /* the connection is another */

/* ---- remote.c: its files are at its submit machine */
#define REMOTE_FILES ".rsys" /* a directory of the sandbox: what the mount is told, and says */
/* Before the sandbox is the account's: what the mount is told. */
int remote_prepare(struct starter *starter, struct err *err);
/* ShadowAddress has changed: the mount dials there from now on. */
void remote_moved(struct starter *starter);
/* Puts the mount in front of the program's words; what it must not have of the environment. */
void remote_words(struct starter *starter, struct vec *argv);
void remote_environment(struct vec *entries);
char *remote_log(const struct starter *starter); /* where it says why; the caller owns it */
/* It was the mount that ended, not the job: the run is over, or the job is held. */
bool remote_failed(struct starter *starter);
/* The same when nobody wanted its end: it was the mount that a signal ended. */
bool remote_was_killed(struct starter *starter);

/* ---- resume.c */
bool resume_is_needed(const struct starter *starter); /* in the place of input */
void resume_next(struct starter *starter);            /* comes back by WAKE_GO */
bool resume_is_ready(const struct starter *starter);
int64_t resume_sequence(const struct starter *starter); /* it goes on from; 0: from its start */
void resume_tick(struct starter *starter);              /* the ckpt.timer's, before the job runs */
/* True: its files are being unpacked; job_start() is called when they are, or the run ends. */
bool resume_unpacks(struct starter *starter);
/* The words of the image in the place of the program's, and where its own standard error goes. */
void resume_words(struct starter *starter, struct vec *argv, char **ret_log);
/* It ended because it could not be resumed: so does the run. */
bool resume_failed(struct starter *starter);
void resume_forget(struct starter *starter);

/* ---- peek.c: what the owner sees of its files meanwhile */
void peek_handle(struct starter *starter, struct wire_request *request); /* FILE_PEEK */
void peek_over(struct starter *starter); /* no process of the job is left: all that there is */
void peek_close(struct starter *starter);

/* ---- shell.c: programs beside the job, for its owner */
void shells_handle(struct starter *starter, struct wire_request *request); /* SHELL_... */
void shells_note_frozen(struct starter *starter); /* the job stands still, or goes on */
void shells_look(struct starter *starter);    /* ends an interactive job that has none any more */
void shells_hang_up(struct starter *starter); /* the way to their owner is lost */
void shells_close(struct starter *starter);   /* the job's end is theirs */

/* ---- watch.c: what the job takes */
enum watch_seen {
    WATCH_OVER, /* nothing runs any more */
    WATCH_LOOKED,
    WATCH_TOLD, /* and told what the job takes */
};
enum watch_seen watch_look(struct starter *starter); /* when watch.timer has run out */
/* Whatever runs in the cage is watched: a script, a program that fetches a URL, the job. */
void watch_begin(struct starter *starter);
void watch_rest(struct starter *starter); /* what ran is over, and the job is not */
/* Is so much input more than the disk that the job has?  Then it is to be held. */
bool watch_is_too_much(const struct starter *starter, int64_t bytes);
void watch_hold_input(struct starter *starter, int64_t bytes);
/* A last look, before the cage is emptied; true if it led to a hold. */
bool watch_end(struct starter *starter);
void watch_tell(struct starter *starter); /* JOB_USAGE */
void watch_report(const struct starter *starter, struct ad *args);

#endif
