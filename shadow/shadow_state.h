/* shadow/shadow_state.h - what the parts of a shadow share.
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
#ifndef SHADOW_SHADOW_STATE_H
#define SHADOW_SHADOW_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/digest.h"
#include "base/err.h"
#include "base/stream.h"
#include "base/vec.h"
#include "wire/verbs.h"

struct ad;
struct listener;
struct log;
struct loop;
struct loop_lane;
struct loop_timer;
struct os;
struct os_file;
struct strmap;
struct uplink;
struct wire;
struct wire_context;
struct wire_reply;
struct wire_request;
struct work;

#define SHADOW_LANES_MAX     64
#define SHADOW_LINKS_MAX     10000
#define SHADOW_STRANGERS_MAX 64 /* connections that have proved nothing; base/strangers.h */
#define SHADOW_PIECE_BYTES   ((size_t)256 << 10)
#define RUN_ID_SIZE          32
#define RUN_NONCE_SIZE       33

enum run_phase {
    RUN_OPEN,
    RUN_SYNCING,
    RUN_REPORTING,
    RUN_PLACING,
    RUN_FINISHING,
    RUN_OVER,
    RUN_PHASES
};

struct shadow {
    struct loop *loop;
    struct os *os;
    struct log *log;
    char *owner;
    char *directory;               /* SPOOL/owner/<owner> */
    char *stages;                  /* <directory>/stage */
    char *spools;                  /* <directory>/spool: what evicted jobs have made */
    char *checkpoints;             /* <directory>/ckpt */
    int64_t checkpoint_quota;      /* bytes; 0: no limit */
    char *ckpt_program;            /* roost-ckpt */
    char *checkpoint_destination;  /* CHECKPOINT_DESTINATION; NULL: SPOOL */
    LIST_HEAD(, removal) removals; /* checkpoint.c */
    struct tls_identity *identity;
    struct wire_context *context;
    struct uplink *uplink;
    struct listener *listener;
    struct loop_timer *greeting; /* to say SHADOW_HELLO again: another one was there */
    bool greeted;                /* SHADOW_HELLO was answered on the uplink as it is now */
    struct loop_lane *lanes[SHADOW_LANES_MAX];
    size_t lane_count;
    struct strmap *runs;                 /* job id -> struct run, the newest of each job */
    struct vec links;                    /* struct link: connections of starters */
    struct vec reports;                  /* struct report: not answered yet */
    struct vec works;                    /* struct work: under way on lanes */
    struct vec sweeps;                   /* of stage.c */
    LIST_HEAD(, get) gets;               /* feed.c: files on their way to starters */
    struct vec tickets, guests;          /* guest.c: who may come, and who is there */
    LIST_HEAD(, forward) forwards;       /* guest.c: what starters were asked for guests */
    LIST_HEAD(, spool_work) spool_works; /* spool.c */
    int64_t spool_quota, spool_used;     /* bytes; used: of the lane that writes */
    bool spool_counted;
    int64_t spool_reserve; /* bytes of SPOOL's disk that are left to the queue */
    struct loop_timer *orphan;
    uint64_t orphan_ms;
    struct mail *mail;                   /* mail.c; NULL: none is being sent */
    int64_t mail_sent;                   /* number of the last */
    int64_t input_mb_max, output_mb_max; /* where a job says nothing; -1: any */
    char *sendmail;                      /* "": mail is not sent */
    struct event_logs *event_logs;       /* event_log.c; NULL: no event came yet */
    struct remotes *remotes;             /* remote.c */
    bool asking;       /* link.c: the schedd is asked for a run that we do not know */
    uint64_t asked_ms; /* when it was the last time */
};

