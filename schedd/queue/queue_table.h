/* schedd/queue/queue_table.h - the table of owners, clusters and jobs, in memory.
 *
 * Design.  A cluster has one ad that its jobs share.  A job keeps only the attributes that differ
 * from it, and the few values that every job has (id, phase, epoch, when it entered its status) in
 * a struct of fixed size, so that a large cluster of idle jobs needs little memory.  The whole ad
 * of a job is put together when somebody asks for it (job_ad.h).
 *
 * The table knows all jobs and counts how many are in each JobStatus.  It informs nobody of a
 * change; job_queue.h does that.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_QUEUE_QUEUE_TABLE_H
#define SCHEDD_QUEUE_QUEUE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ad;
struct autocluster;
struct claim;
struct job_factory;
struct schedd;
struct shadow;
struct slice_work;
struct strmap;

#define JOB_ID_SIZE       32                 /* "4294967295.4294967295" and the terminating zero */
#define JOB_KEY_SIZE      64                 /* key of a row in the store */
#define JOB_AD_MAX        ((size_t)64 << 10) /* bytes of one job's own attributes, encoded */
#define CLUSTER_AD_MAX    ((size_t)256 << 10)
#define CLUSTER_PROCS_MAX 10000000
#define OWNER_NAME_MAX    64

enum job_phase {
    JOB_IDLE,    /* waits for a match; counted in its request ad */
    JOB_MATCHED, /* a startd was asked to connect; in memory only */
    JOB_CLAIMED, /* has a claim; its program has not started yet */
    JOB_ACTIVE,  /* its program runs */
    JOB_PLACING, /* its result is committed; the output is being moved to its place */
    JOB_HELD,
    JOB_COMPLETED, /* completed, and LeaveJobInQueue keeps it in the queue */
    JOB_GONE,      /* completed or removed: now only in the history */
    JOB_PHASES
};

enum job_status { /* HTCondor's numbers */
                  STATUS_IDLE = 1,
                  STATUS_RUNNING = 2,
                  STATUS_REMOVED = 3,
                  STATUS_COMPLETED = 4,
                  STATUS_HELD = 5,
                  STATUS_TRANSFERRING = 6,
                  STATUS_SUSPENDED = 7
};

struct owner {
    char name[OWNER_NAME_MAX + 1];
    char *user;         /* name@UID_DOMAIN */
    char *charge_words; /* job_charge.c: entry of ACCOUNTING_MAP; NULL: not read yet */
    bool is_root;       /* the account is root's: none of its jobs runs (wire/root_jobs.h) */
    int64_t jobs, idle, running, suspended, held;
    int64_t coming;        /* jobs that unfinished submissions will still add */
    struct shadow *shadow; /* shadows.c: its shadow; NULL until one is needed */
    struct strmap *runs;   /* shadow_runs.c: job id -> run; NULL: none yet */
    int64_t events;        /* event_rows.c: events that wait for the shadow */
    uint64_t policy_steps; /* job_policy.c: steps used in this round */
    int64_t factory_bytes; /* job_factory.c: bytes of all its digests */
};

struct cluster {
    struct owner *owner;
    struct ad *ad;
    struct job **procs; /* jobs by ProcId; NULL where a job is gone */
    uint32_t proc_count;
    uint32_t alive;    /* jobs now in the queue */
    bool has_dollar;   /* some job has a $$() (job_dollar.c) */
    bool own_batches;  /* some job has, or had, a JobBatchName of its own */
    bool has_policy;   /* some job has a periodic policy (job_policy.c) */
    uint32_t idle;     /* number of jobs with JobStatus 1 */
    uint32_t revision; /* version of ad; grows with each change_cluster() */
    bool submitting;   /* job_submit.c: jobs will be added; keep it even while empty */
    int64_t id;
    int64_t qdate_s;
    struct job_factory *factory; /* job_factory.c: makes further jobs; NULL: none will be made */
    /* work of its factory, woken by factory_kick(); NULL: no factory, or its last slice is not
     * durable yet */
    struct slice_work *making;
    /* job_autocluster.c: autocluster of those jobs whose own attributes do not matter for
     * matching; NULL: not known */
    struct autocluster *common;
};

