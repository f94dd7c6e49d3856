/* startd/claim/claim.h - the struct of a claim: what its schedd asked for, its latest job, the run
 * of that job, its starter, and how it ends.
 *
 * A claim is the agreement that a slot is a schedd's to use.  Each part has its own struct and
 * lifetime. claim.c has the claim's own life, claim_plan.h its stages.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_CLAIM_CLAIM_H
#define STARTD_CLAIM_CLAIM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "startd/claim/claim_plan.h"

#define CLAIM_NONCE_SIZE 33 /* 32 hex digits and the zero */

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
    char *token;               /* id of the token that signed its request DIAL_ME */
    char *uid_domain, *owners; /* of that token: as whom its jobs may run (owner_plan.h) */
};

/* The connection to that schedd.  The startd makes it. */
struct claim_link {
    struct wire *wire; /* NULL: not connected */
    struct loop_timer *dial_timer;
    unsigned failures; /* attempts to connect that failed in a row */
    bool resume;       /* the next CLAIM continues a claim that the schedd knows */
};

/* How long the claim is valid without a message from the schedd. */
struct claim_lease {
    int64_t length_s;
    uint64_t end_ms;  /* loop time */
    uint64_t sent_ms; /* when the renewal under way (CLAIM, ALIVE) was sent */
    struct loop_timer *alive_timer, *end_timer;
    /* The schedd has confirmed the claim since this startd started; only then is the end of the
     * lease known. */
    bool confirmed;
    bool renewing;  /* a renewal is under way */
    bool say_again; /* ALIVE became due meanwhile: send another one afterwards */
};

/* Requests of the schedd that are still to be answered; NULL: none. */
struct claim_calls {
    struct wire_request *starting; /* ACTIVATE, answered when its run is durable */
    /* The next ACTIVATE, which waits until the last starter has ended. */
    struct wire_request *activate;
    struct wire_request *deactivate; /* answered when the starter is gone */
    struct wire_request *release;    /* answered when the claim is gone */
};

/* The latest job of the claim; before the first one, the job for which the slot was offered. */
struct claim_job {
    char id[64];   /* "" before the first job */
    int64_t epoch; /* ClaimEpoch: counts the runs of the job */
    char *user;    /* RemoteUser */
    struct ad *ad;
    struct ad *shown; /* attributes of the job in the slot's ad, and CurrentRank */
};

/* The run of that job, from stage recording to active. */
struct claim_run {
    int64_t start_s; /* 0: not started */
    char *record;    /* text of the job record, which the starter reads */
    char *directory;
    pid_t recorded_pid;      /* pid of the starter in the durable record; 0: none yet */
    double energy_j, core_s; /* counted by meter.c */
    /* Last checkpoint: when it was taken, seconds of run time that it saves. */
    int64_t ckpt_taken_s, ckpt_run_s;
};

/* Who suspended the job: nobody, the machine's policy, or its user. */
enum suspended_by { SUSPENDED_BY_NONE, SUSPENDED_BY_POLICY, SUSPENDED_BY_USER };

struct claim_suspension {
    enum suspended_by by; /* by its user: only the schedd can continue it, not CONTINUE */
    int64_t at_s;         /* when the last suspension began; 0: never in this run */
    int64_t total_s;      /* of this run, up to the last continuation */
    int64_t count;        /* suspensions in this run */
};

/* The process that runs the job. */
struct claim_starter {
    pid_t pid;             /* 0: none runs */
    uint64_t start;        /* its start time, see os_start_time() */
    struct wire *wire;     /* its connection; NULL: none */
    uint64_t config;       /* startd->starters.configurations when it was started */
    bool adopted;          /* an earlier startd has started it */
    bool done;             /* it has reported the end of the run; its process still has to end */
    bool delivered;        /* it has reported that the job's result was accepted */
    char done_reason[200]; /* what it reported */
};

/* A starter between two jobs of the claim.  If it has no connection it is about to end, and holds
 * the slot's lock until it is gone. */
struct claim_kept {
    pid_t pid;       /* 0: none is kept */
    uint64_t start;  /* its start time, see os_start_time() */
    char *directory; /* of its last run, emptied for the next one; it may be gone */
    struct wire *wire;
};

enum claim_stop_how { CLAIM_STOP_NOT, CLAIM_STOP_ASKED, CLAIM_STOP_FAST };

/* The order to the starter to stop its job. */
struct claim_stop {
    enum claim_stop_how how;
    char kind[16];            /* why, from DEACTIVATE: "Remove", "Hold" or "" */
    int64_t grace_s;          /* seconds between soft signal and KILL; 0: the starter decides */
    struct loop_timer *timer; /* if the starter does not end: time for the next step */
};

/* What draining and the owner's policy do to the run. */
struct claim_retirement {
    struct loop_timer *timer; /* ends the retirement of a claim that is preempted */
    bool evicted;             /* PREEMPT was true: the job must end, after its retirement */
    bool accepted;            /* the claim began while draining, as StartExpr allowed */
    bool drained;             /* draining has ended the run: its time is badput */
};

/* Why the claim ends. */
struct claim_ending {
    char reason[200];    /* "": it does not end; else it ends when its starter has ended */
    bool preempted;      /* for a better claim, by draining, or because the machine stops */
    bool starter_failed; /* reason comes from the starter */
    bool overdue;        /* the lease is over: the starter is killed if it does not end soon */
};

struct claim {
    struct startd *startd;
    struct slot *slot; /* NULL in stage CLAIM_OVER */
    enum claim_stage stage;
    char id[CLAIM_ID_MAX];
    /* A secret by which the schedd recognises the claim's machine; "" for a claim that an older
     * version has made. */
    char nonce[CLAIM_NONCE_SIZE];
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
    bool told_costly; /* it was logged that a policy expression with this job is too costly */
    unsigned pending; /* commits and calls under way whose callbacks need this claim */
    bool dead;        /* destroyed, except for the memory, which those callbacks need */
};

/* Makes an empty claim and adds it to startd->claims. */
struct claim *claim_make(struct startd *startd);
void claim_discard(struct claim *claim); /* frees the claim; its slot stays as it is */
/* Frees the claim, its record and its slot, without telling the schedd. */
void claim_drop(struct claim *claim);
/* Restores all claims from the store.  0 or -errno. */
int claims_restore(struct startd *startd, struct err *err);
void claims_destroy(struct startd *startd);

void claim_dial(struct claim *claim);      /* connects to the schedd, unless connected */
void claim_say_alive(struct claim *claim); /* sends an ALIVE at once */

/* The starter and its sandbox are gone. reason "": nothing is wrong, and the claim continues;
 * otherwise the claim ends for that reason. */
void claim_starter_gone(struct claim *claim, const char *reason);
/* The process of the kept starter is gone: continues what waited for that. */
void claim_kept_gone(struct claim *claim);
/* The claim has no job: records that, and tells the schedd. */
void claim_is_idle(struct claim *claim);
/* Ends the claim; its starter is stopped first.  The schedd is told the reason. */
void claim_end(struct claim *claim, const char *reason, bool fast);

#endif
