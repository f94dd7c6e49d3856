/* sim/host_sim.c - simulated machines: power, boot, services of init, clocks.
 *
 * A machine is off, booting, on or stopping.  Each boot has a new boot id, and restarts the pids
 * and CLOCK_BOOTTIME.  Its init starts the services, and starts them again when they end with a
 * status other than 0.  A power cut ends all processes and takes back what was not synced.  An
 * orderly shutdown tells the services first (SIGPWR, as the system does by `roost stop
 * --for-shutdown`), then the others (SIGTERM), waits a while, and syncs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "sim/sim_private.h"

#define EPOCH_MS             INT64_C(1800000000000) /* the wall clock at virtual time 0 */
#define WALL_SKEW_MAX_MS     40
#define RESTART_MIN_MS       200 /* init waits this long before it starts a service again */
#define RESTART_MAX_MS       3000
#define REVIVE_MIN_S         20 /* until somebody notices that a machine is deserted */
#define REVIVE_MAX_S         60
#define STOP_GRACE_MS        10000
#define BOOT_SERVICES_MAX_MS 400
/* until somebody switches off a machine that hangs */
#define HANG_US (1200 * SIM_S)

struct sim_host *sim_host_create(struct sim *sim, const struct sim_host_options *options)
{
    struct sim_host *host = sim_alloc(sizeof(*host));
    host->sim = sim;
    host->name = sim_strdup(options->name);
    host->index = sim->host_count;
    host->cpus = host->cpus_now = options->cpus > 0 ? options->cpus : 1;
    host->memory_mib = options->memory_mib > 0 ? options->memory_mib : 4096;
    host->boot_min_ms = options->boot_min_ms > 0 ? options->boot_min_ms : 5000;
    host->boot_max_ms = options->boot_max_ms > 0 ? options->boot_max_ms : 40000;
    host->stop_max_ms = options->stop_max_ms;
    host->wall_skew_ms = (int64_t)sim_between(sim, 0, 2 * WALL_SKEW_MAX_MS) - WALL_SKEW_MAX_MS;
    host->power = SIM_HOST_OFF;
    sim_list_init(&host->events);
    sim_list_init(&host->processes);
    sim_list_init(&host->listeners);
    host->root = sim_node_create(host, SIM_DIR, 0755);
    sim_node_ref(host->root);
    sim->hosts = sim_realloc(sim->hosts, (sim->host_count + 1) * sizeof(struct sim_host *));
    sim->hosts[sim->host_count++] = host;
    sim_vfs_create(host);
    (void)sim_tree_mkdirs(host, "/tmp", 0777);
    sim_tree_sync_all(host);
    return host;
}

static void service_destroy(struct sim_service *service)
{
    for (size_t i = 0; service->argv[i] != NULL; i++) {
        sim_free(service->argv[i]);
    }
    sim_free(service->argv);
    sim_free(service);
}

void sim_hosts_destroy(struct sim *sim)
{
    for (size_t i = 0; i < sim->host_count; i++) {
        struct sim_host *host = sim->hosts[i];
        struct sim_event *event;
        while ((event = sim_list_first(&host->events)) != NULL) {
            sim_cancel(event);
        }
        for (size_t k = 0; k < host->service_count; k++) {
            service_destroy(host->services[k]);
        }
        sim_tree_destroy(host);
        sim_vfs_destroy(host);
        sim_free(host->name);
        sim_free(host);
    }
}

struct sim_host *sim_host_find(struct sim *sim, const char *name)
{
    for (size_t i = 0; i < sim->host_count; i++) {
        if (strcmp(sim->hosts[i]->name, name) == 0) {
            return sim->hosts[i];
        }
    }
    return NULL;
}

struct sim_host *sim_host_at(struct sim *sim, size_t index)
{
    return index < sim->host_count ? sim->hosts[index] : NULL;
}

enum sim_power sim_host_power(const struct sim_host *host)
{
    return host->power;
}

void sim_host_fail_boots(struct sim_host *host, unsigned count)
{
    host->fail_boots = count;
}

int64_t sim_host_wall_ms(const struct sim_host *host)
{
    return EPOCH_MS + (int64_t)(host->sim->now_us / 1000) + host->wall_skew_ms +
           host->wall_wrong_ms;
}

void sim_host_set_clock(struct sim_host *host, int64_t wrong_ms)
{
    if (wrong_ms != host->wall_wrong_ms) {
        sim_count(host->sim, SIM_COUNT_CLOCK_SETS);
        sim_trace(host->sim, NULL, "%s: wall clock set by %.3f s", host->name,
                  (double)(wrong_ms - host->wall_wrong_ms) / 1e3);
        host->wall_wrong_ms = wrong_ms;
    }
}

