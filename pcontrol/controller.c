/* pcontrol/controller.c - jobs that wait, and the choice of a job for an idle host; see
 * controller.h.
 *
 * Design note: a PENDING job is in one of these places: in the heap of all (any host may run it),
 * in the heap of a name (it waits for that host), or in none, because it rests (its last run may
 * still be alive) or because jobs are stopped and it has not been attempted yet.  Each of these
 * states has at most one timer.  An idle host takes the better of the first of the heap of all and
 * the first of the heap of its name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pcontrol/controller.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "pcontrol/controller_parts.h"
#include "pcontrol/waiting_order.h"

#define AVOID_LOOKS 8 /* so many jobs are looked at, past those that avoid the host */

struct controller_wait {
    TAILQ_ENTRY(controller_wait) entry;
    struct controller *controller;
    uint64_t *ids;
    size_t count, at; /* ids before `at` have ended */
    bool told;
    void (*done)(void *arg);
    void *arg;
};

void controller_listen(struct controller *controller, void (*say)(void *arg, const char *line),
                       void *arg)
{
    controller->say = say;
    controller->say_arg = arg;
}

/* ---- waiting jobs -----------------------------------------------------------------------------
 */

/* How far the entries of a name are from running a job. */
enum nearness { HOST_UNKNOWN, HOST_IS_OFF, HOST_IS_DOWN, HOST_IS_UP };

static enum nearness name_nearness(const struct phost_name *name)
{
    enum nearness ret = HOST_UNKNOWN;
    const struct phost *host;
    TAILQ_FOREACH(host, &name->entries, entry)
    {
        enum nearness near = host->state == PHOST_IDLE || host->state == PHOST_BUSY ? HOST_IS_UP
                             : host->state == PHOST_DOWN                            ? HOST_IS_DOWN
                                                                                    : HOST_IS_OFF;
        ret = near > ret ? near : ret;
    }
    return ret;
}

static const char *why_down(const struct phost_name *name)
{
    const struct phost *host;
    TAILQ_FOREACH(host, &name->entries, entry)
    {
        if (host->state == PHOST_DOWN && host->why != NULL) {
            return host->why;
        }
    }
    return "no connection yet";
}

/* Explains that no host is up; the reason is that of the first one that has one. */
static void explain_down(const struct controller *controller, char *ret, size_t size)
{
    const struct phost *host;
    TAILQ_FOREACH(host, &controller->hosts, all_entry)
    {
        if (host->state == PHOST_DOWN && host->why != NULL) {
            break;
        }
    }
    (void)snprintf(ret, size, "no host is up: %zu DOWN, %zu OFF%s%s%s%s",
                   controller->host_counts[PHOST_DOWN],
                   controller->host_counts[PHOST_OFF] + controller->host_counts[PHOST_BUSY_OFF],
                   host != NULL ? "; " : "", host != NULL ? host->name->name : "",
                   host != NULL ? ": " : "", host != NULL ? host->why : "");
}

static void set_timer(struct pjob *job, uint64_t delay_ms);

/* Takes the job out of where it waits. */
static void leave_place(struct pjob *job)
{
    if (job->waiting.heap == NULL) {
        TAILQ_REMOVE(&job->controller->unplaced, job, place_entry);
    }
    heap_remove(&job->waiting);
}

/* Takes a job out of its heap: it is to be started, or fails. */
static void unplace_job(struct pjob *job)
{
    if (job->waiting.heap != NULL) {
        heap_remove(&job->waiting);
        TAILQ_INSERT_TAIL(&job->controller->unplaced, job, place_entry);
    }
}

/* Finds the heap in which the job, which is PENDING, waits for a host; or it fails. */
static void attempt_job(struct pjob *job)
{
    struct controller *controller = job->controller;
    if (job->wish.place != PJOB_ANYWHERE) {
        struct phost_name *name = hosts_name(controller, job->wish.host);
        enum nearness near = name_nearness(name);
        if (near >= HOST_IS_DOWN) {
            leave_place(job);
            heap_add(&name->wanted, &job->waiting);
            set_timer(job, controller->settings.want_host_ms);
            return;
        }
        if (job->wish.place == PJOB_NEEDS) {
            unplace_job(job);
            job_runs_fail(job, "host %s is %s", name->name,
                          near == HOST_UNKNOWN ? "unknown" : "OFF");
            return;
        }
    }
    leave_place(job);
    heap_add(&controller->anywhere, &job->waiting);
    if (job->avoid != NULL) {
        set_timer(job, controller->settings.want_host_ms);
    }
}

