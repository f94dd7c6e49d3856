/* pcontrol/hosts.c - host entries, and the connections to their pclients; see controller.h.
 *
 * Design note: at most dials_max entries are being connected to at the same time; the others wait
 * in a queue.  An entry whose dial failed waits for a time that doubles with each failure, and a
 * random part of it, so that hosts that went together do not come back together.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/random.h"
#include "base/text.h"
#include "pcontrol/controller_parts.h"
#include "pcontrol/link.h"
#include "pcontrol/waiting_order.h"

#define DOUBLINGS_MAX 16

static void dial_next(struct controller *controller);
static void dial_host(struct phost *host);
static void delete_now(struct phost *host);

/* ---- dialling ---------------------------------------------------------------------------------
 */

static void leave_queue(struct phost *host)
{
    if (host->dial_waits) {
        TAILQ_REMOVE(&host->controller->dial_queue, host, queue_entry);
        host->dial_waits = false;
    }
}

/* The dial has succeeded, failed or been given up. */
static void dial_is_over(struct phost *host)
{
    if (host->dialling) {
        host->dialling = false;
        host->controller->dialling--;
        dial_next(host->controller);
    }
}

/* by hand: also when hosts are stopped. */
static void ask_for_dial(struct phost *host, bool by_hand)
{
    struct controller *controller = host->controller;
    if (host->state != PHOST_DOWN || host->link != NULL || host->dial_waits ||
        (!controller->run_hosts && !by_hand)) {
        return;
    }
    loop_timer_stop(host->redial);
    host->dial_waits = true;
    TAILQ_INSERT_TAIL(&controller->dial_queue, host, queue_entry);
    dial_next(controller);
}

static void dial_again(void *arg)
{
    ask_for_dial(arg, false);
}

static void plan_dial(struct phost *host)
{
    const struct controller_settings *settings = &host->controller->settings;
    unsigned doublings = host->failures < DOUBLINGS_MAX ? host->failures : DOUBLINGS_MAX;
    uint64_t wait_ms = settings->redial_min_ms << doublings;
    wait_ms = wait_ms < settings->redial_max_ms ? wait_ms : settings->redial_max_ms;
    host->failures++;
    wait_ms = wait_ms / 2 + rng_below(loop_rng(host->controller->loop), wait_ms / 2 + 1);
    loop_timer_set(host->redial, wait_ms);
}

static void dial_next(struct controller *controller)
{
    struct phost *host;
    while (!controller->destroying && controller->dialling < controller->settings.dials_max &&
           (host = TAILQ_FIRST(&controller->dial_queue)) != NULL) {
        leave_queue(host);
        dial_host(host);
    }
}

/* ---- events of a link -------------------------------------------------------------------------
 */

static void close_link(struct phost *host, bool cut)
{
    struct link *link = host->link;
    host->link = NULL;
    host->silent_since_ms = 0;
    host->start_wall_ms = 0;
    if (cut) {
        link_cut(link);
    } else {
        link_close(link);
    }
    dial_is_over(host);
}

static void become_idle(struct phost *host)
{
    host->failures = 0;
    host->start_wall_ms = loop_wall_ms(host->controller->loop);
    changes_set_text(&host->why, NULL);
    changes_move_host(host, PHOST_IDLE, PHOST_START);
    dial_is_over(host);
}

/* The host's job has ended: the host may have the next one, or goes off as it was to.  Returns
 * false in that case; then the host may have been freed. */
static bool host_is_free(struct phost *host, enum phost_operation by)
{
    if (host->state == PHOST_BUSY) {
        changes_move_host(host, PHOST_IDLE, by);
        return true;
    }
    CHECK(host->state == PHOST_BUSY_OFF);
    close_link(host, false);
    changes_move_host(host, PHOST_OFF, by);
    delete_now(host);
    return false;
}

void hosts_output_changed(void *arg)
{
    struct pjob *job = arg;
    struct phost *host = job->host;
    enum phost_operation by = PHOST_CHECK_JOB;
    if (job_runs_output(job, &by)) {
        (void)host_is_free(host, by);
    }
}

int controller_kill_job(struct pjob *job, struct err *err)
{
    struct phost *host = job->host;
    enum phost_operation by = PHOST_KILL_JOB;
    if (job->state != PJOB_BUSY && job->state != PJOB_DONE) {
        bool waits = job->state == PJOB_PENDING;
        return err_set(err, -EBUSY, "job %llu is %s%s", (unsigned long long)job->id,
                       pjob_states_name(job->state), waits ? ": delete it" : "");
    }
    if (job_runs_kill(job, &by)) {
        (void)host_is_free(host, by);
    }
    return 0;
}

