/* sim/site_sim.c - see site_sim.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim/site_sim.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "sim/sim_private.h"

#define SECURITY     "/etc/roost/security"
#define PILOT        "/usr/bin/roost-pilot"
#define HOST_CPUS    8
#define LAST_GASP_US (30 * SIM_S) /* between SIGTERM and the end of its machine */
#define MARGIN_S     900          /* that a site gives a glidein beyond its lifetime */
#define RETRY_US     (5 * SIM_S)  /* until a machine is looked for again */

struct farm {
    struct sim *sim;
    struct farm_events events;
    struct vec sites, hosts; /* of struct sim_site, struct sim_host */
    struct vec users;        /* of each host: its glidein, or NULL */
};

/* ---- the farm ---------------------------------------------------------------------------------*/

struct farm *farm_create(const struct farm_events *events)
{
    struct farm *farm = sim_alloc(sizeof(*farm));
    farm->events = *events;
    return farm;
}

void farm_begin(struct farm *farm, struct sim *sim)
{
    farm->sim = sim;
}

static void free_glidein(void *item)
{
    struct farm_glidein *glidein = item;
    for (size_t i = 0; glidein->arguments != NULL && glidein->arguments[i] != NULL; i++) {
        sim_free(glidein->arguments[i]);
    }
    sim_free(glidein->arguments);
    sim_free(glidein->secret);
    sim_free(glidein);
}

static void free_site(void *item)
{
    struct sim_site *site = item;
    vec_fini(&site->glideins, free_glidein);
    sim_free(site);
}

void farm_destroy(struct farm *farm)
{
    if (farm != NULL) {
        vec_fini(&farm->sites, free_site);
        vec_fini(&farm->hosts, NULL);
        vec_fini(&farm->users, NULL);
        sim_free(farm);
    }
}

static void copy_file(struct sim_host *from, struct sim_host *to, const char *path,
                      const char *to_path, mode_t mode)
{
    size_t length = 0;
    const char *data = sim_file_get(from, path, &length);
    CHECK(data != NULL);
    sim_file_put(to, to_path, data, length, mode);
}

void farm_add_hosts(struct farm *farm, struct sim_host *central, unsigned count)
{
    char name[32];
    for (unsigned i = 1; i <= count; i++) {
        (void)snprintf(name, sizeof(name), "gl%03u", i);
        const struct sim_host_options options = {.name = name,
                                                 .cpus = HOST_CPUS,
                                                 .memory_mib = 16384,
                                                 .boot_min_ms = 1000,
                                                 .boot_max_ms = 5000};
        struct sim_host *host = sim_host_create(farm->sim, &options);
        sim_program_put(host, PILOT, sim_program_pilot.name);
        copy_file(central, host, SECURITY "/ca.pem", "/site/ca.pem", 0644);
        vec_push(&farm->hosts, host);
        vec_push(&farm->users, NULL);
    }
}

struct sim_site *farm_add_site(struct farm *farm, const char *name, unsigned cpus,
                               const struct site_temper *temper)
{
    struct sim_site *site = sim_alloc(sizeof(*site));
    site->farm = farm;
    site->number = (unsigned)farm->sites.count;
    site->cpus = cpus;
    site->temper = *temper;
    (void)snprintf(site->name, sizeof(site->name), "%s", name);
    vec_push(&farm->sites, site);
    return site;
}

size_t farm_site_count(const struct farm *farm)
{
    return farm->sites.count;
}

struct sim_site *farm_site_at(const struct farm *farm, size_t index)
{
    return farm->sites.items[index];
}

struct sim_site *farm_site_find(const struct farm *farm, const char *name)
{
    for (size_t i = 0; i < farm->sites.count; i++) {
        struct sim_site *site = farm->sites.items[i];
        if (strcmp(site->name, name) == 0) {
            return site;
        }
    }
    return NULL;
}

/* ---- glideins ---------------------------------------------------------------------------------*/

