/* startd/machine/meter.c - measures how much power this machine draws, and which part its jobs
 * cause.
 *
 * There are two kinds of counters, which only grow: of the machine (EnergyJoules, EnergySeconds),
 * and of each user whose jobs ran here (EnergyOfUsers).  The ads show them with the time since when
 * they count (EnergySince).  So a reader takes the difference to what it saw last: a lost ad, an
 * absent rooster or a restart here loses nothing and counts nothing twice.  The counters are saved
 * now and then; what a killed startd had not saved is estimated, if the machine was on.  Rejected:
 * to send the sum since the last UPDATE in each UPDATE.
 *
 * The starter counts what its job uses, because it knows the job's CPU time to the end, by the
 * rates that it is told here (meter_plan.h).  So the figure in the job ad is exactly what its
 * user's counter grows by.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "startd/machine/meter.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os_power.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "startd/advertise_due.h"
#include "startd/claim/claim.h"
#include "startd/claim/claim_facts.h"
#include "startd/machine/meter_nut.h"
#include "startd/machine/meter_plan.h"
#include "startd/slot/slot.h"
#include "startd/startd_state.h"
#include "store/store.h"
#include "wire/energy_line.h"

#define LOOK_MIN_MS    1000
#define ZONES_MAX      64
#define ZONES_LOOK_MS  60000 /* which there are */
#define USERS_MAX      64    /* longest unchanged first, one is forgotten */
#define SAVE_MS        300000
#define SAVE_GAP_MS    1000 /* at least, when runs end */
#define GAP_MAX_S      900  /* without a startd, for which the last draw is taken */
#define SUSPENDED_MS   500  /* the clocks are read one after the other */
#define FILE_BYTES_MAX 256  /* most bytes of a counter's file, with the terminating zero */
#define STAT_BYTES_MAX ((size_t)1 << 20)
#define TABLE          "power"
#define KEY            "energy"

struct zone {   /* of RAPL */
    char *path; /* of its directory */
    uint64_t energy_uj, range_uj;
    bool known; /* energy_uj is of the last look */
    bool seen;
};

struct user_meter {
    char *user;
    int64_t since_s;
    double joules, core_s;
    uint64_t changed_ms;
};

struct run_meter { /* of a run that a startd before us knew */
    char *directory;
    double joules, core_s;
};

struct meter {
    struct startd *startd;
    struct meter_nut *nut;
    struct loop_timer *save_timer;
    uint64_t looked_ms, suspended_ms; /* 0: not yet */
    struct meter_cpu cpu;
    bool has_cpu;
    struct vec zones; /* struct zone */
    uint64_t zones_ms;
    bool unreadable_said;
    struct meter_look look;
    struct meter_rates rates;
    int64_t since_s;
    double joules, seconds;
    struct vec users; /* struct user_meter */
    bool forgetful;   /* one was forgotten */
    struct vec runs;  /* struct run_meter */
    bool changed;     /* since it was written down */
    bool soon;        /* it is about to be */
    uint64_t saved_ms;
};

/* ---- RAPL */

static void free_zone(void *value)
{
    struct zone *zone = value;
    mem_free(zone->path);
    mem_free(zone);
}

static int read_text(struct meter *meter, const char *directory, const char *file,
                     char ret[FILE_BYTES_MAX])
{
    struct strbuf path;
    char *text;
    size_t length;
    strbuf_init(&path, 0);
    strbuf_printf(&path, "%s/%s", directory, file);
    int rc = os_read_file(meter->startd->env.os, strbuf_text(&path), FILE_BYTES_MAX - 1, &text,
                          &length, NULL);
    strbuf_fini(&path);
    if (rc != 0) {
        return rc;
    }
    (void)snprintf(ret, FILE_BYTES_MAX, "%s", text);
    ret[strcspn(ret, "\n")] = '\0';
    mem_free(text);
    return 0;
}

static int read_number(struct meter *meter, const struct zone *zone, const char *file,
                       uint64_t *ret)
{
    char text[FILE_BYTES_MAX];
    int rc = read_text(meter, zone->path, file, text);
    return rc != 0 ? rc : meter_plan_number(text, ret) ? 0 : -EINVAL;
}

/* Since 2020 only root can read these counters: they would tell strangers too much. */
static void say_unreadable(struct meter *meter, const struct zone *zone, int code)
{
    if (!meter->unreadable_said) {
        meter->unreadable_said = true;
        log_warn(meter->startd->env.log, "meter.rapl", err_code_text(code),
                 LOG_TEXT("path", zone->path));
    }
}

