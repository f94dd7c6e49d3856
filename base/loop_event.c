/* base/loop_event.c - the event loop on libevent.
 *
 * Design note: libevent waits for descriptors and signals.  Timers are ours, a binary heap behind
 * one timerfd of CLOCK_BOOTTIME: libevent counts on CLOCK_MONOTONIC, which stands still while the
 * machine sleeps, and then every lease would outlive its time by the length of the sleep.  Timers
 * that are due together run in the order in which they were set.
 *
 * Deferred calls are one batch per turn of the loop, by a libevent timer of 0: what a batch defers
 * waits for the next turn, so that callbacks which defer each other for ever do not keep the loop
 * from its descriptors.  Timers of 0 come by another such timer: to set the timerfd costs two turns
 * of the kernel's clock, which was a quarter of what a busy connection takes.
 *
 * Timers fall due at whole milliseconds of the clock, as loop_now_ms() counts them: those that are
 * set for one moment, by whatever callback, are one wake of the process.  What a short batch of
 * timers sets to 0, such as the output of connections, follows it at once.
 *
 * Every callback is timed, without those that run inside it, so that an overrun is laid at the door
 * of the function that took the time.
 *
 * Invariants: a timer is in the heap exactly while at != SIZE_MAX, and heap[at] is it; the timerfd
 * is armed for heap[0] or earlier, or heap[0] is due and due_event is pending.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/loop_run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/random.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <event2/event.h>
#include <event2/event_struct.h>

#include "base/check.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/loop_event.h"
#include "base/mem.h"
#include "base/random.h"
#include "base/wall_offset.h"

#define NS_PER_MS    1000000u
#define NS_PER_S     1000000000u
#define DELAY_MS_MAX ((uint64_t)100 * 366 * 86400 * 1000) /* a century: longer is "never" */
#define SIGNALS_MAX  8                                    /* different numbers of one loop */
#define READINGS_MAX 8                                    /* of both clocks, for one difference */
/* The timerfd is put off only if that saves at least so much time, and a few times in so much time:
 * the answer of a call comes just after the timer that made the call. */
#define PUT_OFF_NS  NS_PER_S
#define PUT_OFF_MAX 4
#define SHORT_NS    NS_PER_MS /* longest batch of timers that another one follows at once */

struct loop_timer {
    struct loop *loop;
    loop_f call;
    void *arg;
    uint64_t due_ns;
    uint64_t sequence; /* of the setting: order among equals */
    size_t at;         /* in the heap; SIZE_MAX when not set */
};

struct deferred {
    loop_f call;
    void *arg;
};

struct on_signal {
    struct loop *loop;
    int number;
    loop_f call;
    void *arg;
    struct event event;
};

struct slot {
    void *value;
    void (*destroy)(void *value);
};

struct loop {
    struct event_base *base;
    struct rng rng;

    int timer_fd;
    struct event timer_event;
    struct event due_event; /* the first timer is due: no need to ask the kernel's clock */
    struct loop_timer **heap;
    size_t heap_count, heap_capacity;
    uint64_t timer_sequence;
    uint64_t armed_ns;   /* what the timerfd is set to; UINT64_MAX: nothing */
    uint64_t put_off_ns; /* since when it is counted how often that is put off */
    unsigned put_off_count;
    bool in_timers;

    struct event defer_event;
    struct deferred *deferred;
    size_t deferred_count, deferred_capacity;

    struct on_signal *signals[SIGNALS_MAX];
    size_t signal_count;

    struct slot slots[LOOP_SLOT_COUNT];

    uint64_t inner_ns; /* time of callbacks that ran inside the one that runs */
    struct loop_stats stats;
    loop_overrun_f on_overrun;
    void *on_overrun_arg;

    int64_t wall_offset_ms; /* base/wall_offset.h */

    bool stopping;
    int exit_status;
};

struct loop_fd {
    struct loop *loop;
    int fd;
    unsigned want;
    loop_fd_f call;
    void *arg;
    struct event read_event, write_event;
};

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec ts;
    CHECK(clock_gettime(clock, &ts) == 0);
    return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

uint64_t loop_now_ms(const struct loop *loop)
{
    (void)loop;
    return clock_ns(CLOCK_BOOTTIME) / NS_PER_MS;
}

int64_t loop_wall_ms(const struct loop *loop)
{
    (void)loop;
    return (int64_t)(clock_ns(CLOCK_REALTIME) / NS_PER_MS);
}

int64_t loop_wall_s(const struct loop *loop)
{
    return loop_wall_ms(loop) / 1000;
}

