/* pcontrol/controller.h - the jobs and hosts of one pcontrol, and what may be done with them.
 *
 * A job waits (PENDING) until a host entry is IDLE, runs there (BUSY), has ended (DONE) and, when
 * its output is complete, is EXIT or CRASH until it is deleted.  A host entry is OFF, DOWN, IDLE,
 * BUSY or BUSY-OFF.  Both tables: pjob_states_plan.h, phost_states_plan.h.
 *
 * Floors within the folder: commands and show call this; controller.c (jobs, choosing) and hosts.c
 * (connections, runs) share controller_parts.h; both stand on link and output.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PCONTROL_CONTROLLER_H
#define PCONTROL_CONTROLLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/heap.h"
#include "base/vec.h"
#include "pcontrol/link_plan.h"
#include "pcontrol/phost_states_plan.h"
#include "pcontrol/pjob_states_plan.h"
#include "pcontrol/pjob_wish.h"

struct controller;
struct err;
struct link;
struct loop;
struct loop_timer;
struct os;
struct output;
struct output_house;
struct phost;
struct phost_name;

/* Settings, from the knobs PCONTROL_... (pcontrol/knobs.c). */
struct controller_settings {
    struct vec transport; /* words; %h in a word is the host's name */
    struct vec client;    /* words: pclient and its options */
    uint64_t lease_ms, margin_ms;
    uint64_t connect_ms;
    uint64_t hung_ms;
    bool retry_hung; /* true: a job on a host that is hung runs again elsewhere */
    uint64_t want_host_ms;
    uint64_t redial_min_ms, redial_max_ms;
    uint32_t dials_max; /* so many hosts are connected to at the same time */
    uint32_t losses_max;
    size_t buffer_max, buffers_max; /* bytes of one buffer, and of all of them */
};

/* ---- jobs -------------------------------------------------------------------------------------
 */

struct pjob {
    uint64_t id;
    enum pjob_state state;
    struct controller *controller;
    struct pjob_wish wish;
    TAILQ_ENTRY(pjob) entry; /* in the list of all */
    /* while PENDING */
    struct heap_place waiting; /* in the heap of all, or of a name */
    struct loop_timer *timer;  /* the end of its rest, or of its wait for its host; NULL: none */
    TAILQ_ENTRY(pjob) place_entry; /* in no heap: in the list of these */
    uint64_t rest_end_ms;
    bool rests;        /* its last run may still be alive, see link_safe_ms() */
    const char *avoid; /* name of the host on which it failed last; interned */
    /* of its run */
    struct phost *host; /* while BUSY, and DONE until the host has sent everything */
    int64_t pid;
    struct output *outputs[2];
    size_t unacknowledged; /* bytes of output dealt with, which its pclient does not know yet */
    bool asked;            /* its pclient was sent the job; before that its files are opened */
    bool killed;           /* by the user */
    bool refused;          /* its output is given up; why says the reason */
    struct link_end end;
    char *why;             /* more words on its end or its wait; NULL: none */
    const char *last_host; /* interned */
    /* times */
    int64_t submitted_wall_ms, start_wall_ms; /* start: of the last run; 0: none */
    uint64_t state_ms, accum_ms; /* when it got into its state; ms in BUSY before that */
    uint32_t runs, failures, losses;
};

TAILQ_HEAD(pjob_list, pjob);

/* ---- hosts ------------------------------------------------------------------------------------
 */

TAILQ_HEAD(phost_list, phost);

/* All entries of one name, and the jobs that want it. */
struct phost_name {
    char *name;
    struct phost_list entries;
    size_t entry_count;
    struct heap wanted; /* PENDING jobs that wait for it */
};

