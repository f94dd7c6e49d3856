/* rooster/energy.c - see energy.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rooster/energy.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "offline_ads/offline_ads.h"
#include "rooster/energy_days.h"
#include "rooster/energy_plan.h"
#include "rooster/energy_report.h"
#include "rooster/nodes.h"
#include "rooster/rooster.h"
#include "rooster/seen.h"
#include "store/store.h"
#include "wire/energy_line.h"

#define OURSELVES      "rooster" /* the row of kind 'w': how long we were there */
#define META_KEY       "m"
#define SEEN_PREFIX    "s/" /* and the machine: its counters, as they were seen last */
#define SEEN_USERS_MAX 256  /* users of one machine whose counters are kept */
#define BEGAN_SLACK    60   /* the clocks of machines are others */

struct seen_user {
    char *user;
    struct energy_counter counter; /* seconds: of cores */
    bool listed;
};

struct seen_counters { /* counters of a machine, as its ads showed them last */
    struct energy_counter all;
    double at_s;                 /* when */
    bool has_users;              /* they were seen */
    struct vec users;            /* struct seen_user */
    double guessed_s, guessed_j; /* by its state, on, since then: it may have counted that, too */
    bool changed;
};

struct energy {
    struct rooster *rooster;
    struct energy_days *days;
    struct energy_reports *reports;
    struct strmap *counters; /* machine -> struct seen_counters */
    int64_t began_s;   /* when the first rooster with this database started; 0: not known yet */
    int64_t written_s; /* when an earlier rooster wrote last; 0: never */
    uint64_t there_ms; /* how long we were there is counted up to then; 0: not yet */
};

struct user_cores {
    char *user;
    double cores;
};

struct energy_draw { /* draw of a machine since it was last examined */
    uint64_t since_ms;
    uint64_t configuration; /* number of the configuration that `configured` is of */
    enum energy_mode mode;
    /* the machine counts its own energy while it is up, so the mode is not counted */
    bool counts;
    double draw_w; /* draw that its ads report */
    struct energy_watts configured, told, watts;
    double cores, busy_cores;
    struct vec users; /* struct user_cores */
};

static double wall_s(const struct energy *energy)
{
    return (double)loop_wall_ms(energy->rooster->env.loop) / 1000.0;
}

/* ---- what is durable */

static void free_seen_user(void *value)
{
    struct seen_user *user = value;
    mem_free(user->user);
    mem_free(user);
}

static void free_counters(void *value)
{
    struct seen_counters *counters = value;
    vec_fini(&counters->users, free_seen_user);
    mem_free(counters);
}

static struct seen_counters *counters_of(struct energy *energy, const char *machine)
{
    struct seen_counters *counters = strmap_get(energy->counters, machine);
    if (counters == NULL) {
        counters = mem_zalloc(sizeof *counters);
        (void)strmap_set(energy->counters, machine, counters); /* was absent */
    }
    return counters;
}

static struct seen_user *user_of(struct seen_counters *counters, const char *name)
{
    for (size_t i = 0; i < counters->users.count; i++) {
        struct seen_user *user = counters->users.items[i];
        if (strcmp(user->user, name) == 0) {
            return user;
        }
    }
    struct seen_user *user = mem_zalloc(sizeof *user);
    user->user = mem_strdup(name);
    vec_push(&counters->users, user);
    return user;
}

static void load_user(void *arg, const struct energy_line *line)
{
    user_of(arg, line->name)->counter = (struct energy_counter){.since_s = line->since_s,
                                                                .joules = line->joules,
                                                                .seconds = line->core_s};
}