int64_t loop_wall_of_ms(struct loop *loop, int64_t at_ms)
{
    /* The process may stand still between two readings: those say nothing about the difference. */
    for (unsigned tries = 0; tries < READINGS_MAX; tries++) {
        uint64_t before_ms = loop_now_ms(loop);
        int64_t wall_ms = loop_wall_ms(loop);
        if (loop_now_ms(loop) - before_ms <= 1 || tries + 1 == READINGS_MAX) {
            loop->wall_offset_ms = wall_offset_ms(loop->wall_offset_ms, wall_ms, before_ms);
            break;
        }
    }
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

static ssize_t read_urandom(void *data, size_t length)
{
    int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, data, length);
    int error = errno;
    if (fd >= 0) {
        close(fd);
    }
    errno = error;
    return got;
}

static void get_random(void *data, size_t length)
{
    unsigned char *at = data;
    while (length > 0) {
        ssize_t got = getrandom(at, length, 0);
        if (got < 0 && errno == ENOSYS) { /* before Linux 3.17 */
            got = read_urandom(at, length);
        }
        CHECK(got > 0 || errno == EINTR);
        if (got > 0) {
            at += got;
            length -= (size_t)got;
        }
    }
}

void loop_secret(struct loop *loop, void *data, uint32_t length)
{
    (void)loop;
    get_random(data, length);
}

/* ---- accounting ------------------------------------------------------------------------------ */

void loop_account_begin(struct loop *loop, struct loop_account *account)
{
    account->inner_ns = loop->inner_ns;
    account->began_ns = clock_ns(CLOCK_MONOTONIC);
    loop->inner_ns = 0;
}

void loop_account_end(struct loop *loop, const struct loop_account *account, const char *what,
                      void (*function)(void))
{
    uint64_t total_ns = clock_ns(CLOCK_MONOTONIC) - account->began_ns;
    uint64_t own_ms = (total_ns - loop->inner_ns) / NS_PER_MS;
    loop->inner_ns = account->inner_ns + total_ns;
    loop->stats.callbacks++;
    if (own_ms > loop->stats.longest_ms) {
        loop->stats.longest_ms = own_ms;
    }
    if (own_ms >= LOOP_CALLBACK_BUDGET_MS) {
        loop->stats.overruns++;
        if (loop->on_overrun != NULL) {
            loop->on_overrun(loop->on_overrun_arg, what, (uintptr_t)function, own_ms);
        }
    }
}

void loop_call(struct loop *loop, const char *what, loop_f call, void *arg)
{
    struct loop_account account;
    loop_account_begin(loop, &account);
    call(arg);
    loop_account_end(loop, &account, what, (void (*)(void))call);
}

void loop_on_overrun(struct loop *loop, loop_overrun_f call, void *arg)
{
    loop->on_overrun = call;
    loop->on_overrun_arg = arg;
}

void loop_get_stats(const struct loop *loop, struct loop_stats *ret)
{
    *ret = loop->stats;
}

/* ---- timers ---------------------------------------------------------------------------------- */

static bool timer_before(const struct loop_timer *a, const struct loop_timer *b)
{
    return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->sequence < b->sequence;
}

static void heap_put(struct loop *loop, size_t at, struct loop_timer *timer)
{
    loop->heap[at] = timer;
    timer->at = at;
}

/* Moves the timer, which belongs somewhere near `at`, to its place. */
static void heap_settle(struct loop *loop, size_t at, struct loop_timer *timer)
{
    while (at > 0 && timer_before(timer, loop->heap[(at - 1) / 2])) {
        heap_put(loop, at, loop->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= loop->heap_count) {
            break;
        }
        if (child + 1 < loop->heap_count &&
            timer_before(loop->heap[child + 1], loop->heap[child])) {
            child++;
        }
        if (!timer_before(loop->heap[child], timer)) {
            break;
        }
        heap_put(loop, at, loop->heap[child]);
        at = child;
    }
    heap_put(loop, at, timer);
}

static void heap_remove(struct loop *loop, struct loop_timer *timer)
{
    size_t at = timer->at;
    CHECK(at < loop->heap_count && loop->heap[at] == timer);
    timer->at = SIZE_MAX;
    struct loop_timer *last = loop->heap[--loop->heap_count];
    if (last != timer) {
        heap_settle(loop, at, last);
    }
}

static const struct timeval AT_ONCE = {0, 0};

