/* base/loop.h - the event loop: timers, deferred calls, signals, work off the loop thread.
 *
 * One loop thread per daemon; all callbacks run on it, never inside the call that asked for them.
 * There are two bodies: loop_event.c (libevent) and the simulator's (virtual clock, seeded order).
 * Daemon code cannot tell them apart: it reads the clock and draws random numbers only through this
 * header.
 *
 * Creating, running and destroying a loop is the business of the process (base/daemon/daemon.h, the
 * CLI, the simulator), not of the code that gets the loop as an argument: see base/loop_run.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_LOOP_H
#define BASE_LOOP_H

#include <stdbool.h>
#include <stdint.h>

struct loop;
struct loop_timer;
struct rng;

/* milliseconds; a callback that takes longer is counted and reported */
#define LOOP_CALLBACK_BUDGET_MS 10

/* Returns the milliseconds of CLOCK_BOOTTIME, a clock that never goes back and also runs while the
 * machine is suspended.  Leases and deadlines are counted on this clock. */
uint64_t loop_now_ms(const struct loop *loop);
/* Returns the time of CLOCK_REALTIME in milliseconds since 1970 UTC. */
int64_t loop_wall_ms(const struct loop *loop);
/* Returns the time of CLOCK_REALTIME in whole seconds since 1970 UTC. */
int64_t loop_wall_s(const struct loop *loop);
/* Returns what CLOCK_REALTIME, as it is set now, gives for the moment at_ms of loop_now_ms(), in
 * seconds since 1970; at_ms may lie before this boot, below 0.  For stamps that others see or
 * subtract from the present time: when the wall clock is set, the stamps of one process move with
 * it, so their distance from the present time stays what it was.  The stamp of a moment does not
 * change otherwise, and the stamp of the present moment is never later than loop_wall_s(). */
int64_t loop_wall_of_s(struct loop *loop, int64_t at_ms);
/* The same in milliseconds. */
int64_t loop_wall_of_ms(struct loop *loop, int64_t at_ms);
/* Returns the whole seconds since the moment at_ms of loop_now_ms(), at least 0. */
int64_t loop_since_s(const struct loop *loop, int64_t at_ms);

/* Returns the process's random generator (base/random.h).  Its seed comes from the kernel; in
 * the simulator, from the seed of the run.  Not for secrets. */
struct rng *loop_rng(struct loop *loop);
/* Fills data with random bytes that are good enough for keys and claim ids (getrandom(2); seeded in
 * the simulator). */
void loop_secret(struct loop *loop, void *data, uint32_t length);

typedef void (*loop_f)(void *arg);

/* Makes a timer that is not set yet.  Each time the timer is set and expires, call(arg) is
 * called once.  The callback may set the timer again. */
struct loop_timer *loop_timer_create(struct loop *loop, loop_f call, void *arg);
/* Stops and frees the timer.  NULL is allowed; so is a call from the timer's own callback. */
void loop_timer_destroy(struct loop_timer *timer);
/* Makes the timer expire when loop_now_ms() has grown by delay_ms; replaces an earlier setting. */
void loop_timer_set(struct loop_timer *timer, uint64_t delay_ms);
void loop_timer_stop(struct loop_timer *timer);
bool loop_timer_is_set(const struct loop_timer *timer);

/* Milliseconds; what goes on in a pool at rest is done at multiples of it, by loop_now_ms(). */
#define LOOP_GRID_MS 6000
/* Returns the longest delay that is not above delay_ms and ends at a multiple of LOOP_GRID_MS;
 * delay_ms must not be below that.  For what may come somewhat early: the processes of a host at
 * rest do all of it in the same moments, so that each is woken once for several timers, and for
 * what the others send. */
static inline uint64_t loop_grid_delay_ms(uint64_t now_ms, uint64_t delay_ms)
{
    return delay_ms - (now_ms + delay_ms) % LOOP_GRID_MS;
}

/* Calls call(arg) soon, after the current callback has returned to the loop.  The call cannot be
 * cancelled: a caller that may have to cancel uses a timer with delay 0. */
void loop_defer(struct loop *loop, loop_f call, void *arg);

/* A lane is a queue for work off the loop thread. loop_lane_run() runs work(arg) on a worker thread
 * and then done(arg, what work returned) on the loop thread.  Work of one lane runs one after the
 * other, in order; lanes are independent of each other.  The callback work() must not touch the
 * loop or anything that the loop thread uses.  Destroying the loop waits for work under way and
 * drops the calls of done(). */
struct loop_lane;
struct loop_lane *loop_lane_create(struct loop *loop);
/* Waits for the lane's work that is running now, and frees the lane.  The lane's queued work and
 * its calls of done() are dropped. */
void loop_lane_destroy(struct loop_lane *lane);
void loop_lane_run(struct loop_lane *lane, int (*work)(void *arg),
                   void (*done)(void *arg, int result), void *arg);

/* Calls call(arg) when the process receives the signal (SIGTERM, SIGHUP, SIGINT ...).  Each signal
 * number has one callback: a later call replaces it. */
void loop_on_signal(struct loop *loop, int signal_number, loop_f call, void *arg);

/* Leaves the loop after the current callback; the process ends with exit_status. */
void loop_stop(struct loop *loop, int exit_status);

/* Ends the process at once with status 4, after writing the text to stderr.  For a daemon that
 * cannot continue because a commit failed: nothing is flushed, so nothing uncommitted reaches
 * anyone.  The simulator plays a crash. */
_Noreturn void loop_fatal(struct loop *loop, const char *text);

#endif
