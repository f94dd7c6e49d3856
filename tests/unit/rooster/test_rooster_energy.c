/* What machines count themselves, as the rooster adds it up: whoever restarts, whatever is lost,
 * nothing is counted twice.
 *
 * LINK: rooster collector
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/rooster_rig.h"

#include <math.h>

#include "rooster/energy_days.h"
#include "rooster/energy_plan.h"
#include "rooster/seen.h"

#define KWH 3.6e6

static double reported_since(struct rig *rig, const char *kind, const char *name,
                             const char *figure, int64_t since_s)
{
    struct client *admin = client_dial(rig->bed, SCOPE_ADMINISTRATOR, "", NULL, NULL);
    struct answer answer;
    double value = -1;
    char args[200];
    (void)snprintf(args, sizeof args, "[ Type = \"Energy\"; Kind = \"%s\"; Since = %lld ]", kind,
                   (long long)since_s);
    assert_int_equal(client_relay(admin, "rooster/r", VERB_QUERY, args, NULL, &answer), 0);
    for (size_t i = 0; i < answer.ads.count; i++) {
        if (strcmp(ad_string_or(answer.ads.items[i], "Name", ""), name) == 0) {
            value = ad_real_or(answer.ads.items[i], figure, -1);
        }
    }
    answer_fini(&answer);
    return value;
}

static double reported(struct rig *rig, const char *kind, const char *name, const char *figure)
{
    return reported_since(rig, kind, name, figure, 0);
}

static void near(double found, double expected)
{
    if (!(fabs(found - expected) < 1e-9 * (1 + fabs(expected)))) {
        fail_msg("%.12f, not %.12f", found, expected);
    }
}

/* Sooner or later, and not more; ctest's limit ends what never comes. */
static void becomes(struct rig *rig, const char *kind, const char *name, const char *figure,
                    double expected)
{
    double found;
    do {
        found = reported(rig, kind, name, figure);
    } while (found < expected * (1 - 1e-9));
    near(found, expected);
}

static double seen_seconds;
static bool has_seen(struct rig *rig)
{
    const struct node *node = node_named(rig, "wn01");
    for (size_t i = 0; node != NULL && i < node->ads.count; i++) {
        const struct ad *ad = ((const struct seen *)node->ads.items[i])->ad;
        if (ad_real_or(ad, "EnergySeconds", -1) == seen_seconds) {
            return true;
        }
    }
    return false;
}

/* What wn01 says of itself; and it was looked at. */
static void says(struct rig *rig, const char *how, int64_t since_s, double kwh, double seconds,
                 double anns_kwh)
{
    char ad[900];
    (void)snprintf(ad, sizeof ad,
                   "[ MyType = \"Machine\"; Name = \"slot1@wn01\"; Machine = \"wn01\"; %s"
                   " PowerIdleWatts = 900000.0; EnergySince = %lld; EnergyJoules = %.1f;"
                   " EnergySeconds = %.1f; EnergyOfUsers = { \"%lld %.1f %.1f ann@pool\" } ]",
                   how, (long long)since_s, kwh * KWH, seconds, (long long)since_s, anns_kwh * KWH,
                   seconds / 2);
    must(rig->startd, VERB_UPDATE, "[CancelOffline = true]", ad);
    seen_seconds = seconds;
    until(rig, has_seen);
}

#define LIVE                                                                              \
    "BootId = \"b2\"; BootTime = 77; State = \"Claimed\"; Activity = \"Busy\"; Cpus = 2;" \
    " DetectedCpus = 4; RemoteUser = \"ann@pool\"; PowerSource = \"RAPL\";"               \
    " PowerDrawWatts = 77.0;"
#define OFFLINE \
    "Offline = true; OfflineBootId = \"b2\"; ClassAdLifetime = 86400; PowerState = \"Off\";"
#define GOING_DOWN                                                     \
    "Offline = true; OfflineBootId = \"b2\"; ClassAdLifetime = 86400;" \
    " PowerState = \"GoingDown\";"

