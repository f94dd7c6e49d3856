/* schedd/claim/job_claims.h - claims on slots, from the offered match until the slot is given back.
 *
 * Design.  A claim object exists from the request MATCH on.  It has a state (below), at most one
 * job, and at most one connection, which its startd has made.  When the connection breaks, the
 * claim lives on until its lease expires.  Claims are found by claim id.  Code that waits for an
 * answer keeps the claim id and the epoch of the job, and looks the claim up again, so that nothing
 * points to a claim that has ended meanwhile.
 *
 *   asked      DIAL_ME, which asks the startd to connect, has been sent
 *   waiting    the startd agreed, but another claim must end first: DIAL_ME is repeated
 *   expected   the startd agreed, and has MATCH_TIMEOUT to connect
 *   committing CLAIM has come; the claim is being made durable
 *   idle       no job; slot_idle tells whether the last starter has ended, too
 *   starting   has a job; the shadow and the startd are being told
 *   busy       the startd has accepted the job
 *   stopping   the job was taken away; DEACTIVATE has been sent
 *   releasing  RELEASE_CLAIM has been sent
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_CLAIM_JOB_CLAIMS_H
#define SCHEDD_CLAIM_JOB_CLAIMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "schedd/queue/queue_table.h"
#include "wire/claim_nonce.h"
#include "wire/start_promise.h"

struct ad;
struct autocluster;
struct change;
struct claim_peer;
struct err;
struct loop_timer;
struct schedd;
struct wire_request;

#define CLAIM_ID_MAX 255 /* most bytes of a claim id, without the terminating zero */
/* how often in a row claim_restart() may start a job again on the same claim */
#define CLAIM_RESTARTS_MAX 3
/* milliseconds from claim_start() until the shadow must have answered; else the claim ends */
#define CLAIM_START_MS 60000

enum claim_state {
    CLAIM_ASKED,
    CLAIM_WAITING,
    CLAIM_EXPECTED,
    CLAIM_COMMITTING,
    CLAIM_IDLE,
    CLAIM_STARTING,
    CLAIM_BUSY,
    CLAIM_STOPPING,
    CLAIM_RELEASING,
    CLAIM_STATES
};

/* The start of the job that the claim has now, or had last. */
struct claim_start {
    bool activated; /* the request ACTIVATE was sent for the claim's present epoch */
    bool is_served; /* the shadow has answered that it serves the claim's present epoch */
    bool waits;     /* the start waits for the NextJobStartDelay of an earlier job */
    /* ACTIVATE failed with -EBUSY (the slot is not idle yet): send ACTIVATE again when it is */
    bool await_idle;
    bool cannot_ever; /* the job's $$() cannot be expanded on any slot: hold the job */
    char *cannot;     /* why the job's $$() cannot be expanded on this slot; NULL: no error */
    /* how often in a row claim_restart() has started the claim's job again */
    unsigned restarts;
};

/* The end of the run that the claim had last. */
struct claim_stop {
    bool told; /* DEACTIVATE was sent */
    bool fast; /* true: kill the job at once; false: give it time to end by itself */
    /* the claim's last run is being ended; the job of this run gets no slot until the run has ended
     * (queue_leaves()) */
    bool ends_run;
    /* the shadow still serves the run that is being ended, to accept the files it leaves */
    bool keeps_run;
    const char *kind; /* why the run is ended: "Remove" or "Hold"; NULL: another reason */
};

enum claim_switch { SWITCH_NONE, SWITCH_TO_SUSPENDED, SWITCH_TO_RUNNING };

