/* schedd/schedd_state.h - struct schedd, the state that all parts of the schedd share.
 *
 * The daemon has one such struct.  Each part of the daemon owns some members of it; the comment at
 * a member names the file of its owner.  Only the owner changes a member; others call the functions
 * in the owner's header.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_SCHEDD_STATE_H
#define SCHEDD_SCHEDD_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/daemon/daemon.h"
#include "base/os/os.h"
#include "base/trimmer.h"
#include "base/vec.h"
#include "eventlog/event_text.h"
#include "schedd/site_log.h"
#include "wire/start_promise.h"

struct ad_expr;
struct ad;
struct ad_pool;
struct checkpoints;
struct config;
struct door;
struct listener;
struct log;
struct loop;
struct loop_timer;
struct os;
struct policies;
struct request_ads;
struct request_news;
struct slices;
struct store;
struct strmap;
struct troubles;
struct uplink;
struct user_world;
struct watch;
struct watch_server;
struct wire_context;

/* The values of the knobs; knobs.c says what each knob means. */
struct schedd_settings {
    int64_t jobs_max, jobs_owner_max, jobs_submit_max, running_max, history_max;
    uint64_t constraint_steps_max; /* most steps of evaluation for one request; 0: no limit */
    int64_t job_lease_s;
    int64_t spool_timeout_s;
    int64_t spool_reserve; /* bytes of SPOOL's disk that are kept for the queue; 0: none */
    /* how long a job waits for a machine that can resume its checkpoint; 0: for ever */
    int64_t checkpoint_patience_s;
    uint64_t claim_lease_ms, lease_margin_ms;
    int64_t start_delay_max_s;
    /* number of failed starters after which a job is held; 0: never hold */
    int64_t starter_failures_max;
    /* how long a failing machine is avoided at first; 0: never avoid */
    uint64_t starter_backoff_ms;
    uint64_t match_timeout_ms, claim_worklife_ms, claim_idle_ms;
    uint64_t shadow_linger_ms, publish_gather_ms, publish_full_ms;
    /* shortest and longest time between two rounds of policies; interval 0: no rounds */
    uint64_t policy_interval_ms, policy_interval_max_ms;
    double policy_timeslice;
    /* most steps for the policies of one owner's jobs in a round; 0: no limit */
    uint64_t policy_steps_max;
    struct ad_expr *prio;           /* the knob PRIO; NULL: its default, which is built in */
    const char *const *significant; /* extra significant attributes; NULL-terminated, borrowed */
    const char *shadow_path;        /* path of the shadow program; borrowed */
    /* Unix account that owns the jobs that root submits; "": root cannot submit; borrowed */
    const char *submit_root_as;
    /* These lists of strings, up to system_protected, are NULL-terminated and borrowed. */
    const char *const *super_users;
    const char *const *immutable, *const *system_immutable;
    const char *const *machine_attrs; /* names in SYSTEM_JOB_MACHINE_ATTRS */
    const char *const *protected, *const *system_protected;
    struct event_format event_format; /* format of the job event logs */
    struct site_log_settings site_log;
};

struct schedd_self {   /* this schedd itself */
    char *name;        /* ScheddName */
    char *machine;     /* host name */
    char *uplink_name; /* "schedd/<name>" */
    char *account;     /* the Unix account that this process runs as */
    bool is_root;      /* the process runs as root and can start shadows of any Unix account */
    char boot_id[OS_BOOT_ID_SIZE]; /* of this machine's present boot */
    char *uid_domain;
    char *spool;
    char *address;                /* "tcp:HOST:PORT", how others reach this schedd */
    struct loop_timer *say_timer; /* when to write the address file again, which the disk refused */
    /* number of this run of the schedd; grows with each start, even if the clock is set back */
    int64_t life;
};

struct schedd_room { /* spool_room.c: the disk of SPOOL */
    struct loop_timer *timer;
    char *problem; /* why no new jobs are taken, as it was logged; or NULL */
};

struct schedd_queue {
    /* maps cluster ids such as "12" to struct cluster, in order of submission */
    struct strmap *clusters;
    struct strmap *owners; /* maps names such as "alice" to struct owner */
    int64_t next_cluster;
    /* numbers of jobs; `running`: those with JobStatus 2 or 6 */
    int64_t idle, running, held, total;
    int64_t suspended;
    int64_t disconnected; /* of these, jobs with JobDisconnectedDate: their machine is not heard */
    int64_t completed;    /* completed jobs that stay in the queue */
    struct ad *shown;     /* the ad that queue_show() returned last; owned here */
    struct ad_pool *pool; /* what the jobs' own ads have in common is here */
    struct trimmer trimmer; /* counts jobs that leave, and those that start */
};