static void move_glidein(struct farm_glidein *glidein, enum site_state to)
{
    struct sim_site *site = glidein->site;
    struct farm *farm = site->farm;
    enum site_state from = glidein->state;
    site->states[from]--;
    site->states[to]++;
    glidein->state = to;
    glidein->since_us = farm->sim->now_us;
    sim_trace(farm->sim, NULL, "site %s: %s %d", site->name, glidein->name, (int)to);
    farm->events.moved(farm->events.arg, glidein, from);
}

static size_t place_of(const struct farm *farm, const struct sim_host *host)
{
    size_t at = 0;
    while (at < farm->hosts.count && farm->hosts.items[at] != host) {
        at++;
    }
    return at;
}

/* Returns a machine that is off and nobody's; NULL: all are in use. */
static struct sim_host *free_host(const struct farm *farm)
{
    for (size_t i = 0; i < farm->hosts.count; i++) {
        struct sim_host *host = farm->hosts.items[i];
        if (farm->users.items[i] == NULL && host->power == SIM_HOST_OFF) {
            return host;
        }
    }
    return NULL;
}

/* Its machine belongs to nobody now: what is left of it goes. */
static void host_off(void *arg)
{
    struct sim_host *host = arg;
    if (host->power == SIM_HOST_ON) {
        sim_host_power_cut(host);
    }
    host->lost_power = false; /* nobody is to switch it on again */
}

static void end_glidein(struct farm_glidein *glidein, bool by_force)
{
    struct farm *farm = glidein->site->farm;
    struct sim_host *host = glidein->host;
    if (glidein->state == SITE_ENDED) {
        return;
    }
    glidein->host = NULL;
    move_glidein(glidein, SITE_ENDED);
    if (host != NULL) {
        farm->users.items[place_of(farm, host)] = NULL;
        if (by_force) {
            host_off(host);
        } else if (host->power == SIM_HOST_ON) {
            sim_host_shut_down(host);
        }
    }
}

/* The pilot has ended; what it has left behind is killed. */
static void end_later(void *arg)
{
    struct farm_glidein *glidein = arg;
    const struct sim_host *host = glidein->host;
    end_glidein(glidein, host != NULL && sim_list_first(&host->processes) != NULL);
}

/* A batch system ends what is beyond its time, or was removed and goes on. */
static void end_by_force(void *arg)
{
    struct farm_glidein *glidein = arg;
    if (glidein->state == SITE_RUNNING) {
        sim_trace(glidein->site->farm->sim, NULL, "site %s: %s is ended by force",
                  glidein->site->name, glidein->name);
        end_glidein(glidein, true);
    }
}

/* dies: it finds no token, and ends at once */
static void start_pilot(struct farm_glidein *glidein, struct sim_host *host, bool dies)
{
    struct sim *sim = host->sim;
    char token[160];
    struct vec argv = {0};
    sim_dir_set(host->root, "tmp", NULL); /* what others have left */
    (void)sim_tree_mkdirs(host, "/tmp", 0777);
    (void)snprintf(token, sizeof(token), "/site/%s.token", glidein->name);
    if (!dies) {
        sim_file_put(host, token, glidein->secret, strlen(glidein->secret), 0600);
    }
    sim_tree_sync_all(host);
    host->cpus = host->cpus_now = glidein->site->cpus;
    sim_host_boot_now(host);
    static const char *const FIRST[] = {PILOT, "--ca", "/site/ca.pem", "--token"};
    for (size_t i = 0; i < ARRAY_COUNT(FIRST); i++) {
        vec_push(&argv, (void *)(uintptr_t)FIRST[i]);
    }
    vec_push(&argv, token);
    vec_push(&argv, (void *)(uintptr_t) "--name");
    vec_push(&argv, glidein->name);
    for (size_t i = 0; glidein->arguments[i] != NULL; i++) {
        vec_push(&argv, glidein->arguments[i]);
    }
    vec_push(&argv, NULL);
    struct sim_process *process = sim_spawn(host, (const char *const *)argv.items);
    vec_fini(&argv, NULL);
    glidein->pid = process != NULL ? process->pid : 0;
    if (process == NULL) {
        (void)sim_at(sim, sim->now_us + SIM_S, end_later, glidein);
    }
}

