/* tests/support/rooster_rig.h - a rooster with real connections: a real collector, offline ads and
 * holds written by the test, and a script that stands for waking machines.
 *
 * A test that includes this file links rooster and collector.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_SUPPORT_ROOSTER_RIG_H
#define TESTS_SUPPORT_ROOSTER_RIG_H

#include "tests/support/unit.h"

#include <errno.h>

#include "base/strbuf.h"
#include "base/strmap.h"
#include "rooster/look.h"
#include "rooster/nodes.h"
#include "rooster/rooster.h"
#include "store/store.h"
#include "tests/support/collector_bed.h"
#include "wire/watch.h"

struct rig {
    struct bed *bed;
    char config_text[2048], script[300], wakes[300];
    struct daemon_rig daemon;
    struct rooster *rooster; /* state of the rooster; NULL: the rooster does not run */
    struct client *startd, *negotiator;
};

#define until(rig, holds) LOOP_RIG_UNTIL((rig)->bed->loop, holds(rig), "")

static inline struct node *node_named(struct rig *rig, const char *name)
{
    return strmap_get(rig->rooster->nodes, name);
}

static inline bool is(struct rig *rig, const char *name, enum wake_state state)
{
    const struct node *node = node_named(rig, name);
    return node != NULL && node->state == state && !node->ordering;
}
static inline bool is_waking(struct rig *rig)
{
    return is(rig, "wn01", WAKE_WAKING);
}
static inline bool is_waking_2(struct rig *rig)
{
    return is(rig, "wn02", WAKE_WAKING);
}
static inline bool is_up(struct rig *rig)
{
    return is(rig, "wn01", WAKE_UP);
}
static inline bool is_off(struct rig *rig)
{
    return is(rig, "wn01", WAKE_OFF);
}
static inline bool is_backing_off(struct rig *rig)
{
    return is(rig, "wn01", WAKE_BACKOFF);
}
static inline bool is_quarantined(struct rig *rig)
{
    return is(rig, "wn01", WAKE_QUARANTINED);
}
static inline bool is_seen(struct rig *rig)
{
    const struct node *node = node_named(rig, "wn01");
    return node != NULL && node->asleep.has_ads;
}
static inline bool is_demanded(struct rig *rig)
{
    const struct node *node = node_named(rig, "wn01");
    return node != NULL && node->jobs.demand_it;
}

/* Returns whether the offline ad of wn01 has this PowerState. */
static inline bool shows(struct rig *rig, const char *power_state)
{
    size_t at = 0;
    const struct ad *ad;
    while (watch_next(rig->rooster->watch, &at, NULL, &ad)) {
        if (strcmp(ad_string_or(ad, "Machine", ""), "wn01") == 0) {
            return strcmp(ad_string_or(ad, "PowerState", ""), power_state) == 0;
        }
    }
    return false;
}
static inline bool shows_off(struct rig *rig)
{
    return shows(rig, "Off");
}
static inline bool shows_waking(struct rig *rig)
{
    return shows(rig, "Waking");
}
static inline bool shows_failed(struct rig *rig)
{
    return shows(rig, "WakeFailed");
}

/* ---- the daemon ---- */

/* Gives the rooster its configuration, with the lines `more`, for the next start. */
static inline void load(struct rig *rig, const char *more)
{
    const struct bed *bed = rig->bed;
    (void)snprintf(rig->config_text, sizeof rig->config_text,
                   "LOCAL_DIR = \"%s\"\nSPOOL = \"%s\"\nSEC_DIRECTORY = \"%s\"\n"
                   "TOKEN_FILE = \"%s/rooster.token\"\nCOLLECTOR_HOST = \"%s\"\n"
                   "ROOSTER_NAME = \"r\"\nROOSTER_WAKEUP_CMD = \"%s\"\n"
                   "ROOSTER_WAKE_ATTEMPTS = 2\n%s\n",
                   bed->dir, bed->dir, bed->dir, bed->dir, bed->tcp + 4, rig->script, more);
    daemon_rig_load(&rig->daemon, &rooster_daemon, rig->config_text);
}

static inline void start(struct rig *rig)
{
    rig->rooster = daemon_rig_start(&rig->daemon, rig->bed->loop, rig->bed->os, rig->bed->log);
}

static inline void stop(struct rig *rig)
{
    daemon_rig_stop(&rig->daemon);
    rig->rooster = NULL;
}

static inline void restart(struct rig *rig)
{
    stop(rig);
    start(rig);
}

