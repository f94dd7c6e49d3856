/* pcontrol/changes.c - the lowest floor of the controller: how jobs and hosts change their states,
 * and who hears of it.
 *
 * Nothing here decides.  A change that may have a job started marks the controller, and its looks
 * (controller.c) are called soon; so lower floors never call higher ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stdio.h>

#include "base/check.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "pcontrol/controller_parts.h"

/* ---- words ------------------------------------------------------------------------------------
 */

void changes_set_text(char **text, const char *format, ...)
{
    char *fresh = NULL;
    if (format != NULL) {
        struct strbuf buf;
        va_list args;
        strbuf_init(&buf, 0);
        va_start(args, format);
        strbuf_vprintf(&buf, format, args);
        va_end(args);
        fresh = strbuf_take(&buf);
    }
    for (char *at = fresh; at != NULL && *at != '\0'; at++) {
        *at = (*at >= 0 && *at < ' ') || *at == '\x7f' ? '?' : *at;
    }
    mem_free(*text);
    *text = fresh;
}

static void say_line(struct controller *controller, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say_line(struct controller *controller, const char *format, ...)
{
    if (controller->say == NULL) {
        return;
    }
    struct strbuf buf;
    va_list args;
    strbuf_init(&buf, 0);
    va_start(args, format);
    strbuf_vprintf(&buf, format, args);
    va_end(args);
    controller->say(controller->say_arg, strbuf_text(&buf));
    strbuf_fini(&buf);
}

/* ---- who is called soon -----------------------------------------------------------------------
 */

void changes_look(struct controller *controller)
{
    if (!controller->look_is_due && !controller->destroying) {
        controller->look_is_due = true;
        loop_defer(controller->loop, controller->look, controller);
    }
}

/* ---- states -----------------------------------------------------------------------------------
 */

void changes_move_job(struct pjob *job, enum pjob_state to, enum pjob_operation by)
{
    struct controller *controller = job->controller;
    uint64_t now_ms = loop_now_ms(controller->loop);
    CHECK(pjob_states_allow(job->state, to, by));
    if (job->state == PJOB_BUSY) {
        job->accum_ms += now_ms - job->state_ms;
    }
    if (job->state != PJOB_NEW) {
        controller->job_counts[job->state]--;
    }
    if (to != PJOB_DEL) {
        controller->job_counts[to]++;
    }
    say_line(controller, "job %llu: %s -> %s: %s%s%s%s%s", (unsigned long long)job->id,
             pjob_states_name(job->state), pjob_states_name(to), pjob_states_operation(by),
             job->host != NULL ? " on " : "", job->host != NULL ? job->host->name->name : "",
             job->why != NULL ? ": " : "", job->why != NULL ? job->why : "");
    if (job->state == PJOB_PENDING && job->waiting.heap == NULL) {
        TAILQ_REMOVE(&controller->unplaced, job, place_entry);
    }
    if (to == PJOB_PENDING) {
        TAILQ_INSERT_TAIL(&controller->unplaced, job, place_entry);
        changes_look(controller);
    }
    job->state = to;
    job->state_ms = now_ms;
    if (to == PJOB_EXIT || to == PJOB_CRASH || to == PJOB_DEL) {
        changes_look(controller);
    }
}

void changes_move_host(struct phost *host, enum phost_state to, enum phost_operation by)
{
    struct controller *controller = host->controller;
    uint64_t now_ms = loop_now_ms(controller->loop);
    CHECK(phost_states_allow(host->state, to, by));
    bool was_busy = host->state == PHOST_BUSY || host->state == PHOST_BUSY_OFF;
    if (was_busy) {
        host->accum_ms += now_ms - host->state_ms;
    }
    if (host->state != PHOST_NEW) {
        controller->host_counts[host->state]--;
    }
    if (to != PHOST_DEL) {
        controller->host_counts[to]++;
    }
    say_line(controller, "host %s: %s -> %s: %s%s%s", host->name->name,
             phost_states_name(host->state), phost_states_name(to), phost_states_operation(by),
             to == PHOST_DOWN && host->why != NULL ? ": " : "",
             to == PHOST_DOWN && host->why != NULL ? host->why : "");
    if (host->state == PHOST_IDLE) {
        TAILQ_REMOVE(&controller->idle, host, queue_entry);
    }
    if (to == PHOST_IDLE) {
        TAILQ_INSERT_TAIL(&controller->idle, host, queue_entry);
        changes_look(controller);
    }
    if (to == PHOST_OFF || to == PHOST_BUSY_OFF || to == PHOST_DEL) {
        controller->names_changed = true; /* jobs may wait for it in vain */
        changes_look(controller);
    }
    host->state = to;
    host->state_ms = now_ms; /* what was busy so far is in accum_ms */
}
