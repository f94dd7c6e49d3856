/* sim/chaos.c - see chaos.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/chaos.h"

#include <string.h>

#include "base/check.h"
#include "sim/sim_private.h"

#define VICTIMS_MAX    1024
#define CLOCK_PAUSE_US (60 * SIM_S)

struct chaos {
    struct sim *sim;
    struct chaos_options options;
    struct rng rng, clocks;
    uint64_t commit_until_us; /* how long a kill still waits for a commit */
};

static uint64_t random_between(struct chaos *chaos, uint64_t low, uint64_t high)
{
    return low + rng_below(&chaos->rng, high - low + 1);
}

static bool by_chance(struct chaos *chaos, unsigned percent)
{
    return rng_below(&chaos->rng, 100) < percent;
}

/* ---- victims --------------------------------------------------------------------------------- */

static bool is_daemon(const struct sim_process *process)
{
    return strncmp(process->program->name, "roost-", 6) == 0;
}

/* Picks a running daemon, on the central machine or on another one; NULL: none. */
static struct sim_process *pick_daemon(struct chaos *chaos, bool central)
{
    struct sim_process *victims[VICTIMS_MAX];
    size_t count = 0;
    const struct sim_link *head = &chaos->sim->processes;
    for (struct sim_link *at = head->next; at != head && count < VICTIMS_MAX; at = at->next) {
        struct sim_process *process = at->item;
        if (is_daemon(process) && (process->host == chaos->options.central) == central) {
            victims[count++] = process;
        }
    }
    return count > 0 ? victims[rng_below(&chaos->rng, count)] : NULL;
}

/* Picks a machine in that power state; NULL when a few tries found none. */
static struct sim_host *pick_node(struct chaos *chaos, enum sim_power power)
{
    for (unsigned tries = 0; tries < 40; tries++) {
        struct sim_host *host =
            sim_host_at(chaos->sim, (size_t)random_between(chaos, 0, chaos->options.nodes));
        if (host != NULL && host != chaos->options.central && host->power == power) {
            return host;
        }
    }
    return NULL;
}

/* ---- damage ---------------------------------------------------------------------------------- */

/* Returns whether the machine is suspended.  Then nothing on it runs, so nothing there could end
 * another process. */
static bool stands_still(const struct sim_host *host)
{
    return host->suspended_until_us > host->sim->now_us;
}

static void kill_daemon(struct chaos *chaos)
{
    struct sim_process *process = pick_daemon(chaos, by_chance(chaos, 60));
    if (process != NULL && !stands_still(process->host)) {
        sim_kill(process);
    }
}

static void kill_in_write(struct chaos *chaos)
{
    struct sim_process *process = pick_daemon(chaos, by_chance(chaos, 75));
    if (process != NULL && !stands_still(process->host)) {
        sim_disk_kill(process, (unsigned)random_between(chaos, 1, 25));
    }
}

static bool is_daemon_at_work(const struct sim_process *process, const void *arg)
{
    (void)arg;
    return is_daemon(process) && sim_process_in_lane(process);
}

/* Waits until a daemon of the central machine has work on a lane, and kills it then. */
static void kill_in_commit_tick(void *arg)
{
    struct chaos *chaos = arg;
    struct sim *sim = chaos->sim;
    struct sim_process *process =
        sim_process_first(&chaos->options.central->processes, is_daemon_at_work, NULL);
    if (process != NULL) {
        sim_kill(process);
        return;
    }
    if (sim->now_us < chaos->commit_until_us) {
        (void)sim_at(sim, sim->now_us + random_between(chaos, 50, 900), kill_in_commit_tick, chaos);
    }
}

static void kill_in_commit(struct chaos *chaos)
{
    chaos->commit_until_us = chaos->sim->now_us + 5 * SIM_S;
    kill_in_commit_tick(chaos);
}

static void power_back(void *arg)
{
    struct sim_host *host = arg;
    if (host->power == SIM_HOST_OFF) {
        sim_host_boot_now(host);
    }
}

static void power_cut(struct chaos *chaos, struct sim_host *host)
{
    if (host == NULL) {
        return;
    }
    if (by_chance(chaos, 40)) {
        sim_disk_power_cut(host, (unsigned)random_between(chaos, 1, 40));
        return; /* keep_powered() has it come back */
    }
    sim_host_power_cut(host);
}

static void cut_link(struct chaos *chaos, enum sim_cut how)
{
    struct sim_host *node = pick_node(chaos, SIM_HOST_ON);
    if (node == NULL) {
        return;
    }
    uint64_t for_us = by_chance(chaos, 25) ? random_between(chaos, 100 * SIM_S, 400 * SIM_S)
                                           : random_between(chaos, SIM_S / 2, 40 * SIM_S);
    sim_link_cut(chaos->sim, chaos->options.central, node, for_us, how);
}

static void slow_link(struct chaos *chaos)
{
    struct sim_host *node = pick_node(chaos, SIM_HOST_ON);
    if (node != NULL) {
        sim_link_slow(chaos->sim, chaos->options.central, node,
                      random_between(chaos, SIM_S, 4 * SIM_S),
                      random_between(chaos, 5 * SIM_S, 60 * SIM_S));
    }
}

static void disk_error(struct chaos *chaos)
{
    struct sim_host *host =
        by_chance(chaos, 70) ? chaos->options.central : pick_node(chaos, SIM_HOST_ON);
    if (host != NULL) {
        bool write = by_chance(chaos, 50);
        sim_disk_fail(host, write ? 1 : 0, write ? 0 : 1);
    }
}