/* The wake script: appends its argument to the file `wakes`, copies the ledger, and fails if a file
 * `fail` exists. */
static const char SCRIPT[] =
    "#!/bin/sh\ncd \"$(dirname $0)\"\nmkdir -p copy\ncp rooster.db* copy/\ncat >ad\n"
    "echo \"$1\" >>wakes\ntest ! -e fail\n";

static inline void script(struct rig *rig, const char *text)
{
    bed_write(rig->bed, "wake.sh", text, 0755);
}

static inline int setup(void **state)
{
    struct rig *rig = mem_zalloc(sizeof *rig);
    struct bed *bed = rig->bed = bed_create("");
    bed_start(bed);
    bed_find_address(bed);
    bed_path(bed, "wake.sh", rig->script);
    bed_path(bed, "wakes", rig->wakes);
    script(rig, SCRIPT);
    struct client *token =
        client_dial(bed, SCOPE_READ | SCOPE_ROOSTER | SCOPE_ADVERTISE, "", NULL, NULL);
    client_give_token(token, "rooster.token");
    rig->startd = client_dial(bed, SCOPE_ADVERTISE, "", NULL, NULL);
    rig->negotiator = client_dial(bed, SCOPE_NEGOTIATOR, "", NULL, NULL);
    load(rig, "");
    start(rig);
    *state = rig;
    return 0;
}

static inline int teardown(void **state)
{
    struct rig *rig = *state;
    daemon_rig_fini(&rig->daemon);
    bed_destroy(rig->bed);
    mem_free(rig);
    return 0;
}

/* ---- what happens in the pool ---- */

/* Sends a request with one ad, waits for the answer, and fails the test unless it is a success. */
static inline void must(struct client *client, enum wire_verb verb, const char *args,
                        const char *ad)
{
    const char *const ads[] = {ad, NULL};
    struct answer answer;
    if (client_call(client, verb, args, ads, &answer) != 0) {
        fail_msg("%s %s: %s", wire_verb_name(verb), args, answer.text);
    }
    answer_fini(&answer);
}

static inline void falls_asleep(struct rig *rig, const char *machine)
{
    char ad[400];
    (void)snprintf(ad, sizeof ad,
                   "[ MyType = \"Machine\"; Name = \"slot1@%s\"; Machine = \"%s\"; Offline = true;"
                   " OfflineBootId = \"b1\"; ClassAdLifetime = 86400; PowerState = \"Off\";"
                   " Unhibernate = MachineLastMatchTime =!= undefined ]",
                   machine, machine);
    must(rig->startd, VERB_UPDATE, "[]", ad);
}

/* Writes a hold for `count` jobs that were submitted at since_s into the machine's offline ad;
 * count 0: removes the holds. */
static inline void is_held_since(struct rig *rig, const char *machine, int count, int64_t since_s)
{
    char args[128], ad[256];
    (void)snprintf(args, sizeof args, "[ Type = \"Machine\"; Name = \"slot1@%s\" ]", machine);
    (void)snprintf(ad, sizeof ad,
                   count > 0 ? "[ OfflineMatches = { [ Schedd = \"s\"; AutoCluster = 1; Count = %d;"
                               " Until = 4000000000; Since = %lld ] }; MachineLastMatchTime = 5 ]"
                             : "[ OfflineMatches = {} ]",
                   count, (long long)since_s);
    must(rig->negotiator, VERB_MERGE, args, ad);
}

static inline void is_held(struct rig *rig, const char *machine, int count)
{
    is_held_since(rig, machine, count, 0);
}

/* wn01 sent its ad, marked as the collector marks it, and its connection ended. */
static inline void falls_silent_as(struct rig *rig, const char *slot_state, int64_t for_s)
{
    char ad[300];
    struct client *client = client_dial(rig->bed, SCOPE_ADVERTISE, "", NULL, NULL);
    (void)snprintf(ad, sizeof ad,
                   "[ MyType = \"Machine\"; Name = \"slot1@wn01\"; Machine = \"wn01\";"
                   " BootId = \"b2\"; State = \"%s\"; NotRespondingSince = %lld ]",
                   slot_state, (long long)(loop_wall_s(rig->bed->loop) - for_s));
    must(client, VERB_UPDATE, "[]", ad);
    client_close(client);
}

static inline void boots(struct rig *rig)
{
    must(rig->startd, VERB_UPDATE, "[]",
         "[ MyType = \"Machine\"; Name = \"slot1@wn01\"; Machine = \"wn01\"; BootId = \"b2\";"
         " BootTime = 77; State = \"Unclaimed\" ]");
}