static void load_row(void *arg, const char *key, const struct ad *ad)
{
    struct energy *energy = arg;
    if (strcmp(key, META_KEY) == 0) {
        energy->began_s = ad_int_or(ad, "Began", 0);
        energy->written_s = ad_int_or(ad, "Written", 0);
    } else if (strncmp(key, SEEN_PREFIX, strlen(SEEN_PREFIX)) == 0) {
        struct seen_counters *counters = counters_of(energy, key + strlen(SEEN_PREFIX));
        counters->all = (struct energy_counter){.since_s = ad_int_or(ad, "Since", 0),
                                                .joules = ad_real_or(ad, "Joules", 0),
                                                .seconds = ad_real_or(ad, "Seconds", 0)};
        counters->at_s = ad_real_or(ad, "At", 0);
        counters->has_users = ad_bool_or(ad, "HasUsers", false);
        energy_line_each(ad, "Users", load_user, counters);
    }
}

static double back_to(void *arg)
{
    const struct energy *energy = arg;
    return energy->written_s > 0 ? (double)energy->written_s : wall_s(energy);
}

static void take_counters(struct node *node);

static void energy_loaded(void *arg)
{
    struct energy *energy = arg;
    size_t at = 0;
    void *value;
    if (energy->began_s == 0) {
        energy->began_s = (int64_t)wall_s(energy);
    }
    while (strmap_next(energy->counters, &at, NULL, &value)) { /* it was looked at until then */
        struct seen_counters *counters = value;
        double written_s = (double)energy->written_s;
        counters->at_s = counters->at_s > written_s ? counters->at_s : written_s;
    }
    energy->there_ms = loop_now_ms(energy->rooster->env.loop);
    at = 0;
    while (strmap_next(energy->rooster->nodes, &at, NULL, &value)) {
        if (((const struct node *)value)->draw != NULL) { /* it was looked at before */
            take_counters(value);
        }
    }
}

int energy_open(struct rooster *rooster, struct energy **ret, struct err *err)
{
    static const struct energy_days_events EVENTS = {.row = load_row,
                                                     .back_to = back_to,
                                                     .loaded = energy_loaded};
    struct energy *energy = mem_zalloc(sizeof *energy);
    energy->rooster = rooster;
    int rc = energy_days_open(&rooster->env, &EVENTS, energy, &energy->days, err);
    if (rc != 0) {
        mem_free(energy);
        return rc;
    }
    energy->counters = strmap_create(STRMAP_CASE_IGNORED);
    energy->reports = energy_reports_create();
    *ret = energy;
    return 0;
}

static void put_row(struct store_txn *txn, const char *key, const struct ad *ad,
                    struct strbuf *bytes)
{
    strbuf_clear(bytes);
    ad_encode(ad, false, bytes);
    store_put(txn, ENERGY_TABLE, key, bytes->data, bytes->length);
}

static void write_counters(struct energy *energy, struct store_txn *txn, struct strbuf *bytes)
{
    size_t at = 0;
    const char *machine;
    void *value;
    char key[ENERGY_KEY_SIZE];
    while (strmap_next(energy->counters, &at, &machine, &value)) {
        struct seen_counters *counters = value;
        struct vec lines = {0};
        if (!counters->changed) {
            continue;
        }
        counters->changed = false;
        for (size_t i = 0; i < counters->users.count; i++) {
            const struct seen_user *user = counters->users.items[i];
            const struct energy_line line = {.since_s = user->counter.since_s,
                                             .joules = user->counter.joules,
                                             .core_s = user->counter.seconds,
                                             .name = user->user};
            energy_line_add(&lines, &line);
        }
        struct ad *ad = ad_create();
        ad_set_int(ad, "Since", counters->all.since_s);
        ad_set_real(ad, "Joules", counters->all.joules);
        ad_set_real(ad, "Seconds", counters->all.seconds);
        ad_set_real(ad, "At", counters->at_s);
        ad_set_bool(ad, "HasUsers", counters->has_users);
        ad_set_strings(ad, "Users", (const char *const *)lines.items, lines.count);
        (void)snprintf(key, sizeof key, SEEN_PREFIX "%.900s", machine);
        put_row(txn, key, ad, bytes);
        ad_destroy(ad);
        vec_fini(&lines, mem_free);
    }
}

