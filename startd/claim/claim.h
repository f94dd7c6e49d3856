/* startd/claim/claim.h - the struct of a claim: what its schedd asked for, its latest job, the run
 * of that job, its starter, and how it ends.
 *
 * A claim is the agreement that a schedd may use a slot, for one job after another.  Each part has
 * a struct of its own, because the parts live for different times. claim.c makes and ends claims,
 * claim_plan.h has their stages.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_CLAIM_CLAIM_H
#define STARTD_CLAIM_CLAIM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "startd/claim/claim_plan.h"

#define CLAIM_NONCE_SIZE 33 /* bytes: 32 hexadecimal digits and the terminating zero */

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
    char *token; /* id of the token with which the schedd signed DIAL_ME */
    /* From the schedd's token: the domain and the pattern of the owners in whose accounts the
     * schedd's jobs may run (owner_plan.h). */
    char *uid_domain, *owners;
};

/* The claim's connection to its schedd.  The startd makes it. */
struct claim_link {
    struct wire *wire; /* connection to the schedd; NULL: not connected */
    struct loop_timer *dial_timer;
    unsigned failures; /* number of failed attempts to connect in a row */
    /* true: the next CLAIM message continues a claim that the schedd has confirmed before */
    bool resume;
};

/* How long the claim is valid without a message from the schedd. */
struct claim_lease {
    int64_t length_s;
    uint64_t end_ms;  /* when the lease ends, ms of the loop's clock */
    uint64_t sent_ms; /* when the last renewal (CLAIM or ALIVE) was sent, ms of the loop's clock */
    struct loop_timer *alive_timer, *end_timer;
    /* The schedd has confirmed the claim since this startd started; only then is the end of the
     * lease known. */
    bool confirmed;
    bool renewing; /* a renewal was sent and not answered yet */
    /* the next ALIVE became due while a renewal was unanswered: send it after the answer */
    bool say_again;
};

/* Requests of the schedd that are still to be answered; NULL: none. */
struct claim_calls {
    struct wire_request *starting; /* ACTIVATE; answered when the record of its run is on disk */
    /* The ACTIVATE for the next job, which waits until the present starter has ended. */
    struct wire_request *activate;
    struct wire_request *deactivate; /* DEACTIVATE; answered when the starter is gone */
    struct wire_request *release;    /* RELEASE_CLAIM; answered when the claim is gone */
};

/* The latest job of the claim; before the first job has begun, the job for which the schedd asked
 * for the slot. */
struct claim_job {
    char id[64];   /* "cluster.proc"; "" before the first job */
    int64_t epoch; /* ClaimEpoch: counts the runs of the job */
    char *user;    /* RemoteUser */
    struct ad *ad;
    struct ad *shown; /* what the slot's ad says about the job (RemoteUser ...), and CurrentRank */
};

/* One run of the claim's latest job, valid in the stages CLAIM_RECORDING to CLAIM_ACTIVE. */
struct claim_run {
    int64_t start_ms; /* when the run began, loop_now_ms(); 0: not begun */
    char *record;     /* text of the file job.record, from which the starter reads what to run */
    char *directory;
    /* pid of the starter that the claim's record on disk names; 0: none yet */
    pid_t recorded_pid;
    double energy_j, core_s; /* energy and core-seconds used by the run (meter.h) */
    /* Last checkpoint: ckpt_taken_s: when it was taken, seconds since 1970; ckpt_run_s: seconds of
     * run time that it saves. */
    int64_t ckpt_taken_s, ckpt_run_s;
};

/* Who suspended the job: nobody, the machine's policy, or its user. */
enum suspended_by { SUSPENDED_BY_NONE, SUSPENDED_BY_POLICY, SUSPENDED_BY_USER };

struct claim_suspension {
    /* Who suspended the job.  A job that its user suspended is continued only when the schedd says
     * so, not by CONTINUE. */
    enum suspended_by by;
    int64_t at_ms;   /* when the last suspension began, loop_now_ms(); 0: never in this run */
    int64_t total_s; /* seconds suspended in this run, without the present suspension */
    int64_t count;   /* number of suspensions in this run */
};

/* The process that runs the claim's job. */
struct claim_starter {
    pid_t pid;         /* pid of the running starter; 0: none runs */
    uint64_t start;    /* when the starter started, clock ticks since boot (os_start_time()) */
    struct wire *wire; /* the connection from the starter; NULL: none */
    /* number of times that the startd had read its configuration when it started this starter */
    uint64_t config;
    bool adopted; /* true: the starter was started before the startd itself was restarted */
    /* true: the starter has reported the end of the run; its process still has to end */
    bool done;
    bool delivered; /* true: the starter has reported that the job's result was accepted */
    /* true: the run ended, or could not begin, because of something that the machine lacked */
    bool machine_fault;
    char done_reason[200]; /* why the run ended, as the starter reported; "": nothing was wrong */
};