static void copy(struct rig *rig, const char *from, const char *to)
{
    static const char *const FILES[] = {"rooster_energy.db", "rooster_energy.db-wal"};
    for (size_t i = 0; i < 2; i++) {
        char path[400], *data = NULL;
        size_t length;
        (void)snprintf(path, sizeof path, "%s/%s%s", rig->bed->dir, FILES[i], from);
        if (os_read_file(rig->bed->os, path, (size_t)16 << 20, &data, &length, NULL) == 0) {
            (void)snprintf(path, sizeof path, "%s/%s%s", rig->bed->dir, FILES[i], to);
            MUST(os_write_file(rig->bed->os, path, data, length, 0600, false, err));
            mem_free(data);
        }
    }
}

static void counters_are_added_up_once_whoever_is_killed(void **state)
{
    struct rig *rig = *state;
    int64_t since_s = loop_wall_s(rig->bed->loop);
    says(rig, LIVE, since_s, 1, 100, 0.5);
    until(rig, is_up);
    becomes(rig, "Node", "wn01", "EnergyUsed", 1);
    becomes(rig, "Node", "wn01", "OnSeconds", 100);
    becomes(rig, "Node", "wn01", "EnergyOfJobs", 0.5);
    becomes(rig, "Node", "wn01", "BusyCoreSeconds", 50);
    becomes(rig, "User", "ann@pool", "EnergyUsed", 0.5);
    becomes(rig, "User", "ann@pool", "BusyCoreSeconds", 50);
    struct ad *ad = node_to_ad(node_named(rig, "wn01"));
    near(ad_real_or(ad, "DrawWatts", 0), 77);
    near(ad_real_or(ad, "EnergyToday", 0), 1);
    ad_destroy(ad);
    copy(rig, "", ".killed"); /* what a rooster that is killed now leaves */
    says(rig, LIVE, since_s, 1.5, 150, 0.75);
    becomes(rig, "Node", "wn01", "EnergyUsed", 1.5);
    stop(rig);
    copy(rig, ".killed", "");
    start(rig);
    until(rig, is_up);
    becomes(rig, "Node", "wn01", "EnergyUsed", 1.5);
    becomes(rig, "User", "ann@pool", "EnergyUsed", 0.75);
    restart(rig);
    until(rig, is_up);
    becomes(rig, "Node", "wn01", "EnergyUsed", 1.5);
    says(rig, LIVE, since_s, 1.25, 125, 0.5); /* its startd was killed, and has forgotten */
    look_now(rig->rooster);
    says(rig, LIVE, since_s, 1.75, 175, 1);
    becomes(rig, "Node", "wn01", "EnergyUsed", 1.75);
    becomes(rig, "Node", "wn01", "EnergyOfJobs", 1);
    says(rig, LIVE, since_s + 1, 0.25, 10, 0.25); /* it counts anew */
    becomes(rig, "Node", "wn01", "EnergyUsed", 2);
    becomes(rig, "User", "ann@pool", "EnergyUsed", 1.25);
}