/* The connection is gone, or is given up. by: PHOST_CHECK or PHOST_CHECK_JOB. */
static void lose_host(struct phost *host, enum phost_operation by, const char *why)
{
    bool was_up = host->state != PHOST_DOWN;
    changes_set_text(&host->why, "%s", why);
    if (host->state == PHOST_BUSY || host->state == PHOST_BUSY_OFF) {
        job_runs_lose(host, by == PHOST_CHECK ? PJOB_CHECK_HOST : PJOB_CHECK, why);
    }
    close_link(host, true);
    if (host->state == PHOST_BUSY_OFF) {
        changes_move_host(host, PHOST_OFF, by);
        delete_now(host);
        return;
    }
    if (was_up) {
        changes_move_host(host, PHOST_DOWN, by);
    }
    plan_dial(host);
}

/* Returns true if the host is given up. */
static bool become_hung(struct phost *host)
{
    struct controller *controller = host->controller;
    host->silent_since_ms = loop_now_ms(controller->loop);
    if (!controller->settings.retry_hung && host->job != NULL) {
        return false;
    }
    char why[100];
    (void)snprintf(why, sizeof(why), "HUNG: no answer for %llu s",
                   (unsigned long long)(controller->settings.hung_ms / 1000));
    lose_host(host, host->job != NULL ? PHOST_CHECK_JOB : PHOST_CHECK, why);
    return true;
}

/* Takes what the link has, until that closes the link: then the host may be gone, too. */
static void link_is_ready(void *arg)
{
    struct phost *host = arg;
    struct link_message message;
    enum phost_operation by = PHOST_CHECK_JOB;
    for (;;) {
        switch (link_next(host->link, &message)) {
        case LINK_NOTHING:
            return;
        case LINK_IS_UP:
            become_idle(host);
            break;
        case LINK_SAYS:
            if (job_runs_take(host, &message, &by) && !host_is_free(host, by)) {
                return;
            }
            break;
        case LINK_IS_SILENT:
            if (become_hung(host)) {
                return;
            }
            break;
        case LINK_ANSWERS:
            host->silent_since_ms = 0;
            break;
        case LINK_IS_LOST:
            lose_host(host, PHOST_CHECK, link_why(host->link));
            return;
        }
    }
}

#define HOST_MARK "%h" /* in words: the name of the host */

static void make_command(const struct phost *host, struct vec *ret)
{
    const struct controller_settings *settings = &host->controller->settings;
    bool named = false;
    for (size_t i = 0; i < settings->transport.count; i++) {
        vec_push(ret,
                 text_insert(settings->transport.items[i], HOST_MARK, host->name->name, &named));
    }
    if (!named && settings->transport.count > 0) {
        vec_push(ret, mem_strdup(host->name->name));
    }
    for (size_t i = 0; i < settings->client.count; i++) {
        vec_push(ret, text_insert(settings->client.items[i], HOST_MARK, host->name->name, &named));
    }
    vec_push(ret, NULL);
}

static void dial_host(struct phost *host)
{
    struct controller *controller = host->controller;
    const struct controller_settings *settings = &controller->settings;
    struct vec command = {0};
    struct err err;
    CHECK(host->link == NULL && host->state == PHOST_DOWN);
    make_command(host, &command);
    const struct link_spec spec = {.argv = (const char *const *)command.items,
                                   .lease_ms = settings->lease_ms,
                                   .connect_ms = settings->connect_ms,
                                   .silent_ms = settings->hung_ms};
    int rc = link_open(controller->loop, controller->os, &spec, &controller->links, link_is_ready,
                       host, &host->link, &err);
    vec_fini(&command, mem_free);
    if (rc == 0) {
        host->dialling = true;
        controller->dialling++;
    } else {
        changes_set_text(&host->why, "%s", err.text);
        plan_dial(host);
    }
}

/* ---- entries ----------------------------------------------------------------------------------
 */

struct phost_name *controller_find_host(const struct controller *controller, const char *name)
{
    return strmap_get(controller->names, name);
}

struct phost_name *hosts_name(struct controller *controller, const char *name)
{
    struct phost_name *found = controller_find_host(controller, name);
    if (found == NULL) {
        found = mem_zalloc(sizeof(*found));
        found->name = mem_strdup(name);
        TAILQ_INIT(&found->entries);
        heap_init(&found->wanted, waiting_order_before);
        (void)strmap_set(controller->names, name, found);
    }
    return found;
}

