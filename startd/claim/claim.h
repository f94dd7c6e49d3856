/* startd/claim/claim.h - what a claim is made of: what its schedd asked for, the job it was given
 * last, the run under way, the starter of that, and how the claim ends.
 *
 * Each part has its own struct and lifetime.  claim.c has the claim's own life, claim_plan.h the
 * stages of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_CLAIM_CLAIM_H
#define STARTD_CLAIM_CLAIM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "startd/claim/claim_plan.h"

#define CLAIM_NONCE_SIZE 33 /* hex digits of 16 bytes, and the zero */

struct ad;
struct err;
struct loop_timer;
struct slot;
struct startd;
struct wire;
struct wire_request;

/* The schedd that has the claim. */
struct claim_schedd {
    char *address, *pin, *name;
    char *token;               /* id of the token that has signed DIAL_ME */
    char *uid_domain, *owners; /* of that token: as whom its jobs may run (owner_plan.h) */
};

/* The connection to that schedd: we dial. */
struct claim_link {
    struct wire *wire; /* NULL: there is none */
    struct loop_timer *dial_timer;
    unsigned failures; /* dials in a row that failed */
    bool resume;       /* the next CLAIM is a resumption */
};

/* How long the claim is good without a word from the schedd. */
struct claim_lease {
    int64_t length_s;
    uint64_t end_ms;  /* loop_now_ms() */
    uint64_t sent_ms; /* of the renewal (CLAIM, ALIVE) under way */
    struct loop_timer *alive_timer, *end_timer;
    bool confirmed; /* by the schedd, in this life of ours: only then do we know the lease's end */
    bool renewing;
    bool say_again; /* ALIVE was due while a renewal was under way: another follows at once */
};

/* Calls of the schedd that are still to be answered; NULL: none. */
struct claim_calls {
    struct wire_request *starting;   /* ACTIVATE, to be answered once its run is committed */
    struct wire_request *activate;   /* the next one, waiting for the last starter to end */
    struct wire_request *deactivate; /* to be answered when the starter is gone */
    struct wire_request *release;    /* to be answered when the claim is gone */
};

/* The job that the claim was given last; of one that was only offered: for whom it is. */
struct claim_job {
    char id[64]; /* "" before the first */
    int64_t epoch;
    char *user; /* of the job: RemoteUser */
    struct ad *ad;
    struct ad *shown; /* what the slot's ad says of the job, CurrentRank among it */
};

/* The run of that job, in the stages recording to active. */
struct claim_run {
    int64_t start_s; /* 0: none yet */
    char *record;    /* text of the job record that the starter reads */
    char *directory;
    pid_t recorded_pid;               /* that the record of the run names; 0: none yet */
    double energy_j, core_s;          /* as meter.c has counted it */
    int64_t ckpt_taken_s, ckpt_run_s; /* of its last checkpoint: when, how much of it is saved */
};

enum suspended_by { SUSPENDED_BY_NONE, SUSPENDED_BY_POLICY, SUSPENDED_BY_USER };

struct claim_suspension {
    enum suspended_by by; /* the user: its schedd wants it, and CONTINUE does not let it go on */
    int64_t at_s;         /* when it last began to; 0: never in this run */
    int64_t total_s;      /* of this run, up to the last CONTINUE */
    int64_t count;        /* of this run */
};

/* The process that runs the job. */
struct claim_starter {
    pid_t pid; /* 0: none */
    uint64_t start;
    struct wire *wire;
    uint64_t config;       /* startd->starters.configurations when it was started */
    bool adopted;          /* it was there before us */
    bool done;             /* it said that it is done; its process is still to end */
    bool delivered;        /* it said that the job's result was accepted */
    char done_reason[200]; /* what it said */
};

/* A starter between two jobs: it waits for the claim's next.  Without its connection it is on its
 * way out, and holds the slot's lock until it is gone. */
struct claim_kept {
    pid_t pid; /* 0: none */
    uint64_t start;
    char *directory; /* of its last run: empty, for its next; it may be gone */
    struct wire *wire;
};

enum claim_stop_how { CLAIM_STOP_NOT, CLAIM_STOP_ASKED, CLAIM_STOP_FAST };

/* What the starter was told of its end. */
struct claim_stop {
    enum claim_stop_how how;
    char kind[16];            /* what DEACTIVATE said it is for: "Remove", "Hold" or "" */
    int64_t grace_s;          /* between soft signal and KILL; 0: the starter's own */
    struct loop_timer *timer; /* it does not end: the next step */
};

/* What draining and the owner's policy have to do with the run. */
struct claim_retirement {
    struct loop_timer *timer; /* of a claim that is preempted: it has retired long enough */
    bool evicted;             /* PREEMPT was true: its job has to go, after its retirement */
    bool accepted;            /* it came while draining, under StartExpr */
    bool drained;             /* draining has ended its run: that is badput */
};

/* Why the claim ends. */
struct claim_ending {
    char reason[200];    /* the claim ends with its starter; "" = it does not */
    bool preempted;      /* by a better claim, by draining or the machine's end */
    bool starter_failed; /* reason is the starter's own */
    bool overdue;        /* the lease is over: the starter is killed if it does not end soon */
};

struct claim {
    struct startd *startd;
    struct slot *slot; /* NULL in stage OVER */
    enum claim_stage stage;
    char id[CLAIM_ID_MAX];
    char nonce[CLAIM_NONCE_SIZE]; /* the schedd knows the claim's machine by it; "": of a claim that
                                   * an older version made */
    char slot_name[300];
    struct claim_schedd schedd;
    struct claim_link link;
    struct claim_lease lease;
    struct claim_calls calls;
    struct claim_job job;
    struct claim_run run;
    struct claim_suspension suspension;
    struct claim_starter starter;
    struct claim_kept kept;
    struct claim_stop stop;
    struct claim_retirement retirement;
    struct claim_ending ending;
    bool told_costly; /* an expression of the policy, with its job */
    unsigned pending; /* commits and calls under way that will call back with this claim */
    bool dead;        /* destroyed, but for the memory, which those need */
};

struct claim *claim_make(struct startd *startd);
void claim_discard(struct claim *claim); /* frees the claim; its slot stays as it is */
/* Frees the claim, its record and its slot: not even its end is to be told. */
void claim_drop(struct claim *claim);
int claims_restore(struct startd *startd, struct err *err);
void claims_destroy(struct startd *startd);

void claim_dial(struct claim *claim);      /* unless there is a connection to the schedd */
void claim_say_alive(struct claim *claim); /* sends an ALIVE at once */

/* The starter and its sandbox are gone.  reason "": the job was answered; otherwise the claim ends
 * for that reason. */
void claim_starter_gone(struct claim *claim, const char *reason);
/* The process of the kept starter is gone: what waited for that goes on. */
void claim_kept_gone(struct claim *claim);
/* The claim has no job: records that, and tells the schedd. */
void claim_is_idle(struct claim *claim);
/* Ends the claim; its starter is stopped first.  The schedd is told the reason. */
void claim_end(struct claim *claim, const char *reason, bool fast);

#endif