static void what_was_counted_before_anybody_looked_is_not_todays(void **state)
{
    struct rig *rig = *state;
    says(rig, LIVE, 1700000000, 5000, 1e7, 2500);
    until(rig, is_up);
    look_now(rig->rooster);
    becomes(rig, "Node", "wn01", "EnergyUsed", 0);
    says(rig, LIVE, 1700000000, 5001, 1e7 + 20, 2500.5);
    becomes(rig, "Node", "wn01", "EnergyUsed", 1);
    becomes(rig, "Node", "wn01", "OnSeconds", 20);
    becomes(rig, "User", "ann@pool", "EnergyUsed", 0.5);
    /* Bob had nothing before: all of it is his, though the machine counts for years. */
    must(rig->startd, VERB_UPDATE, "[]",
         "[ MyType = \"Machine\"; Name = \"slot1@wn01\"; Machine = \"wn01\"; " LIVE
         " EnergySince = 1700000000; EnergyJoules = 18007200000.0; EnergySeconds = 10000030.0;"
         " EnergyOfUsers = { \"1700000000 9001800000.0 5000010.0 ann@pool\","
         " \"1700000000 3600000.0 5.0 bob@pool\" } ]");
    becomes(rig, "User", "bob@pool", "EnergyUsed", 1);
    becomes(rig, "Node", "wn01", "EnergyUsed", 2);
    /* Its startd was killed, and hears of bob's run only later. */
    must(rig->startd, VERB_UPDATE, "[]",
         "[ MyType = \"Machine\"; Name = \"slot1@wn01\"; Machine = \"wn01\"; " LIVE
         " EnergySince = 1700000000; EnergyJoules = 18007200000.0; EnergySeconds = 10000031.0;"
         " EnergyOfUsers = {} ]");
    seen_seconds = 1e7 + 31;
    until(rig, has_seen);
    look_now(rig->rooster);
    must(rig->startd, VERB_UPDATE, "[]",
         "[ MyType = \"Machine\"; Name = \"slot1@wn01\"; Machine = \"wn01\"; " LIVE
         " EnergySince = 1700000000; EnergyJoules = 18010800000.0; EnergySeconds = 10000040.0;"
         " EnergyOfUsers = { \"1700000000 5400000.0 5.0 bob@pool\" } ]");
    becomes(rig, "Node", "wn01", "EnergyUsed", 3);
    becomes(rig, "User", "bob@pool", "EnergyUsed", 1.5);
}

static void a_machine_that_goes_down_has_its_last_word_and_then_sleeps(void **state)
{
    struct rig *rig = *state;
    int64_t since_s = loop_wall_s(rig->bed->loop);
    says(rig, LIVE, since_s, 1, 100, 0.5);
    until(rig, is_up);
    says(rig, OFFLINE, since_s, 1.5, 150, 0.5);
    until(rig, is_off);
    while (!(reported(rig, "Node", "wn01", "AsleepSeconds") > 0)) { /* ctest's limit ends it */
    }
    becomes(rig, "Node", "wn01", "EnergyUsed", 1.5);
    becomes(rig, "Node", "wn01", "OnSeconds", 150);
    double asleep_s = reported(rig, "Node", "wn01", "AsleepSeconds");
    assert_true(reported(rig, "Node", "wn01", "EnergySaved") >= asleep_s * 900000 / KWH);
    assert_true(reported(rig, "Node", "wn01", "EnergyAlwaysOn") >
                reported(rig, "Node", "wn01", "EnergyUsed"));
}

static bool has_guessed(struct rig *rig)
{
    return reported(rig, "Node", "wn01", "EnergyUsed") > 1.0000001;
}

static void what_was_guessed_of_one_that_stayed_up_is_not_counted_twice(void **state)
{
    struct rig *rig = *state;
    int64_t since_s = loop_wall_s(rig->bed->loop);
    says(rig, LIVE, since_s, 1, 100, 0.5);
    until(rig, is_up);
    says(rig, GOING_DOWN, since_s, 1, 100, 0.5);
    while (!has_guessed(rig)) {
    }
    says(rig, LIVE, since_s, 9000, 160, 0.5); /* it counted on; at 900 kW, all that it guessed */
    becomes(rig, "Node", "wn01", "EnergyUsed", 9000);
    becomes(rig, "Node", "wn01", "OnSeconds", 160);
}

/* ---- days */

static void put_row(struct store *store, const char *key, const char *text)
{
    struct ad *ad = ad_from_text(text);
    struct strbuf bytes;
    strbuf_init(&bytes, 0);
    ad_encode(ad, false, &bytes);
    struct store_txn *txn = store_begin(store);
    store_put(txn, ENERGY_TABLE, key, bytes.data, bytes.length);
    store_commit(txn, NULL, NULL);
    strbuf_fini(&bytes);
    ad_destroy(ad);
}

