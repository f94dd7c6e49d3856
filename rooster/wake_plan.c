/* rooster/wake_plan.c - which sleeping machines to wake now: see wake_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rooster/wake_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/plant.h"

const char *wake_state_name(enum wake_state state)
{
    switch (state) {
    case WAKE_UP:
    case WAKE_STAYING:
        return "On";
    case WAKE_OFF:
        return "Off";
    case WAKE_GOING_DOWN:
        return "GoingDown";
    case WAKE_WAKING:
    case WAKE_BACKOFF:
        return "Waking";
    case WAKE_QUARANTINED:
        break;
    }
    return "WakeFailed";
}

/* Returns whether only the reserve wants the machine. */
static bool is_spare(const struct wake_candidate *candidate)
{
    return candidate->wish == WAKE_WISHED_AS_SPARE && !PLANTED(wake_without_demand);
}

static bool is_due(const struct wake_candidate *candidate, uint64_t now_ms)
{
    if (!candidate->can_wake) {
        return false;
    }
    bool by_name = candidate->wish == WAKE_WISHED_BY_NAME;
    bool wanted = candidate->wish >= WAKE_WISHED_BY_JOBS || PLANTED(wake_without_demand);
    switch (candidate->state) {
    case WAKE_OFF:
        return by_name || ((wanted || (is_spare(candidate) && now_ms >= candidate->spare_at_ms)) &&
                           !candidate->worn);
    case WAKE_BACKOFF:
        return wanted && now_ms >= candidate->retry_at_ms;
    case WAKE_QUARANTINED:
        return by_name || (wanted && now_ms >= candidate->retry_at_ms);
    case WAKE_UP:
    case WAKE_GOING_DOWN:
    case WAKE_STAYING:
    case WAKE_WAKING:
        break;
    }
    return false;
}

static int by_worth(const void *left, const void *right)
{
    const struct wake_candidate *a = *(const struct wake_candidate *const *)left;
    const struct wake_candidate *b = *(const struct wake_candidate *const *)right;
    bool by_name = a->wish == WAKE_WISHED_BY_NAME;
    if (by_name != (b->wish == WAKE_WISHED_BY_NAME)) {
        return by_name ? -1 : 1;
    }
    if (a->rank > b->rank || a->rank < b->rank) {
        return a->rank > b->rank ? -1 : 1;
    }
    return strcmp(a->machine, b->machine);
}

static int64_t lower_of(int64_t left, int64_t right)
{
    return left < right ? left : right;
}

int64_t wake_plan_room(const struct wake_limits *limits, int64_t waking)
{
    int64_t room = INT64_MAX;
    if (limits->per_cycle_max > 0) {
        room = limits->per_cycle_max;
    }
    if (limits->at_once_max > 0) {
        room = lower_of(room, limits->at_once_max - waking);
    }
    if (limits->share_max_percent > 0) {
        int64_t share = limits->machines * limits->share_max_percent / 100;
        room = lower_of(room, (share > 1 ? share : 1) - waking);
    }
    if (limits->per_minute_max > 0) {
        room = lower_of(room, limits->per_minute_max - limits->last_minute);
    }
    return room > 0 ? room : 0;
}

static void sift_down(const struct wake_candidate **heap, size_t count, size_t at)
{
    for (size_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && by_worth(&heap[child + 1], &heap[child]) > 0) {
            child++;
        }
        if (by_worth(&heap[at], &heap[child]) >= 0) {
            return;
        }
        const struct wake_candidate *worse = heap[child];
        heap[child] = heap[at];
        heap[at] = worse;
        at = child;
    }
}

/* Moves the best `taken` machines to the front, with a heap that has the worst of them on top:
 * limits take few of many. */
static void take_best(const struct wake_candidate **all, size_t count, size_t taken)
{
    if (taken == 0 || taken == count) {
        return;
    }
    for (size_t i = taken; i-- > 0;) {
        sift_down(all, taken, i);
    }
    for (size_t i = taken; i < count; i++) {
        if (by_worth(&all[i], &all[0]) < 0) {
            all[0] = all[i];
            sift_down(all, taken, 0);
        }
    }
}

/* Writes to chosen the best `most` machines of due that fit into watts_left; returns how many. */
static size_t take_affordable(const struct wake_candidate **due, size_t count, int64_t most,
                              bool is_capped, double *watts_left,
                              const struct wake_candidate *candidates, size_t *chosen)
{
    size_t sorted = is_capped || most > (int64_t)count ? count : (size_t)most, taken = 0;
    take_best(due, count, sorted);
    qsort(due, sorted, sizeof *due, by_worth);
    for (size_t i = 0; i < sorted && (int64_t)taken < most; i++) {
        if (is_capped && due[i]->extra_w > *watts_left) {
            continue;
        }
        *watts_left -= due[i]->extra_w;
        chosen[taken++] = (size_t)(due[i] - candidates);
    }
    return taken;
}

