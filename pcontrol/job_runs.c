/* pcontrol/job_runs.c - a job from StartJob to the end of its run; see controller.h.
 *
 * Design note: the end of a run comes in two steps.  DONE: nothing of the job runs any more.  Then
 * its output is completed (what was still at the host comes, files are written), and only then the
 * job is EXIT or CRASH, or PENDING again if it is to be retried.  A host has its next job as soon
 * as it has sent everything, also if a file here cannot be written yet.
 *
 * A job is BUSY on its host while its files are opened, and sent to its pclient only then, so that
 * nothing runs whose output cannot be kept.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "pclient/protocol.h"
#include "pcontrol/controller_parts.h"
#include "pcontrol/link.h"

#define MS_PER_S  1000
#define ACK_BYTES (PCLIENT_WINDOW / 4)

void job_runs_drop(struct pjob *job)
{
    for (int i = 0; i < 2; i++) {
        output_destroy(job->outputs[i]);
        job->outputs[i] = NULL;
    }
}

/* ---- the end of a run -------------------------------------------------------------------------
 */

static bool was_success(const struct pjob *job)
{
    return !job->end.crashed && job->end.code == 0;
}

/* The run is over, and all of its output is here. */
static void close_run(struct pjob *job, enum pjob_operation by)
{
    bool retried =
        !was_success(job) && !job->killed && !job->refused && job->failures < job->wish.retries;
    if (!retried) {
        changes_move_job(job, job->end.crashed ? PJOB_CRASH : PJOB_EXIT, by);
        return;
    }
    job->failures++;
    job->avoid = job->last_host;
    job_runs_drop(job);
    changes_move_job(job, PJOB_PENDING, by);
}

/* After the run: when everything is here, the job is closed. */
static void close_complete_run(struct pjob *job)
{
    if (job->state != PJOB_DONE || job->host != NULL) {
        return;
    }
    bool complete = true;
    for (int i = 0; i < 2; i++) {
        complete = complete && (job->outputs[i] == NULL || output_is_complete(job->outputs[i]));
    }
    if (job->refused) {
        job_runs_drop(job);
    }
    if (job->refused || complete) {
        close_run(job, PJOB_CHECK_DONE);
    }
}

static void finish_outputs(struct pjob *job)
{
    for (int i = 0; i < 2; i++) {
        if (job->outputs[i] != NULL) {
            output_finish(job->outputs[i]);
        }
    }
    close_complete_run(job);
}

static void kill_there(struct pjob *job)
{
    link_send(job->host->link, PCLIENT_KILL "\n", strlen(PCLIENT_KILL "\n"));
}

/* The output cannot be written, or nobody waits for it any more: the job is killed, and the rest of
 * its output is fetched only to be dropped. */
static void give_up_output(struct pjob *job, const char *why)
{
    job->end = (struct link_end){.crashed = true, .code = job->asked ? 9 : 0};
    changes_set_text(&job->why, "%s", why);
    job->refused = true;
    for (int i = 0; i < 2; i++) {
        if (job->outputs[i] != NULL) {
            output_give_up(job->outputs[i]);
        }
    }
    if (job->host != NULL && job->state == PJOB_BUSY && job->asked) {
        kill_there(job);
    }
}

static void move_to_done(struct pjob *job)
{
    if (job->state == PJOB_BUSY) {
        changes_move_job(job, PJOB_DONE, job->killed ? PJOB_KILL : PJOB_CHECK_BUSY);
    }
}

/* The host has sent everything: it may have the next job. */
static enum phost_operation leave_host(struct pjob *job)
{
    job->host->job = NULL;
    job->host = NULL;
    return job->killed ? PHOST_KILL_JOB : PHOST_CHECK_JOB;
}

/* A job whose output was given up before its pclient was sent it.  Its host is free then. */
static void end_unsent(struct pjob *job, enum phost_operation *by)
{
    move_to_done(job);
    *by = leave_host(job);
    close_complete_run(job);
}

static bool files_are_open(const struct pjob *job)
{
    return (job->outputs[0] == NULL || output_is_open(job->outputs[0])) &&
           (job->outputs[1] == NULL || output_is_open(job->outputs[1]));
}

