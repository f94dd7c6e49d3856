/* base/loop_lane_event.c - work off the loop thread.
 *
 * Design note: a lane is one thread and a queue, started with the first work.  What a lane has
 * finished goes into one list per loop, and an eventfd wakes the loop.  One thread per lane rather
 * than a pool: a lane stands for one thing that may hang (a file server, a disk, a resolver), and
 * what hangs must hold up its own queue only.  One mutex per loop: it is held for a few pointers.
 *
 * Invariants (under the mutex): a job is in the queue of its lane, or is the lane's `current`, or
 * is in the list of finished ones, or is being delivered.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/loop.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/check.h"
#include "base/loop_event.h"
#include "base/mem.h"

struct job {
    struct job *next;
    struct loop_lane *lane;
    int (*work)(void *arg);
    void (*done)(void *arg, int result);
    void *arg;
    int result;
};

struct job_list {
    struct job *first, *last;
};

/* All lanes of a loop. */
struct lanes {
    struct loop *loop;
    pthread_mutex_t mutex;
    struct job_list finished;
    int event_fd;
    struct loop_fd *watch;
    struct loop_lane *first;
};

struct loop_lane {
    struct lanes *lanes;
    struct loop_lane *next, **link; /* among the lanes of the loop; loop thread only */
    pthread_t thread;
    bool started; /* loop thread only */
    bool ending;
    pthread_cond_t wake;
    struct job_list queue;
};

static void list_push(struct job_list *list, struct job *job)
{
    job->next = NULL;
    if (list->last != NULL) {
        list->last->next = job;
    } else {
        list->first = job;
    }
    list->last = job;
}

static struct job *list_pop(struct job_list *list)
{
    struct job *job = list->first;
    if (job != NULL) {
        list->first = job->next;
        if (list->first == NULL) {
            list->last = NULL;
        }
    }
    return job;
}

/* Frees the jobs of the lane that are in the list. */
static void list_drop(struct job_list *list, const struct loop_lane *lane)
{
    struct job_list kept = {NULL, NULL};
    struct job *job;
    while ((job = list_pop(list)) != NULL) {
        if (job->lane == lane) {
            mem_free(job);
        } else {
            list_push(&kept, job);
        }
    }
    *list = kept;
}

static void lock_lanes(struct lanes *lanes)
{
    CHECK(pthread_mutex_lock(&lanes->mutex) == 0);
}

static void unlock_lanes(struct lanes *lanes)
{
    CHECK(pthread_mutex_unlock(&lanes->mutex) == 0);
}

static void *lane_main(void *arg)
{
    struct loop_lane *lane = arg;
    struct lanes *lanes = lane->lanes;
    lock_lanes(lanes);
    while (!lane->ending) {
        struct job *job = list_pop(&lane->queue);
        if (job == NULL) {
            CHECK(pthread_cond_wait(&lane->wake, &lanes->mutex) == 0);
            continue;
        }
        unlock_lanes(lanes);
        job->result = job->work(job->arg);
        lock_lanes(lanes);
        bool first = lanes->finished.first == NULL;
        list_push(&lanes->finished, job);
        if (first) {
            uint64_t one = 1;
            CHECK(write(lanes->event_fd, &one, sizeof(one)) == (ssize_t)sizeof(one));
        }
    }
    unlock_lanes(lanes);
    return NULL;
}

/* One at a time: a done call may destroy lanes, and with them what else is in the list. */
static void deliver_done(void *arg, unsigned ready)
{
    (void)ready;
    struct lanes *lanes = arg;
    uint64_t count;
    (void)!read(lanes->event_fd, &count, sizeof(count));
    while (!loop_is_stopping(lanes->loop)) {
        lock_lanes(lanes);
        struct job *job = list_pop(&lanes->finished);
        unlock_lanes(lanes);
        if (job == NULL) {
            return;
        }
        struct job copy = *job;
        mem_free(job);
        if (copy.done != NULL) {
            struct loop_account account;
            loop_account_begin(lanes->loop, &account);
            copy.done(copy.arg, copy.result);
            loop_account_end(lanes->loop, &account, "lane", (void (*)(void))copy.done);
        }
    }
}

static void lanes_destroy(void *value)
{
    struct lanes *lanes = value;
    while (lanes->first != NULL) {
        loop_lane_destroy(lanes->first);
    }
    loop_fd_destroy(lanes->watch);
    close(lanes->event_fd);
    CHECK(pthread_mutex_destroy(&lanes->mutex) == 0);
    mem_free(lanes);
}

static struct lanes *lanes_of(struct loop *loop)
{
    struct lanes *lanes = loop_slot_get(loop, LOOP_SLOT_LANES);
    if (lanes == NULL) {
        lanes = mem_zalloc(sizeof(*lanes));
        lanes->loop = loop;
        CHECK(pthread_mutex_init(&lanes->mutex, NULL) == 0);
        lanes->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        CHECK(lanes->event_fd >= 0);
        lanes->watch = loop_fd_create(loop, lanes->event_fd, deliver_done, lanes);
        loop_fd_want(lanes->watch, LOOP_READ);
        loop_slot_set(loop, LOOP_SLOT_LANES, lanes, lanes_destroy);
    }
    return lanes;
}

struct loop_lane *loop_lane_create(struct loop *loop)
{
    struct lanes *lanes = lanes_of(loop);
    struct loop_lane *lane = mem_zalloc(sizeof(*lane));
    lane->lanes = lanes;
    CHECK(pthread_cond_init(&lane->wake, NULL) == 0);
    lane->next = lanes->first;
    lane->link = &lanes->first;
    if (lane->next != NULL) {
        lane->next->link = &lane->next;
    }
    lanes->first = lane;
    return lane;
}

/* Signals are the loop thread's: a worker that took one would interrupt the wrong system call. */
static void lane_start(struct loop_lane *lane)
{
    sigset_t all, before;
    CHECK(sigfillset(&all) == 0);
    CHECK(pthread_sigmask(SIG_SETMASK, &all, &before) == 0);
    CHECK(pthread_create(&lane->thread, NULL, lane_main, lane) == 0);
    CHECK(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
    lane->started = true;
}

void loop_lane_run(struct loop_lane *lane, int (*work)(void *arg),
                   void (*done)(void *arg, int result), void *arg)
{
    struct job *job = mem_zalloc(sizeof(*job));
    *job = (struct job){.lane = lane, .work = work, .done = done, .arg = arg};
    if (!lane->started) {
        lane_start(lane);
    }
    lock_lanes(lane->lanes);
    list_push(&lane->queue, job);
    CHECK(pthread_cond_signal(&lane->wake) == 0);
    unlock_lanes(lane->lanes);
}

void loop_lane_destroy(struct loop_lane *lane)
{
    if (lane == NULL) {
        return;
    }
    struct lanes *lanes = lane->lanes;
    lock_lanes(lanes);
    lane->ending = true;
    CHECK(pthread_cond_signal(&lane->wake) == 0);
    unlock_lanes(lanes);
    if (lane->started) {
        CHECK(pthread_join(lane->thread, NULL) == 0);
    }
    lock_lanes(lanes);
    list_drop(&lane->queue, lane);
    list_drop(&lanes->finished, lane);
    unlock_lanes(lanes);
    *lane->link = lane->next;
    if (lane->next != NULL) {
        lane->next->link = lane->link;
    }
    CHECK(pthread_cond_destroy(&lane->wake) == 0);
    mem_free(lane);
}