static void see_zone(void *arg, const char *name)
{
    struct meter *meter = arg;
    char what[FILE_BYTES_MAX];
    struct strbuf path;
    if (meter->zones.count >= ZONES_MAX || strchr(name, '/') != NULL) {
        return;
    }
    strbuf_init(&path, 0);
    strbuf_printf(&path, "%s/%s", config_string(meter->startd->env.config, "RAPL_ROOT"), name);
    bool counts = read_text(meter, strbuf_text(&path), "name", what) == 0 &&
                  meter_plan_is_counted(name, what);
    for (size_t i = 0; i < meter->zones.count && counts; i++) {
        struct zone *zone = meter->zones.items[i];
        if (strcmp(zone->path, strbuf_text(&path)) == 0) {
            zone->seen = true;
            counts = false;
        }
    }
    if (counts) {
        struct zone *zone = mem_zalloc(sizeof *zone);
        zone->path = mem_strdup(strbuf_text(&path));
        zone->seen = true;
        vec_push(&meter->zones, zone);
    }
    strbuf_fini(&path);
}

static void find_zones(struct meter *meter, uint64_t now_ms)
{
    struct startd *startd = meter->startd;
    if (meter->zones_ms != 0 && now_ms - meter->zones_ms < ZONES_LOOK_MS) {
        return;
    }
    meter->zones_ms = now_ms;
    for (size_t i = 0; i < meter->zones.count; i++) {
        ((struct zone *)meter->zones.items[i])->seen = false;
    }
    (void)os_list(startd->env.os, config_string(startd->env.config, "RAPL_ROOT"), see_zone, meter,
                  NULL); /* a machine without it has none */
    for (size_t i = meter->zones.count; i > 0; i--) {
        struct zone *zone = meter->zones.items[i - 1];
        if (!zone->seen) {
            vec_remove_at(&meter->zones, i - 1);
            free_zone(zone);
        }
    }
}

/* Returns the joules since the last time; below 0: unknown. slept: the counters may have been
 * reset. */
static double rapl_j(struct meter *meter, double elapsed_s, bool slept)
{
    double sum = 0;
    bool is_known = meter->zones.count > 0;
    for (size_t i = 0; i < meter->zones.count; i++) {
        struct zone *zone = meter->zones.items[i];
        uint64_t now_uj;
        int rc = read_number(meter, zone, "energy_uj", &now_uj);
        if (rc != 0) {
            say_unreadable(meter, zone, rc);
            zone->known = is_known = false;
            continue;
        }
        if (zone->range_uj == 0) {
            (void)read_number(meter, zone, "max_energy_range_uj", &zone->range_uj); /* or 0 */
        }
        double joules = zone->known && !slept
                            ? meter_plan_zone_j(zone->energy_uj, now_uj, zone->range_uj, elapsed_s)
                            : -1;
        zone->energy_uj = now_uj;
        zone->known = true;
        is_known = is_known && joules >= 0;
        sum += joules > 0 ? joules : 0;
    }
    return is_known ? sum : -1;
}

/* ---- looking */

static void find_watts(const struct startd *startd, struct meter_watts *ret)
{
    const struct config *config = startd->env.config;
    const struct config_section *section = config_section_find(config, "node", startd->name);
    static const char *const NAMES[][2] = {{"asleep_watts", "MACHINE_ASLEEP_WATTS"},
                                           {"idle_watts", "MACHINE_IDLE_WATTS"},
                                           {"busy_watts", "MACHINE_BUSY_WATTS"}};
    double watts[3];
    for (size_t i = 0; i < 3; i++) {
        watts[i] = section != NULL ? section_real(section, NAMES[i][0]) : 0;
        watts[i] = watts[i] > 0 ? watts[i] : config_real(config, NAMES[i][1]);
    }
    *ret = (struct meter_watts){.asleep_w = watts[0], .idle_w = watts[1], .busy_w = watts[2]};
}

