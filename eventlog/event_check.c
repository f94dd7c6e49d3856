/* eventlog/event_check.c - see event_check.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "eventlog/event_check.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/strmap.h"
#include "eventlog/event_reader.h"
#include "eventlog/event_text.h"

#define SAYS_CHECKPOINTED "(1) Job was checkpointed."
#define SAYS_LOST         "(0) CPU times"
/* HTCondor's code of a hold because output could not be placed, or not be sent to the submit host.
 */
#define HOLD_OUTPUT "Code 12 "

enum life {
    LIFE_NONE = 0,  /* in the table: the event is impossible */
    LIFE_UNKNOWN,   /* before its event 000 */
    LIFE_SUBMITTED, /* idle, or submitted on hold: of such a hold HTCondor logs only the release */
    LIFE_IDLE,
    LIFE_RUNS,
    LIFE_SUSPENDED,
    LIFE_CUT, /* it runs, but is disconnected */
    LIFE_CUT_SUSPENDED,
    LIFE_HELD,
    LIFE_STAGED, /* held, with the result of its run kept */
    LIFE_PLACES, /* released, with that result, or idle: the hold is the same when it was not kept
                  */
    LIFE_OVER,
    LIFE_COUNT
};

static const char *const NAMES[LIFE_COUNT] = {
    [LIFE_UNKNOWN] = "was not submitted",
    [LIFE_SUBMITTED] = "is submitted",
    [LIFE_IDLE] = "is idle",
    [LIFE_RUNS] = "executes",
    [LIFE_SUSPENDED] = "is suspended",
    [LIFE_CUT] = "is disconnected",
    [LIFE_CUT_SUSPENDED] = "is disconnected and suspended",
    [LIFE_HELD] = "is held",
    [LIFE_STAGED] = "is held with its output",
    [LIFE_PLACES] = "has its output to be placed",
    [LIFE_OVER] = "is over",
};

/* For each event, the job's state after it, by its state before; LIFE_NONE: the event is
 * impossible. */
static const struct turn {
    enum event_type type;
    enum life after[LIFE_COUNT];
} TURNS[] = {
    {EVENT_SUBMIT, {[LIFE_UNKNOWN] = LIFE_SUBMITTED}},
    {EVENT_EXECUTE, {[LIFE_SUBMITTED] = LIFE_RUNS, [LIFE_IDLE] = LIFE_RUNS}},
    {EVENT_EXECUTABLE_ERROR,
     {[LIFE_SUBMITTED] = LIFE_IDLE, [LIFE_RUNS] = LIFE_IDLE, [LIFE_IDLE] = LIFE_IDLE}},
    {EVENT_CHECKPOINTED, /* also the last one, of a run that somebody ended: nobody waited for it */
     {[LIFE_RUNS] = LIFE_RUNS,
      [LIFE_SUSPENDED] = LIFE_SUSPENDED,
      [LIFE_CUT] = LIFE_CUT,
      [LIFE_CUT_SUSPENDED] = LIFE_CUT_SUSPENDED,
      [LIFE_IDLE] = LIFE_IDLE,
      [LIFE_HELD] = LIFE_HELD}},
    {EVENT_EVICTED,
     {[LIFE_RUNS] = LIFE_IDLE,
      [LIFE_SUSPENDED] = LIFE_IDLE,
      [LIFE_CUT] = LIFE_IDLE,
      [LIFE_CUT_SUSPENDED] = LIFE_IDLE}},
    {EVENT_TERMINATED,
     {[LIFE_RUNS] = LIFE_OVER,
      [LIFE_SUSPENDED] = LIFE_OVER,
      [LIFE_CUT] = LIFE_OVER,
      [LIFE_CUT_SUSPENDED] = LIFE_OVER,
      [LIFE_PLACES] = LIFE_OVER}},
    {EVENT_DATAFLOW_SKIPPED, {[LIFE_SUBMITTED] = LIFE_OVER, [LIFE_IDLE] = LIFE_OVER}},
    {EVENT_SHADOW_EXCEPTION, /* of a run that may not have executed yet */
     {[LIFE_SUBMITTED] = LIFE_IDLE,
      [LIFE_IDLE] = LIFE_IDLE,
      [LIFE_RUNS] = LIFE_IDLE,
      [LIFE_SUSPENDED] = LIFE_IDLE,
      [LIFE_CUT] = LIFE_IDLE,
      [LIFE_CUT_SUSPENDED] = LIFE_IDLE}},
    {EVENT_ABORTED,
     {[LIFE_SUBMITTED] = LIFE_OVER,
      [LIFE_IDLE] = LIFE_OVER,
      [LIFE_RUNS] = LIFE_OVER,
      [LIFE_SUSPENDED] = LIFE_OVER,
      [LIFE_CUT] = LIFE_OVER,
      [LIFE_CUT_SUSPENDED] = LIFE_OVER,
      [LIFE_HELD] = LIFE_OVER,
      [LIFE_STAGED] = LIFE_OVER,
      [LIFE_PLACES] = LIFE_OVER}},
    {EVENT_SUSPENDED, {[LIFE_RUNS] = LIFE_SUSPENDED}},
    {EVENT_UNSUSPENDED, {[LIFE_SUSPENDED] = LIFE_RUNS}},
    {EVENT_HELD,
     {[LIFE_SUBMITTED] = LIFE_HELD,
      [LIFE_IDLE] = LIFE_HELD,
      [LIFE_RUNS] = LIFE_HELD,
      [LIFE_SUSPENDED] = LIFE_HELD,
      [LIFE_CUT] = LIFE_HELD,
      [LIFE_CUT_SUSPENDED] = LIFE_HELD,
      [LIFE_PLACES] = LIFE_HELD}},
    {EVENT_RELEASED,
     {[LIFE_SUBMITTED] = LIFE_IDLE, [LIFE_HELD] = LIFE_IDLE, [LIFE_STAGED] = LIFE_PLACES}},
    {EVENT_REMOTE_ERROR,
     {[LIFE_SUBMITTED] = LIFE_IDLE, [LIFE_RUNS] = LIFE_IDLE, [LIFE_IDLE] = LIFE_IDLE}},
    {EVENT_DISCONNECTED, {[LIFE_RUNS] = LIFE_CUT, [LIFE_SUSPENDED] = LIFE_CUT_SUSPENDED}},
    {EVENT_RECONNECTED, {[LIFE_CUT] = LIFE_RUNS, [LIFE_CUT_SUSPENDED] = LIFE_SUSPENDED}},
    {EVENT_RECONNECT_FAILED, {[LIFE_CUT] = LIFE_IDLE, [LIFE_CUT_SUSPENDED] = LIFE_IDLE}},
    {EVENT_CLUSTER_SUBMIT, {[LIFE_UNKNOWN] = LIFE_SUBMITTED}},
    {EVENT_CLUSTER_REMOVE, {[LIFE_SUBMITTED] = LIFE_OVER}},
};