struct claim {
    struct schedd *schedd;
    char *id;
    char *slot, *machine, *uplink;
    /* digest of the nonce by which the connecting machine proves itself; "": not known yet, or the
     * claim was stored by an older version */
    char nonce_digest[CLAIM_NONCE_DIGEST_SIZE];
    char *machine_token; /* id of the token that signed the answer to DIAL_ME; "": none yet */
    char boot_id[64];
    /* the jobs of this autocluster may run on this claim, which keeps the autocluster in memory
     * (autocluster_hold()) */
    struct autocluster *autocluster;
    struct job *job;          /* the claim's present job; NULL: none */
    char job_id[JOB_ID_SIZE]; /* id of the job that the claim got last; "": none yet */
    int64_t epoch;            /* claim epoch of the job that the claim got last */
    enum claim_state state;
    bool slot_idle; /* the startd has no starter on the slot */
    /* the startd did not answer the last question (claim_question_due()), or answered that it
     * cannot connect */
    bool silent;
    struct job *waiting; /* the claim's job, if it is in autocluster->waiting; else NULL */
    /* the change that the schedd ordered last with SUSPEND_CLAIM, to suspend or to continue the
     * job, as long as the startd has not reported it; SWITCH_NONE: no such order */
    enum claim_switch switching;
    struct claim_start start; /* start of the job that the claim got last */
    struct claim_stop stop;   /* end of the run of the job that was taken off the claim last */
    /* why the negotiator preempts another job for this claim: "Rank" or "Priority"; "": no job is
     * preempted */
    const char *preemption;
    /* in CLAIM_WAITING and CLAIM_EXPECTED: when to give the claim up, loop_now_ms() */
    uint64_t wait_until_ms;
    /* the slot's ad, for $$() and machine attributes.  NULL: the ad has not arrived yet, or was not
     * kept, because no job of the schedd needed the ads of slots when the ad arrived. */
    struct ad *slot_ad;
    struct ad *provisioned; /* the slot's CpusProvisioned, MemoryProvisioned, ...; NULL: unknown */
    uint64_t keep_ms;       /* KeepClaimIdle of the job that ended last, in ms */
    uint64_t lease_ms, renewed_ms, claimed_ms, idle_since_ms;
    struct claim_peer *peer; /* connection of the startd; NULL: not connected */
    /* the startd's request CLAIM while the claim is being made durable; else NULL */
    struct wire_request *claim_request;
    /* before the startd's request CLAIM: timeout of the match; later: end of the lease */
    struct loop_timer *timer;
    /* in CLAIM_IDLE: when to call claim_next() again.  In CLAIM_STARTING: when to start the job, if
     * the start waits for a NextJobStartDelay; else when to end the claim, if the shadow has not
     * answered (CLAIM_START_MS). */
    struct loop_timer *wait;
    /* when to ask a startd that is not connected whether it still has the claim
     * (claim_question_due()) */
    struct loop_timer *question;
    uint64_t asked_ms; /* when the startd was sent DIAL_ME, if it has not answered; else 0 */
    struct start_watch prompt; /* claim_prompt.c: the claim's job does not run yet */
    struct claim_late {        /* what is to be judged: the job, and the state of its claim */
        char job_id[JOB_ID_SIZE];
        enum claim_state state;
    } late;
    bool pinged; /* claim_prompt.c: its startd has not answered a PING yet */
};

void claims_init(struct schedd *schedd); /* no claims yet: claims_load() */
/* frees all claims in memory; their rows stay in the store */
void claims_fini(struct schedd *schedd);
struct claim *claims_find(const struct schedd *schedd, const char *id); /* NULL: no such claim */

/* Makes a claim in CLAIM_ASKED, in memory only.  id: the claim id, which no other claim may have;
 * slot, machine: their names; uplink: the startd's uplink name.  The strings are copied; the claim
 * keeps autocluster in memory until the claim ends (autocluster_hold()). */
struct claim *claim_create(struct schedd *schedd, const char *id, const char *slot,
                           const char *machine, const char *uplink,
                           struct autocluster *autocluster);
/* Puts the claim into autocluster->waiting, or takes it out, as it should be by its state and job.
 * To be called when the claim got a job. */