/* Returns how much the CPUs were used since the last time; below 0: unknown. */
static double use_of_cpus(struct meter *meter)
{
    struct startd *startd = meter->startd;
    struct strbuf path;
    struct meter_cpu now;
    char *text;
    size_t length;
    strbuf_init(&path, 0);
    strbuf_printf(&path, "%s/proc/stat", config_string(startd->env.config, "POWER_ROOT"));
    int rc = os_read_file(startd->env.os, strbuf_text(&path), STAT_BYTES_MAX, &text, &length, NULL);
    strbuf_fini(&path);
    if (rc != 0) {
        meter->has_cpu = false;
        return -1;
    }
    bool is_read = meter_plan_cpu(text, &now);
    double use = is_read && meter->has_cpu ? meter_plan_use(&meter->cpu, &now) : -1;
    meter->has_cpu = is_read;
    if (is_read) {
        meter->cpu = now;
    }
    mem_free(text);
    return use;
}

static double cores_of(const struct startd *startd)
{
    double offered = (double)startd->division.total.amount[RESOURCE_CPUS];
    return offered > 0 ? offered : startd->machine.cpus > 0 ? (double)startd->machine.cpus : 1;
}

/* Returns the share of the machine's cores whose jobs run. */
static double share_at_work(const struct startd *startd)
{
    double cores = 0;
    for (size_t i = 0; i < startd->slot_count; i++) {
        const struct slot *slot = startd->slots[i];
        if (slot->claim != NULL && claim_plan_has_run(slot->claim->stage) &&
            !claim_is_suspended(slot->claim)) {
            cores += (double)slot->total.amount[RESOURCE_CPUS];
        }
    }
    double share = cores / cores_of(startd);
    return share < 1 ? share : 1;
}

static bool wants_source(const struct startd *startd, const char *source)
{
    const char *wanted = config_string(startd->env.config, "POWER_SOURCE");
    return strcmp(wanted, "auto") == 0 || strcmp(wanted, source) == 0;
}

/* Returns the best source that has a value, and in *joules its energy in the interval. */
static enum meter_source choose_source(struct meter *meter, double elapsed_s, bool slept,
                                       double *joules)
{
    struct startd *startd = meter->startd;
    const struct config *config = startd->env.config;
    const struct meter_watts *watts = &meter->look.watts;
    double ups_w = wants_source(startd, "NUT") ? meter_nut_watts(meter->nut) : -1;
    double rapl = wants_source(startd, "RAPL") ? rapl_j(meter, elapsed_s, slept) : -1;
    if (ups_w >= 0) {
        *joules = ups_w * config_real(config, "NUT_SHARE") * elapsed_s;
        return METER_NUT;
    }
    if (rapl >= 0) {
        *joules = rapl + config_real(config, "RAPL_REST_WATTS") * elapsed_s;
        return METER_RAPL;
    }
    if (meter->zones.count > 0 && meter->look.source == METER_RAPL && !slept) {
        bool all = true;
        for (size_t i = 0; i < meter->zones.count; i++) {
            all = all && ((const struct zone *)meter->zones.items[i])->known;
        }
        if (all) { /* a counter was reset: as before */
            *joules = meter->look.draw_w * elapsed_s;
            return METER_RAPL;
        }
    }
    if (wants_source(startd, "model") && (watts->idle_w > 0 || watts->busy_w > 0)) {
        double use = meter->look.use >= 0 ? meter->look.use : share_at_work(startd);
        *joules = meter_plan_model_w(watts, use) * elapsed_s;
        return METER_MODEL;
    }
    *joules = 0;
    return METER_NONE;
}

void meter_look(struct startd *startd)
{
    struct meter *meter = startd->meter;
    uint64_t now_ms = loop_now_ms(startd->env.loop), before_ms = meter->looked_ms;
    if (before_ms != 0 && now_ms - before_ms < LOOK_MIN_MS) {
        return;
    }
    uint64_t suspended_ms = os_suspended_ms(startd->env.os);
    uint64_t slept_ms = suspended_ms - meter->suspended_ms, gone_ms = now_ms - before_ms;
    bool slept = slept_ms > SUSPENDED_MS;
    gone_ms -= slept ? (slept_ms < gone_ms ? slept_ms : gone_ms) : 0;
    double elapsed_s = before_ms == 0 ? 0 : (double)gone_ms / 1000, joules;
    meter->looked_ms = now_ms;
    meter->suspended_ms = suspended_ms;
    struct meter_look *look = &meter->look;
    find_watts(startd, &look->watts);
    look->use = use_of_cpus(meter);
    look->use = look->use < 0 && meter->has_cpu ? share_at_work(startd) : look->use;
    look->cores = cores_of(startd);
    look->cpus = meter->has_cpu && meter->cpu.count > 0 ? (double)meter->cpu.count : look->cores;
    find_zones(meter, now_ms);
    enum meter_source source = choose_source(meter, elapsed_s, slept, &joules);
    if (source != look->source) {
        log_info(startd->env.log, "meter.source", meter_source_name(source));
        look->source = source;
        look->lowest_w = 0;
    }
    if (elapsed_s > 0 && source != METER_NONE) {
        meter->joules += joules;
        meter->seconds += elapsed_s;
        meter->changed = true;
        look->draw_w = joules / elapsed_s;
        bool lower = look->lowest_w <= 0 || look->draw_w < look->lowest_w;
        look->lowest_w = lower ? look->draw_w : look->lowest_w;
    } else if (source == METER_MODEL) { /* the first look */
        look->draw_w = meter_plan_model_w(&look->watts, share_at_work(startd));
    } else if (source == METER_NONE) {
        look->draw_w = 0;
    }
    meter_plan_rates(look, &meter->rates, &meter->rates);
}