/* A rooster that counted three days ago, and wrote last two days ago. */
static void a_rooster_that_was_away_counts_what_machines_did_to_their_days_and_says_so(void **state)
{
    static const char *const TABLES[] = {ENERGY_TABLE, NULL};
    static const struct store_schema SCHEMA = {.daemon = "rooster", .tables = TABLES, .version = 1};
    struct rig *rig = *state;
    struct store *store;
    char path[300], text[300], key[ENERGY_KEY_SIZE];
    int64_t now_s = loop_wall_s(rig->bed->loop), day_s = now_s - now_s % ENERGY_DAY_S;
    int64_t away_s = 2 * ENERGY_DAY_S;
    stop(rig);
    bed_path(rig->bed, "rooster_energy.db.witness", path);
    MUST(os_remove(rig->bed->os, path, err));
    bed_path(rig->bed, "rooster_energy.db", path);
    MUST(os_remove(rig->bed->os, path, err));
    MUST(store_open(rig->bed->loop, rig->bed->os, path, &SCHEMA, NULL, &store, err));
    (void)snprintf(text, sizeof text, "[Began = %lld; Written = %lld]",
                   (long long)(now_s - away_s - 3600), (long long)(now_s - away_s));
    put_row(store, "m", text);
    (void)snprintf(text, sizeof text, "[Since = 5; Joules = 0.0; Seconds = 0.0; At = %lld.0]",
                   (long long)(now_s - 3 * away_s));
    put_row(store, "s/wn01", text);
    energy_days_key(day_s - away_s, "n/wn01", key);
    put_row(store, key, "[OnSeconds = 10.0; EnergyUsed = 4.0]");
    put_row(store, "000000000000/n/rubbish", "[OnSeconds = \"x\"; EnergyUsed = -4.0]");
    store_close(store);
    start(rig);
    says(rig, LIVE, 5, 48, (double)away_s, 0);
    until(rig, is_up);
    becomes(rig, "Node", "wn01", "EnergyUsed", 52); /* 1 kWh an hour, and the 4 */
    becomes(rig, "Node", "wn01", "OnSeconds", (double)away_s + 10);
    becomes(rig, "Node", "rubbish", "EnergyUsed", 0);
    double hours = (double)(now_s - day_s) / 3600;
    assert_true(fabs(reported_since(rig, "Node", "wn01", "EnergyUsed", day_s) - hours) < 0.02);
    assert_true(fabs(reported_since(rig, "Node", "wn01", "EnergyUsed", day_s - ENERGY_DAY_S) -
                     hours - 24) < 0.02);
    double uncounted_s = reported(rig, "Node", "wn01", "UncountedSeconds");
    assert_true(fabs(uncounted_s - (double)away_s - 3600) < 60);
    uncounted_s = reported_since(rig, "Node", "wn01", "UncountedSeconds", day_s);
    assert_true(fabs(uncounted_s - (double)(now_s - day_s)) < 60);
}

static bool is_loaded;
static void row(void *arg, const char *key, const struct ad *ad)
{
    (void)arg;
    (void)key;
    (void)ad;
}
static double back_to(void *arg)
{
    struct rig *rig = arg;
    return (double)loop_wall_s(rig->bed->loop);
}
static void loaded(void *arg)
{
    (void)arg;
    is_loaded = true;
}
static bool has_loaded(struct rig *rig)
{
    (void)rig;
    return is_loaded;
}

static const struct energy_days_events EVENTS = {.row = row, .back_to = back_to, .loaded = loaded};