/* A starter that is kept between two jobs of the claim.  A kept starter without a connection is
 * about to end; until then it holds the lock file that only one starter of the slot can hold. */
struct claim_kept {
    pid_t pid;       /* pid of the kept starter; 0: none is kept */
    uint64_t start;  /* when the kept starter started, clock ticks since boot (os_start_time()) */
    char *directory; /* directory of its last run, emptied for the next run; may no longer exist */
    struct wire *wire;
};

enum claim_stop_how { CLAIM_STOP_NOT, CLAIM_STOP_ASKED, CLAIM_STOP_FAST };

/* The order to the starter to stop its job. */
struct claim_stop {
    enum claim_stop_how how;
    /* The order was a signal, because the starter had not connected yet.  A starter may end by it
     * without a report, and has not failed then. */
    bool by_signal;
    /* The order waits for the starter, which was started before we were and connects again soon:
     * one that is stopped by a signal first cannot tell what its run has used. */
    bool unsaid;
    /* why the schedd stops the job: "Remove", "Hold", or "" for another reason */
    char kind[16];
    int64_t grace_s; /* seconds between soft signal and KILL; 0: the starter decides */
    /* fires when the starter was ordered to stop but has not ended in time: calls
     * starters_stop_step(), which orders it to kill the job, or kills the starter itself */
    struct loop_timer *timer;
};

/* How draining, or the policy of the machine's owner, makes the claim's job end. */
struct claim_retirement {
    struct loop_timer *timer; /* fires when the job's retirement time is over */
    /* PREEMPT was true: the job must end when its retirement time is over */
    bool evicted;
    /* the claim began while the machine was draining, because StartExpr of the drain request
     * allowed it */
    bool accepted;
    bool drained; /* draining has ended the run: its run time counts as badput */
};

/* Why the claim ends. */
struct claim_ending {
    /* "": the claim does not end; otherwise it ends when its starter has ended */
    char reason[200];
    /* true: the claim ends for a better claim, for draining, or because the startd stops */
    bool preempted;
    bool starter_failed; /* the text in `reason` comes from the starter, which failed */
    /* with starter_failed: the machine is at fault, and the job is not to be held for it */
    bool machine_fault;
    /* The lease is over; a starter that does not end within some seconds is killed. */
    bool overdue;
    /* The claim is in stage CLAIM_OVER and its lease is over: the schedd is still to be told, but
     * the machine does not stay up for that. */
    bool late;
};

struct claim {
    struct startd *startd;
    struct slot *slot; /* the slot of the claim; NULL in stage CLAIM_OVER */
    enum claim_stage stage;
    char id[CLAIM_ID_MAX];
    /* A secret by which the schedd recognises the claim's machine; "" for a claim that an older
     * version of Roost made. */
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
    /* true: it was logged that a policy expression costs too much to evaluate for this claim's
     * job */
    bool told_costly;
    /* number of commits to the store and network calls under way whose callbacks use this struct */
    unsigned pending;
    bool dead; /* the claim was destroyed; only its memory stays, until `pending` is 0 */
};

/* Makes an empty claim, adds it to startd->claims and returns it. */
struct claim *claim_make(struct startd *startd);
/* frees the claim; the state of its slot does not change */
void claim_discard(struct claim *claim);
/* Frees the claim, deletes its record on disk and makes its slot free, without telling the
 * schedd. */
void claim_drop(struct claim *claim);
/* Restores all claims from the store after a restart of the startd.  Returns 0 or -errno. */
int claims_restore(struct startd *startd, struct err *err);
void claims_destroy(struct startd *startd);

void claim_dial(struct claim *claim);      /* connects to the schedd, unless connected */
void claim_say_alive(struct claim *claim); /* renews the lease at once (ALIVE) */

/* Called when the starter has ended and its sandbox is removed. reason "": nothing is wrong, and
 * the claim continues; otherwise the claim ends for that reason. */
void claim_starter_gone(struct claim *claim, const char *reason);
/* Called when the process of the kept starter has ended: ends the claim if it is to end, or starts
 * the claim's next job if that job waited for the end of the kept starter. */
void claim_kept_gone(struct claim *claim);
/* Called when the claim has no job: records on disk that it has none, and tells the schedd so with
 * a renewal (ALIVE). */
void claim_is_idle(struct claim *claim);
/* Ends the claim and tells the schedd the reason.  If a job runs, first stops the job: kills it at
 * once if `fast`, else asks it to end. */
void claim_end(struct claim *claim, const char *reason, bool fast);

#endif