/* ---- jobs */

void meter_put_rates(const struct startd *startd, struct ad *args)
{
    const struct meter *meter = startd->meter;
    ad_set_real(args, "ReservedWatts", meter->rates.reserved_w);
    ad_set_real(args, "UsedWatts", meter->rates.used_w);
}

static void free_user(void *value)
{
    struct user_meter *user = value;
    mem_free(user->user);
    mem_free(user);
}

static struct user_meter *add_user(struct meter *meter, const char *name, int64_t since_s)
{
    struct vec *users = &meter->users;
    if (users->count >= USERS_MAX) {
        size_t oldest = 0;
        for (size_t i = 1; i < users->count; i++) {
            const struct user_meter *one = users->items[i], *other = users->items[oldest];
            oldest = one->changed_ms < other->changed_ms ? i : oldest;
        }
        free_user(users->items[oldest]);
        vec_remove_at(users, oldest);
        meter->forgetful = true;
    }
    struct user_meter *user = mem_zalloc(sizeof *user);
    user->user = mem_strdup(name);
    user->since_s = since_s;
    vec_push(users, user);
    return user;
}

static struct user_meter *user_named(struct meter *meter, const char *name)
{
    for (size_t i = 0; i < meter->users.count; i++) {
        struct user_meter *user = meter->users.items[i];
        if (strcmp(user->user, name) == 0) {
            return user;
        }
    }
    /* As long as nobody was forgotten, who is not there has had nothing since the beginning, also
     * to a startd that takes our place and knows less. */
    return add_user(meter, name,
                    meter->forgetful ? loop_wall_s(meter->startd->env.loop) : meter->since_s);
}

static void free_run(void *value)
{
    struct run_meter *run = value;
    mem_free(run->directory);
    mem_free(run);
}

/* Restores what an earlier startd had counted for that run. */
static void recall_run(struct meter *meter, struct claim *claim)
{
    for (size_t i = 0; i < meter->runs.count; i++) {
        struct run_meter *run = meter->runs.items[i];
        if (claim->run.directory != NULL && strcmp(run->directory, claim->run.directory) == 0) {
            claim->run.energy_j = run->joules;
            claim->run.core_s = run->core_s;
            vec_remove_at(&meter->runs, i);
            free_run(run);
            return;
        }
    }
}

void meter_count(struct claim *claim, const struct ad *args, bool ends)
{
    struct startd *startd = claim->startd;
    struct meter *meter = startd->meter;
    double joules = ad_real_or(args, "EnergyJoules", 0);
    double core_s = ad_real_or(args, "CoreSeconds", 0);
    recall_run(meter, claim);
    bool more = joules > claim->run.energy_j || core_s > claim->run.core_s;
    if (claim->job.user != NULL && more) {
        struct user_meter *user = user_named(meter, claim->job.user);
        user->joules += joules > claim->run.energy_j ? joules - claim->run.energy_j : 0;
        user->core_s += core_s > claim->run.core_s ? core_s - claim->run.core_s : 0;
        user->changed_ms = loop_now_ms(startd->env.loop);
        claim->run.energy_j = joules > claim->run.energy_j ? joules : claim->run.energy_j;
        claim->run.core_s = core_s > claim->run.core_s ? core_s : claim->run.core_s;
        meter->changed = true;
        if (startd->slot_count > 0) { /* whose ad has the users */
            startd->slots[0]->changed = startd->slots[0]->stale = true;
            advertise_flap(startd);
        }
    }
    uint64_t since_ms = loop_now_ms(startd->env.loop) - meter->saved_ms;
    if (ends && !meter->soon) { /* a run that goes on is told again, one that is over is not */
        meter->soon = true;
        loop_timer_set(meter->save_timer, since_ms < SAVE_GAP_MS ? SAVE_GAP_MS - since_ms : 0);
    }
}

