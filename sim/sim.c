/* sim/sim.c - the scheduler of the simulation: events, time, random numbers, the trace.
 *
 * Events are a binary heap sorted by (time, tie, sequence).  tie is drawn from the run's random
 * generator, so events at the same time happen in an order that the seed chooses.  Code that needs
 * two events in order gives them different times (a connection does).
 *
 * The trace is a ring of lines and a hash of all lines ever written: two runs of one seed are equal
 * when their hashes are equal.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "sim/sim_private.h"

/* ---- the heap of events ---------------------------------------------------------------------- */

static bool is_before(const struct sim_event *a, const struct sim_event *b)
{
    if (a->at_us != b->at_us) {
        return a->at_us < b->at_us;
    }
    return a->tie != b->tie ? a->tie < b->tie : a->seq < b->seq;
}

static void put_event(struct sim *sim, size_t slot, struct sim_event *event)
{
    sim->heap[slot] = event;
    event->slot = slot;
}

static void sift_up(struct sim *sim, struct sim_event *event, size_t slot)
{
    while (slot > 0 && is_before(event, sim->heap[(slot - 1) / 2])) {
        put_event(sim, slot, sim->heap[(slot - 1) / 2]);
        slot = (slot - 1) / 2;
    }
    put_event(sim, slot, event);
}

static void sift_down(struct sim *sim, struct sim_event *event, size_t slot)
{
    for (;;) {
        size_t child = 2 * slot + 1;
        if (child >= sim->heap_count) {
            break;
        }
        if (child + 1 < sim->heap_count && is_before(sim->heap[child + 1], sim->heap[child])) {
            child++;
        }
        if (!is_before(sim->heap[child], event)) {
            break;
        }
        put_event(sim, slot, sim->heap[child]);
        slot = child;
    }
    put_event(sim, slot, event);
}

static void heap_insert(struct sim *sim, struct sim_event *event)
{
    if (sim->heap_count == sim->heap_capacity) {
        sim->heap_capacity = sim->heap_capacity > 0 ? sim->heap_capacity * 2 : 256;
        sim->heap = sim_realloc(sim->heap, sim->heap_capacity * sizeof(struct sim_event *));
    }
    sift_up(sim, event, sim->heap_count++);
}

static void heap_remove(struct sim *sim, struct sim_event *event)
{
    size_t slot = event->slot;
    CHECK(slot < sim->heap_count && sim->heap[slot] == event);
    struct sim_event *last = sim->heap[--sim->heap_count];
    event->slot = SIZE_MAX;
    if (last == event) {
        return;
    }
    if (slot > 0 && is_before(last, sim->heap[(slot - 1) / 2])) {
        sift_up(sim, last, slot);
    } else {
        sift_down(sim, last, slot);
    }
}

static struct sim_event *event_create(struct sim *sim, uint64_t at_us, void (*call)(void *arg),
                                      void *arg)
{
    struct sim_event *event = sim_alloc(sizeof(*event));
    event->sim = sim;
    event->at_us = at_us > sim->now_us ? at_us : sim->now_us;
    event->tie = rng_next(&sim->rng);
    event->seq = sim->seq++;
    event->call = call;
    event->arg = arg;
    heap_insert(sim, event);
    return event;
}

struct sim_event *sim_at(struct sim *sim, uint64_t at_us, void (*call)(void *arg), void *arg)
{
    return event_create(sim, at_us, call, arg);
}

struct sim_event *sim_at_process(struct sim_process *process, uint64_t at_us,
                                 void (*call)(void *arg), void *arg)
{
    CHECK(!process->dead);
    struct sim_event *event = event_create(process->sim, at_us, call, arg);
    event->process = process;
    sim_list_add(&process->events, &event->link, event);
    return event;
}

struct sim_event *sim_at_host(struct sim_host *host, uint64_t at_us, void (*call)(void *arg),
                              void *arg)
{
    struct sim_event *event = event_create(host->sim, at_us, call, arg);
    event->host = host;
    sim_list_add(&host->events, &event->link, event);
    return event;
}

void sim_cancel(struct sim_event *event)
{
    if (event == NULL) {
        return;
    }
    if (event->slot != SIZE_MAX) {
        heap_remove(event->sim, event);
    }
    sim_list_remove(&event->link);
    sim_free(event);
}

void sim_event_park(struct sim_event *event)
{
    if (event->slot != SIZE_MAX) {
        heap_remove(event->sim, event);
    }
}

void sim_event_resume(struct sim_event *event, uint64_t at_us)
{
    CHECK(event->slot == SIZE_MAX);
    event->at_us = at_us > event->sim->now_us ? at_us : event->sim->now_us;
    heap_insert(event->sim, event);
}

