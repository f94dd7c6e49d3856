/* base/loop.h - the event loop: timers, deferred calls, signals, work off the loop thread.
 *
 * One loop thread per daemon; all callbacks run on it, never inside the call that asked for them.
 * There are two bodies: loop_event.c (libevent) and the simulator's (virtual clock, seeded order).
 * Daemon code cannot tell them apart: it reads no clock and draws no random number but through
 * here.
 *
 * Creating, running and destroying a loop is the business of the process (base/daemon/daemon.h, the
 * CLI, the simulator), not of the code that is handed one: see base/loop_run.h.
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

#define LOOP_CALLBACK_BUDGET_MS 10 /* a callback that takes longer is counted and reported */

/* Milliseconds of CLOCK_BOOTTIME: never goes back, counts suspends.  Leases and deadlines are
 * counted on it. */
uint64_t loop_now_ms(const struct loop *loop);
/* Milliseconds since 1970 UTC of CLOCK_REALTIME, and the same in whole seconds. */
int64_t loop_wall_ms(const struct loop *loop);
int64_t loop_wall_s(const struct loop *loop);

/* The process's generator (base/random.h): seeded by the kernel, in the simulator by the run's
 * seed.  Not for secrets. */
struct rng *loop_rng(struct loop *loop);
/* length bytes fit for keys and claim ids (getrandom; seeded in the simulator). */
void loop_secret(struct loop *loop, void *data, uint32_t length);

typedef void (*loop_f)(void *arg);

/* A timer that calls call(arg) once each time it is set and runs out.  It may be set again from its
 * own callback. */
struct loop_timer *loop_timer_create(struct loop *loop, loop_f call, void *arg);
/* stops it; NULL is allowed; allowed in its own callback */
void loop_timer_destroy(struct loop_timer *timer);
void loop_timer_set(struct loop_timer *timer, uint64_t delay_ms); /* replaces an earlier setting */
void loop_timer_stop(struct loop_timer *timer);
bool loop_timer_is_set(const struct loop_timer *timer);

/* Calls call(arg) soon, after what is running now has returned.  Cannot be taken back: use a timer
 * of 0 where it must be. */
void loop_defer(struct loop *loop, loop_f call, void *arg);

/* Runs work(arg) on a worker thread and then done(arg, what work returned) on the loop thread. Jobs
 * of one lane run one after the other in the order given; lanes are independent.  work must not
 * touch the loop nor anything that the loop thread uses. A destroyed loop waits for works under way
 * and drops their done calls. */
struct loop_lane;
struct loop_lane *loop_lane_create(struct loop *loop);
/* waits for the work under way; queued works and done calls are dropped */
void loop_lane_destroy(struct loop_lane *lane);
void loop_lane_run(struct loop_lane *lane, int (*work)(void *arg),
                   void (*done)(void *arg, int result), void *arg);

/* Calls call(arg) when the process receives signal_number (SIGTERM, SIGHUP, SIGINT, ...), one call
 * per number. */
void loop_on_signal(struct loop *loop, int signal_number, loop_f call, void *arg);

/* Leaves the loop after the current callback; the process ends with exit_status. */
void loop_stop(struct loop *loop, int exit_status);

/* The daemon cannot go on (a commit failed): logs nothing, flushes nothing, ends the process with
 * status 4 at once, so that nothing that was not committed is ever told to anyone.  The text goes
 * to stderr.  The simulator plays a crash. */
_Noreturn void loop_fatal(struct loop *loop, const char *text);

#endif