/* ---- ads */

static void write_users(const struct meter *meter, struct ad *ad)
{
    struct vec lines = {0};
    for (size_t i = 0; i < meter->users.count; i++) {
        const struct user_meter *user = meter->users.items[i];
        const struct energy_line line = {.since_s = user->since_s,
                                         .joules = user->joules,
                                         .core_s = user->core_s,
                                         .name = user->user};
        energy_line_add(&lines, &line);
    }
    ad_set_strings(ad, "EnergyOfUsers", (const char *const *)lines.items, lines.count);
    vec_fini(&lines, mem_free);
}

void meter_write(const struct slot *slot, struct ad *ad)
{
    const struct startd *startd = slot->startd;
    const struct meter *meter = startd->meter;
    const struct meter_look *look = &meter->look;
    const struct meter_watts *watts = &look->watts;
    bool measured = look->source == METER_RAPL || look->source == METER_NUT;
    double idle_w = watts->idle_w > 0 ? watts->idle_w : measured ? look->lowest_w : 0;
    if (idle_w > 0) {
        ad_set_real(ad, "PowerIdleWatts", idle_w);
    }
    if (watts->asleep_w > 0) {
        ad_set_real(ad, "PowerAsleepWatts", watts->asleep_w);
    }
    if (watts->busy_w > 0) {
        ad_set_real(ad, "PowerBusyWatts", watts->busy_w);
    }
    if (look->source == METER_NONE) {
        ad_remove(ad, "PowerDrawWatts");
        ad_remove(ad, "PowerSource");
    } else {
        ad_set_real(ad, "PowerDrawWatts", look->draw_w);
        ad_set_string(ad, "PowerSource", meter_source_name(look->source));
    }
    if (look->source == METER_NONE && meter->seconds <= 0) {
        return;
    }
    ad_set_int(ad, "EnergySince", meter->since_s);
    ad_set_real(ad, "EnergyJoules", meter->joules);
    ad_set_real(ad, "EnergySeconds", meter->seconds);
    if (startd->slot_count > 0 && startd->slots[0] == slot) {
        write_users(meter, ad);
    }
}

/* ---- what is durable */

static void write_runs(const struct meter *meter, struct ad *ad)
{
    const struct startd *startd = meter->startd;
    struct vec lines = {0};
    for (size_t i = 0; i < startd->claims.count; i++) {
        const struct claim *claim = startd->claims.items[i];
        if (claim_plan_has_run(claim->stage) && claim->run.directory != NULL &&
            claim->run.core_s > 0) {
            const struct energy_line line = {.joules = claim->run.energy_j,
                                             .core_s = claim->run.core_s,
                                             .name = claim->run.directory};
            energy_line_add(&lines, &line);
        }
    }
    for (size_t i = 0; i < meter->runs.count; i++) { /* not heard of yet */
        const struct run_meter *run = meter->runs.items[i];
        const struct energy_line line = {.joules = run->joules,
                                         .core_s = run->core_s,
                                         .name = run->directory};
        energy_line_add(&lines, &line);
    }
    ad_set_strings(ad, "Runs", (const char *const *)lines.items, lines.count);
    vec_fini(&lines, mem_free);
}

static void save_counters(void *arg)
{
    struct meter *meter = arg;
    struct startd *startd = meter->startd;
    loop_timer_set(meter->save_timer, SAVE_MS);
    meter->soon = false;
    if (!meter->changed) {
        return;
    }
    meter->changed = false;
    meter->saved_ms = loop_now_ms(startd->env.loop);
    struct ad *ad = ad_create();
    struct strbuf bytes;
    ad_set_int(ad, "EnergySince", meter->since_s);
    ad_set_real(ad, "EnergyJoules", meter->joules);
    ad_set_real(ad, "EnergySeconds", meter->seconds);
    ad_set_real(ad, "PowerDrawWatts", meter->look.draw_w);
    ad_set_bool(ad, "Forgetful", meter->forgetful);
    ad_set_string(ad, "BootId", startd->machine.boot_id);
    ad_set_int(ad, "UpMs", (int64_t)(meter->looked_ms - meter->suspended_ms));
    write_users(meter, ad);
    write_runs(meter, ad);
    strbuf_init(&bytes, STORE_VALUE_MAX);
    ad_encode(ad, true, &bytes);
    if (bytes.failed) {
        log_error(startd->env.log, "meter.save",
                  "the energy counters of this machine are too large to be stored");
    } else {
        struct store_txn *txn = store_begin(startd->store);
        store_put(txn, TABLE, KEY, bytes.data, bytes.length);
        store_commit(txn, NULL, NULL);
    }
    strbuf_fini(&bytes);
    ad_destroy(ad);
}

