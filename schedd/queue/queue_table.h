/* schedd/queue/queue_table.h - the table of owners, clusters and jobs, in memory.
 *
 * Design.  A cluster has one ad that its jobs share; a job keeps of its own only what differs, and
 * the few things that every job has (id, phase, epoch, when it entered its status) in a struct of
 * fixed size, so that a large cluster of idle jobs costs little.  The whole ad of a job is put
 * together when somebody asks for it (job_ad.h).
 *
 * The table knows who is in it and how many are in each JobStatus.  It tells nobody of a change:
 * whoever makes one does (job_queue.h).
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
    struct strmap *runs;   /* shadow_runs.c: job id -> a run; NULL: none yet */
    int64_t events;        /* event_rows.c: that wait for the shadow */
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
    struct slice_work *making;   /* its turn; NULL: none, or its last slice is not durable yet */
    /* of jobs that change no significant attribute (job_autocluster.c) */
    struct autocluster *common;
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

void queue_table_init(struct schedd *schedd);
/* Frees all that is in it, factories apart. */
void queue_table_fini(struct schedd *schedd);

/* ---- finding ---- */

void cluster_row_key(int64_t id, char ret[JOB_KEY_SIZE]); /* of its row in the store */
struct cluster *queue_cluster(const struct schedd *schedd, int64_t id); /* NULL when absent */
struct job *queue_job(const struct schedd *schedd, int64_t cluster, int64_t proc);
struct job *queue_job_by_id(const struct schedd *schedd, const char *id);
/* All jobs in order of id; each returns false to stop.  The queue must not change meanwhile. */
void queue_walk(const struct schedd *schedd, bool (*each)(void *arg, struct job *job), void *arg);
struct owner *queue_owner(struct schedd *schedd, const char *name); /* made when absent */
bool owner_name_is_valid(const char *name);
/* job_flat(), owned by the queue, until the next call; NULL when there is none of that id */
const struct ad *queue_show(struct schedd *schedd, const char *id);

/* ---- what is in it: for job_queue.c and its kin ---- */

/* Takes ad, whose ClusterId is new. */
struct cluster *queue_add_cluster(struct schedd *schedd, struct owner *owner, struct ad *ad,
                                  int64_t qdate_s);
/* Makes room for procs[proc]; the room between is of jobs that are gone. */
void queue_make_room(struct cluster *cluster, uint32_t proc);
/* A job of that id, which is counted; own (NULL: nothing) is taken. */
struct job *queue_put_job(struct schedd *schedd, struct cluster *cluster, uint32_t proc,
                          struct ad *own, enum job_phase phase);
/* It is not counted any more, and freed. */
void queue_take_job(struct schedd *schedd, struct job *job);
/* The same for a cluster that has neither jobs nor a factory nor an autocluster. */
void queue_take_cluster(struct schedd *schedd, struct cluster *cluster);
/* Own attributes were given to the job, or changed. */
void queue_note_own(struct job *job);
/* The job's status was `before`, and is now job_status(): when that is another, it is counted so
 * and the time is noted.  True: it is another. */
bool queue_note_status(struct schedd *schedd, struct job *job, enum job_status before);
/* The job, which is active, stands still since the schedd's last life. */
void queue_note_suspended(struct schedd *schedd, struct job *job);

#endif