/* Returns the arguments of all calls of the wake script so far, such as "wn01 wn02 ". */
static inline const char *wakes(struct rig *rig)
{
    static _Thread_local char text[512];
    char *data = NULL;
    size_t length;
    text[0] = '\0';
    if (os_read_file(rig->bed->os, rig->wakes, sizeof text - 1, &data, &length, NULL) == 0) {
        for (size_t i = 0; i < length; i++) {
            text[i] = data[i] == '\n' ? ' ' : data[i];
            text[i + 1] = '\0';
        }
        mem_free(data);
    }
    return text;
}

static inline int outcome(void *arg, const char *key, const void *value, size_t length)
{
    struct ad *record;
    char *text = arg;
    (void)key;
    assert_int_equal(ad_decode(value, length, NULL, &record, NULL), 0);
    size_t used = strlen(text);
    (void)snprintf(text + used, 256 - used, "%s:%s:%s ", ad_string_or(record, "Machine", ""),
                   ad_string_or(record, "Kind", ""), ad_string_or(record, "Outcome", ""));
    ad_destroy(record);
    return 0;
}

/* Returns the records of the ledger in file `name`, which no rooster has open, as text. */
static inline const char *ledger(struct rig *rig, const char *name)
{
    static _Thread_local char text[256];
    static const char *const TABLES[] = {"wakes", NULL};
    static const struct store_schema SCHEMA = {.daemon = "rooster", .tables = TABLES, .version = 1};
    struct store *store;
    char path[300];
    text[0] = '\0';
    bed_path(rig->bed, name, path);
    MUST(store_open(rig->bed->loop, rig->bed->os, path, &SCHEMA, NULL, &store, err));
    MUST(store_load(store, "wakes", outcome, text, err));
    store_close(store);
    return text;
}

static inline void may_fail(struct rig *rig, bool fails)
{
    char path[300];
    if (fails) {
        bed_write(rig->bed, "fail", "", 0644);
    } else {
        bed_path(rig->bed, "fail", path);
        MUST(os_remove(rig->bed->os, path, err));
    }
}

static inline void time_passes(struct rig *rig)
{
    node_named(rig, "wn01")->wake.retry_at_ms = 0;
    look_at(node_named(rig, "wn01"));
}

/* Gives wn01 a section in the configuration.  Its sleep command appends "sleep-LEVEL" to the file
 * `wakes` and fails if a file `fail` exists; its status command exits with the number in the file
 * `status`. */
static inline void has_section(struct rig *rig)
{
    static const char SLEEP[] = "#!/bin/sh\ncd \"$(dirname $0)\"\nmkdir -p copy\n"
                                "cp rooster.db* copy/\necho \"sleep-$ROOST_LEVEL\" >>wakes\n"
                                "test ! -e fail\n";
    static const char STATUS[] = "#!/bin/sh\ncd \"$(dirname $0)\"\necho status >>wakes\n"
                                 "exit $(cat status)\n";
    char text[900];
    const char *dir = rig->bed->dir;
    stop(rig);
    bed_write(rig->bed, "sleep.sh", SLEEP, 0755);
    bed_write(rig->bed, "status.sh", STATUS, 0755);
    (void)snprintf(text, sizeof text,
                   "node \"wn01\" {\n method = command\n wake_command = \"%s\"\n"
                   " sleep_command = \"%s/sleep.sh\"\n status_command = \"%s/status.sh\"\n}\n",
                   rig->script, dir, dir);
    load(rig, text);
    start(rig);
}

static inline void status_is(struct rig *rig, const char *status)
{
    bed_write(rig->bed, "status", status, 0644);
}

static inline void asks_to_go_down(struct rig *rig, int at)
{
    char ad[500];
    (void)snprintf(ad, sizeof ad,
                   "[ MyType = \"Machine\"; Name = \"slot1@wn01\"; Machine = \"wn01\";"
                   " Offline = true; OfflineBootId = \"b1\"; ClassAdLifetime = 86400;"
                   " MyCurrentTime = %d; PowerState = \"GoingDown\"; HibernationState = \"S4\";"
                   " PowerStateReason = \"no work\";"
                   " Unhibernate = MachineLastMatchTime =!= undefined ]",
                   at);
    must(rig->startd, VERB_UPDATE, "[]", ad);
}

static inline bool shows_on(struct rig *rig)
{
    return shows(rig, "On");
}

#define RIG(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

#endif