static void suspend_host(struct chaos *chaos)
{
    struct sim_host *host = pick_node(chaos, SIM_HOST_ON);
    if (host != NULL) {
        sim_host_suspend(host, random_between(chaos, 2 * SIM_S, 300 * SIM_S));
    }
}

static void fail_boot(struct chaos *chaos)
{
    struct sim_host *host = pick_node(chaos, SIM_HOST_BOOTING);
    host = host != NULL ? host : pick_node(chaos, SIM_HOST_OFF);
    if (host != NULL) {
        sim_host_fail_boots(host, 1);
    }
}

/* Gives the power back, some time later, to a machine that lost it.  A machine that sleeps is left
 * alone. */
static void keep_powered(struct chaos *chaos)
{
    struct sim_host *host;
    for (size_t i = 0; (host = sim_host_at(chaos->sim, i)) != NULL; i++) {
        if (host->power == SIM_HOST_OFF && host->lost_power) {
            host->lost_power = false;
            (void)sim_at_host(host,
                              chaos->sim->now_us + random_between(chaos, 5 * SIM_S, 90 * SIM_S),
                              power_back, host);
        }
    }
}

static void one_thing(struct chaos *chaos)
{
    uint64_t what = random_between(chaos, 0, 99);
    if (what < 4) {
        suspend_host(chaos);
    } else if (what < 30) {
        kill_daemon(chaos);
    } else if (what < 40) {
        kill_in_write(chaos);
    } else if (what < 50) {
        kill_in_commit(chaos);
    } else if (what < 56) {
        power_cut(chaos, pick_node(chaos, SIM_HOST_ON));
    } else if (what < 59) {
        power_cut(chaos, chaos->options.central);
    } else if (what < 71) {
        cut_link(chaos, SIM_CUT_RESET);
    } else if (what < 83) {
        cut_link(chaos, SIM_CUT_SILENT);
    } else if (what < 91) {
        slow_link(chaos);
    } else if (what < 96) {
        disk_error(chaos);
    } else {
        fail_boot(chaos);
    }
}

/* ---- wall clocks ------------------------------------------------------------------------------
 * A stream of its own, so that the other accidents of a seed do not depend on it. */

static int64_t random_error_ms(struct chaos *chaos)
{
    static const int64_t SPANS_S[] = {20, 3600, 100 * INT64_C(86400), 3652 * INT64_C(86400)};
    int64_t span_ms = SPANS_S[rng_below(&chaos->clocks, ARRAY_COUNT(SPANS_S))] * 1000;
    return (int64_t)rng_below(&chaos->clocks, (uint64_t)(2 * span_ms + 1)) - span_ms;
}

/* Somebody, or a time service, sets the clock of a machine: wrong, or right again. */
static void set_clock(void *arg)
{
    struct chaos *chaos = arg;
    struct sim *sim = chaos->sim;
    struct sim_host *host = chaos->options.central;
    if (sim->now_us >= chaos->options.clocks_end_us) {
        for (size_t i = 0; (host = sim_host_at(sim, i)) != NULL; i++) {
            sim_host_set_clock(host, 0);
        }
        return;
    }
    if (rng_below(&chaos->clocks, 100) >= 30) {
        host = sim_host_at(sim, (size_t)rng_below(&chaos->clocks, chaos->options.nodes + 1));
    }
    if (host != NULL) {
        bool right = host->wall_wrong_ms != 0 && rng_below(&chaos->clocks, 100) < 50;
        sim_host_set_clock(host, right ? 0 : random_error_ms(chaos));
    }
    (void)sim_at(sim, sim->now_us + SIM_S + rng_below(&chaos->clocks, CLOCK_PAUSE_US), set_clock,
                 chaos);
}

static void repair_all(struct chaos *chaos)
{
    struct sim_host *host;
    for (size_t i = 0; (host = sim_host_at(chaos->sim, i)) != NULL; i++) {
        sim_host_fail_boots(host, 0);
        sim_disk_fail(host, 0, 0);
        sim_disk_power_cut(host, 0);
        if (host != chaos->options.central) {
            struct sim_cut_link *link = sim_link_between(chaos->sim, chaos->options.central, host);
            link->cut_until_us = link->slow_until_us = chaos->sim->now_us;
        }
    }
    uint64_t at = 0;
    struct sim_process *process;
    while ((process = sim_process_next(chaos->sim, &at)) != NULL) {
        sim_disk_kill(process, 0);
    }
    sim_trace(chaos->sim, NULL, "the storm is over");
}

static void do_damage(void *arg)
{
    struct chaos *chaos = arg;
    struct sim *sim = chaos->sim;
    keep_powered(chaos);
    if (sim->now_us >= chaos->options.end_us) {
        repair_all(chaos);
        return;
    }
    one_thing(chaos);
    keep_powered(chaos);
    (void)sim_at(sim,
                 sim->now_us + random_between(chaos, 100 * SIM_MS, chaos->options.pause_max_us),
                 do_damage, chaos);
}

struct chaos *chaos_create(struct sim *sim, const struct chaos_options *options)
{
    struct chaos *chaos = sim_alloc(sizeof(*chaos));
    chaos->sim = sim;
    chaos->options = *options;
    rng_seed(&chaos->rng, options->seed ^ UINT64_C(0x9e3779b97f4a7c15));
    if (options->end_us > options->begin_us) {
        (void)sim_at(sim, options->begin_us, do_damage, chaos);
    }
    if (options->clocks_end_us > options->begin_us) {
        rng_seed(&chaos->clocks, options->seed ^ UINT64_C(0xc10c25e7));
        (void)sim_at(sim, options->begin_us, set_clock, chaos);
    }
    return chaos;
}

void chaos_destroy(struct chaos *chaos)
{
    sim_free(chaos);
}