struct run_turn { /* turns.c: to transfer something large */
    struct run *run;
    struct wire *wire; /* the uplink on which it was asked for */
    int64_t call;      /* 0: not asked for, or given back */
    bool is_wanted;    /* to be asked for when the schedd is back */
    bool has_begun, is_over;
    struct vec parked; /* struct wire_request: calls of the starter that wait */
    int64_t bytes;
    uint64_t told_ms;
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
    struct link *link;        /* its starter's connection, NULL: none */
    char *part, *stage;       /* directories: while it is filled, and when it is complete */
    char *spool;              /* where it goes instead when the job is evicted */
    char *spooled;            /* what an earlier run has left there, NULL: nothing */
    bool evicted;             /* JOB_DONE said so */
    bool is_spent;            /* spooled is of no more use */
    struct vec inputs;        /* struct transfer_entry, after JOB_FETCH */
    struct strmap *files;     /* name -> struct staged; touched on the lane only */
    struct run_turn turns[2]; /* of input, of output */
    struct os_file *live[2];  /* the same: where streams of the running job go */
    char *made;               /* the same: the directory of the stage that was made last */
    char *in_hand;            /* the same: the file that was begun last */
    bool has_stage;           /* the same: the directory was made */
    bool has_trees;           /* the same: not all is at its top */
    bool no_output;           /* JOB_DONE named no file: nothing is staged or placed */
    int64_t input_bytes, output_bytes;  /* the latter on the lane only */
    int64_t output_bytes_max;           /* -1: any */
    int64_t ckpt_latest, ckpt_previous; /* that the schedd has committed; 0: none */
    bool ckpt_over;                     /* the job has left: what comes is not kept */
    struct remote *remote;              /* remote.c; NULL: it has no remote system calls */
    struct vec waiting;                 /* struct wire_request: JOB_DONE to be answered */
    /* wall clock in ms; 0: not yet */
    int64_t input_began_ms, input_ended_ms, output_began_ms;
};

/* ---- shadow_run.c: runs and what starters ask ---- */

struct run *run_create(struct shadow *shadow, const char *id, int64_t epoch, const char *nonce,
                       const struct ad *job);
struct loop_lane *run_lane(const struct shadow *shadow, const char *id); /* of that job's runs */
struct run *run_find(const struct shadow *shadow, const char *id, int64_t epoch);
void run_move(struct run *run, enum run_phase phase);
/* When a transfer was, for the job's event log; a job that transfers nothing says nothing. */
void run_note_transfers(const struct run *run, struct ad *args);
void run_use(struct run *run);
void run_unuse(struct run *run); /* may free it */
/* Forgets the run, closes its connection; remove_stage: and what it has staged. */
void run_drop(struct run *run, bool remove_stage);
/* The process ends: connections are closed and lanes have stopped. */
void runs_end(struct shadow *shadow);
/* A copy that shares nothing: for works on a lane. */
struct ad *ad_for_lane(const struct ad *ad);
/* Answers all JOB_DONE that wait: status 0, or negative with the text. */
void run_answer_done(struct run *run, int status, const char *text);

/* ---- link.c: connections of starters ---- */

struct incoming;
void link_accept(void *shadow, struct incoming *incoming); /* a listener_f */
void link_close(struct link *link);
struct guest;
/* Closes the connection of that client, who leaves with it. */
void links_end_guest(struct shadow *shadow, const struct guest *guest);
struct wire *link_wire(const struct link *link);
void link_stays(struct link *link, bool stays);
/* Its run is over: closed, unless its starter stays for the next one. */
void link_let_go(struct link *link);

/* A request of a starter whose run is known: shadow_run.c. */
void run_handle(struct run *run, struct wire_request *request);

/* ---- report.c: what the schedd is told, again until it answers ---- */

typedef void (*report_f)(struct run *run, void *arg, int status, const char *text,
                         const struct ad *answer);
/* args is taken; JobId and ClaimEpoch are added.  run may be NULL: then id and epoch are in args.
 */
void report_send(struct shadow *shadow, struct run *run, enum wire_verb verb, struct ad *args,
                 report_f answered, void *arg);
void reports_send_again(struct shadow *shadow); /* after SHADOW_HELLO */
void reports_end(struct shadow *shadow);        /* for runs_end() */
/* Hold: the job's own fault. */
void report_hold(struct run *run, int code, int subcode, const char *reason, report_f answered,
                 void *arg);

/* ---- stage.c: output, until it is durable; place.c: to its place ---- */

void stage_put(struct run *run, struct wire_request *request);  /* FILE_PUT */
void stage_done(struct run *run, struct wire_request *request); /* JOB_DONE */
void stage_place(struct run *run);
void stage_forget_files(struct run *run); /* closes what is open; no work may be under way */
/* Is `name` ("12.3.1" or "12.3.1.part") in the list "12.3.1,12.4.2"? */
bool stages_lists(const char *known, const char *name);
/* Removes, on a lane, the stages that are not of `known` ("12.3.1,12.4.2") nor of a run. */
void stages_sweep(struct shadow *shadow, const char *known);
/* The same of what evicted jobs have left; those of `known` stay. */
void spools_sweep(struct shadow *shadow, const char *known);
void stages_end(struct shadow *shadow); /* for runs_end() */

