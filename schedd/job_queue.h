/* schedd/job_queue.h - the jobs, in memory and in the store, and every change to them.
 *
 * Design.  A cluster has one ad that its jobs share; a job keeps of its own only what differs, and
 * the few things that every job has (id, phase, epoch, when it entered its status) in a struct of
 * fixed size, so that a large cluster of idle jobs costs little.  The whole ad of a job is put
 * together when somebody asks for it.
 *
 * A job is in one phase, and JobStatus follows from the phase.  All moves go through queue_move(),
 * which checks them against one table and keeps the counts, the order of the idle jobs and the
 * request ads right.  What must be durable is collected in a struct change: rows for the store, and
 * what watchers are told, after the commit and not before.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_JOB_QUEUE_H
#define SCHEDD_JOB_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct ad;
struct autocluster;
struct claim;
struct err;
struct job_factory;
struct schedd;
struct shadow;

#define JOB_ID_SIZE       32                 /* "4294967295.4294967295" and the zero */
#define JOB_KEY_SIZE      64                 /* of a row */
#define JOB_AD_MAX        ((size_t)64 << 10) /* bytes of one job's own attributes, encoded */
#define CLUSTER_AD_MAX    ((size_t)256 << 10)
#define CLUSTER_PROCS_MAX 10000000
#define OWNER_NAME_MAX    64

enum job_phase {
    JOB_IDLE,    /* waits for a match; counted in its request ad */
    JOB_MATCHED, /* a startd was asked to dial; in memory only */
    JOB_CLAIMED, /* has a claim; its program was not started yet */
    JOB_ACTIVE,  /* its program runs */
    JOB_PLACING, /* its result is committed; the output is being moved to its place */
    JOB_HELD,
    JOB_COMPLETED, /* over, and LeaveJobInQueue keeps it */
    JOB_GONE,      /* completed or removed: in the history */
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
    char *charge_words; /* job_charge.c: what ACCOUNTING_MAP says; NULL: not asked */
    bool is_root;       /* wire/root_jobs.h: no job of it runs */
    int64_t jobs, idle, running, suspended, held;
    int64_t coming;        /* jobs that submissions under way will still add */
    struct shadow *shadow; /* shadows.c; NULL until needed */
    uint64_t policy_steps; /* job_policy.c: of this round */
    int64_t factory_bytes; /* job_factory.c: what its digests take */
};

struct cluster {
    struct owner *owner;
    struct ad *ad;
    struct job **procs; /* by ProcId; NULL where the job is gone */
    uint32_t proc_count;
    uint32_t alive;    /* jobs that are there */
    bool has_dollar;   /* some job has $$() in it (job_dollar.c) */
    bool own_batches;  /* some job has, or had, a JobBatchName of its own */
    bool has_policy;   /* some job is to be asked from time to time (job_policy.c) */
    uint32_t idle;     /* of the jobs, JobStatus 1 */
    uint32_t revision; /* of ad: another one after each change_cluster() */
    bool submitting;   /* job_submit.c: jobs are to be added; it stays, even when it is empty */
    int64_t id;
    int64_t qdate_s;
    struct job_factory *factory; /* job_factory.c: more are to be made; NULL: no */
    /* of jobs that change no significant attribute (job_autocluster.c) */
    struct autocluster *common;
    struct strmap *significant;
};

#define HEAP_NOWHERE UINT32_MAX

struct job {
    struct cluster *cluster;
    struct autocluster *autocluster;
    struct ad *own;      /* what differs from the cluster's ad; NULL: nothing */
    char *nonce;         /* job_nonce.c; NULL: none */
    struct claim *claim; /* in JOB_MATCHED, and from JOB_CLAIMED to JOB_ACTIVE while there is one */
    double prio;         /* value of PRIO when it became idle */
    int64_t entered_s;   /* EnteredCurrentStatus */
    int64_t epoch;       /* ClaimEpoch */
    uint32_t proc;
    uint32_t heap_at; /* place among the idle jobs of its autocluster */
    uint8_t phase;    /* enum job_phase */
    uint8_t last;     /* LastJobStatus; 0: none */
    uint8_t leaving;  /* claims that are still ending a run of it, and the submission that has not
                         ended: it gets no slot meanwhile */
    bool suspended;   /* active, and its machine makes it stand still */
    bool staged;      /* held, and its committed result is still to be placed */
    bool costly;      /* job_policy.c: its policy took too long; while it is held it is not asked */
};

int queue_init(struct schedd *schedd, struct err *err); /* loads what the store has */
void queue_fini(struct schedd *schedd);