static void send_job(struct pjob *job)
{
    struct strbuf line;
    job->asked = true;
    job->runs++;
    job->start_wall_ms = loop_wall_ms(job->controller->loop);
    job->last_host = job->host->name->name;
    job->host->start_asked = true;
    job->host->runs++;
    strbuf_init(&line, 0);
    strbuf_puts(&line, PCLIENT_JOB);
    if (job->wish.timeout_ms > 0) {
        strbuf_printf(&line, " -timeout %llu.%03llu",
                      (unsigned long long)(job->wish.timeout_ms / MS_PER_S),
                      (unsigned long long)(job->wish.timeout_ms % MS_PER_S));
    }
    strbuf_printf(&line, " %s\n", job->wish.command);
    link_send(job->host->link, strbuf_text(&line), line.length);
    strbuf_fini(&line);
}

/* A job with little output is not worth a message. */
static void acknowledge_output(struct pjob *job)
{
    for (int i = 0; i < 2; i++) {
        job->unacknowledged += job->outputs[i] != NULL ? output_take_done(job->outputs[i]) : 0;
    }
    if (job->unacknowledged >= ACK_BYTES && job->host != NULL) {
        link_ack(job->host->link, job->unacknowledged);
        job->unacknowledged = 0;
    }
}

bool job_runs_output(struct pjob *job, enum phost_operation *by)
{
    for (int i = 0; i < 2; i++) {
        const char *why = job->outputs[i] != NULL ? output_refusal(job->outputs[i]) : NULL;
        if (why != NULL && !job->refused) {
            char text[ERR_TEXT_MAX];
            (void)snprintf(text, sizeof(text), "%s", why); /* it goes with its output */
            give_up_output(job, text);
        }
    }
    if (job->state == PJOB_BUSY && !job->asked) {
        if (job->refused) {
            end_unsent(job, by);
        } else if (files_are_open(job)) {
            send_job(job);
        }
        return job->host == NULL;
    }
    acknowledge_output(job);
    close_complete_run(job);
    return false;
}

static void set_end(struct pjob *job, const struct link_end *end)
{
    if (job->refused) {
        return; /* why is known */
    }
    job->end = *end;
    if (strcmp(end->why, PCLIENT_TIMEOUT) == 0) {
        changes_set_text(&job->why, "timeout: it ran for longer than %g s",
                         (double)job->wish.timeout_ms / MS_PER_S);
    } else if (strcmp(end->why, PCLIENT_KILLED) == 0) {
        changes_set_text(&job->why, "killed");
    } else {
        changes_set_text(&job->why, NULL);
    }
}

/* ---- StartJob ---------------------------------------------------------------------------------
 */

static void begin_run(struct pjob *job)
{
    job->pid = 0;
    job->asked = false;
    job->killed = false;
    job->refused = false;
    job->unacknowledged = 0;
    job->end = (struct link_end){0};
    changes_set_text(&job->why, NULL);
}

void job_runs_fail(struct pjob *job, const char *format, ...)
{
    struct strbuf why;
    va_list args;
    strbuf_init(&why, 0);
    va_start(args, format);
    strbuf_vprintf(&why, format, args);
    va_end(args);
    begin_run(job);
    changes_move_job(job, PJOB_BUSY, PJOB_START);
    job->end.crashed = true;
    changes_set_text(&job->why, "%s", strbuf_text(&why));
    strbuf_fini(&why);
    changes_move_job(job, PJOB_DONE, PJOB_CHECK_BUSY);
    changes_move_job(job, PJOB_CRASH, PJOB_CHECK_DONE);
}

void job_runs_start(struct pjob *job, struct phost *host)
{
    struct controller *controller = job->controller;
    begin_run(job);
    job->host = host;
    host->job = job;
    changes_move_job(job, PJOB_BUSY, PJOB_START);
    changes_move_host(host, PHOST_BUSY, PHOST_START_JOB);
    for (int i = 0; i < 2; i++) {
        job->outputs[i] = job->wish.paths[i] != NULL
                              ? output_create(controller->house, job->wish.paths[i], job->id,
                                              job->controller->output_changed, job)
                              : NULL;
    }
    if (files_are_open(job)) {
        send_job(job);
    }
}

const char *controller_trouble(const struct pjob *job)
{
    const char *trouble = NULL;
    for (int i = 0; i < 2 && trouble == NULL; i++) {
        trouble = job->outputs[i] != NULL ? output_trouble(job->outputs[i]) : NULL;
    }
    return trouble;
}