static void timers_arm(struct loop *loop, uint64_t due_ns)
{
    struct itimerspec spec = {0};
    if (due_ns != UINT64_MAX) {
        spec.it_value.tv_sec = (time_t)(due_ns / NS_PER_S);
        spec.it_value.tv_nsec = (long)(due_ns % NS_PER_S);
    }
    CHECK(timerfd_settime(loop->timer_fd, TFD_TIMER_ABSTIME, &spec, NULL) == 0);
    loop->armed_ns = due_ns;
}

/* Sees to it that timers_run() is called when the first timer is due. */
static void timers_await(struct loop *loop, uint64_t now_ns)
{
    uint64_t next_ns = loop->heap_count > 0 ? loop->heap[0]->due_ns : UINT64_MAX;
    if (next_ns >= loop->armed_ns) {
        return; /* the timerfd is early enough */
    }
    if (next_ns <= now_ns) {
        CHECK(event_add(&loop->due_event, &AT_ONCE) == 0);
    } else {
        timers_arm(loop, next_ns);
    }
}

/* Puts off the timerfd after the first timer was stopped or set to a later time.  In a busy process
 * a wake for nothing is cheaper than setting the timerfd again; a process at rest would be woken
 * only for that. */
static void timers_put_off(struct loop *loop, uint64_t now_ns)
{
    uint64_t next_ns = loop->heap_count > 0 ? loop->heap[0]->due_ns : UINT64_MAX;
    if (loop->armed_ns <= now_ns || next_ns <= loop->armed_ns ||
        next_ns - loop->armed_ns < PUT_OFF_NS) {
        return;
    }
    if (now_ns - loop->put_off_ns >= PUT_OFF_NS) {
        loop->put_off_ns = now_ns;
        loop->put_off_count = 0;
    }
    if (loop->put_off_count < PUT_OFF_MAX) {
        loop->put_off_count++;
        timers_arm(loop, next_ns);
    }
}

/* Runs the timers that are due; what they set waits for the next batch. */
static void timers_batch(struct loop *loop, uint64_t now_ns)
{
    uint64_t batch_end = loop->timer_sequence;
    while (!loop->stopping && loop->heap_count > 0) {
        struct loop_timer *timer = loop->heap[0];
        if (timer->due_ns > now_ns || timer->sequence > batch_end) {
            break;
        }
        heap_remove(loop, timer);
        loop_call(loop, "timer", timer->call, timer->arg); /* may destroy the timer */
    }
}

static void timers_run(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    struct loop *loop = arg;
    uint64_t began_ns = clock_ns(CLOCK_BOOTTIME);
    loop->in_timers = true;
    timers_batch(loop, began_ns);
    uint64_t now_ns = clock_ns(CLOCK_BOOTTIME);
    if (now_ns - began_ns < SHORT_NS) {
        timers_batch(loop, now_ns);
        now_ns = clock_ns(CLOCK_BOOTTIME);
    }
    loop->in_timers = false;
    if (loop->armed_ns <= now_ns) { /* setting it takes back its readiness, too */
        timers_arm(loop, loop->heap_count > 0 ? loop->heap[0]->due_ns : UINT64_MAX);
    }
    timers_await(loop, now_ns);
    timers_put_off(loop, now_ns);
}

struct loop_timer *loop_timer_create(struct loop *loop, loop_f call, void *arg)
{
    struct loop_timer *timer = mem_zalloc(sizeof(*timer));
    timer->loop = loop;
    timer->call = call;
    timer->arg = arg;
    timer->at = SIZE_MAX;
    return timer;
}

void loop_timer_destroy(struct loop_timer *timer)
{
    if (timer != NULL) {
        loop_timer_stop(timer);
        mem_free(timer);
    }
}

void loop_timer_set(struct loop_timer *timer, uint64_t delay_ms)
{
    struct loop *loop = timer->loop;
    uint64_t delay_ns = (delay_ms < DELAY_MS_MAX ? delay_ms : DELAY_MS_MAX) * NS_PER_MS;
    uint64_t now_ns = clock_ns(CLOCK_BOOTTIME);
    bool was_first = timer->at == 0;
    timer->due_ns = now_ns - now_ns % NS_PER_MS + delay_ns;
    timer->sequence = ++loop->timer_sequence;
    if (timer->at == SIZE_MAX) {
        if (loop->heap_count == loop->heap_capacity) {
            loop->heap_capacity = loop->heap_capacity > 0 ? 2 * loop->heap_capacity : 64;
            loop->heap = mem_realloc(loop->heap, loop->heap_capacity * sizeof(*loop->heap));
        }
        heap_settle(loop, loop->heap_count++, timer);
    } else {
        heap_settle(loop, timer->at, timer);
    }
    if (loop->in_timers) {
        return; /* timers_run() sets the timerfd */
    }
    if (loop->heap[0] == timer) {
        timers_await(loop, now_ns);
    }
    if (was_first) {
        timers_put_off(loop, now_ns);
    }
}