#define HEAP_NOWHERE UINT32_MAX

struct job {
    struct cluster *cluster;
    struct autocluster *autocluster;
    struct ad *own;      /* attributes that differ from the cluster's ad; NULL: none */
    char *nonce;         /* job_nonce.c: proves the present run; NULL: none */
    struct claim *claim; /* set in JOB_MATCHED, JOB_CLAIMED and JOB_ACTIVE, else NULL */
    double prio;         /* value of PRIO when the job became idle */
    int64_t entered_s;   /* EnteredCurrentStatus */
    int64_t epoch;       /* ClaimEpoch */
    uint32_t proc;
    uint32_t heap_at; /* index in the heap of idle jobs of its autocluster */
    uint8_t phase;    /* value of enum job_phase */
    uint8_t last;     /* LastJobStatus; 0: it had no other yet */
    /* number of reasons why the job gets no slot now: each claim that is still ending an earlier
     * run of it, and the submission while it has not finished */
    uint8_t leaving;
    bool suspended; /* in JOB_ACTIVE, and suspended on its machine */
    bool staged;    /* in JOB_HELD, and its committed result is still to be placed */
    /* job_policy.c: its policy took too many steps; not evaluated again while it is held */
    bool costly;
};

void queue_table_init(struct schedd *schedd);
/* Frees the owners, clusters and jobs.  The factories must have been freed before. */
void queue_table_fini(struct schedd *schedd);

/* ---- finding ---- */

/* Writes the key of the cluster's row in the store. */
void cluster_row_key(int64_t id, char ret[JOB_KEY_SIZE]);
/* These three return NULL when there is no such cluster or job. */
struct cluster *queue_cluster(const struct schedd *schedd, int64_t id);
struct job *queue_job(const struct schedd *schedd, int64_t cluster, int64_t proc);
struct job *queue_job_by_id(const struct schedd *schedd, const char *id);
/* Calls each(arg, job) for all jobs in order of their ids; each returns false to stop the walk.
 * The queue must not change meanwhile. */
void queue_walk(const struct schedd *schedd, bool (*each)(void *arg, struct job *job), void *arg);
/* Finds the owner, or creates it. */
struct owner *queue_owner(struct schedd *schedd, const char *name);
bool owner_name_is_valid(const char *name);
/* Returns the job_flat() ad of the job with this id, or NULL when there is none.  The ad is owned
 * by the queue and is freed by the next call. */
const struct ad *queue_show(struct schedd *schedd, const char *id);

/* ---- changing: only for job_queue.c and the other files of this folder ---- */

/* Adds a cluster and takes over ad, whose ClusterId must be new. */
struct cluster *queue_add_cluster(struct schedd *schedd, struct owner *owner, struct ad *ad,
                                  int64_t qdate_s);
/* Makes the array procs reach to index proc; new entries are NULL. */
void queue_make_room(struct cluster *cluster, uint32_t proc);
/* Adds and counts a job with this ProcId.  own is taken over; NULL: no attributes of its own. */
struct job *queue_put_job(struct schedd *schedd, struct cluster *cluster, uint32_t proc,
                          struct ad *own, enum job_phase phase);
/* Removes the job from the table and the counts, and frees it. */
void queue_take_job(struct schedd *schedd, struct job *job);
/* Removes and frees a cluster that has neither jobs nor a factory nor an autocluster. */
void queue_take_cluster(struct schedd *schedd, struct cluster *cluster);
/* To be called after attributes of the job's own ad were set or changed. */
void queue_note_own(struct job *job);
/* To be called after a move that may have changed the job's status from `before`.  If it did,
 * updates the counts and the time of the change, and returns true. */
bool queue_note_status(struct schedd *schedd, struct job *job, enum job_status before);
/* For a job that was loaded in JOB_ACTIVE: notes that it was suspended before the restart. */
void queue_note_suspended(struct schedd *schedd, struct job *job);

#endif