static void restore_user(void *arg, const struct energy_line *line)
{
    struct user_meter *user = add_user(arg, line->name, line->since_s);
    user->joules = line->joules;
    user->core_s = line->core_s;
}

static void restore_run(void *arg, const struct energy_line *line)
{
    struct meter *meter = arg;
    struct run_meter *run = mem_zalloc(sizeof *run);
    run->directory = mem_strdup(line->name);
    run->joules = line->joules;
    run->core_s = line->core_s;
    vec_push(&meter->runs, run);
}

/* The machine was on while no startd counted: assumes that it drew as much as before. */
static void fill_gap(struct meter *meter, const struct ad *ad)
{
    struct startd *startd = meter->startd;
    int64_t up_ms = (int64_t)(loop_now_ms(startd->env.loop) - os_suspended_ms(startd->env.os));
    double gap_s = (double)(up_ms - ad_int_or(ad, "UpMs", 0)) / 1000;
    double draw_w = ad_real_or(ad, "PowerDrawWatts", 0);
    bool same_boot = strcmp(ad_string_or(ad, "BootId", ""), startd->machine.boot_id) == 0;
    if (same_boot && gap_s > 0 && gap_s <= GAP_MAX_S && draw_w > 0) {
        meter->joules += draw_w * gap_s;
        meter->seconds += gap_s;
    }
}

static int restore_counters(void *arg, const char *key, const void *value, size_t length)
{
    struct meter *meter = arg;
    struct ad *ad;
    struct err err;
    if (strcmp(key, KEY) != 0) {
        return 0;
    }
    if (ad_decode(value, length, NULL, &ad, &err) != 0) {
        log_error(meter->startd->env.log, "meter.damaged", err.text);
        return 0; /* counted from now on */
    }
    double joules = ad_real_or(ad, "EnergyJoules", -1);
    double seconds = ad_real_or(ad, "EnergySeconds", -1);
    if (joules >= 0 && seconds >= 0) {
        meter->since_s = ad_int_or(ad, "EnergySince", meter->since_s);
        meter->joules = joules;
        meter->seconds = seconds;
        fill_gap(meter, ad);
        energy_line_each(ad, "EnergyOfUsers", restore_user, meter);
        meter->forgetful = ad_bool_or(ad, "Forgetful", false);
        energy_line_each(ad, "Runs", restore_run, meter);
    }
    ad_destroy(ad);
    return 0;
}

int meter_open(struct startd *startd, struct err *err)
{
    struct meter *meter = mem_zalloc(sizeof *meter);
    meter->startd = startd;
    meter->since_s = loop_wall_s(startd->env.loop);
    meter->suspended_ms = os_suspended_ms(startd->env.os);
    meter->save_timer = loop_timer_create(startd->env.loop, save_counters, meter);
    loop_timer_set(meter->save_timer, SAVE_MS);
    meter->nut = meter_nut_create(startd);
    startd->meter = meter;
    int rc = store_load(startd->store, TABLE, restore_counters, meter, err);
    if (rc == 0 && meter->seconds <= 0) { /* when it began must not be another after a kill */
        meter->changed = true;
        loop_timer_set(meter->save_timer, 0);
    }
    return rc;
}

void meter_reload(struct startd *startd)
{
    struct meter *meter = startd->meter;
    vec_fini(&meter->zones, free_zone);
    meter->zones = (struct vec){0};
    meter->zones_ms = 0;
    meter->unreadable_said = false;
    meter_nut_reload(meter->nut);
}

void meter_close(struct startd *startd)
{
    struct meter *meter = startd->meter;
    if (meter == NULL) {
        return;
    }
    save_counters(meter);
    loop_timer_destroy(meter->save_timer);
    meter_nut_destroy(meter->nut);
    vec_fini(&meter->zones, free_zone);
    vec_fini(&meter->users, free_user);
    vec_fini(&meter->runs, free_run);
    mem_free(meter);
    startd->meter = NULL;
}