struct history {
    enum life life;
    bool checkpointed; /* it was checkpointed in this run */
};

struct event_check {
    struct strmap *jobs; /* "12.3": struct history */
    struct event_totals totals;
};

struct event_check *event_check_create(void)
{
    struct event_check *check = mem_zalloc(sizeof(*check));
    check->jobs = strmap_create(STRMAP_CASE_SENSITIVE);
    return check;
}

void event_check_destroy(struct event_check *check)
{
    if (check != NULL) {
        strmap_destroy(check->jobs, mem_free);
        mem_free(check);
    }
}

void event_check_totals(const struct event_check *check, struct event_totals *ret)
{
    *ret = check->totals;
}

static struct history *history_of(struct event_check *check, const struct event_entry *event)
{
    char id[48];
    (void)snprintf(id, sizeof(id), "%" PRId64 ".%" PRId64, event->cluster, event->proc); /* fits */
    struct history *history = strmap_get(check->jobs, id);
    if (history == NULL) {
        history = mem_zalloc(sizeof(*history));
        history->life = LIFE_UNKNOWN;
        (void)strmap_set(check->jobs, id, history); /* it was not there */
        check->totals.jobs += event->proc >= 0 ? 1 : 0;
    }
    return history;
}

static bool event_says(const struct event_entry *event, const char *words)
{
    return memmem(event->text, event->length, words, strlen(words)) != NULL;
}

static enum life after_event(enum life life, const struct event_entry *event)
{
    bool runs = life >= LIFE_RUNS && life <= LIFE_CUT_SUSPENDED;
    if (event->type == EVENT_HELD && (runs || life == LIFE_PLACES) &&
        event_says(event, HOLD_OUTPUT)) {
        return LIFE_STAGED;
    }
    for (size_t i = 0; i < sizeof(TURNS) / sizeof(TURNS[0]); i++) {
        if ((int64_t)TURNS[i].type == event->type) {
            enum life after = TURNS[i].after[life];
            return after == LIFE_NONE && life == LIFE_PLACES ? TURNS[i].after[LIFE_IDLE] : after;
        }
    }
    return life == LIFE_UNKNOWN || life == LIFE_OVER ? LIFE_NONE : life;
}

const char *event_check_next(struct event_check *check, const struct event_entry *event)
{
    struct event_totals *totals = &check->totals;
    totals->events++;
    if (event->cluster < 0) { /* the head of a pool's log is of no job */
        return NULL;
    }
    struct history *history = history_of(check, event);
    enum life after = after_event(history->life, event);
    if (after == LIFE_NONE) {
        totals->illegal++;
        return NAMES[history->life];
    }
    if (event->type == EVENT_EVICTED && history->checkpointed && event_says(event, SAYS_LOST)) {
        totals->illegal++;
        return "was checkpointed in this run";
    }
    if (event->type == EVENT_EVICTED && !history->checkpointed &&
        event_says(event, SAYS_CHECKPOINTED)) {
        totals->illegal++;
        return "was not checkpointed in this run";
    }
    history->checkpointed = event->type == EVENT_CHECKPOINTED ||
                            (event->type != EVENT_EXECUTE && history->checkpointed);
    history->life = after;
    totals->runs += event->type == EVENT_EXECUTE ? 1 : 0;
    totals->terminated += event->type == EVENT_TERMINATED ? 1 : 0;
    totals->aborted += event->type == EVENT_ABORTED ? 1 : 0;
    return NULL;
}