/* Has waited long enough for the host that it names. */
static void wait_is_over(struct pjob *job)
{
    struct controller *controller = job->controller;
    const struct phost_name *name = controller_find_host(controller, job->wish.host);
    if (job->wish.place == PJOB_PREFERS) {
        heap_remove(&job->waiting);
        heap_add(&controller->anywhere, &job->waiting);
        changes_look(controller);
    } else if (name_nearness(name) == HOST_IS_UP) {
        set_timer(job, controller->settings.want_host_ms);
    } else {
        unplace_job(job);
        job_runs_fail(job, "host %s is DOWN: %s", name->name, why_down(name));
    }
}

static void job_time_is_over(void *arg)
{
    struct pjob *job = arg;
    if (job->state != PJOB_PENDING) {
        return;
    }
    if (job->rests) {
        job->rests = false;
        changes_look(job->controller);
    } else if (job->waiting.heap == &job->controller->anywhere) {
        job->avoid = NULL; /* no other host has become free */
        changes_look(job->controller);
    } else if (job->waiting.heap != NULL) {
        wait_is_over(job);
    }
}

/* Sets the timer for the end of its rest. */
static void rest_job(struct pjob *job)
{
    uint64_t now_ms = loop_now_ms(job->controller->loop);
    if (job->rest_end_ms <= now_ms) {
        job->rests = false;
        changes_look(job->controller);
    } else if (job->timer == NULL || !loop_timer_is_set(job->timer)) {
        set_timer(job, job->rest_end_ms - now_ms);
    }
}

static void set_timer(struct pjob *job, uint64_t delay_ms)
{
    if (job->timer == NULL) {
        job->timer = loop_timer_create(job->controller->loop, job_time_is_over, job);
    }
    loop_timer_set(job->timer, delay_ms);
}

/* After hosts have gone: who waits for one of them is attempted again. */
static void attempt_wanted(struct controller *controller)
{
    size_t at = 0;
    const char *key;
    void *value;
    controller->names_changed = false;
    while (strmap_next(controller->names, &at, &key, &value)) {
        struct phost_name *name = value;
        if (name_nearness(name) >= HOST_IS_DOWN) {
            continue;
        }
        for (struct heap_place *place; (place = heap_first(&name->wanted)) != NULL;) {
            attempt_job(waiting_order_job(place)); /* leaves the heap of the name */
        }
    }
}

static bool avoids(const struct controller *controller, const struct pjob *job,
                   const struct phost *host)
{
    if (job->avoid == NULL || job->avoid != host->name->name || job->wish.place == PJOB_NEEDS) {
        return false;
    }
    const struct phost *other;
    TAILQ_FOREACH(other, &controller->hosts, all_entry)
    {
        if (other->name != host->name &&
            (other->state == PHOST_IDLE || other->state == PHOST_BUSY)) {
            return true;
        }
    }
    return false;
}

/* Returns the first job of the heap that does not avoid the host. */
static struct pjob *first_for(struct controller *controller, struct heap *heap,
                              const struct phost *host)
{
    struct pjob *avoiding[AVOID_LOOKS], *found = NULL;
    size_t count = 0;
    for (struct heap_place *place; found == NULL && (place = heap_first(heap)) != NULL;) {
        struct pjob *job = waiting_order_job(place);
        if (count == AVOID_LOOKS) {
            break;
        }
        if (avoids(controller, job, host)) {
            heap_remove(&job->waiting);
            avoiding[count++] = job;
        } else {
            found = job;
        }
    }
    for (size_t i = 0; i < count; i++) {
        heap_add(heap, &avoiding[i]->waiting);
    }
    return found;
}

static struct pjob *choose_job(struct controller *controller, struct phost *host)
{
    struct pjob *any = first_for(controller, &controller->anywhere, host);
    struct pjob *own = first_for(controller, &host->name->wanted, host);
    if (any == NULL || own == NULL) {
        return any != NULL ? any : own;
    }
    return waiting_order_before(&own->waiting, &any->waiting) ? own : any;
}