uint64_t sim_host_up_us(const struct sim_host *host)
{
    return host->sim->now_us - host->booted_us;
}

/* ---- services -------------------------------------------------------------------------------- */

static void service_start(void *arg)
{
    struct sim_service *service = arg;
    service->restart = NULL;
    struct sim_spawn how = {.argv = (const char *const *)service->argv};
    struct sim_process *process = NULL;
    if (sim_process_create(service->host, &how, &process) == 0) {
        service->pid = process->pid;
    } else {
        sim_trace(service->host->sim, NULL, "%s: cannot start service %s", service->host->name,
                  service->argv[0]);
    }
}

void sim_host_service(struct sim_host *host, const char *const *argv, bool kept)
{
    CHECK(host->service_count < ARRAY_COUNT(host->services));
    struct sim_service *service = sim_alloc(sizeof(*service));
    size_t count = 0;
    while (argv[count] != NULL) {
        count++;
    }
    service->argv = sim_alloc((count + 1) * sizeof(char *));
    for (size_t i = 0; i < count; i++) {
        service->argv[i] = sim_strdup(argv[i]);
    }
    service->host = host;
    service->kept = kept;
    host->services[host->service_count++] = service;
    if (host->power == SIM_HOST_ON) {
        service_start(service);
    }
}

static bool is_kept(const struct sim_host *host, pid_t pid)
{
    for (size_t i = 0; i < host->service_count; i++) {
        if (host->services[i]->kept && host->services[i]->pid == pid) {
            return true;
        }
    }
    return false;
}

static bool is_tenant(const struct sim_process *process, const void *host)
{
    return !process->program->timed && !is_kept(host, process->pid);
}

/* Returns whether only jobs run on the machine, and services that init starts again itself.  These
 * are not supervised by the pool's daemons and do not supervise them. */
static bool is_deserted(const struct sim_host *host)
{
    return sim_process_first(&host->processes, is_tenant, host) == NULL;
}

static void service_revive(void *arg)
{
    struct sim_service *service = arg;
    service->restart = NULL;
    if (is_deserted(service->host)) {
        service_start(service);
    }
}

static void service_ended(struct sim_service *service, bool failed)
{
    struct sim_host *host = service->host;
    service->pid = 0;
    if (service->kept && failed) {
        sim_count(host->sim, SIM_COUNT_RESTARTS);
        uint64_t wait_us = sim_between(host->sim, RESTART_MIN_MS, RESTART_MAX_MS) * SIM_MS;
        service->restart = sim_at_host(host, host->sim->now_us + wait_us, service_start, service);
    }
}

void sim_host_child_ended(struct sim_host *host, pid_t pid, int status, int signal_number)
{
    if (host->power != SIM_HOST_ON || host->sim->ending) {
        return;
    }
    for (size_t i = 0; i < host->service_count; i++) {
        struct sim_service *service = host->services[i];
        if (service->pid == pid) {
            service_ended(service, status != 0 || signal_number != 0);
        }
        if (!service->kept && service->restart == NULL && is_deserted(host)) {
            uint64_t wait_us = sim_between(host->sim, REVIVE_MIN_S, REVIVE_MAX_S) * SIM_S;
            service->restart =
                sim_at_host(host, host->sim->now_us + wait_us, service_revive, service);
        }
    }
}

/* ---- power ----------------------------------------------------------------------------------- */

static void cancel_plans(struct sim_host *host)
{
    struct sim_event *event;
    while ((event = sim_list_first(&host->events)) != NULL) {
        sim_cancel(event);
    }
    for (size_t i = 0; i < host->service_count; i++) {
        host->services[i]->restart = NULL;
        host->services[i]->pid = 0;
    }
}

static void set_power(struct sim_host *host, enum sim_power power)
{
    enum sim_power was = host->power;
    host->power = power;
    SIM_TELL(host->sim, power_changed, host, was);
}

static bool goes_wrong(const struct sim_host *host, unsigned per_mille)
{
    return per_mille > 0 && sim_chance(host->sim, per_mille);
}

void sim_host_temper(struct sim_host *host, const struct sim_temper *temper)
{
    host->temper = *temper;
}

/* Cuts the machine's power, for a moment or until somebody comes. */
static void crash_host(void *arg)
{
    struct sim_host *host = arg;
    sim_host_power_cut(host);
    if (sim_chance(host->sim, 500)) {
        sim_host_boot(host);
    }
}