void claim_count_waiting(struct claim *claim);
/* Moves the claim to the state and logs it; aborts the process if the claim may not move there. */
void claim_move(struct claim *claim, enum claim_state state);
const char *claim_state_name(enum claim_state state); /* the state's name, such as "busy" */
/* Ends and frees the claim: deletes its row with change (NULL: the claim has no row yet) and closes
 * its connection.  why: the reason, for the log.  The job must have been taken off the claim before
 * (claim_detach()). */
void claims_end(struct change *change, struct claim *claim, const char *why);
/* Gives the claim a job that is idle or matched: raises the job's epoch, makes a new nonce, and
 * writes the rows of claim and job with change. */
void claim_assign(struct change *change, struct claim *claim, struct job *job);
/* Separates job and claim: neither points to the other any more.  Changes nothing else in them. */
void claim_detach(struct claim *claim);
/* Starts the claim's lease again, from now on. */
void claim_renewed(struct claim *claim);
/* Notes which token signed the machine's answer to DIAL_ME, and the digest of the nonce that the
 * machine will show when it connects.  Both are stored with the claim's row. */
void claim_set_machine(struct claim *claim, const char *token_id, const char *nonce_digest);
/* For a claim in CLAIM_IDLE: gives it the next job, lets it wait for one, or releases it.  Does
 * nothing while the slot still has a starter. */
void claim_next(struct claim *claim);
/* To be called right after the result of the claim's last job was given to the store.  Gives the
 * claim its next job, if there is one, so that the commit of the result and the commit of the new
 * job go to disk together.  Commits keep their order, so a startd that is told of the new job knows
 * that the result is durable.  Without a next job the claim does not change: claims_flush() decides
 * later whether the claim waits for a job or is released. */
void claim_next_with_result(struct claim *claim);
/* To be called after a commit that took jobs off claims or made jobs idle: sends DEACTIVATE where a
 * run must end, gives up claims that nobody needs, and gives idle jobs to idle claims. */
void claims_flush(struct schedd *schedd);
/* To be called when the startd reports that the claim's slot has no starter, although the claim has
 * a job: starts the job again on the same claim, under a new epoch.  After CLAIM_RESTARTS_MAX times
 * in a row the claim fails instead (claim_failed()), which is the machine's fault: a startd says
 * when a starter dies (CLAIM_GONE), so what it loses without a word is its own doing. */
void claim_restart(struct claim *claim);
/* Ends the claim, for the reason why; its job becomes idle again. */
void claim_lost(struct claim *claim, const char *why);
/* Ends a claim that another claim has preempted: its job becomes idle again, and the job's
 * NumPreemptions grows by one.  why: the reason, for the logs. */
void claim_preempted(struct claim *claim, const char *why);
/* Ends a claim whose starter failed, before or while the job ran: the job becomes idle again, or is
 * held after too many failures.  The machine may be avoided from now on (machine_trouble.h).  why:
 * the startd's message.  machine_fault: the startd knows that the machine is at fault, and not the
 * job: the failure does not count for the job, and the machine is avoided at once. */
void claim_failed(struct claim *claim, const char *why, bool machine_fault);
/* Sets the name of the claim's slot ("": unchanged) and, from the slot's ad (NULL: unchanged), the
 * slot's resources.  Jobs that the claim gets later have these as CpusProvisioned and so on. */
void claim_set_slot(struct claim *claim, const char *name, const struct ad *slot);

/* Takes the job off its claim, if it has one.  stop: true when somebody ended the run (remove,
 * hold, vacate), so the startd is told to stop the starter; false when the job has its result, and
 * the starter ends by itself.  fast: kill the job at once, without time to end by itself.  A commit
 * and claims_flush() must follow. */
void claims_take_job(struct job *job, bool stop, bool fast);
/* Returns true when the job was taken off its claim, the startd is still ending the job's run with
 * this epoch, and that run may yet send files that the next run needs (WhenToTransferOutput,
 * checkpoints). */
bool claims_keep_run(const struct schedd *schedd, const struct job *job, int64_t epoch);

#endif