/* ---- finding ---- */

void job_id(const struct job *job, char ret[JOB_ID_SIZE]);
void job_row_key(const struct job *job, char ret[JOB_KEY_SIZE]);      /* of its rows in the store */
bool job_id_parse(const char *text, int64_t *cluster, int64_t *proc); /* proc -1 for "12" */
struct cluster *queue_cluster(const struct schedd *schedd, int64_t id); /* NULL when absent */
struct job *queue_job(const struct schedd *schedd, int64_t cluster, int64_t proc);
struct job *queue_job_by_id(const struct schedd *schedd, const char *id);
/* All jobs in order of id; each returns false to stop.  The queue must not change meanwhile. */
void queue_walk(const struct schedd *schedd, bool (*each)(void *arg, struct job *job), void *arg);
struct owner *queue_owner(struct schedd *schedd, const char *name); /* made when absent */
bool owner_name_is_valid(const char *name);

/* ---- reading a job ---- */

enum job_status job_status(const struct job *job); /* not of JOB_GONE */
/* What is its own, with the fixed attributes written out, chained to the cluster's ad; owned by the
 * caller; must not outlive the cluster. */
struct ad *job_view(const struct schedd *schedd, const struct job *job);
/* One of these fixed attributes, by its number; -1: the name is of none. */
int job_fixed_find(const char *name);
/* Sets it in ad; left out when the job has none. */
void job_fixed_put(const struct schedd *schedd, const struct job *job, int fixed, struct ad *ad);
/* The whole ad, flat; owned by the caller. */
struct ad *job_flat(const struct schedd *schedd, const struct job *job);
/* job_flat(), owned by the queue, until the next call; NULL when there is none of that id */
const struct ad *queue_show(struct schedd *schedd, const char *id);
struct ad *job_own(struct job *job); /* to set attributes in; follow with change_job() */
bool job_has(const struct job *job, const char *name); /* of its own, or its cluster's */
int64_t job_int(const struct job *job, const char *name, int64_t otherwise);
const char *job_string(const struct job *job, const char *name, const char *otherwise);

/* ---- changing ---- */

struct change;
struct change *change_begin(struct schedd *schedd);
struct schedd *change_schedd(const struct change *change);
void change_job(struct change *change, struct job *job); /* its row as it is now */
void change_cluster(struct change *change, struct cluster *cluster);
void change_put(struct change *change, const char *table, const char *key, const struct ad *ad);
void change_put_bytes(struct change *change, const char *table, const char *key, const void *data,
                      size_t length); /* at most STORE_VALUE_MAX */
void change_delete(struct change *change, const char *table, const char *key);
/* call(arg) comes after the commit, before change_commit()'s done; in the order given.  arg is on
 * the heap: call frees it, or the schedd when it ends before. */
void change_then(struct change *change, void (*call)(void *arg), void *arg);
/* Takes change; done(arg) comes after the commit.  When the schedd ends before, drop(arg) comes
 * instead, which frees what done would have.  Both may be NULL. */
void change_commit(struct change *change, void (*done)(void *arg), void (*drop)(void *arg),
                   void *arg);

/* Moves the job; CHECKs that the table allows it.  Not to JOB_GONE. */
void queue_move(struct schedd *schedd, struct job *job, enum job_phase phase);
/* A startd was told to end a run of the job; ended, at last.  In between the job may be idle, but
 * is offered to nobody: without a network partition no job runs twice at a time. */
void queue_leaves(struct job *job);
void queue_left(struct schedd *schedd, struct job *job);
/* A job in JOB_ACTIVE stands still on its machine, or goes on; it is otherwise now. */
void queue_suspend(struct schedd *schedd, struct job *job, bool suspended);
/* The job is over with JobStatus status: into the history, out of the queue.  Frees job, and its
 * cluster when it was the last. */
void queue_finish(struct change *change, struct job *job, enum job_status status);

/* Attributes of its cluster or of the job changed, or are new: what others need to know of that. */
void queue_look_at(struct schedd *schedd, struct job *job);

/* A new cluster or further jobs of one: for job_submit.c.  ads are taken.  A job that may not run
 * yet is offered to nobody until queue_left(). */
struct cluster *queue_add_cluster(struct schedd *schedd, struct owner *owner, struct ad *ad,
                                  int64_t qdate_s);
struct job *queue_add_job(struct schedd *schedd, struct cluster *cluster, struct ad *own,
                          enum job_phase phase, bool may_run);
/* A cluster without jobs is dropped, rows included. */
void queue_drop_if_empty(struct change *change, struct cluster *cluster);

#endif
