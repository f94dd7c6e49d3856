/* schedd/claim/job_claims.h - claims: from the match that was offered to the slot that was given
 * back.
 *
 * Design.  A claim object exists from the MATCH on; it has a state (below), at most one job, and at
 * most one connection, that of its startd.  It outlives the connection by its lease.  Claims are
 * found by claim id; everything that waits for an answer remembers (claim id, epoch) and looks the
 * claim up again, so that nothing points to a claim that ended meanwhile.
 *
 *   asked      DIAL_ME is on its way to the startd
 *   waiting    the startd agreed, but another claim has to end before: it is asked again and again
 *   expected   the startd agreed; it has MATCH_TIMEOUT to dial
 *   committing CLAIM came; the claim is being made durable
 *   idle       no job; slot_idle says that the last starter is gone, too
 *   starting   has a job; shadow and startd are being told
 *   busy       the startd has accepted the job
 *   stopping   the job was taken away; DEACTIVATE is on its way
 *   releasing  RELEASE_CLAIM is on its way
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

struct ad;
struct autocluster;
struct change;
struct claim_peer;
struct err;
struct loop_timer;
struct schedd;
struct wire_request;

#define CLAIM_ID_MAX       255
#define CLAIM_RESTARTS_MAX 3     /* times a job is given anew to a startd that lost it */
#define CLAIM_START_MS     60000 /* for shadow and startd to take a job */

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

/* How far the startd was asked to start a job. */
struct claim_start {
    bool activated;   /* ACTIVATE was sent for this epoch */
    bool waits;       /* for the NextJobStartDelay of the job that was started last */
    bool await_idle;  /* the startd said -EBUSY: give the job anew when the slot is idle */
    bool cannot_ever; /* it cannot be expanded on any other slot: it is held */
    char *cannot;     /* why the job cannot be expanded on this slot; NULL: it can */
    unsigned restarts;
};

/* How far it was asked to end the run of a job. */
struct claim_stop {
    bool told; /* DEACTIVATE was sent */
    bool fast;
    bool ends_run;    /* of job_id, which leaves (queue_table.h) until that has ended */
    bool keeps_run;   /* what that run has made by then is taken: its shadow still serves it */
    const char *kind; /* "Remove", "Hold", NULL: another */
};

enum claim_switch { SWITCH_NONE, SWITCH_TO_SUSPENDED, SWITCH_TO_RUNNING };

struct claim {
    struct schedd *schedd;
    char *id;
    char *slot, *machine, *uplink;
    char nonce_digest[CLAIM_NONCE_DIGEST_SIZE]; /* of the machine that dials; "": not told yet, or
                                                 * of a claim that an older version has stored */
    char *machine_token; /* id of the token that has signed the answer to DIAL_ME; "": none yet */
    char boot_id[64];
    struct autocluster *autocluster; /* whose jobs it may run; held */
    struct job *job;                 /* NULL: none */
    char job_id[JOB_ID_SIZE];        /* of the job given last; "" none yet */
    int64_t epoch;
    enum claim_state state;
    bool slot_idle;              /* the startd has no starter */
    enum claim_switch switching; /* ordered by SUSPEND_CLAIM, and not reported yet */
    struct claim_start start;    /* of the job given last */
    struct claim_stop stop;      /* of the job that was taken away last */
    const char *preemption;      /* "Rank" or "Priority": what the negotiator says; "": none */
    uint64_t wait_until_ms;      /* waiting: no longer than that */
    struct ad *slot_ad;          /* for $$(); NULL: not needed when it came */
    struct ad *provisioned;      /* CpusProvisioned ..., of the slot; NULL: not told */
    uint64_t keep_ms;            /* KeepClaimIdle of the job that ended last */
    uint64_t lease_ms, renewed_ms, claimed_ms, idle_since_ms;
    struct claim_peer *peer;            /* NULL while not connected */
    struct wire_request *claim_request; /* CLAIM, answered after the commit */
    struct loop_timer *timer;           /* match timeout, then the lease */
    struct loop_timer *wait;            /* idle: ask again; starting: begins, gives up */
};

int claims_init(struct schedd *schedd, struct err *err); /* after queue_init() */
void claims_fini(struct schedd *schedd);
struct claim *claims_find(const struct schedd *schedd, const char *id);

struct claim *claim_create(struct schedd *schedd, const char *id, const char *slot,
                           const char *machine, const char *uplink,
                           struct autocluster *autocluster);
void claim_move(struct claim *claim, enum claim_state state); /* logs; CHECKs the table */
const char *claim_state_name(enum claim_state state);
/* The claim is over: its row goes with change (NULL: it has none), its connection is closed.  The
 * job must have been taken off before. */
void claims_end(struct change *change, struct claim *claim, const char *why);
/* Assigns a job that is idle or matched, raises its epoch, makes a new nonce, writes both rows. */
void claim_assign(struct change *change, struct claim *claim, struct job *job);
/* Takes the job off the claim; both stay what they are otherwise. */
void claim_detach(struct claim *claim);
void claim_renewed(struct claim *claim);
/* The machine has answered with that token and will show that nonce; it is written down where the
 * claim is. */
void claim_set_machine(struct claim *claim, const char *token_id, const char *nonce_digest);
/* The slot is idle and there is no job: next job, wait, or release. */
void claim_next(struct claim *claim);
/* The result of the claim's last job has just been given to the store: gives the claim its next
 * job, if there is one, so that both are one group of the store's.  Commits keep their order, so
 * whoever hears of that job knows that the result is durable.  Nothing else is decided yet. */
void claim_next_with_result(struct claim *claim);
/* After a commit: DEACTIVATE for claims whose job was taken away, and claims_offer(). */
void claims_flush(struct schedd *schedd);
/* The startd lost the job that it was given: give it again under a new epoch. */
void claim_restart(struct claim *claim);
/* The claim ends, its job is idle again. */
void claim_lost(struct claim *claim, const char *why);
/* The same for one that a better claim preempted: its job's NumPreemptions grows. */
void claim_preempted(struct claim *claim, const char *why);
/* Its starter failed, before or while the job ran; why: what the startd says of it. */
void claim_failed(struct claim *claim, const char *why);
/* What the slot's ad, which may be NULL, says of resources becomes the job's ...Provisioned. */
void claim_set_slot(struct claim *claim, const char *name, const struct ad *slot);

/* The job leaves its claim because somebody says so (rm, hold, vacate), then the startd is told to
 * stop the starter; or because it has its result, then the starter ends by itself.  To be followed
 * by a commit and claims_flush(). */
void claims_take_job(struct job *job, bool stop, bool fast);
/* Is that run of the job, which left its claim, still being ended, and may leave what it has made
 * (WhenToTransferOutput)? */
bool claims_keep_run(const struct schedd *schedd, const struct job *job, int64_t epoch);

#endif
