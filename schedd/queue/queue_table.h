/* schedd/queue/queue_table.h - the table of owners, clusters and jobs, in memory.
 *
 * Design.  A cluster has one ad that its jobs share.  A job keeps only the attributes that differ
 * from this ad, and the few values that every job has (id, phase, epoch, when it entered its
 * status) in a struct of fixed size, so that a large cluster of idle jobs needs little memory.  The
 * whole ad of a job is put together when somebody asks for it (job_ad.h).
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

#define JOB_ID_SIZE 32 /* "4294967295.4294967295" and the terminating zero */
/* bytes of the key of a row in the store, with the terminating zero */
#define JOB_KEY_SIZE      64
#define JOB_AD_MAX        ((size_t)64 << 10) /* most bytes of a job's own ad, encoded */
#define CLUSTER_AD_MAX    ((size_t)256 << 10)
#define CLUSTER_PROCS_MAX 10000000
/* most bytes of an owner's name, without the terminating zero */
#define OWNER_NAME_MAX 64

enum job_phase {
    JOB_IDLE,    /* waits for a match; counted in the request ad of its autocluster */
    JOB_MATCHED, /* a startd was asked to connect; this phase is not stored */
    JOB_CLAIMED, /* has a claim; its program has not started yet */
    JOB_ACTIVE,  /* its program runs */
    JOB_PLACING, /* its result is committed; the output is being moved to its place */
    JOB_HELD,
    JOB_COMPLETED, /* completed, and LeaveJobInQueue keeps it in the queue */
    JOB_GONE,      /* completed or removed: now only in the history */
    JOB_PHASES
};

enum job_status { /* numbers of JobStatus, as in HTCondor */
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
    char *user; /* name@UID_DOMAIN */
    /* job_charge.c: the groups and users to which ACCOUNTING_MAP lets the owner charge jobs; NULL:
     * not read yet */
    char *charge_words;
    bool is_root; /* the owner is root, whose jobs never run (wire/root_jobs.h) */
    int64_t jobs, idle, running, suspended, held;
    int64_t disconnected;  /* of the running and suspended ones; see struct schedd */
    int64_t coming;        /* number of jobs that unfinished submissions will still add */
    struct shadow *shadow; /* shadows.c: the owner's shadow; NULL: none was needed yet */
    char *shadow_error;    /* shadows.c: why the shadow does not start; NULL: no error */
    struct strmap *runs;   /* shadow_runs.c: maps job ids to struct run; NULL: no run yet */
    int64_t events;        /* event_rows.c: number of events that wait for the shadow */
    /* job_policy.c: steps that the policies of the owner's jobs took in the present round */
    uint64_t policy_steps;
    int64_t factory_bytes; /* job_factory.c: bytes of all submit digests of the owner */
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
    uint32_t revision; /* version of the cluster's ad; grows with each change_cluster() */
    /* job_submit.c: true: jobs are still added, so keep the cluster while it is empty */
    bool submitting;
    int64_t id;
    int64_t qdate_s;
    struct job_factory *factory; /* job_factory.c: makes further jobs; NULL: none will be made */
    /* work of the cluster's factory, woken by factory_kick(); NULL: no factory, or the factory's
     * last slice is not durable yet */
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
    char *nonce;         /* job_nonce.c: nonce of the present run; NULL: none */
    struct claim *claim; /* NULL except in JOB_MATCHED, JOB_CLAIMED and JOB_ACTIVE */
    double prio;         /* value of the knob PRIO for the job, when it became idle */
    int64_t entered_s;   /* EnteredCurrentStatus */
    int64_t epoch;       /* ClaimEpoch */
    uint32_t proc;
    uint32_t heap_at; /* index in autocluster->heap; HEAP_NOWHERE: not in the heap */
    uint8_t phase;    /* value of enum job_phase */
    uint8_t last;     /* LastJobStatus; 0: the job's status never changed */
    /* number of reasons why the job gets no slot now: each claim that is still ending an earlier
     * run of it, and the submission while it has not finished */
    uint8_t leaving;
    bool suspended; /* true: in JOB_ACTIVE, and suspended on its machine */
    bool staged;    /* true: in JOB_HELD, and output of a committed result is still to be placed */
    /* job_policy.c: the job's policy took too many steps, and is not evaluated while the job is
     * held or completed */
    bool costly;
};

void queue_table_init(struct schedd *schedd);
/* Frees the owners, clusters and jobs.  The factories must have been freed before. */
void queue_table_fini(struct schedd *schedd);

/* ---- finding ---- */

/* Writes the key of the cluster's row in the store. */
void cluster_row_key(int64_t id, char ret[JOB_KEY_SIZE]);
/* queue_cluster(), queue_job() and queue_job_by_id() return NULL when there is no such cluster or
 * job. */
struct cluster *queue_cluster(const struct schedd *schedd, int64_t id);
struct job *queue_job(const struct schedd *schedd, int64_t cluster, int64_t proc);
struct job *queue_job_by_id(const struct schedd *schedd, const char *id);
/* Calls each(arg, job) for all jobs in order of their ids; each returns false to stop the walk.
 * The queue must not change meanwhile. */
void queue_walk(const struct schedd *schedd, bool (*each)(void *arg, struct job *job), void *arg);
/* Returns the owner with this name, who is created if unknown. */
struct owner *queue_owner(struct schedd *schedd, const char *name);
bool owner_name_is_valid(const char *name);
/* Returns the job_flat() ad of the job with this id, or NULL when there is none.  The ad is owned
 * by the queue and is freed by the next call. */
const struct ad *queue_show(struct schedd *schedd, const char *id);

/* ---- functions that change the table: only for the files of this folder ---- */

/* Adds a cluster of the owner.  Takes over ad, whose ClusterId no other cluster may have. */
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
/* To be called after attributes of the job's own ad were set or changed: notes whether the job has
 * a JobBatchName of its own. */
void queue_note_own(struct job *job);
/* To be called after a move that may have changed the job's status from `before`.  If it did,
 * updates the counts and the time of the change, and returns true. */
bool queue_note_status(struct schedd *schedd, struct job *job, enum job_status before);
/* To be called after a restart of the schedd, for a job in JOB_ACTIVE whose stored JobStatus says
 * that the job is suspended: sets job->suspended, and counts the job as suspended instead of
 * running.  Writes no event, and does not change the job's ad. */
void queue_note_suspended(struct schedd *schedd, struct job *job);
/* Sets JobDisconnectedDate in the job's ad, seconds since 1970, and counts the job as disconnected;
 * since_s 0: removes it, if it is there, and counts the job no more. */
void queue_note_disconnected(struct schedd *schedd, struct job *job, int64_t since_s);

#endif