void controller_add_host(struct controller *controller, const char *name, bool off)
{
    struct phost *host = mem_zalloc(sizeof(*host));
    host->controller = controller;
    host->name = hosts_name(controller, name);
    host->state_ms = loop_now_ms(controller->loop);
    host->redial = loop_timer_create(controller->loop, dial_again, host);
    TAILQ_INSERT_TAIL(&host->name->entries, host, entry);
    host->name->entry_count++;
    TAILQ_INSERT_TAIL(&controller->hosts, host, all_entry);
    changes_move_host(host, PHOST_OFF, PHOST_ADD);
    if (!off) {
        changes_move_host(host, PHOST_DOWN, PHOST_ON);
        ask_for_dial(host, false);
    }
}

void hosts_destroy(struct phost *host)
{
    struct controller *controller = host->controller;
    leave_queue(host);
    if (host->job != NULL) {
        host->job->host = NULL;
        host->job = NULL;
    }
    close_link(host, false);
    if (host->state == PHOST_IDLE) {
        TAILQ_REMOVE(&controller->idle, host, queue_entry);
    }
    TAILQ_REMOVE(&host->name->entries, host, entry);
    host->name->entry_count--;
    TAILQ_REMOVE(&controller->hosts, host, all_entry);
    loop_timer_destroy(host->redial);
    mem_free(host->why);
    mem_free(host);
}

/* Deletes an entry that was only waiting to be OFF. */
static void delete_now(struct phost *host)
{
    if (host->deleting && host->state == PHOST_OFF) {
        changes_move_host(host, PHOST_DEL, PHOST_DELETE);
        hosts_destroy(host);
    }
}

static bool turn_on(struct phost *host)
{
    if (host->state == PHOST_BUSY_OFF) {
        host->deleting = false;
        changes_move_host(host, PHOST_BUSY, PHOST_ON);
        return true;
    }
    if (host->state != PHOST_OFF) {
        return false;
    }
    host->failures = 0;
    changes_move_host(host, PHOST_DOWN, PHOST_ON);
    ask_for_dial(host, false);
    return true;
}

static bool turn_off(struct phost *host)
{
    switch (host->state) {
    case PHOST_BUSY:
        changes_move_host(host, PHOST_BUSY_OFF, PHOST_SWITCH_OFF);
        break;
    case PHOST_DOWN:
    case PHOST_IDLE:
        leave_queue(host);
        loop_timer_stop(host->redial);
        changes_move_host(host, PHOST_OFF, PHOST_SWITCH_OFF);
        close_link(host, false);
        break;
    default:
        return false;
    }
    return true;
}

static bool stop_host(struct phost *host)
{
    if (host->state != PHOST_IDLE) {
        return false;
    }
    changes_set_text(&host->why, "stopped by the user");
    changes_move_host(host, PHOST_DOWN, PHOST_STOP);
    close_link(host, false);
    plan_dial(host);
    return true;
}

static bool start_host(struct phost *host)
{
    if (host->state != PHOST_DOWN) {
        return false;
    }
    ask_for_dial(host, true);
    return true;
}

static bool delete_host(struct phost *host)
{
    host->deleting = true;
    (void)turn_off(host);
    delete_now(host);
    return true;
}

static const struct {
    bool (*act)(struct phost *host);
    const char *needs;
} VERBS[] = {
    [HOST_ON] = {turn_on, "OFF or BUSY-OFF"}, [HOST_OFF] = {turn_off, "DOWN, IDLE or BUSY"},
    [HOST_START] = {start_host, "DOWN"},      [HOST_STOP] = {stop_host, "IDLE"},
    [HOST_DELETE] = {delete_host, "there"},
};

size_t controller_do_host(struct phost_name *name, enum controller_verb verb, struct err *err)
{
    size_t count = 0;
    const struct phost *first = TAILQ_FIRST(&name->entries);
    const char *state = first != NULL ? phost_states_name(first->state) : "unknown";
    struct phost *host, *next;
    for (host = TAILQ_FIRST(&name->entries); host != NULL; host = next) {
        next = TAILQ_NEXT(host, entry);
        count += VERBS[verb].act(host) ? 1 : 0;
    }
    if (count == 0) {
        (void)err_set(err, -EBUSY, "host %s is %s: it would have to be %s", name->name, state,
                      VERBS[verb].needs);
    }
    return count;
}

void controller_check_host(struct phost_name *name)
{
    struct phost *host;
    TAILQ_FOREACH(host, &name->entries, entry)
    {
        ask_for_dial(host, true);
    }
}

void controller_run_hosts(struct controller *controller, bool run)
{
    controller->run_hosts = run;
    struct phost *host;
    TAILQ_FOREACH(host, &controller->hosts, all_entry)
    {
        if (run) {
            ask_for_dial(host, false);
        } else {
            leave_queue(host);
            loop_timer_stop(host->redial);
        }
    }
}