static void give_jobs(struct controller *controller)
{
    struct phost *host, *next;
    for (host = TAILQ_FIRST(&controller->idle); host != NULL; host = next) {
        next = TAILQ_NEXT(host, queue_entry);
        struct pjob *job = choose_job(controller, host);
        if (job != NULL) {
            unplace_job(job);
            if (job->timer != NULL) {
                loop_timer_stop(job->timer);
            }
            job_runs_start(job, host);
        }
    }
}

static void attempt_all(struct controller *controller)
{
    struct pjob *job, *next;
    for (job = TAILQ_FIRST(&controller->unplaced); job != NULL; job = next) {
        next = TAILQ_NEXT(job, place_entry);
        if (job->rests) {
            rest_job(job);
        } else {
            attempt_job(job);
        }
    }
}

void controller_check_jobs(struct controller *controller)
{
    attempt_all(controller);
    if (controller->names_changed) {
        attempt_wanted(controller);
    }
    give_jobs(controller);
}

void controller_run_jobs(struct controller *controller, bool run)
{
    controller->run_jobs = run;
    changes_look(controller);
}

void controller_explain(const struct pjob *job, char *ret, size_t size)
{
    const struct controller *controller = job->controller;
    const struct phost_name *name =
        job->wish.host != NULL ? controller_find_host(controller, job->wish.host) : NULL;
    if (job->rests) {
        (void)snprintf(ret, size, "its last run, on %s, may not have ended yet", job->last_host);
    } else if (job->waiting.heap == NULL) {
        (void)snprintf(ret, size, "jobs are stopped");
    } else if (name != NULL && job->waiting.heap == &name->wanted) {
        bool is_up = name_nearness(name) == HOST_IS_UP;
        (void)snprintf(ret, size, "waits for host %s, which is %s%s%s", name->name,
                       is_up ? "BUSY" : "DOWN", is_up ? "" : ": ", is_up ? "" : why_down(name));
    } else if (!controller->run_jobs) {
        (void)snprintf(ret, size, "jobs are stopped");
    } else if (TAILQ_EMPTY(&controller->hosts)) {
        (void)snprintf(ret, size, "there are no hosts");
    } else if (controller->host_counts[PHOST_BUSY] + controller->host_counts[PHOST_IDLE] == 0) {
        explain_down(controller, ret, size);
    } else if (job->avoid != NULL) {
        (void)snprintf(ret, size, "waits a moment for another host than %s, where it ran last",
                       job->avoid);
    } else {
        (void)snprintf(ret, size, "all hosts are BUSY");
    }
}

/* ---- jobs -------------------------------------------------------------------------------------
 */

/* Two writers of one file would destroy each other's output.  What a path is is only asked when
 * that counts, because a file server may be slow. */
int controller_check_file(const struct controller *controller, const char *path, struct err *err)
{
    const struct pjob *job = strmap_get(controller->paths, path);
    if (job == NULL || job->state >= PJOB_EXIT || os_is_device(controller->os, path)) {
        return 0;
    }
    return err_set(err, -EEXIST, "job %llu, which is %s, writes to %s", (unsigned long long)job->id,
                   pjob_states_name(job->state), path);
}

static int check_paths(const struct controller *controller, char *const *paths, struct err *err)
{
    if (paths[0] != NULL && paths[1] != NULL && strcmp(paths[0], paths[1]) == 0 &&
        !os_is_device(controller->os, paths[0])) {
        return err_set(err, -EINVAL, "-stdout and -stderr name the same file");
    }
    int rc = 0;
    for (int i = 0; i < 2 && rc == 0; i++) {
        rc = paths[i] != NULL ? controller_check_file(controller, paths[i], err) : 0;
    }
    return rc;
}

static void claim_paths(struct pjob *job)
{
    for (int i = 0; i < 2; i++) {
        if (job->wish.paths[i] != NULL) {
            (void)strmap_set(job->controller->paths, job->wish.paths[i], job);
        }
    }
}

static void leave_paths(struct pjob *job)
{
    for (int i = 0; i < 2; i++) {
        if (job->wish.paths[i] != NULL &&
            strmap_get(job->controller->paths, job->wish.paths[i]) == job) {
            (void)strmap_remove(job->controller->paths, job->wish.paths[i]);
        }
    }
}