struct phost { /* an entry: one pclient */
    enum phost_state state;
    struct controller *controller;
    struct phost_name *name;
    TAILQ_ENTRY(phost) entry;       /* among those of its name */
    TAILQ_ENTRY(phost) all_entry;   /* among all */
    TAILQ_ENTRY(phost) queue_entry; /* among the IDLE ones, or among those that wait for a dial */
    bool dial_waits, dialling;
    bool deleting;     /* DEL as soon as it is OFF */
    struct link *link; /* NULL: none */
    struct pjob *job;
    bool start_asked;  /* the next answer is that to "job" */
    unsigned failures; /* dials without success, in a row */
    struct loop_timer *redial;
    uint64_t silent_since_ms;    /* 0: it answers */
    char *why;                   /* why it is DOWN; NULL: not known */
    int64_t start_wall_ms;       /* since when it is connected; 0: it is not */
    uint64_t state_ms, accum_ms; /* when it got into its state; ms in BUSY before that */
    uint64_t runs;
};

/* ---- the controller ---------------------------------------------------------------------------
 */

struct controller *controller_create(struct loop *loop, struct os *os,
                                     const struct controller_settings *settings);
/* Has all pclients end, and frees everything. */
void controller_destroy(struct controller *controller);

/* Text of what happens: one line for each change of a state.  NULL: nobody listens. */
void controller_listen(struct controller *controller, void (*say)(void *arg, const char *line),
                       void *arg);

/* Takes what wish points to.  Returns the job's id; 0 with err set: refused, wish is untouched. */
uint64_t controller_add_job(struct controller *controller, struct pjob_wish *wish, struct err *err);
/* Returns 0; or -EEXIST with err naming the job that is not done and writes to the file.  All may
 * write to a device. */
int controller_check_file(const struct controller *controller, const char *path, struct err *err);
struct pjob *controller_find_job(const struct controller *controller, uint64_t id);
/* Each returns 0; or -EBUSY with err naming the state in which the job is. */
int controller_delete_job(struct pjob *job, struct err *err);
/* A job that is DONE gives up the rest of its output. */
int controller_kill_job(struct pjob *job, struct err *err);

void controller_add_host(struct controller *controller, const char *name, bool off);
struct phost_name *controller_find_host(const struct controller *controller, const char *name);
enum controller_verb { HOST_ON, HOST_OFF, HOST_START, HOST_STOP, HOST_DELETE };
/* Does it to all entries of the name for which it is possible.  Returns how many these were; 0:
 * none, and err names their state. */
size_t controller_do_host(struct phost_name *name, enum controller_verb verb, struct err *err);

/* Sets whether jobs are started, and whether hosts are connected to. */
void controller_run_jobs(struct controller *controller, bool run);
void controller_run_hosts(struct controller *controller, bool run);
bool controller_runs_jobs(const struct controller *controller);
bool controller_runs_hosts(const struct controller *controller);
/* One look by hand, which also is done while "stop" holds: starts what can be started now. */
void controller_check_jobs(struct controller *controller);
/* Dials the entries of the name that are DOWN. */
void controller_check_host(struct phost_name *name);

const struct pjob_list *controller_jobs(const struct controller *controller);
const struct phost_list *controller_hosts(const struct controller *controller);
size_t controller_job_count(const struct controller *controller, enum pjob_state state);
size_t controller_jobs_left(const struct controller *controller); /* PENDING, BUSY or DONE */
size_t controller_host_count(const struct controller *controller, enum phost_state state);
struct loop *controller_loop(const struct controller *controller);
struct output_house *controller_house(const struct controller *controller);

/* Writes why a PENDING job does not run, as a clause: "waits for host a, which is DOWN". */
void controller_explain(const struct pjob *job, char *ret, size_t size);
/* Returns why a file of the job's output cannot be written just now; NULL: it can. */
const char *controller_trouble(const struct pjob *job);

/* Calls done(arg) once, soon, when none of the jobs is PENDING, BUSY or DONE any more. ids: NULL:
 * all jobs that there are now or come meanwhile. */
struct controller_wait;
struct controller_wait *controller_wait_for(struct controller *controller, const uint64_t *ids,
                                            size_t count, void (*done)(void *arg), void *arg);
/* Returns the ids that were given. */
const uint64_t *controller_wait_ids(const struct controller_wait *wait, size_t *count);
void controller_wait_cancel(struct controller_wait *wait); /* NULL is allowed */

#endif
