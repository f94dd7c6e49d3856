/* pcontrol/controller_parts.h - what the floors of the controller share:
 * controller.c calls hosts.c, that calls job_runs.c, and all call changes.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PCONTROL_CONTROLLER_PARTS_H
#define PCONTROL_CONTROLLER_PARTS_H

#include "base/loop.h"
#include "base/strmap.h"
#include "pcontrol/controller.h"
#include "pcontrol/link.h"
#include "pcontrol/output.h"

TAILQ_HEAD(controller_waits, controller_wait);

struct controller {
    struct loop *loop;
    struct os *os;
    struct controller_settings settings; /* borrowed vectors */
    struct output_house *house;
    struct pjob_list jobs;
    struct vec by_id; /* by_id.items[id - first_id]; NULL: deleted */
    uint64_t first_id;
    size_t gone; /* so many of by_id, from the first on, are NULL */
    size_t job_counts[PJOB_STATES], host_counts[PHOST_STATES];
    struct pjob_list unplaced; /* PENDING jobs that are in no heap */
    struct heap anywhere;      /* PENDING jobs that any host may run */
    struct strmap *names;      /* of struct phost_name */
    struct strmap *paths;      /* files that jobs write to; of struct pjob */
    struct phost_list hosts, idle, dial_queue;
    struct link_list links;
    uint32_t dialling;
    bool run_jobs, run_hosts;
    bool look_is_due;   /* changes_look() has been called */
    bool names_changed; /* hosts have gone for which jobs may wait */
    bool destroying;
    loop_f look;           /* see changes_look() */
    loop_f output_changed; /* of the output of a job: hosts_output_changed() */
    struct controller_waits waits;
    void (*say)(void *arg, const char *line);
    void *say_arg;
};

/* ---- changes.c: the lowest floor */

/* Moves the job or host to another state, which the tables must allow.  A job must not be in a heap
 * then. */
void changes_move_job(struct pjob *job, enum pjob_state to, enum pjob_operation by);
void changes_move_host(struct phost *host, enum phost_state to, enum phost_operation by);
/* Has the controller look soon which jobs can be given to which hosts, and who waits for the end of
 * jobs. */
void changes_look(struct controller *controller);
/* Replaces a text; format NULL: none.  Control characters become '?', because much of it comes from
 * hosts and is shown on terminals. */
void changes_set_text(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- job_runs.c: from StartJob to the end of a run */

/* Gives a PENDING job, which is in no heap, to an IDLE host. */
void job_runs_start(struct pjob *job, struct phost *host);
/* The job is attempted, and fails for this reason without a host. */
void job_runs_fail(struct pjob *job, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The job's pclient has said something about it.  Returns true when the host is free then, with *by
 * set to the operation that moves it on. */
bool job_runs_take(struct phost *host, const struct link_message *message,
                   enum phost_operation *by);
/* The job's output has changed.  Returns as job_runs_take() does. */
bool job_runs_output(struct pjob *job, enum phost_operation *by);
/* As controller_kill_job(), for a job that is BUSY or DONE.  Returns as job_runs_take() does. */
bool job_runs_kill(struct pjob *job, enum phost_operation *by);
/* The host of a job is lost. by: PJOB_CHECK_HOST or PJOB_CHECK. */
void job_runs_lose(struct phost *host, enum pjob_operation by, const char *why);
void job_runs_drop(struct pjob *job); /* frees its outputs */

/* ---- hosts.c: entries and their connections */

/* The loop calls it for the outputs of a job: it may be sent, or has ended. */
void hosts_output_changed(void *job);
struct phost_name *hosts_name(struct controller *controller, const char *name);
void hosts_destroy(struct phost *host);

#endif