uint64_t controller_add_job(struct controller *controller, struct pjob_wish *wish, struct err *err)
{
    if (check_paths(controller, wish->paths, err) != 0) {
        return 0;
    }
    struct pjob *job = mem_zalloc(sizeof(*job));
    job->controller = controller;
    job->id = controller->first_id + controller->by_id.count;
    job->wish = *wish;
    *wish = (struct pjob_wish){0};
    job->submitted_wall_ms = loop_wall_ms(controller->loop);
    job->state_ms = loop_now_ms(controller->loop);
    vec_push(&controller->by_id, job);
    TAILQ_INSERT_TAIL(&controller->jobs, job, entry);
    claim_paths(job);
    changes_move_job(job, PJOB_PENDING, PJOB_ADD);
    return job->id;
}

struct pjob *controller_find_job(const struct controller *controller, uint64_t id)
{
    return id >= controller->first_id && id - controller->first_id < controller->by_id.count
               ? controller->by_id.items[id - controller->first_id]
               : NULL;
}

/* The ids of deleted jobs before all others need no room; what is moved for that is at most as much
 * as what was added. */
static void forget_id(struct controller *controller, uint64_t id)
{
    struct vec *by_id = &controller->by_id;
    by_id->items[id - controller->first_id] = NULL;
    while (controller->gone < by_id->count && by_id->items[controller->gone] == NULL) {
        controller->gone++;
    }
    if (controller->gone > by_id->count / 2) {
        by_id->count -= controller->gone;
        memmove(by_id->items, by_id->items + controller->gone,
                by_id->count * sizeof(*by_id->items));
        controller->first_id += controller->gone;
        controller->gone = 0;
    }
}

static void free_job(struct pjob *job)
{
    struct controller *controller = job->controller;
    if (job->state == PJOB_PENDING) { /* only when all is freed */
        unplace_job(job);
        TAILQ_REMOVE(&controller->unplaced, job, place_entry);
    }
    TAILQ_REMOVE(&controller->jobs, job, entry);
    forget_id(controller, job->id);
    leave_paths(job);
    loop_timer_destroy(job->timer);
    job_runs_drop(job);
    pjob_wish_fini(&job->wish);
    mem_free(job->why);
    mem_free(job);
}

int controller_delete_job(struct pjob *job, struct err *err)
{
    if (!pjob_states_allow(job->state, PJOB_DEL, PJOB_DELETE)) {
        return err_set(err, -EBUSY, "job %llu is %s: kill it first", (unsigned long long)job->id,
                       pjob_states_name(job->state));
    }
    if (job->state == PJOB_PENDING) {
        unplace_job(job);
    }
    changes_move_job(job, PJOB_DEL, PJOB_DELETE);
    free_job(job);
    return 0;
}

/* ---- who waits for the end of jobs ------------------------------------------------------------
 */

static bool has_ended(const struct controller *controller, uint64_t id)
{
    const struct pjob *job = controller_find_job(controller, id);
    return job == NULL || job->state == PJOB_EXIT || job->state == PJOB_CRASH;
}

static bool is_over(struct controller_wait *wait)
{
    const struct controller *controller = wait->controller;
    if (wait->ids == NULL) {
        return controller_jobs_left(controller) == 0;
    }
    while (wait->at < wait->count && has_ended(controller, wait->ids[wait->at])) {
        wait->at++;
    }
    return wait->at == wait->count;
}

/* Calls those whose jobs have ended; a callback may change the list, so it is begun anew. */
static void tell_waits(struct controller *controller)
{
    struct controller_wait *wait, *next;
    for (wait = TAILQ_FIRST(&controller->waits); wait != NULL; wait = next) {
        next = TAILQ_NEXT(wait, entry);
        if (is_over(wait)) {
            void (*done)(void *arg) = wait->done;
            void *arg = wait->arg;
            controller_wait_cancel(wait);
            done(arg);
            next = TAILQ_FIRST(&controller->waits);
        }
    }
}

