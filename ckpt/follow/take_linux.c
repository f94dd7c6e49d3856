/* ckpt/follow/take_linux.c - copies the changed pages of a process: see take_linux.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/follow/take_linux.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

#include "base/mem.h"
#include "ckpt/dump/dump.h"
#include "ckpt/dump/dump_memory.h"

#define PIECE_RUNS  512U
#define PIECE_BYTES ((uint64_t)1 << 20) /* or one run that is longer */

struct piece { /* of the runs, those from first to before end */
    size_t first, end;
};

struct work {
    const struct subject *subject;
    const struct piece *pieces;
    size_t count;
    size_t next; /* taken by whoever comes first */
    unsigned char *to;
    bool failed; /* one of them could not be read */
};

struct take {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct work *work; /* NULL: none, or it is finished */
    bool is_busy;      /* the second thread is at it */
    bool ends;
};

static void do_pieces(struct work *work)
{
    size_t index;
    while ((index = __atomic_fetch_add(&work->next, 1, __ATOMIC_RELAXED)) < work->count) {
        const struct piece *piece = &work->pieces[index];
        if (delta_read(work->subject, piece->first, piece->end, work->to) != 0) {
            __atomic_store_n(&work->failed, true, __ATOMIC_RELAXED);
        }
    }
}

static void *help_thread(void *arg)
{
    struct take *take = arg;
    (void)pthread_mutex_lock(&take->lock);
    while (!take->ends) {
        struct work *work = take->work;
        if (work == NULL) {
            (void)pthread_cond_wait(&take->changed, &take->lock);
            continue;
        }
        take->is_busy = true;
        (void)pthread_mutex_unlock(&take->lock);
        do_pieces(work);
        (void)pthread_mutex_lock(&take->lock);
        take->work = NULL;
        take->is_busy = false;
        (void)pthread_cond_broadcast(&take->changed);
    }
    (void)pthread_mutex_unlock(&take->lock);
    return NULL;
}

struct take *take_create(void)
{
    struct take *take = mem_zalloc(sizeof *take);
    sigset_t all, before;
    (void)pthread_mutex_init(&take->lock, NULL);
    (void)pthread_cond_init(&take->changed, NULL);
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&take->thread, NULL, help_thread, take);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc != 0) {
        mem_free(take);
        return NULL;
    }
    return take;
}

void take_destroy(struct take *take)
{
    if (take != NULL) {
        (void)pthread_mutex_lock(&take->lock);
        take->ends = true;
        (void)pthread_cond_broadcast(&take->changed);
        (void)pthread_mutex_unlock(&take->lock);
        (void)pthread_join(take->thread, NULL);
        (void)pthread_cond_destroy(&take->changed);
        (void)pthread_mutex_destroy(&take->lock);
        mem_free(take);
    }
}

static void offer_work(struct take *take, struct work *work)
{
    (void)pthread_mutex_lock(&take->lock);
    take->work = work;
    (void)pthread_cond_broadcast(&take->changed);
    (void)pthread_mutex_unlock(&take->lock);
}

/* A thread that has not begun by now need not begin. */
static void finish_work(struct take *take)
{
    (void)pthread_mutex_lock(&take->lock);
    take->work = NULL;
    while (take->is_busy) {
        (void)pthread_cond_wait(&take->changed, &take->lock);
    }
    (void)pthread_mutex_unlock(&take->lock);
}

/* Chooses places for all changed runs, and divides them into pieces of about the same size.
 * Returns the number of bytes. */
static uint64_t lay_out(struct subject *subject, struct piece *pieces, size_t *ret_count)
{
    uint64_t at = 0, begun = 0;
    size_t count = 0, runs = 0;
    for (size_t i = 0; i < subject->runs.count; i++) {
        struct page_run *run = &subject->runs.items[i];
        if (!run->is_changed) {
            continue;
        }
        if (runs == 0 || runs == PIECE_RUNS || at - begun >= PIECE_BYTES) {
            pieces[count++].first = i;
            begun = at;
            runs = 0;
        }
        runs++;
        run->at = at;
        at += run->end - run->start;
        pieces[count - 1].end = i + 1;
    }
    *ret_count = count;
    return at;
}

bool take_runs(struct take *take, struct subject *subject, unsigned char *to, uint64_t *ret_bytes)
{
    struct piece *pieces = mem_alloc((subject->runs.count + 1) * sizeof *pieces);
    struct work work = {.subject = subject, .pieces = pieces, .to = to};
    *ret_bytes = lay_out(subject, pieces, &work.count);
    if (take != NULL) {
        offer_work(take, &work);
    }
    do_pieces(&work);
    if (take != NULL) {
        finish_work(take);
    }
    mem_free(pieces);
    return !work.failed;
}