static void a_clock_that_jumps_and_comes_back_loses_nothing(void **state)
{
    struct rig *rig = *state;
    struct energy_days *days = NULL;
    stop(rig);
    MUST(energy_days_open(&rig->daemon.env, &EVENTS, rig, &days, err));
    until(rig, has_loaded);
    int64_t now_s = loop_wall_s(rig->bed->loop), far_s = now_s + 400 * ENERGY_DAY_S;
    int64_t day_s = now_s - now_s % ENERGY_DAY_S;
    const struct energy_sum sum = {.on_s = 5};
    energy_days_add(days, 'n', "x", &sum, (double)now_s, (double)now_s);
    energy_days_follow(days, far_s, 30);
    assert_null(energy_days_find(days, day_s, 'n', "x")); /* not in memory any more */
    energy_days_add(days, 'n', "x", &sum, (double)far_s, (double)far_s);
    is_loaded = false;
    energy_days_follow(days, now_s, 30);
    assert_false(energy_days_are_loaded(days));
    energy_days_add(days, 'n', "x", &sum, (double)now_s, (double)now_s);
    until(rig, has_loaded);
    near(energy_days_find(days, day_s, 'n', "x")->on_s, 10);
    near(energy_days_find(days, far_s - far_s % ENERGY_DAY_S, 'n', "x")->on_s, 5);
    energy_days_follow(days, now_s + ENERGY_DAY_S, 30);
    near(energy_days_find(days, day_s, 'n', "x")->on_s, 10); /* yesterday may still grow */
    energy_days_close(days);
}

static bool is_stored;
static void stored(void *arg)
{
    (void)arg;
    is_stored = true;
}
static bool has_stored(struct rig *rig)
{
    (void)rig;
    return is_stored;
}

/* A second on this day; returns the seconds of the first day when the store has done all. */
static double first_day_after(struct rig *rig, struct energy_days *days, int64_t first_s,
                              int64_t now_s, int64_t keep_days)
{
    const struct energy_sum sum = {.on_s = 1};
    energy_days_follow(days, now_s, keep_days);
    energy_days_add(days, 'n', "x", &sum, (double)now_s, (double)now_s);
    is_stored = false;
    store_commit(store_begin(energy_days_store(days)), stored, NULL);
    until(rig, has_stored);
    is_loaded = false;
    energy_days_follow(days, first_s, keep_days);
    until(rig, has_loaded);
    const struct energy_sum *found =
        energy_days_find(days, first_s - first_s % ENERGY_DAY_S, 'n', "x");
    double seconds = found != NULL ? found->on_s : 0;
    energy_days_follow(days, now_s, keep_days);
    return seconds;
}

static void the_newest_days_are_kept_however_far_ahead_the_clock_was(void **state)
{
    struct rig *rig = *state;
    struct energy_days *days = NULL;
    stop(rig);
    is_loaded = false;
    MUST(energy_days_open(&rig->daemon.env, &EVENTS, rig, &days, err));
    until(rig, has_loaded);
    int64_t now_s = loop_wall_s(rig->bed->loop), far_s = now_s + 400 * ENERGY_DAY_S;
    const struct energy_sum sum = {.on_s = 7};
    energy_days_add(days, 'n', "x", &sum, (double)now_s, (double)now_s);
    near(first_day_after(rig, days, now_s, far_s, 3), 7);
    near(first_day_after(rig, days, now_s, far_s + ENERGY_DAY_S, 3), 7);
    near(first_day_after(rig, days, now_s, far_s + 2 * ENERGY_DAY_S, 3), 7);
    near(first_day_after(rig, days, now_s, far_s + 3 * ENERGY_DAY_S, 3), 0);
    energy_days_close(days);
}

UNIT_TESTS(RIG(counters_are_added_up_once_whoever_is_killed),
           RIG(what_was_counted_before_anybody_looked_is_not_todays),
           RIG(a_machine_that_goes_down_has_its_last_word_and_then_sleeps),
           RIG(what_was_guessed_of_one_that_stayed_up_is_not_counted_twice),
           RIG(a_rooster_that_was_away_counts_what_machines_did_to_their_days_and_says_so),
           RIG(a_clock_that_jumps_and_comes_back_loses_nothing),
           RIG(the_newest_days_are_kept_however_far_ahead_the_clock_was))