/* ---- turns.c: large transfers take turns ---- */

/* May it be handled now?  Otherwise run_handle() gets it again when it is the run's turn. */
bool turn_is_there(struct run *run, bool output, int64_t bytes, struct wire_request *request);
void turn_give_back(struct run *run, bool output);
void turn_progress(struct run *run, bool output, int64_t bytes, int64_t total); /* more went */
void turns_ask_again(struct shadow *shadow); /* after SHADOW_HELLO */
void turns_forget(struct run *run);          /* for runs_end() */

/* ---- checkpoint.c ---- */

void checkpoint_handle(struct run *run, struct wire_request *request); /* CKPT_... */
void checkpoints_remove(struct shadow *shadow, const char *jobs);      /* all of jobs "12.3,12.4" */
/* Removes those that are of no job in `known` ("12.3,12.4"), nor of a run. */
void checkpoints_sweep(struct shadow *shadow, const char *known);
void checkpoints_end(struct shadow *shadow); /* lanes have stopped */

/* ---- ckpt_place.c, on a lane: where the checkpoints of a job are ---- */
/* Before the first of them: a directory of its own, if they do not go to SPOOL. */
int checkpoint_place_make(struct run *run, struct err *err);
/* -EAGAIN: they are where nobody can look now. */
int checkpoint_place_check(struct run *run, struct err *err);
void checkpoint_place_remove(struct shadow *shadow, const char *job); /* and all that is there */

/* ---- ckpt_merge.c, on the lane ---- */
/* Makes, in the directory `part`, an image of that in `base` and of what changed (CKPT_NAME_DELTA),
 * and writes to the manifest what it is; at most `max` bytes are made on the way.  -ENODATA: it
 * cannot be. */
int checkpoint_merge(struct work *work, const char *part, const char *base, int64_t max,
                     struct ad *manifest);
/* The same of files, of what changed of these (CKPT_NAME_CHANGES). */
int checkpoint_join(struct work *work, const char *part, const char *base, int64_t max,
                    struct ad *manifest);
/* Removes what is no part of a checkpoint. */
void checkpoint_merge_tidy(struct work *work, const char *part);

/* ---- live.c: output while the job runs ---- */

/* ---- dataflow.c: runs that need not be (SkipIfDataflow) */
/* In a lane: is all output of the job there, and newer than its inputs (struct transfer_input)? */
bool dataflow_is_done(struct work *work, const struct vec *inputs);
/* Reports the job as done; then answers JOB_FETCH: there is nothing to do. */
void dataflow_report(struct run *run, struct wire_request *request);

void live_put(struct run *run, struct wire_request *request); /* FILE_PUT with Stream */
void live_close(struct run *run);                             /* no work may be under way */

/* ---- feed.c: input ---- */

void feed_fetch(struct run *run, struct wire_request *request); /* JOB_FETCH */
void feed_get(struct run *run, struct wire_request *request);   /* FILE_GET */
void feeds_end(struct shadow *shadow);                          /* for runs_end() */

/* ---- event_log.c: events of jobs, appended to the owner's logs ---- */

void event_logs_handle(struct shadow *shadow, struct wire_request *request); /* JOB_EVENT */
void event_logs_end(struct shadow *shadow); /* the process ends; lanes included */

/* ---- mail.c ---- */

void mail_handle(struct shadow *shadow, struct wire_request *request); /* JOB_EVENT with Mail */
void mail_forget(struct shadow *shadow);                               /* the process ends */

/* ---- a work on the run's lane ---- */

struct work {
    struct run *run;
    struct wire_request *request;                /* may be NULL */
    int (*body)(struct work *work);              /* on the lane */
    void (*done)(struct work *work, int result); /* on the loop; frees what is in it, not itself */
    struct err err;
    void *arg;
};
/* run is used until done returns. */
void work_start(struct run *run, struct wire_request *request, int (*body)(struct work *work),
                void (*done)(struct work *work, int result), void *arg);

#endif