bool sim_step(struct sim *sim, uint64_t until_us)
{
    if (sim->heap_count == 0 || sim->heap[0]->at_us > until_us) {
        if (until_us > sim->now_us && until_us != UINT64_MAX) {
            sim->now_us = until_us;
        }
        return false;
    }
    struct sim_event *event = sim->heap[0];
    sim->now_us = event->at_us;
    if (event->process != NULL && event->process->stopped && !event->even_stopped) {
        sim_event_park(event); /* SIGCONT brings it back */
        return true;
    }
    const struct sim_host *host = event->process != NULL ? event->process->host : event->host;
    if (host != NULL && host->suspended_until_us > sim->now_us) {
        sim_event_park(event); /* comes when the machine goes on, in the order that it had */
        sim_event_resume(event,
                         host->suspended_until_us + (sim->now_us - host->suspended_us) / 1000);
        return true;
    }
    void (*call)(void *arg) = event->call;
    void *arg = event->arg;
    sim_cancel(event);
    sim->counts[SIM_COUNT_EVENTS]++;
    call(arg);
    if (sim->options.observer.stepped != NULL) {
        sim->options.observer.stepped(sim->options.observer.arg);
    }
    return true;
}

static void sim_run_until(struct sim *sim, uint64_t until_us)
{
    while (sim_step(sim, until_us)) {
    }
}

void sim_run_for(struct sim *sim, uint64_t us)
{
    sim_run_until(sim, sim->now_us + us);
}

/* ---- the run --------------------------------------------------------------------------------- */

struct sim *sim_create(const struct sim_options *options)
{
    static const struct sim_program *const BUILT_IN[] = {
        &sim_program_job,   &sim_program_wake,  &sim_program_poweroff, &sim_program_powered,
        &sim_program_steps, &sim_program_image, &sim_program_ckpt,     &sim_program_env};
    CHECK(sim_mem_running() == NULL);
    struct sim *sim = sim_alloc(sizeof(*sim));
    sim->options = *options;
    size_t count = 0;
    while (options->programs != NULL && options->programs[count] != NULL) {
        count++;
    }
    sim->programs = sim_alloc((count + ARRAY_COUNT(BUILT_IN) + 1) * sizeof(*sim->programs));
    for (size_t i = 0; i < count; i++) {
        sim->programs[i] = options->programs[i];
    }
    for (size_t i = 0; i < ARRAY_COUNT(BUILT_IN); i++) {
        sim->programs[count + i] = BUILT_IN[i];
    }
    rng_seed(&sim->rng, options->seed);
    sim_list_init(&sim->processes);
    sim_list_init(&sim->connections);
    sim->trace = sim_alloc(SIM_TRACE_LINES * sizeof(*sim->trace));
    sim->hash = UINT64_C(0xcbf29ce484222325);
    sim->now_us = 1000 * SIM_S; /* a clock that starts at 0 hides "0 means unset" mistakes */
    sim_mem_use(sim);
    return sim;
}

void sim_observe(struct sim *sim, const struct sim_observer *also)
{
    sim->also = *also;
}

void sim_destroy(struct sim *sim)
{
    if (sim == NULL) {
        return;
    }
    sim->ending = true;
    struct sim_process *process;
    while ((process = sim_list_first(&sim->processes)) != NULL) {
        sim_process_end(process, -1, 9);
    }
    sim_net_destroy(sim);
    sim_hosts_destroy(sim);
    while (sim->heap_count > 0) {
        sim_cancel(sim->heap[0]);
    }
    for (size_t i = 0; i < sim->links_side * sim->links_side; i++) {
        sim_free(sim->links[i]);
    }
    sim_mem_use(NULL);
    sim_free(sim->links);
    sim_free(sim->hosts);
    sim_free(sim->heap);
    sim_free(sim->programs);
    sim_free(sim->trace);
    sim_free(sim);
}

uint64_t sim_now_us(const struct sim *sim)
{
    return sim->now_us;
}

struct rng *sim_rng(struct sim *sim)
{
    return &sim->rng;
}

uint64_t sim_between(struct sim *sim, uint64_t low, uint64_t high)
{
    return high > low ? low + rng_below(&sim->rng, high - low + 1) : low;
}

bool sim_chance(struct sim *sim, unsigned per_mille)
{
    return rng_below(&sim->rng, 1000) < per_mille;
}

/* ---- counters -------------------------------------------------------------------------------- */