void loop_timer_stop(struct loop_timer *timer)
{
    if (timer->at == SIZE_MAX) {
        return;
    }
    bool was_first = timer->at == 0;
    heap_remove(timer->loop, timer);
    if (was_first && !timer->loop->in_timers) {
        timers_put_off(timer->loop, clock_ns(CLOCK_BOOTTIME));
    }
}

bool loop_timer_is_set(const struct loop_timer *timer)
{
    return timer->at != SIZE_MAX;
}

/* ---- deferred calls -------------------------------------------------------------------------- */

static void deferred_run(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    struct loop *loop = arg;
    struct deferred *batch = loop->deferred;
    size_t count = loop->deferred_count, capacity = loop->deferred_capacity, done = 0;
    loop->deferred = NULL;
    loop->deferred_count = loop->deferred_capacity = 0;
    while (done < count && !loop->stopping) {
        struct deferred call = batch[done++];
        loop_call(loop, "deferred", call.call, call.arg);
    }
    if (loop->deferred == NULL) { /* nothing new: keep the array */
        loop->deferred = batch;
        loop->deferred_capacity = capacity;
    } else {
        mem_free(batch);
    }
}

void loop_defer(struct loop *loop, loop_f call, void *arg)
{
    if (loop->deferred_count == loop->deferred_capacity) {
        loop->deferred_capacity = loop->deferred_capacity > 0 ? 2 * loop->deferred_capacity : 16;
        loop->deferred =
            mem_realloc(loop->deferred, loop->deferred_capacity * sizeof(*loop->deferred));
    }
    loop->deferred[loop->deferred_count++] = (struct deferred){call, arg};
    if (loop->deferred_count == 1) {
        CHECK(event_add(&loop->defer_event, &AT_ONCE) == 0);
    }
}

/* ---- descriptors ----------------------------------------------------------------------------- */

static void fd_ready(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    struct loop_fd *watch = arg;
    struct loop *loop = watch->loop;
    loop_fd_f call = watch->call;
    struct loop_account account;
    loop_account_begin(loop, &account);
    call(watch->arg, (what & EV_READ) != 0 ? LOOP_READ : LOOP_WRITE); /* may destroy the watch */
    loop_account_end(loop, &account, "descriptor", (void (*)(void))call);
}

struct loop_fd *loop_fd_create(struct loop *loop, int fd, loop_fd_f call, void *arg)
{
    struct loop_fd *watch = mem_zalloc(sizeof(*watch));
    watch->loop = loop;
    watch->fd = fd;
    watch->call = call;
    watch->arg = arg;
    CHECK(event_assign(&watch->read_event, loop->base, fd, EV_READ | EV_PERSIST, fd_ready, watch) ==
          0);
    CHECK(event_assign(&watch->write_event, loop->base, fd, EV_WRITE | EV_PERSIST, fd_ready,
                       watch) == 0);
    return watch;
}

static void fd_want_one(struct event *event, bool had, bool wanted)
{
    if (wanted && !had) {
        CHECK(event_add(event, NULL) == 0);
    } else if (had && !wanted) {
        CHECK(event_del(event) == 0);
    }
}

void loop_fd_want(struct loop_fd *watch, unsigned what)
{
    fd_want_one(&watch->read_event, (watch->want & LOOP_READ) != 0, (what & LOOP_READ) != 0);
    fd_want_one(&watch->write_event, (watch->want & LOOP_WRITE) != 0, (what & LOOP_WRITE) != 0);
    watch->want = what;
}

void loop_fd_destroy(struct loop_fd *watch)
{
    if (watch != NULL) {
        loop_fd_want(watch, 0);
        mem_free(watch);
    }
}

/* ---- signals --------------------------------------------------------------------------------- */

static void signal_arrived(evutil_socket_t number, short what, void *arg)
{
    (void)number;
    (void)what;
    struct on_signal *on = arg;
    loop_call(on->loop, "signal", on->call, on->arg);
}