/* Writes the changed sums and the counters that they were made of, in one transaction. */
static void write_changed(struct energy *energy)
{
    struct store_txn *txn = store_begin(energy_days_store(energy->days));
    struct strbuf bytes;
    struct ad *meta = ad_create();
    strbuf_init(&bytes, STORE_VALUE_MAX);
    energy_days_write(energy->days, txn);
    write_counters(energy, txn, &bytes);
    ad_set_int(meta, "Began", energy->began_s);
    ad_set_int(meta, "Written", (int64_t)wall_s(energy));
    put_row(txn, META_KEY, meta, &bytes);
    store_commit(txn, NULL, NULL);
    ad_destroy(meta);
    strbuf_fini(&bytes);
}

/* ---- counting by states */

static void count_users(struct energy *energy, const struct energy_draw *draw, double from_s,
                        double to_s, double seconds)
{
    double most = draw->busy_cores > draw->cores ? draw->busy_cores : draw->cores;
    for (size_t i = 0; i < draw->users.count && most > 0 && seconds > 0; i++) {
        const struct user_cores *user = draw->users.items[i];
        double share = user->cores / most;
        double joules = energy_plan_jobs_w(&draw->watts, draw->mode, share) * seconds;
        const struct energy_sum sum = {.used_j = joules,
                                       .jobs_j = joules,
                                       .busy_core_s = share * draw->cores * seconds};
        energy_days_add(energy->days, 'u', user->user, &sum, from_s, to_s);
    }
}

/* Counts the time until now by the machine's state. */
static void count_by_state(struct node *node)
{
    struct energy *energy = node->rooster->energy;
    struct energy_draw *draw = node->draw;
    uint64_t now_ms = loop_now_ms(node->rooster->env.loop);
    double seconds = (double)(now_ms - draw->since_ms) / 1000.0, now_s = wall_s(energy);
    struct energy_sum sum = {0};
    draw->since_ms = now_ms;
    if (draw->counts || draw->mode == ENERGY_UNKNOWN) {
        return;
    }
    energy_plan_add(&sum, &draw->watts, draw->mode, draw->busy_cores, draw->cores, seconds);
    struct seen_counters *seen = strmap_get(energy->counters, node->name);
    if (seen != NULL) {
        seen->guessed_s += sum.on_s;
        seen->guessed_j += sum.on_s > 0 ? sum.used_j : 0;
    }
    energy_days_add(energy->days, 'n', node->name, &sum, now_s - seconds, now_s);
    count_users(energy, draw, now_s - seconds, now_s, seconds);
}

static double watts_setting(const struct config *config, const struct config_section *section,
                            const char *own, const char *of_all)
{
    double watts = section != NULL ? section_real(section, own) : 0;
    return watts > 0 ? watts : config_real(config, of_all);
}

static void find_configured(const struct node *node, struct energy_watts *ret)
{
    const struct config *config = node->rooster->env.config;
    const struct config_section *section = config_section_find(config, "node", node->name);
    ret->asleep_w = watts_setting(config, section, "asleep_watts", "ROOSTER_ASLEEP_WATTS");
    ret->idle_w = watts_setting(config, section, "idle_watts", "ROOSTER_IDLE_WATTS");
    ret->busy_w = watts_setting(config, section, "busy_watts", "ROOSTER_BUSY_WATTS");
}

/* Finds the watts.  Those in its ads come first, because its jobs are counted by them. */
static void find_watts(const struct node *node, struct energy_draw *draw)
{
    const struct energy_watts *told = &draw->told, *configured = &draw->configured;
    if (draw->configuration != node->rooster->configuration) {
        draw->configuration = node->rooster->configuration;
        find_configured(node, &draw->configured);
    }
    draw->watts =
        (struct energy_watts){.asleep_w =
                                  told->asleep_w > 0 ? told->asleep_w : configured->asleep_w,
                              .idle_w = told->idle_w > 0 ? told->idle_w : configured->idle_w,
                              .busy_w = told->busy_w > 0 ? told->busy_w : configured->busy_w};
}