static void try_start(void *arg)
{
    struct farm_glidein *glidein = arg;
    struct sim_site *site = glidein->site;
    struct farm *farm = site->farm;
    struct sim *sim = farm->sim;
    if (glidein->state != SITE_QUEUED) {
        return;
    }
    struct sim_host *host = free_host(farm);
    if (host == NULL) {
        (void)sim_at(sim, sim->now_us + RETRY_US, try_start, glidein);
        return;
    }
    glidein->host = host;
    farm->users.items[place_of(farm, host)] = glidein;
    start_pilot(glidein, host, sim_chance(sim, site->temper.dies_early));
    move_glidein(glidein, SITE_RUNNING);
    uint64_t life_us = ((uint64_t)glidein->lifetime_s + MARGIN_S) * SIM_S;
    if (sim_chance(sim, site->temper.dies_late)) {
        life_us = sim_between(sim, 20, 400) * SIM_S;
    }
    (void)sim_at(sim, sim->now_us + life_us, end_by_force, glidein);
}

/* ---- submissions ------------------------------------------------------------------------------*/

static void land_glidein(void *arg)
{
    struct farm_glidein *glidein = arg;
    struct sim_site *site = glidein->site;
    struct farm *farm = site->farm;
    struct sim *sim = farm->sim;
    const struct site_temper *temper = &site->temper;
    glidein->submitted_us = glidein->since_us = sim->now_us;
    vec_push(&site->glideins, glidein);
    site->states[SITE_QUEUED]++;
    sim_trace(sim, NULL, "site %s: has %s", site->name, glidein->name);
    farm->events.landed(farm->events.arg, glidein);
    uint64_t wait_ms =
        sim_between(sim, temper->wait_min_s * 1000 + 300, temper->wait_max_s * 1000 + 3000);
    if (sim_chance(sim, temper->stays)) {
        return;
    }
    if (sim_chance(sim, temper->holds)) {
        move_glidein(glidein, SITE_HELD);
        return;
    }
    (void)sim_at(sim, sim->now_us + wait_ms * SIM_MS, try_start, glidein);
}

static struct farm_glidein *make_glidein(struct sim_site *site, const struct site_order *order)
{
    struct farm_glidein *glidein = sim_alloc(sizeof(*glidein));
    glidein->site = site;
    glidein->lifetime_s = order->lifetime_s;
    glidein->secret = sim_strdup(order->secret);
    glidein->arguments = sim_alloc((order->argument_count + 1) * sizeof(char *));
    for (size_t i = 0; i < order->argument_count; i++) {
        glidein->arguments[i] = sim_strdup(order->arguments[i]);
    }
    return glidein;
}

void site_take(struct sim_site *site, const struct site_order *order, unsigned first, unsigned last,
               uint64_t after_us)
{
    struct sim *sim = site->farm->sim;
    for (unsigned i = first; i <= last; i++) {
        struct farm_glidein *glidein = make_glidein(site, order);
        (void)snprintf(glidein->name, sizeof(glidein->name), "%s.%u", order->batch, i);
        if (after_us == 0) {
            land_glidein(glidein);
        } else {
            (void)sim_at(sim, sim->now_us + after_us, land_glidein, glidein);
        }
    }
}

void site_asked(struct sim_site *site, const char *batch, unsigned count)
{
    struct farm *farm = site->farm;
    sim_trace(farm->sim, NULL, "site %s: asked for %u: %s", site->name, count, batch);
    farm->events.asked(farm->events.arg, site, batch, count);
}