void sim_host_boot_now(struct sim_host *host)
{
    CHECK(host->power == SIM_HOST_OFF || host->power == SIM_HOST_BOOTING);
    cancel_plans(host);
    struct sim *sim = host->sim;
    uint8_t id[16];
    rng_bytes(&sim->rng, id, sizeof(id));
    (void)snprintf(host->boot_id, sizeof(host->boot_id),
                   "%02x%02x%02x%02x-%02x%02x-4%01x%02x-8%01x%02x-%02x%02x%02x%02x%02x%02x", id[0],
                   id[1], id[2], id[3], id[4], id[5], id[6] & 15u, id[7], id[8] & 15u, id[9],
                   id[10], id[11], id[12], id[13], id[14], id[15]);
    uint32_t half = host->cpus > 1 ? host->cpus / 2 : 1;
    host->cpus_now = goes_wrong(host, host->temper.boots_less) ? half : host->cpus;
    set_power(host, SIM_HOST_ON);
    host->lost_power = host->unclean = false;
    /* Some seconds of CLOCK_BOOTTIME have gone by when the first process runs. */
    host->booted_us = sim->now_us - sim_between(sim, 2 * SIM_S, 9 * SIM_S);
    host->last_pid = (pid_t)sim_between(sim, 200, 900);
    sim_count(sim, SIM_COUNT_BOOTS);
    sim_trace(sim, NULL, "%s: up, boot %s", host->name, host->boot_id);
    for (size_t i = 0; i < host->service_count; i++) {
        uint64_t wait_us = sim_between(sim, 1, BOOT_SERVICES_MAX_MS) * SIM_MS;
        host->services[i]->restart =
            sim_at_host(host, sim->now_us + wait_us, service_start, host->services[i]);
    }
    if (goes_wrong(host, host->temper.crashes)) {
        uint64_t after_us = sim_between(sim, SIM_S, host->temper.crash_max_us);
        (void)sim_at_host(host, sim->now_us + after_us, crash_host, host);
    }
}

static void boot_failed(void *arg)
{
    struct sim_host *host = arg;
    set_power(host, SIM_HOST_OFF);
    sim_count(host->sim, SIM_COUNT_BOOT_FAILURES);
    sim_trace(host->sim, NULL, "%s: did not come up", host->name);
}

static void boot_done(void *arg)
{
    struct sim_host *host = arg;
    if (host->temper.is_dead && sim_chance(host->sim, 500)) {
        sim_trace(host->sim, NULL, "%s: hangs", host->name);
        (void)sim_at_host(host, host->sim->now_us + HANG_US, boot_failed, host);
        return;
    }
    if (host->fail_boots > 0 || host->temper.is_dead) {
        host->fail_boots -= host->fail_boots > 0;
        boot_failed(host);
        return;
    }
    sim_host_boot_now(host);
}

void sim_host_boot(struct sim_host *host)
{
    if (host->power != SIM_HOST_OFF) {
        return;
    }
    set_power(host, SIM_HOST_BOOTING);
    uint64_t wait_us = sim_between(host->sim, host->boot_min_ms, host->boot_max_ms) * SIM_MS;
    if (goes_wrong(host, host->temper.boots_late)) {
        wait_us += sim_between(host->sim, 0, host->temper.late_max_us);
    }
    sim_trace(host->sim, NULL, "%s: booting, %.1f s", host->name, (double)wait_us / 1e6);
    (void)sim_at_host(host, host->sim->now_us + wait_us, boot_done, host);
}

static struct sim_process *any_process(struct sim_host *host)
{
    return sim_list_first(&host->processes);
}

static void host_down(struct sim_host *host, bool orderly)
{
    struct sim *sim = host->sim;
    SIM_TELL(sim, host_stops, host, orderly);
    if (!host->failing) {
        host->journal_limit = host->journal_count;
    }
    set_power(host, SIM_HOST_OFF);
    host->failing = false;
    host->lost_power = host->unclean = !orderly;
    host->suspended_until_us = 0;
    host->faults = (struct sim_host_faults){0};
    host->cut_ops = host->fail_writes = host->fail_syncs = 0;
    cancel_plans(host);
    sim_net_drop_host(host);
    struct sim_process *process;
    while ((process = any_process(host)) != NULL) {
        sim_process_end(process, -1, SIGKILL);
    }
    if (orderly) {
        sim_tree_sync_all(host);
    } else {
        sim_tree_crash(host);
    }
    sim_trace(sim, NULL, "%s: off (%s)", host->name, orderly ? "shut down" : "power cut");
}