struct controller_wait *controller_wait_for(struct controller *controller, const uint64_t *ids,
                                            size_t count, void (*done)(void *arg), void *arg)
{
    struct controller_wait *wait = mem_zalloc(sizeof(*wait));
    wait->controller = controller;
    wait->ids = ids != NULL ? mem_dup(ids, count * sizeof(*ids)) : NULL;
    wait->count = count;
    wait->done = done;
    wait->arg = arg;
    TAILQ_INSERT_TAIL(&controller->waits, wait, entry);
    changes_look(controller);
    return wait;
}

const uint64_t *controller_wait_ids(const struct controller_wait *wait, size_t *count)
{
    *count = wait->count;
    return wait->ids;
}

void controller_wait_cancel(struct controller_wait *wait)
{
    if (wait != NULL) {
        TAILQ_REMOVE(&wait->controller->waits, wait, entry);
        mem_free(wait->ids);
        mem_free(wait);
    }
}

static void look_around(void *arg)
{
    struct controller *controller = arg;
    controller->look_is_due = false;
    if (controller->run_jobs) {
        controller_check_jobs(controller);
    }
    tell_waits(controller);
}

/* ---- life -------------------------------------------------------------------------------------
 */

struct controller *controller_create(struct loop *loop, struct os *os,
                                     const struct controller_settings *settings)
{
    struct controller *controller = mem_zalloc(sizeof(*controller));
    controller->loop = loop;
    controller->os = os;
    controller->settings = *settings;
    controller->house = output_house_create(loop, os, settings->buffer_max, settings->buffers_max);
    controller->first_id = 1;
    controller->run_jobs = true;
    controller->run_hosts = true;
    controller->look = look_around;
    controller->output_changed = hosts_output_changed;
    TAILQ_INIT(&controller->jobs);
    TAILQ_INIT(&controller->unplaced);
    TAILQ_INIT(&controller->hosts);
    TAILQ_INIT(&controller->idle);
    TAILQ_INIT(&controller->dial_queue);
    TAILQ_INIT(&controller->waits);
    LIST_INIT(&controller->links);
    heap_init(&controller->anywhere, waiting_order_before);
    controller->names = strmap_create(STRMAP_CASE_SENSITIVE);
    controller->paths = strmap_create(STRMAP_CASE_SENSITIVE);
    return controller;
}

static void free_name(void *value)
{
    struct phost_name *name = value;
    heap_fini(&name->wanted);
    mem_free(name->name);
    mem_free(name);
}

void controller_destroy(struct controller *controller)
{
    if (controller == NULL) {
        return;
    }
    controller->destroying = true;
    while (!TAILQ_EMPTY(&controller->waits)) {
        controller_wait_cancel(TAILQ_FIRST(&controller->waits));
    }
    while (!TAILQ_EMPTY(&controller->hosts)) {
        hosts_destroy(TAILQ_FIRST(&controller->hosts));
    }
    while (!LIST_EMPTY(&controller->links)) {
        link_drop(LIST_FIRST(&controller->links));
    }
    while (!TAILQ_EMPTY(&controller->jobs)) {
        free_job(TAILQ_FIRST(&controller->jobs));
    }
    output_house_destroy(controller->house);
    heap_fini(&controller->anywhere);
    strmap_destroy(controller->names, free_name);
    strmap_destroy(controller->paths, NULL);
    vec_fini(&controller->by_id, NULL);
    mem_free(controller);
}

/* ---- answers ----------------------------------------------------------------------------------
 */

bool controller_runs_jobs(const struct controller *controller)
{
    return controller->run_jobs;
}

bool controller_runs_hosts(const struct controller *controller)
{
    return controller->run_hosts;
}

const struct pjob_list *controller_jobs(const struct controller *controller)
{
    return &controller->jobs;
}

const struct phost_list *controller_hosts(const struct controller *controller)
{
    return &controller->hosts;
}

size_t controller_job_count(const struct controller *controller, enum pjob_state state)
{
    return controller->job_counts[state];
}

size_t controller_jobs_left(const struct controller *controller)
{
    return controller->job_counts[PJOB_PENDING] + controller->job_counts[PJOB_BUSY] +
           controller->job_counts[PJOB_DONE];
}

size_t controller_host_count(const struct controller *controller, enum phost_state state)
{
    return controller->host_counts[state];
}

struct loop *controller_loop(const struct controller *controller)
{
    return controller->loop;
}

struct output_house *controller_house(const struct controller *controller)
{
    return controller->house;
}
