/* sim/loop_sim.c - the loop of a simulated process: base/loop.h on virtual time.
 *
 * Each timer is an event.  Deferred calls keep their order.  The work of a lane (worker thread)
 * happens in one moment, some time after it was given; its done callback comes some time later.  In
 * between, a process can die with the work done and nobody told.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/loop.h"

#include <signal.h>

#include "base/check.h"
#include "base/wall_offset.h"
#include "sim/sim_private.h"

#define DEFER_MAX_US     40
#define TIMER_LATE_US    1500 /* timers fire late by up to this, never early */
#define WORK_MAX_US      2500 /* longest time until work on a lane is finished */
#define WORK_SLOW_MAX_US 250000
#define WORK_SLOW        15 /* per mille of works that are slow */
#define DONE_MAX_US      400
#define DONE_SLOW_MAX_US 20000

struct loop_timer {
    struct sim_link link;
    struct loop *loop;
    loop_f call;
    void *arg;
    struct sim_event *event; /* NULL: the timer is not set */
};

struct deferred {
    struct sim_link link;
    loop_f call;
    void *arg;
};

struct lane_job {
    struct sim_link link;
    int (*work)(void *arg);
    void (*done)(void *arg, int result);
    void *arg;
    int result;
};

struct loop_lane {
    struct sim_link link;
    struct loop *loop;
    struct sim_link queue, finished; /* lists of struct lane_job */
    struct sim_event *work_event, *done_event;
    uint64_t last_done_us;
};

void sim_loop_init(struct loop *loop, struct sim_process *process)
{
    loop->process = process;
    loop->wall_offset_ms = WALL_OFFSET_NONE;
    rng_seed(&loop->rng, rng_next(&process->sim->rng));
    rng_seed(&loop->secrets, rng_next(&process->sim->rng));
    sim_list_init(&loop->timers);
    sim_list_init(&loop->lanes);
    sim_list_init(&loop->deferred);
}

/* ---- clocks and random numbers --------------------------------------------------------------- */

uint64_t loop_now_ms(const struct loop *loop)
{
    return sim_host_up_us(loop->process->host) / 1000;
}

int64_t loop_wall_ms(const struct loop *loop)
{
    return sim_host_wall_ms(loop->process->host);
}

int64_t loop_wall_s(const struct loop *loop)
{
    return sim_host_wall_ms(loop->process->host) / 1000;
}

int64_t loop_wall_of_ms(struct loop *loop, int64_t at_ms)
{
    loop->wall_offset_ms =
        wall_offset_ms(loop->wall_offset_ms, loop_wall_ms(loop), loop_now_ms(loop));
    return at_ms + loop->wall_offset_ms;
}

int64_t loop_wall_of_s(struct loop *loop, int64_t at_ms)
{
    return loop_wall_of_ms(loop, at_ms) / 1000;
}

int64_t loop_since_s(const struct loop *loop, int64_t at_ms)
{
    int64_t since_ms = (int64_t)loop_now_ms(loop) - at_ms;
    return since_ms > 0 ? since_ms / 1000 : 0;
}

struct rng *loop_rng(struct loop *loop)
{
    return &loop->rng;
}

void loop_secret(struct loop *loop, void *data, uint32_t length)
{
    rng_bytes(&loop->secrets, data, length);
}

/* ---- timers ---------------------------------------------------------------------------------- */

static void timer_run(void *arg)
{
    struct loop_timer *timer = arg;
    timer->event = NULL;
    (void)sim_enter(timer->loop->process, timer->call, timer->arg);
}

struct loop_timer *loop_timer_create(struct loop *loop, loop_f call, void *arg)
{
    struct loop_timer *timer = sim_alloc(sizeof(*timer));
    timer->loop = loop;
    timer->call = call;
    timer->arg = arg;
    sim_list_add(&loop->timers, &timer->link, timer);
    return timer;
}

void loop_timer_destroy(struct loop_timer *timer)
{
    if (timer == NULL) {
        return;
    }
    loop_timer_stop(timer);
    sim_list_remove(&timer->link);
    sim_free(timer);
}

void loop_timer_set(struct loop_timer *timer, uint64_t delay_ms)
{
    struct sim_process *process = timer->loop->process;
    struct sim *sim = process->sim;
    loop_timer_stop(timer);
    uint64_t century_ms = UINT64_C(100) * 366 * 24 * 3600 * 1000;
    uint64_t delay_us = (delay_ms < century_ms ? delay_ms : century_ms) * SIM_MS;
    timer->event =
        sim_at_process(process, sim->now_us + delay_us + sim_between(sim, 1, TIMER_LATE_US),
                       timer_run, timer);
}

void loop_timer_stop(struct loop_timer *timer)
{
    sim_cancel(timer->event);
    timer->event = NULL;
}

bool loop_timer_is_set(const struct loop_timer *timer)
{
    return timer->event != NULL;
}

/* ---- deferred calls -------------------------------------------------------------------------- */

static void deferred_run(void *arg)
{
    struct loop *loop = arg;
    struct deferred *first = sim_list_first(&loop->deferred);
    loop_f call = first->call;
    void *call_arg = first->arg;
    sim_list_remove(&first->link);
    sim_free(first);
    (void)sim_enter(loop->process, call, call_arg);
}

void loop_defer(struct loop *loop, loop_f call, void *arg)
{
    struct deferred *deferred = sim_alloc(sizeof(*deferred));
    deferred->call = call;
    deferred->arg = arg;
    sim_list_add(&loop->deferred, &deferred->link, deferred);
    struct sim *sim = loop->process->sim;
    (void)sim_at_process(loop->process, sim->now_us + sim_between(sim, 1, DEFER_MAX_US),
                         deferred_run, loop);
}