struct schedd_groups {
    struct strmap *by_key;  /* maps keys (autocluster_plan_key()) to struct autocluster */
    struct strmap *by_id;   /* maps ids such as "3" to struct autocluster */
    struct strmap *learned; /* significant attributes that the negotiator has named */
    /* submitters.c: maps names such as "physics.bob@domain" to struct submitter */
    struct strmap *submitters;
    int64_t next_id; /* id for the next autocluster */
};

struct schedd_claimed {
    struct strmap *by_id; /* maps claim ids to struct claim */
    /* claim_accounts.c: the wall time at which this boot began, as the clock was set when the
     * stamps of runs were looked at last; 0: never yet */
    int64_t boot_wall_s;
    /* claim_calls.c: earliest time for the next start of a job, loop_now_ms() */
    uint64_t next_start_ms;
    struct vec peers; /* claim_wire.c: connections of startds, each a struct claim_peer */
    /* claim_prompt.c: the promise that jobs start in time */
    struct start_counts start_counts;
    struct loop_timer *start_timer;
};

struct schedd_history {
    int64_t count;
    bool trimming;
};

struct schedd_under_way {
    LIST_HEAD(, query) queries;          /* job_query.c: queries not answered yet */
    LIST_HEAD(, act) acts;               /* job_act.c: ACT requests not finished yet */
    LIST_HEAD(, edit) edits;             /* job_edit.c: EDIT requests not finished yet */
    LIST_HEAD(, submission) submissions; /* job_submit.c: SUBMIT requests not finished yet */
    LIST_HEAD(, selection) selections;   /* job_select.c: constraints being evaluated */
    /* transfer_turns.c: turns for transfers, asked for or begun */
    TAILQ_HEAD(, turn) turns;
};

struct schedd {
    struct loop *loop;
    struct os *os;
    struct log *log;
    const struct config *config;
    /* what the daemon was started with; env.config is the same pointer as the member config */
    struct daemon_env env;
    struct schedd_settings settings;
    struct store *store;

    /* This group, up to stop_by_ms, is owned by schedd.c: the schedd's connections, and how it
     * stops. */
    struct wire_context *context;
    struct door *door;
    int64_t started_ms; /* when this daemon was started, loop_now_ms() */
    struct listener *local;
    struct uplink *uplink;
    struct watch_server *watchers;
    struct vec peers;      /* connections of clients and shadows, each a struct peer */
    struct slices *slices; /* shares out evaluation time between requests and policies */
    bool stopping;
    struct loop_timer *stop_timer;
    uint64_t stop_by_ms;

    struct schedd_self self;
    struct schedd_room room;
    struct schedd_queue queue;         /* queue_table.c: owners, clusters and jobs */
    struct schedd_groups groups;       /* job_autocluster.c: autoclusters and submitters */
    struct schedd_claimed claimed;     /* job_claims.c: claims */
    struct schedd_under_way under_way; /* requests of clients not finished yet */

    LIST_HEAD(, change) changes;   /* job_change.c: changes not on the disk yet */
    struct schedd_history history; /* job_history.c: number of jobs in the history */

    struct user_world *users; /* job_charge.c: the site's maps of users */
    /* job_charge.c: look-ups of Unix accounts so far by the request, or slice of a factory, that is
     * being carried out */
    int64_t charge_lookups;

    struct vec reservations; /* job_submit.c: cluster ids given to clients and not used yet */
    /* job_submit.c: number of jobs that unfinished submissions will still add */
    int64_t coming;

    bool wants_slots; /* true: claims keep the ads of slots, for job_dollar.c or machine_attrs.c */
    /* job_factory.c: some factory waits until the queue, or its owner, may have more jobs */
    bool factories_wait;

    struct watch *learning; /* significant.c: watches the Negotiator ad */
    /* job_spool.c: when to look next for jobs whose input never came */
    struct loop_timer *spool_timer;

    struct event_rows *event_rows;   /* event_rows.c: events that are not written yet */
    struct checkpoints *checkpoints; /* job_checkpoints.c: checkpoints that shadows must delete */
    /* job_policy.c: the site's policies, and how far the present round of evaluating the jobs'
     * policies has come */
    struct policies *policies;
    struct troubles *troubles; /* machine_trouble.c: machines on which starters failed */
    /* request_ads.c: numbers of the messages with ads to the collector, and the timer that sends
     * all ads again */
    struct request_ads *request_ads;
    struct request_news *request_news; /* request_news.c: when changed ads are to be sent */
};

#endif