const char *sim_count_name(enum sim_count count)
{
    static const char *const NAMES[SIM_COUNT_MAX] = {
        [SIM_COUNT_EVENTS] = "events",
        [SIM_COUNT_MESSAGES] = "messages",
        [SIM_COUNT_REORDERED] = "reordered",
        [SIM_COUNT_SPLIT] = "split",
        [SIM_COUNT_DELAYED] = "delayed",
        [SIM_COUNT_CONNECTS] = "connects",
        [SIM_COUNT_LINK_CUTS] = "link_cuts",
        [SIM_COUNT_RESETS] = "resets",
        [SIM_COUNT_SPAWNS] = "spawns",
        [SIM_COUNT_KILLS] = "kills",
        [SIM_COUNT_POWER_CUTS] = "power_cuts",
        [SIM_COUNT_BOOTS] = "boots",
        [SIM_COUNT_BOOT_FAILURES] = "boot_failures",
        [SIM_COUNT_POWER_OFFS] = "power_offs",
        [SIM_COUNT_FATALS] = "fatals",
        [SIM_COUNT_DISK_ERRORS] = "disk_errors",
        [SIM_COUNT_LOST_WRITES] = "lost_writes",
        [SIM_COUNT_COMMIT_KILLS] = "commit_kills",
        [SIM_COUNT_RESTARTS] = "restarts",
        [SIM_COUNT_SUSPENDS] = "suspends",
        [SIM_COUNT_SPAWN_FAILURES] = "spawn_failures",
        [SIM_COUNT_OOM_KILLS] = "oom_kills",
        [SIM_COUNT_KEEPER_KILLS] = "keeper_kills",
        [SIM_COUNT_LEASE_KILLS] = "lease_kills",
        [SIM_COUNT_STANDS] = "stands",
        [SIM_COUNT_DISK_REFUSALS] = "disk_refusals",
        [SIM_COUNT_ROW_FLIPS] = "row_flips",
        [SIM_COUNT_NAME_FAILURES] = "name_failures",
        [SIM_COUNT_CLIENT_KILLS] = "client_kills",
        [SIM_COUNT_CLOCK_SETS] = "clock_sets",
    };
    return (unsigned)count < SIM_COUNT_MAX ? NAMES[count] : "?";
}

void sim_accident_until(struct sim *sim, uint64_t end_us)
{
    sim->last_accident_us = end_us > sim->last_accident_us ? end_us : sim->last_accident_us;
}

#define BIT(count) (UINT64_C(1) << SIM_COUNT_##count)

void sim_count(struct sim *sim, enum sim_count count)
{
    static const uint64_t ACCIDENTS = BIT(DELAYED) | BIT(LINK_CUTS) | BIT(KILLS) | BIT(POWER_CUTS) |
                                      BIT(BOOT_FAILURES) | BIT(FATALS) | BIT(DISK_ERRORS) |
                                      BIT(RESTARTS) | BIT(SUSPENDS) | BIT(SPAWN_FAILURES) |
                                      BIT(OOM_KILLS) | BIT(KEEPER_KILLS) | BIT(LEASE_KILLS) |
                                      BIT(STANDS) | BIT(DISK_REFUSALS) | BIT(NAME_FAILURES);
    sim->counts[count]++;
    if ((ACCIDENTS & UINT64_C(1) << count) != 0) {
        sim_accident_until(sim, sim->now_us);
    }
}

uint64_t sim_last_accident_us(const struct sim *sim)
{
    return sim->last_accident_us;
}

uint64_t sim_counted(const struct sim *sim, enum sim_count count)
{
    return sim->counts[count];
}

/* ---- the trace ------------------------------------------------------------------------------- */

void sim_trace(struct sim *sim, const struct sim_process *process, const char *format, ...)
{
    if (sim->ending) {
        return;
    }
    struct sim_trace_line *line = &sim->trace[sim->trace_count++ % SIM_TRACE_LINES];
    line->at_us = sim->now_us;
    int length = 0;
    if (process != NULL) {
        length = snprintf(line->text, sizeof(line->text), "%s %s[%d] ", process->host->name,
                          process->program->name, (int)process->pid);
    }
    if (length < 0 || (size_t)length >= sizeof(line->text)) {
        length = 0;
    }
    va_list args;
    va_start(args, format);
    (void)vsnprintf(line->text + length, sizeof(line->text) - (size_t)length, format, args);
    va_end(args);
    uint64_t hash = sim->hash ^ sim->now_us;
    for (const char *at = line->text; *at != '\0'; at++) {
        hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
    }
    sim->hash = hash;
    if (sim->options.verbose) {
        printf("%12.6f %s\n", (double)sim->now_us / 1e6, line->text);
    }
}

uint64_t sim_trace_hash(const struct sim *sim)
{
    return sim->hash;
}

void sim_trace_dump(const struct sim *sim, int fd, unsigned lines)
{
    uint64_t count = lines < SIM_TRACE_LINES ? lines : SIM_TRACE_LINES;
    uint64_t at = sim->trace_count > count ? sim->trace_count - count : 0;
    for (; at < sim->trace_count; at++) {
        const struct sim_trace_line *line = &sim->trace[at % SIM_TRACE_LINES];
        char text[SIM_TRACE_TEXT + 32];
        int length =
            snprintf(text, sizeof(text), "%12.6f %s\n", (double)line->at_us / 1e6, line->text);
        if (write(fd, text, (size_t)length) < 0) {
            return;
        }
    }
}