/* ---- lanes ----------------------------------------------------------------------------------- */

static uint64_t mostly_short(struct sim *sim, uint64_t short_us, uint64_t long_us)
{
    return sim_between(sim, 1, sim_chance(sim, WORK_SLOW) ? long_us : short_us);
}

static void work_event(void *arg);

static void work_plan(struct loop_lane *lane)
{
    struct sim_process *process = lane->loop->process;
    if (lane->work_event == NULL && sim_list_first(&lane->queue) != NULL) {
        uint64_t wait_us = mostly_short(process->sim, WORK_MAX_US, WORK_SLOW_MAX_US);
        lane->work_event =
            sim_at_process(process, process->sim->now_us + wait_us, work_event, lane);
    }
}

static void done_event(void *arg);

static void done_plan(struct loop_lane *lane)
{
    struct sim_process *process = lane->loop->process;
    struct sim *sim = process->sim;
    if (lane->done_event == NULL && sim_list_first(&lane->finished) != NULL) {
        uint64_t wait_us = mostly_short(sim, DONE_MAX_US, DONE_SLOW_MAX_US);
        lane->done_event = sim_at_process(process, sim->now_us + wait_us, done_event, lane);
    }
}

static void work_run(void *arg)
{
    struct lane_job *job = arg;
    job->result = job->work(job->arg);
}

static void work_event(void *arg)
{
    struct loop_lane *lane = arg;
    struct lane_job *job = sim_list_first(&lane->queue);
    lane->work_event = NULL;
    /* Work knows nothing of the loop: the lane is still there afterwards, unless it was fatal. */
    if (!sim_enter(lane->loop->process, work_run, job)) {
        return;
    }
    sim_list_remove(&job->link);
    sim_list_add(&lane->finished, &job->link, job);
    done_plan(lane);
    work_plan(lane);
}

static void done_run(void *arg)
{
    struct lane_job *job = arg;
    void (*done)(void *arg, int result) = job->done;
    void *done_arg = job->arg;
    int result = job->result;
    sim_free(job);
    if (done != NULL) {
        done(done_arg, result);
    }
}

static void done_event(void *arg)
{
    struct loop_lane *lane = arg;
    struct lane_job *job = sim_list_first(&lane->finished);
    struct sim_process *process = lane->loop->process;
    lane->done_event = NULL;
    sim_list_remove(&job->link);
    process->lane_work--;
    done_plan(lane); /* before the call, which may destroy the lane */
    (void)sim_enter(process, done_run, job);
}

struct loop_lane *loop_lane_create(struct loop *loop)
{
    struct loop_lane *lane = sim_alloc(sizeof(*lane));
    lane->loop = loop;
    sim_list_init(&lane->queue);
    sim_list_init(&lane->finished);
    sim_list_add(&loop->lanes, &lane->link, lane);
    return lane;
}

static void jobs_free(struct loop_lane *lane, struct sim_link *head)
{
    struct lane_job *job;
    while ((job = sim_list_first(head)) != NULL) {
        sim_list_remove(&job->link);
        sim_free(job);
        lane->loop->process->lane_work--;
    }
}

static void lane_free(struct loop_lane *lane)
{
    jobs_free(lane, &lane->queue);
    jobs_free(lane, &lane->finished);
    sim_list_remove(&lane->link);
    sim_free(lane);
}

void loop_lane_destroy(struct loop_lane *lane)
{
    if (lane == NULL) {
        return;
    }
    struct lane_job *job = sim_list_first(&lane->queue);
    if (job != NULL && sim_chance(lane->loop->process->sim, 500)) {
        (void)job->work(job->arg); /* it was under way; else the thread had not taken it yet */
    }
    sim_cancel(lane->work_event);
    sim_cancel(lane->done_event);
    lane_free(lane);
}

void loop_lane_run(struct loop_lane *lane, int (*work)(void *arg),
                   void (*done)(void *arg, int result), void *arg)
{
    struct lane_job *job = sim_alloc(sizeof(*job));
    job->work = work;
    job->done = done;
    job->arg = arg;
    sim_list_add(&lane->queue, &job->link, job);
    lane->loop->process->lane_work++;
    work_plan(lane);
}

/* ---- the rest -------------------------------------------------------------------------------- */

void loop_on_signal(struct loop *loop, int signal_number, loop_f call, void *arg)
{
    CHECK(signal_number > 0 && signal_number < SIM_SIGNALS);
    loop->signals[signal_number].call = call;
    loop->signals[signal_number].arg = arg;
}

void loop_stop(struct loop *loop, int exit_status)
{
    loop->stopping = true;
    loop->exit_status = exit_status;
}

_Noreturn void loop_fatal(struct loop *loop, const char *text)
{
    struct sim_process *process = loop->process;
    if (process->failing) { /* a kill in the middle of a write, which then said so */
        sim_count(process->sim, SIM_COUNT_KILLS);
        sim_count(process->sim, SIM_COUNT_COMMIT_KILLS);
        sim_process_escape(process, -1, SIGKILL);
    }
    if (!process->host->failing) {
        sim_count(process->sim, SIM_COUNT_FATALS);
    }
    sim_trace(process->sim, process, "fatal: %s", text);
    sim_process_escape(process, 4, 0);
}

static void free_all(struct sim_link *head)
{
    void *item;
    while ((item = sim_list_first(head)) != NULL) {
        sim_list_remove(head->next);
        sim_free(item);
    }
}

void sim_loop_drop(struct loop *loop)
{
    free_all(&loop->timers);
    free_all(&loop->deferred);
    struct loop_lane *lane;
    while ((lane = sim_list_first(&loop->lanes)) != NULL) {
        lane_free(lane);
    }
}