void sim_host_power_cut(struct sim_host *host)
{
    CHECK(host->sim->current == NULL);
    if (host->power == SIM_HOST_OFF) {
        return;
    }
    sim_count(host->sim, SIM_COUNT_POWER_CUTS);
    host_down(host, false);
}

static void shut_down_done(void *arg)
{
    struct sim_host *host = arg;
    sim_count(host->sim, SIM_COUNT_POWER_OFFS);
    host_down(host, true);
}

static bool is_service(const struct sim_process *process, const void *arg)
{
    const struct sim_host *host = arg;
    for (size_t i = 0; i < host->service_count; i++) {
        if (host->services[i]->told_pid == process->pid) {
            return true;
        }
    }
    return false;
}

static void signal_all(struct sim_host *host, int signal_number)
{
    const struct sim_link *head = &host->processes;
    for (struct sim_link *at = head->next; at != head; at = at->next) {
        sim_process_signal(at->item, signal_number);
    }
}

/* Waits until no process is left, but no longer than the grace time. */
static void shut_down_tick(void *arg)
{
    struct sim_host *host = arg;
    if (any_process(host) == NULL && host->stop_max_ms == 0) {
        shut_down_done(host);
        return;
    }
    if (any_process(host) == NULL) { /* the system itself goes down */
        cancel_plans(host);
        uint64_t wait_us = sim_between(host->sim, 0, host->stop_max_ms) * SIM_MS;
        (void)sim_at_host(host, host->sim->now_us + wait_us, shut_down_done, host);
        return;
    }
    if (!host->all_told && sim_process_first(&host->processes, is_service, host) == NULL) {
        host->all_told = true;
        signal_all(host, SIGTERM);
    }
    (void)sim_at_host(host, host->sim->now_us + 50 * SIM_MS, shut_down_tick, host);
}

void sim_host_shut_down(struct sim_host *host)
{
    if (host->power != SIM_HOST_ON) {
        return;
    }
    for (size_t i = 0; i < host->service_count; i++) {
        host->services[i]->told_pid = host->services[i]->pid;
    }
    cancel_plans(host);
    set_power(host, SIM_HOST_STOPPING);
    sim_trace(host->sim, NULL, "%s: shutting down", host->name);
    const struct sim_link *head = &host->processes;
    host->all_told = sim_process_first(head, is_service, host) == NULL;
    if (host->all_told) { /* no master: `roost stop` finds its daemons */
        signal_all(host, SIGPWR);
    }
    for (struct sim_link *at = head->next; at != head && !host->all_told; at = at->next) {
        if (is_service(at->item, host)) {
            sim_process_signal(at->item, SIGPWR);
        }
    }
    (void)sim_at_host(host, host->sim->now_us + STOP_GRACE_MS * SIM_MS, shut_down_done, host);
    (void)sim_at_host(host, host->sim->now_us + 50 * SIM_MS, shut_down_tick, host);
}

void sim_host_owner(struct sim_host *host, bool is_there)
{
    host->owner_came = host->owner_came || is_there;
    host->owner_is_there = is_there;
    host->owner_left_us = host->sim->now_us;
    sim_trace(host->sim, NULL, "%s: its owner %s", host->name, is_there ? "is there" : "has left");
}

/* Delays all events that are due for a job: while its machine is suspended, its time stands
 * still. */
static void shift_job(struct sim_process *process, uint64_t for_us)
{
    for (struct sim_link *at = process->events.next; at != &process->events; at = at->next) {
        struct sim_event *event = at->item;
        if (event == process->lease_event) {
            continue; /* on CLOCK_BOOTTIME, which goes on */
        }
        sim_event_park(event);
        sim_event_resume(event, event->at_us + for_us);
    }
}

void sim_host_suspend(struct sim_host *host, uint64_t for_us)
{
    struct sim *sim = host->sim;
    if (host->power != SIM_HOST_ON || host->suspended_until_us > sim->now_us) {
        return;
    }
    sim_count(sim, SIM_COUNT_SUSPENDS);
    sim_trace(sim, NULL, "%s: suspended for %.3f s", host->name, (double)for_us / 1e6);
    host->suspended_us = sim->now_us;
    host->suspended_until_us = sim->now_us + for_us;
    sim_accident_until(sim, host->suspended_until_us);
    for (struct sim_link *at = host->processes.next; at != &host->processes; at = at->next) {
        struct sim_process *process = at->item;
        if (process->program->timed && !process->stopped) {
            shift_job(process, for_us);
        }
    }
}