static enum energy_mode mode_of(const struct node *node)
{
    if (node->awake.has_ads) {
        return ENERGY_ON;
    }
    if (!node->asleep.has_ads) {
        return ENERGY_UNKNOWN;
    }
    bool between =
        node->state == WAKE_WAKING || node->state == WAKE_GOING_DOWN || node->state == WAKE_STAYING;
    return between ? ENERGY_ON : ENERGY_ASLEEP;
}

static void add_user(struct energy_draw *draw, const struct ad *slot, double cores)
{
    const char *name = ad_string_or(slot, "RemoteUser", ad_string_or(slot, "RemoteOwner", ""));
    if (name[0] == '\0' || strlen(name) > ENERGY_NAME_MAX) {
        return; /* the machine's, not anybody's */
    }
    for (size_t i = 0; i < draw->users.count; i++) {
        struct user_cores *user = draw->users.items[i];
        if (strcmp(user->user, name) == 0) {
            user->cores += cores;
            return;
        }
    }
    struct user_cores *user = mem_zalloc(sizeof *user);
    user->user = mem_strdup(name);
    user->cores = cores;
    vec_push(&draw->users, user);
}

static void free_user(void *value)
{
    struct user_cores *user = value;
    mem_free(user->user);
    mem_free(user);
}

void energy_find_watts(const struct node *node, struct energy_watts *ret)
{
    if (node->draw != NULL) {
        *ret = node->draw->watts;
    } else {
        find_configured(node, ret);
    }
}

static void see_watts(struct energy_draw *draw, const struct ad *slot)
{
    draw->told.asleep_w = ad_real_or(slot, "PowerAsleepWatts", draw->told.asleep_w);
    draw->told.idle_w = ad_real_or(slot, "PowerIdleWatts", draw->told.idle_w);
    draw->told.busy_w = ad_real_or(slot, "PowerBusyWatts", draw->told.busy_w);
    if (!offline_ads_is(slot) && ad_has(slot, "PowerSource") && ad_has(slot, "EnergySince")) {
        draw->counts = true;
        draw->draw_w = ad_real_or(slot, "PowerDrawWatts", 0);
    }
}

static void see_slots(const struct node *node, struct energy_draw *draw)
{
    vec_fini(&draw->users, free_user);
    draw->cores = draw->busy_cores = 0;
    for (size_t i = 0; i < node->ads.count; i++) {
        const struct ad *slot = ((const struct seen *)node->ads.items[i])->ad;
        double cores = ad_real_or(slot, "DetectedCpus", 0);
        see_watts(draw, slot);
        if (offline_ads_is(slot) || !node->awake.has_ads) {
            continue;
        }
        draw->cores = cores > draw->cores ? cores : draw->cores;
        double busy = energy_plan_busy_cores(slot);
        draw->busy_cores += busy;
        if (busy > 0) {
            add_user(draw, slot, busy);
        }
    }
    draw->cores = draw->cores > 0 ? draw->cores : draw->busy_cores;
}

/* ---- what machines count themselves */

struct growing { /* one machine's counters, while they are added */
    struct energy *energy;
    struct seen_counters *seen;
    double from_s, to_s;
    struct energy_sum jobs;
    bool fresh; /* its users were not seen before, since it counts */
};

static void user_grows(void *arg, const struct energy_line *line)
{
    struct growing *growing = arg;
    const struct energy_counter now = {.since_s = line->since_s,
                                       .joules = line->joules,
                                       .seconds = line->core_s};
    struct seen_user *user = user_of(growing->seen, line->name);
    if (user->counter.since_s == 0 && !growing->fresh) {
        user->counter.since_s = now.since_s; /* it was not there: it had had nothing */
    }
    const struct energy_counter more =
        energy_plan_growth(&user->counter, &now, growing->energy->began_s - BEGAN_SLACK);
    user->listed = true;
    if (more.joules > 0 || more.seconds > 0) {
        const struct energy_sum sum = {.used_j = more.joules,
                                       .jobs_j = more.joules,
                                       .busy_core_s = more.seconds};
        energy_days_add(growing->energy->days, 'u', line->name, &sum, growing->from_s,
                        growing->to_s);
        energy_plan_join(&growing->jobs, &sum, 1);
        growing->seen->changed = true;
    }
}