/* KillJob while files are opened, or output is still on its way: it is given up. */
static bool kill_for_output(struct pjob *job, enum phost_operation *by)
{
    char why[ERR_TEXT_MAX + 50];
    const char *trouble = controller_trouble(job);
    (void)snprintf(why, sizeof(why), "killed before %s%s%s",
                   job->asked ? "its output was complete" : "its files were open",
                   trouble != NULL ? ": " : "", trouble != NULL ? trouble : "");
    give_up_output(job, why);
    return job_runs_output(job, by);
}

bool job_runs_kill(struct pjob *job, enum phost_operation *by)
{
    job->killed = true;
    if (job->state == PJOB_BUSY && job->asked) {
        kill_there(job);
    } else if (!job->refused) {
        return kill_for_output(job, by);
    }
    return false;
}

/* ---- what its pclient says --------------------------------------------------------------------
 */

static void take_output(struct pjob *job, const struct link_message *message)
{
    int at = message->stream - 1;
    if (job->outputs[at] == NULL) {
        job->outputs[at] = output_create(job->controller->house, NULL, job->id,
                                         job->controller->output_changed, job);
    }
    output_add(job->outputs[at], message->data, message->length);
    acknowledge_output(job);
}

static bool take_refusal(struct pjob *job, const struct link_message *message,
                         enum phost_operation *by)
{
    struct phost *host = job->host;
    if (!host->start_asked) {
        return false; /* the answer to "kill": the job has ended by itself meanwhile */
    }
    host->start_asked = false;
    const struct link_end failed = {.crashed = true};
    set_end(job, &failed);
    if (!job->refused) {
        changes_set_text(&job->why, "%.*s", (int)message->length, message->data);
    }
    move_to_done(job);
    *by = leave_host(job);
    finish_outputs(job);
    return true;
}

bool job_runs_take(struct phost *host, const struct link_message *message, enum phost_operation *by)
{
    struct pjob *job = host->job;
    if (job == NULL) {
        return false; /* the answer to a "kill" that came too late */
    }
    switch (message->kind) {
    case LINK_STARTED:
        host->start_asked = false;
        job->pid = message->pid;
        break;
    case LINK_REFUSED:
        return take_refusal(job, message, by);
    case LINK_OUTPUT:
        take_output(job, message);
        break;
    case LINK_DONE:
        move_to_done(job);
        break;
    case LINK_ENDED:
        set_end(job, &message->end);
        move_to_done(job);
        *by = leave_host(job);
        finish_outputs(job);
        return true;
    case LINK_FOLLOWS:
    case LINK_OK:
    case LINK_PONG:
        break;
    }
    return false;
}

/* ---- a lost host ------------------------------------------------------------------------------
 */

/* Whatever runs of it there ends with its pclient's lease. */
static void run_elsewhere(struct pjob *job, uint64_t safe_ms, enum pjob_operation by)
{
    job->avoid = job->last_host;
    job_runs_drop(job);
    job->rests = job->asked;
    job->rest_end_ms = safe_ms + job->controller->settings.margin_ms;
    changes_move_job(job, PJOB_PENDING, by);
}

static void lose_done(struct pjob *job, const char *why)
{
    if (!job->refused) {
        job->end = (struct link_end){.crashed = true};
        changes_set_text(&job->why, "output lost: %s", why);
    }
    job_runs_drop(job);
    close_run(job, PJOB_CHECK_HOST);
}

static void crash_lost(struct pjob *job, const char *why)
{
    job->end = (struct link_end){.crashed = true, .code = job->killed ? 9 : 0};
    if (!job->refused) {
        changes_set_text(&job->why, "%s: %s",
                         job->killed ? "killed; its host was lost" : "lost with its host", why);
    }
    move_to_done(job);
    finish_outputs(job);
}

void job_runs_lose(struct phost *host, enum pjob_operation by, const char *why)
{
    struct pjob *job = host->job;
    uint64_t safe_ms = link_safe_ms(host->link);
    host->job = NULL;
    host->start_asked = false;
    if (job == NULL) {
        return;
    }
    CHECK(job->host == host);
    job->host = NULL;
    if (job->state == PJOB_DONE) {
        lose_done(job, why);
    } else if (job->asked && (job->killed || job->refused ||
                              ++job->losses > job->controller->settings.losses_max)) {
        crash_lost(job, why);
    } else {
        changes_set_text(&job->why, "host %s was lost: %s", host->name->name, why);
        run_elsewhere(job, safe_ms, by);
    }
}