void loop_on_signal(struct loop *loop, int signal_number, loop_f call, void *arg)
{
    for (size_t i = 0; i < loop->signal_count; i++) {
        if (loop->signals[i]->number == signal_number) {
            loop->signals[i]->call = call;
            loop->signals[i]->arg = arg;
            return;
        }
    }
    CHECK(loop->signal_count < SIGNALS_MAX);
    struct on_signal *on = mem_zalloc(sizeof(*on));
    *on = (struct on_signal){.loop = loop, .number = signal_number, .call = call, .arg = arg};
    CHECK(evsignal_assign(&on->event, loop->base, signal_number, signal_arrived, on) == 0);
    CHECK(event_add(&on->event, NULL) == 0);
    loop->signals[loop->signal_count++] = on;
}

/* ---- life ------------------------------------------------------------------------------------ */

void *loop_slot_get(const struct loop *loop, enum loop_slot slot)
{
    return loop->slots[slot].value;
}

void loop_slot_set(struct loop *loop, enum loop_slot slot, void *value,
                   void (*destroy)(void *value))
{
    CHECK(loop->slots[slot].value == NULL);
    loop->slots[slot] = (struct slot){value, destroy};
}

static struct event_base *base_create(void)
{
    struct event_base *base = NULL;
    struct event_config *config = event_config_new();
    if (config != NULL) {
        /* One thread uses it: workers only write to an eventfd. */
        (void)event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK | EVENT_BASE_FLAG_IGNORE_ENV);
        base = event_base_new_with_config(config);
        event_config_free(config);
    }
    return base;
}

int loop_create(struct loop **ret, struct err *err)
{
    int timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    if (timer_fd < 0) {
        return err_set(err, -errno, "cannot make a timer: %s", strerror(errno));
    }
    struct event_base *base = base_create();
    if (base == NULL) {
        close(timer_fd);
        return err_set(err, -ENOMEM, "cannot make an event loop: no memory or no descriptors left");
    }
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN);
    struct loop *loop = mem_zalloc(sizeof(*loop));
    loop->wall_offset_ms = WALL_OFFSET_NONE;
    uint64_t seed;
    get_random(&seed, sizeof(seed));
    rng_seed(&loop->rng, seed);
    loop->base = base;
    loop->timer_fd = timer_fd;
    loop->armed_ns = UINT64_MAX;
    CHECK(event_assign(&loop->timer_event, base, timer_fd, EV_READ | EV_PERSIST, timers_run,
                       loop) == 0);
    CHECK(event_add(&loop->timer_event, NULL) == 0);
    CHECK(evtimer_assign(&loop->due_event, base, timers_run, loop) == 0);
    CHECK(evtimer_assign(&loop->defer_event, base, deferred_run, loop) == 0);
    *ret = loop;
    return 0;
}

void loop_destroy(struct loop *loop)
{
    if (loop == NULL) {
        return;
    }
    for (size_t i = 0; i < LOOP_SLOT_COUNT; i++) {
        if (loop->slots[i].value != NULL) {
            loop->slots[i].destroy(loop->slots[i].value);
        }
    }
    for (size_t i = 0; i < loop->signal_count; i++) {
        (void)event_del(&loop->signals[i]->event);
        mem_free(loop->signals[i]);
    }
    (void)event_del(&loop->timer_event);
    (void)event_del(&loop->due_event);
    (void)event_del(&loop->defer_event);
    event_base_free(loop->base);
    close(loop->timer_fd);
    for (size_t i = 0; i < loop->heap_count; i++) {
        loop->heap[i]->at = SIZE_MAX;
    }
    mem_free(loop->heap);
    mem_free(loop->deferred);
    mem_free(loop);
}

bool loop_is_stopping(const struct loop *loop)
{
    return loop->stopping;
}

int loop_run(struct loop *loop)
{
    while (!loop->stopping) {
        CHECK(event_base_loop(loop->base, 0) == 0);
    }
    return loop->exit_status;
}

void loop_run_until(struct loop *loop, const bool *flag)
{
    while (!*flag && !loop->stopping) {
        CHECK(event_base_loop(loop->base, EVLOOP_ONCE) == 0);
    }
}

void loop_stop(struct loop *loop, int exit_status)
{
    if (!loop->stopping) {
        loop->stopping = true;
        loop->exit_status = exit_status;
        (void)event_base_loopbreak(loop->base);
    }
}

_Noreturn void loop_fatal(struct loop *loop, const char *text)
{
    (void)loop;
    /* Not through stdio: its buffers are part of what must not be flushed. */
    (void)!write(STDERR_FILENO, text, strlen(text));
    (void)!write(STDERR_FILENO, "\n", 1);
    _exit(4);
}