/* Drops counters that the machine no longer lists; they begin anew if they come back.  A few are
 * kept, because a startd that was killed may list a continued counter only later. */
static void drop_unlisted(struct seen_counters *seen)
{
    bool many = seen->users.count > SEEN_USERS_MAX;
    for (size_t i = seen->users.count; i > 0; i--) {
        struct seen_user *user = seen->users.items[i - 1];
        if (!user->listed && many) {
            vec_remove_at(&seen->users, i - 1);
            free_seen_user(user);
        } else {
            user->listed = false;
        }
    }
}

/* Finds the machine's newest ad, and the ad that has the counters of users; NULL: none. */
static void find_counters(const struct node *node, const struct ad **latest,
                          const struct ad **users)
{
    double most = -1;
    *latest = *users = NULL;
    for (size_t i = 0; i < node->ads.count; i++) {
        const struct ad *ad = ((const struct seen *)node->ads.items[i])->ad;
        if (!ad_has(ad, "EnergySince")) {
            continue;
        }
        double seconds = ad_real_or(ad, "EnergySeconds", 0);
        if (seconds > most) {
            most = seconds;
            *latest = ad;
        }
        if (ad_has(ad, "EnergyOfUsers")) {
            *users = ad;
        }
    }
}

/* The machine was going down and is up again without having been off: takes back what was estimated
 * meanwhile, because the machine has counted it itself. */
static void take_back_guess(const struct node *node, struct seen_counters *seen,
                            struct energy_sum *sum)
{
    if (strcmp(node->awake.boot_id, node->asleep.boot_id) == 0) {
        sum->on_s = sum->on_s > seen->guessed_s ? sum->on_s - seen->guessed_s : 0;
        sum->used_j = sum->used_j > seen->guessed_j ? sum->used_j - seen->guessed_j : 0;
    }
    seen->guessed_s = seen->guessed_j = 0;
}

static void take_counters(struct node *node)
{
    struct energy *energy = node->rooster->energy;
    const struct ad *latest, *users;
    find_counters(node, &latest, &users);
    if (latest == NULL) {
        return;
    }
    struct growing growing = {.energy = energy,
                              .seen = counters_of(energy, node->name),
                              .to_s = wall_s(energy)};
    struct seen_counters *seen = growing.seen;
    bool same = seen->all.since_s == ad_int_or(latest, "EnergySince", 0);
    const struct energy_counter now = {.since_s = ad_int_or(latest, "EnergySince", 0),
                                       .joules = ad_real_or(latest, "EnergyJoules", 0),
                                       .seconds = ad_real_or(latest, "EnergySeconds", 0)};
    const struct energy_counter more =
        energy_plan_growth(&seen->all, &now, energy->began_s - BEGAN_SLACK);
    growing.from_s = growing.to_s - more.seconds;
    growing.from_s = seen->at_s > growing.from_s ? seen->at_s : growing.from_s;
    seen->at_s = growing.to_s;
    seen->changed = seen->changed || !same || more.seconds > 0 || more.joules > 0;
    if (users != NULL) {
        growing.fresh = !same || !seen->has_users;
        seen->changed = seen->changed || !seen->has_users;
        seen->has_users = true;
        energy_line_each(users, "EnergyOfUsers", user_grows, &growing);
        drop_unlisted(seen);
    }
    struct energy_sum sum = growing.jobs;
    sum.used_j = more.joules;
    sum.on_s = more.seconds;
    if (node->awake.has_ads) {
        take_back_guess(node, seen, &sum);
    }
    if (seen->changed) {
        energy_days_add(energy->days, 'n', node->name, &sum, growing.from_s, growing.to_s);
    }
}