void site_told_to_remove(struct sim_site *site, size_t count)
{
    struct farm *farm = site->farm;
    sim_trace(farm->sim, NULL, "site %s: told to remove %zu", site->name, count);
    farm->events.removing(farm->events.arg, site, count);
}

void site_add_orphan(struct sim_site *site, const char *name)
{
    const struct site_order order = {.secret = ""};
    struct farm_glidein *glidein = make_glidein(site, &order);
    (void)snprintf(glidein->name, sizeof(glidein->name), "%s", name);
    glidein->is_orphan = true;
    vec_push(&site->glideins, glidein);
    glidein->submitted_us = glidein->since_us = site->farm->sim->now_us;
    site->states[SITE_QUEUED]++;
    sim_trace(site->farm->sim, NULL, "site %s: has orphan %s", site->name, glidein->name);
    site->farm->events.landed(site->farm->events.arg, glidein);
}

struct farm_glidein *site_find(const struct sim_site *site, const char *name)
{
    for (size_t i = site->glideins.count; i > 0; i--) {
        struct farm_glidein *glidein = site->glideins.items[i - 1];
        if (strcmp(glidein->name, name) == 0) {
            return glidein;
        }
    }
    return NULL;
}

void site_remove(struct farm_glidein *glidein)
{
    struct sim *sim = glidein->site->farm->sim;
    if (glidein->state == SITE_QUEUED || glidein->state == SITE_HELD) {
        glidein->was_removed = true;
        move_glidein(glidein, SITE_ENDED);
    } else if (glidein->state == SITE_RUNNING && !glidein->was_removed) {
        struct sim_process *pilot =
            glidein->host != NULL ? sim_process_find(glidein->host, glidein->pid) : NULL;
        glidein->was_removed = true;
        if (pilot != NULL) {
            sim_process_signal(pilot, SIGTERM);
        }
        (void)sim_at(sim, sim->now_us + LAST_GASP_US, end_by_force, glidein);
    }
}

size_t site_living(const struct sim_site *site)
{
    return site->states[SITE_QUEUED] + site->states[SITE_HELD] + site->states[SITE_RUNNING];
}

bool site_lists(const struct farm_glidein *glidein)
{
    const struct sim_site *site = glidein->site;
    uint64_t now_us = site->farm->sim->now_us;
    if (glidein->state == SITE_ENDED) {
        return now_us < glidein->since_us + site->temper.kept_s * SIM_S;
    }
    return now_us >= glidein->submitted_us + site->temper.settle_s * SIM_S;
}

/* ---- what happens on the machines -------------------------------------------------------------*/

void farm_process_ended(struct farm *farm, const struct sim_process *process)
{
    if (process->program != &sim_program_pilot) {
        return;
    }
    size_t at = place_of(farm, process->host);
    struct farm_glidein *glidein = at < farm->users.count ? farm->users.items[at] : NULL;
    if (glidein != NULL && glidein->pid == process->pid) {
        (void)sim_at(farm->sim, farm->sim->now_us + 1, end_later, glidein);
    }
}

static void switch_off(void *arg)
{
    struct farm_glidein *glidein = arg;
    if (glidein->host == NULL || glidein->host->power != SIM_HOST_ON) {
        end_glidein(glidein, true);
    }
}

/* A machine that lost power has lost its glidein; one that is nobody's is not to be on. */
void farm_power_changed(struct farm *farm, const struct sim_host *host)
{
    size_t at = place_of(farm, host);
    if (at == farm->hosts.count) {
        return;
    }
    struct farm_glidein *glidein = farm->users.items[at];
    if (glidein == NULL && host->power == SIM_HOST_ON) {
        (void)sim_at(farm->sim, farm->sim->now_us + SIM_S, host_off, farm->hosts.items[at]);
    } else if (glidein != NULL && host->power == SIM_HOST_OFF) {
        (void)sim_at(farm->sim, farm->sim->now_us + 1, switch_off, glidein);
    }
}