size_t wake_plan_choose(const struct wake_candidate *candidates, size_t count,
                        const struct wake_limits *limits, uint64_t now_ms, size_t *chosen)
{
    const struct wake_candidate **due = mem_alloc((count + 1) * sizeof *due);
    size_t due_count = 0,
           spare_from = count; /* due ones from the front, spare ones from the back */
    double watts_left = limits->watts_left;
    int64_t waking = 0;
    for (size_t i = 0; i < count; i++) {
        waking += candidates[i].state == WAKE_WAKING ? 1 : 0;
        if (!is_due(&candidates[i], now_ms)) {
            continue;
        }
        if (!is_spare(&candidates[i])) {
            due[due_count++] = &candidates[i];
        } else if (limits->spares_wanted > 0) {
            due[--spare_from] = &candidates[i];
        }
    }
    int64_t room = wake_plan_room(limits, waking);
    size_t taken =
        take_affordable(due, due_count, room, limits->is_capped, &watts_left, candidates, chosen);
    int64_t spares = lower_of(room - (int64_t)taken, limits->spares_wanted);
    if (spares > 0) {
        taken += take_affordable(&due[spare_from], count - spare_from, spares, limits->is_capped,
                                 &watts_left, candidates, chosen + taken);
    }
    mem_free(due);
    return taken;
}

static void forget_seconds(struct wake_minute *minute, uint64_t now_s)
{
    if (now_s - minute->last_s >= WAKE_MINUTE_S) {
        memset(minute->counts, 0, sizeof minute->counts);
        minute->last_s = now_s;
    }
    while (minute->last_s < now_s) {
        minute->counts[++minute->last_s % WAKE_MINUTE_S] = 0;
    }
}

void wake_minute_add(struct wake_minute *minute, uint64_t now_ms)
{
    forget_seconds(minute, now_ms / 1000);
    minute->counts[minute->last_s % WAKE_MINUTE_S]++;
}

int64_t wake_minute_count(struct wake_minute *minute, uint64_t now_ms)
{
    int64_t count = 0;
    forget_seconds(minute, now_ms / 1000);
    for (size_t i = 0; i < WAKE_MINUTE_S; i++) {
        count += minute->counts[i];
    }
    return count;
}

void wake_day_add(struct wake_day *day, int64_t now_s)
{
    day->at_s[day->count++ % WAKE_DAY_MAX] = now_s;
}

int64_t wake_day_count(const struct wake_day *day, int64_t now_s)
{
    int64_t count = 0;
    for (size_t i = 0; i < day->count && i < WAKE_DAY_MAX; i++) {
        count += day->at_s[i] > now_s - 86400 && day->at_s[i] <= now_s ? 1 : 0;
    }
    return count;
}

static int64_t methods_of(const struct wake_retry *retry)
{
    return retry->methods > 1 ? retry->methods : 1;
}

size_t wake_plan_method(const struct wake_retry *retry, int64_t attempt)
{
    int64_t method = attempt > 0 ? (attempt - 1) / retry->attempts_max : 0;
    return (size_t)lower_of(method, methods_of(retry) - 1);
}

static uint64_t doubled_ms(uint64_t start_ms, int64_t times, uint64_t max_ms)
{
    uint64_t ms = start_ms;
    for (int64_t i = 0; i < times && ms < max_ms; i++) {
        ms = ms < max_ms / 2 ? ms * 2 : max_ms;
    }
    return ms;
}

enum wake_state wake_plan_after_failure(const struct wake_retry *retry, int64_t attempts,
                                        uint64_t now_ms, uint64_t *retry_at_ms)
{
    if (attempts / retry->attempts_max >= methods_of(retry)) {
        *retry_at_ms =
            now_ms + doubled_ms(retry->quarantine_ms, retry->quarantines, retry->quarantine_max_ms);
        return WAKE_QUARANTINED;
    }
    int64_t failed = attempts % retry->attempts_max; /* by its method; 0: the next one's turn */
    *retry_at_ms =
        now_ms + doubled_ms(retry->backoff_ms, failed > 0 ? failed - 1 : 0, retry->quarantine_ms);
    return WAKE_BACKOFF;
}

enum wake_step wake_plan_step(const struct wake_descent *descent)
{
    if (descent->age_ms >= WAKE_DOWN_MAX_MS) {
        return WAKE_STEP_ORDER;
    }
    if (!descent->is_startd_gone) {
        return WAKE_STEP_ASK_STARTD;
    }
    if (!descent->can_tell || PLANTED(wake_too_early)) {
        return WAKE_STEP_ORDER;
    }
    if (!descent->is_told) {
        return WAKE_STEP_ASK_METHOD;
    }
    return descent->is_on ? WAKE_STEP_WAIT : WAKE_STEP_ORDER;
}

uint64_t wake_plan_pause_ms(uint64_t least_ms, uint64_t tried_ms)
{
    return tried_ms / 8 > least_ms ? tried_ms / 8 : least_ms;
}