/* ---- */

void energy_look(struct node *node)
{
    struct rooster *rooster = node->rooster;
    struct energy *energy = rooster->energy;
    energy_days_follow(energy->days, loop_wall_s(rooster->env.loop),
                       config_int(rooster->env.config, "ROOSTER_ENERGY_DAYS"));
    if (node->draw == NULL) {
        node->draw = mem_zalloc(sizeof *node->draw);
    }
    struct energy_draw *draw = node->draw;
    count_by_state(node);
    if (energy_days_are_loaded(energy->days)) { /* else: loaded() does */
        take_counters(node);
    }
    draw->mode = mode_of(node);
    draw->counts = false;
    draw->told = (struct energy_watts){0};
    see_slots(node, draw);
    find_watts(node, draw);
}

void energy_forget(struct node *node)
{
    if (node->draw != NULL) {
        vec_fini(&node->draw->users, free_user);
        mem_free(node->draw);
        node->draw = NULL;
    }
}

static void count_all(struct energy *energy)
{
    struct rooster *rooster = energy->rooster;
    uint64_t now_ms = loop_now_ms(rooster->env.loop);
    double now_s = wall_s(energy), seconds = (double)(now_ms - energy->there_ms) / 1000.0;
    const struct energy_sum there = {.on_s = seconds};
    size_t at = 0;
    void *value;
    energy_days_add(energy->days, 'w', OURSELVES, &there, now_s - seconds, now_s);
    energy->there_ms = now_ms;
    while (strmap_next(rooster->nodes, &at, NULL, &value)) {
        struct node *node = value;
        if (node->draw != NULL) {
            count_by_state(node);
        }
    }
}

void energy_flush(struct energy *energy)
{
    struct rooster *rooster = energy->rooster;
    if (!energy_days_are_loaded(energy->days)) {
        return; /* else it would write over what an earlier life counted today */
    }
    count_all(energy);
    energy_days_follow(energy->days, loop_wall_s(rooster->env.loop),
                       config_int(rooster->env.config, "ROOSTER_ENERGY_DAYS"));
    if (energy_days_are_loaded(energy->days)) {
        write_changed(energy);
    }
}

void energy_write(const struct node *node, struct ad *ad)
{
    const struct energy_draw *draw = node->draw;
    struct energy *energy = node->rooster->energy;
    int64_t now_s = loop_wall_s(node->rooster->env.loop);
    if (draw == NULL || draw->mode == ENERGY_UNKNOWN ||
        (!energy_plan_is_known(&draw->watts) && !draw->counts)) {
        return;
    }
    double share = draw->cores > 0 ? draw->busy_cores / draw->cores : 0;
    ad_set_real(ad, "DrawWatts",
                draw->counts ? draw->draw_w : energy_plan_draw_w(&draw->watts, draw->mode, share));
    const struct energy_sum *sum =
        energy_days_find(energy->days, now_s - now_s % ENERGY_DAY_S, 'n', node->name);
    if (sum != NULL) {
        struct ad *figures = ad_create();
        energy_plan_write(sum, figures);
        (void)ad_copy_attr(ad, "EnergyToday", figures, "EnergyUsed"); /* both are there */
        (void)ad_copy_attr(ad, "EnergySavedToday", figures, "EnergySaved");
        ad_destroy(figures);
    }
}

void energy_query(struct energy *energy, struct wire_request *request)
{
    energy_flush(energy);
    energy_report_answer(energy->reports, energy_days_store(energy->days),
                         loop_wall_s(energy->rooster->env.loop), energy->began_s, request);
}

struct store *energy_store(struct energy *energy)
{
    return energy_days_store(energy->days);
}

void energy_close(struct energy *energy)
{
    if (energy == NULL) {
        return;
    }
    energy_flush(energy);
    energy_days_close(energy->days);
    energy_reports_destroy(energy->reports); /* their scans went with the store */
    strmap_destroy(energy->counters, free_counters);
    mem_free(energy);
}
