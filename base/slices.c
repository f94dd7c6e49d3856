/* base/slices.c - see slices.h.
 *
 * Invariants: a caller is in `row` exactly while one of its works waits; the timer is set exactly
 * while somebody is in the row.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/slices.h"

#include <stddef.h>
#include <sys/queue.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/strmap.h"

struct slice_caller {
    TAILQ_ENTRY(slice_caller) place; /* in the row */
    TAILQ_HEAD(, slice_work) waiting;
    TAILQ_HEAD(, slice_work) outside; /* that wait for a place */
    char *name;
    size_t works;   /* waiting or not */
    size_t entered; /* that have a place */
};

struct slice_work {
    TAILQ_ENTRY(slice_work) place; /* among those of its caller that wait */
    struct slices *slices;
    struct slice_caller *caller;
    loop_f slice;
    void *arg;
    bool waits;
    TAILQ_ENTRY(slice_work) outside_place;
    bool is_outside, has_entered;
};

struct slices {
    struct loop_timer *timer;
    struct strmap *callers; /* by name */
    TAILQ_HEAD(, slice_caller) row;
};

static void leave_queue(struct slice_work *work)
{
    struct slices *slices = work->slices;
    work->waits = false;
    TAILQ_REMOVE(&work->caller->waiting, work, place);
    if (TAILQ_EMPTY(&work->caller->waiting)) {
        TAILQ_REMOVE(&slices->row, work->caller, place);
    }
    if (TAILQ_EMPTY(&slices->row)) {
        loop_timer_stop(slices->timer);
    }
}

static void run_first(void *arg)
{
    struct slices *slices = arg;
    struct slice_caller *caller = TAILQ_FIRST(&slices->row);
    struct slice_work *work = TAILQ_FIRST(&caller->waiting);
    leave_queue(work);
    if (!TAILQ_EMPTY(&caller->waiting)) { /* behind the others */
        TAILQ_REMOVE(&slices->row, caller, place);
        TAILQ_INSERT_TAIL(&slices->row, caller, place);
    }
    if (!TAILQ_EMPTY(&slices->row)) {
        loop_timer_set(slices->timer, 0);
    }
    work->slice(work->arg); /* which may end the work */
}

struct slices *slices_create(struct loop *loop)
{
    struct slices *slices = mem_zalloc(sizeof(*slices));
    TAILQ_INIT(&slices->row);
    slices->timer = loop_timer_create(loop, run_first, slices);
    slices->callers = strmap_create(STRMAP_CASE_SENSITIVE);
    return slices;
}

void slices_destroy(struct slices *slices)
{
    if (slices == NULL) {
        return;
    }
    CHECK(strmap_count(slices->callers) == 0);
    strmap_destroy(slices->callers, NULL);
    loop_timer_destroy(slices->timer);
    mem_free(slices);
}

struct slice_work *slice_work_create(struct slices *slices, const char *caller, loop_f slice,
                                     void *arg)
{
    struct slice_work *work = mem_zalloc(sizeof(*work));
    struct slice_caller *found = strmap_get(slices->callers, caller);
    if (found == NULL) {
        found = mem_zalloc(sizeof(*found));
        found->name = mem_strdup(caller);
        TAILQ_INIT(&found->waiting);
        TAILQ_INIT(&found->outside);
        (void)strmap_set(slices->callers, caller, found); /* there was none */
    }
    found->works++;
    work->slices = slices;
    work->caller = found;
    work->slice = slice;
    work->arg = arg;
    return work;
}

void slice_work_destroy(struct slice_work *work)
{
    if (work == NULL) {
        return;
    }
    slice_work_stop(work);
    struct slice_caller *caller = work->caller;
    if (work->is_outside) {
        TAILQ_REMOVE(&caller->outside, work, outside_place);
    }
    slice_work_leave(work);
    if (--caller->works == 0) {
        (void)strmap_remove(work->slices->callers, caller->name); /* it is this one */
        mem_free(caller->name);
        mem_free(caller);
    }
    mem_free(work);
}

void slice_work_want(struct slice_work *work)
{
    struct slices *slices = work->slices;
    if (work->waits) {
        return;
    }
    if (TAILQ_EMPTY(&slices->row)) {
        loop_timer_set(slices->timer, 0);
    }
    if (TAILQ_EMPTY(&work->caller->waiting)) {
        TAILQ_INSERT_TAIL(&slices->row, work->caller, place);
    }
    TAILQ_INSERT_TAIL(&work->caller->waiting, work, place);
    work->waits = true;
}

void slice_work_stop(struct slice_work *work)
{
    if (work->waits) {
        leave_queue(work);
    }
}

bool slice_work_waits(const struct slice_work *work)
{
    return work->waits;
}

bool slice_work_enter(struct slice_work *work, size_t most)
{
    struct slice_caller *caller = work->caller;
    if (!work->has_entered && caller->entered < most) {
        work->has_entered = true;
        caller->entered++;
    } else if (!work->has_entered && !work->is_outside) {
        work->is_outside = true;
        TAILQ_INSERT_TAIL(&caller->outside, work, outside_place);
    }
    return work->has_entered;
}

void slice_work_leave(struct slice_work *work)
{
    struct slice_caller *caller = work->caller;
    struct slice_work *next = TAILQ_FIRST(&caller->outside);
    if (!work->has_entered) {
        return;
    }
    work->has_entered = false;
    caller->entered--;
    if (next != NULL) {
        TAILQ_REMOVE(&caller->outside, next, outside_place);
        next->is_outside = false;
        slice_work_want(next);
    }
}

size_t slice_caller_works(const struct slices *slices, const char *caller)
{
    const struct slice_caller *found = strmap_get(slices->callers, caller);
    return found != NULL ? found->works : 0;
}
