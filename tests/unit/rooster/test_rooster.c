/* The rooster over real wires: a real collector, offline ads and holds that the test writes, a
 * script that wakes.
 *
 * LINK: rooster collector
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>

#include "base/strbuf.h"
#include "base/strmap.h"
#include "rooster/rooster.h"
#include "store/store.h"
#include "tests/support/collector_bed.h"
#include "wire/watch.h"

#define PATIENCE_MS 15000

struct rig {
    struct bed *bed;
    char config_text[2048], script[300], wakes[300];
    struct config *config;
    struct daemon_env env;
    struct rooster *rooster;
    struct client *startd, *negotiator;
    struct loop_timer *tick;
    bool (*holds)(struct rig *rig);
    bool over;
    unsigned ticks;
};

static void tick(void *arg)
{
    struct rig *rig = arg;
    rig->over = rig->holds(rig) || ++rig->ticks > PATIENCE_MS;
    if (!rig->over) {
        loop_timer_set(rig->tick, 1);
    }
}

static void until_(struct rig *rig, bool (*holds)(struct rig *rig), const char *what)
{
    rig->holds = holds;
    rig->ticks = 0;
    rig->over = false;
    loop_timer_set(rig->tick, 0);
    loop_run_until(rig->bed->loop, &rig->over);
    loop_timer_stop(rig->tick);
    if (!holds(rig)) {
        fail_msg("waited in vain for: %s", what);
    }
}
#define until(rig, holds) until_(rig, holds, #holds)

static struct node *node_named(struct rig *rig, const char *name)
{
    return strmap_get(rig->rooster->nodes, name);
}

static bool is(struct rig *rig, const char *name, enum wake_state state)
{
    const struct node *node = node_named(rig, name);
    return node != NULL && node->state == state && !node->ordering;
}
static bool is_waking(struct rig *rig)
{
    return is(rig, "wn01", WAKE_WAKING);
}
static bool is_waking_2(struct rig *rig)
{
    return is(rig, "wn02", WAKE_WAKING);
}
static bool is_up(struct rig *rig)
{
    return is(rig, "wn01", WAKE_UP);
}
static bool is_off(struct rig *rig)
{
    return is(rig, "wn01", WAKE_OFF);
}
static bool is_backing_off(struct rig *rig)
{
    return is(rig, "wn01", WAKE_BACKOFF);
}
static bool is_quarantined(struct rig *rig)
{
    return is(rig, "wn01", WAKE_QUARANTINED);
}
static bool is_seen(struct rig *rig)
{
    const struct node *node = node_named(rig, "wn01");
    return node != NULL && node->offline;
}
static bool is_demanded(struct rig *rig)
{
    const struct node *node = node_named(rig, "wn01");
    return node != NULL && node->demanded;
}

/* What the offline ad of wn01 shows to the pool. */
static bool shows(struct rig *rig, const char *power_state)
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
static bool shows_off(struct rig *rig)
{
    return shows(rig, "Off");
}
static bool shows_waking(struct rig *rig)
{
    return shows(rig, "Waking");
}
static bool shows_failed(struct rig *rig)
{
    return shows(rig, "WakeFailed");
}

/* ---- the daemon ---- */

static int rooster_read(void *context, const char *path, size_t max, char **text, size_t *length,
                        struct err *err)
{
    const struct rig *rig = context;
    (void)path;
    (void)max;
    (void)err;
    *text = mem_strdup(rig->config_text);
    *length = strlen(rig->config_text);
    return 0;
}

static void load(struct rig *rig, const char *more)
{
    const struct bed *bed = rig->bed;
    (void)snprintf(rig->config_text, sizeof rig->config_text,
                   "LOCAL_DIR = \"%s\"\nSPOOL = \"%s\"\nSEC_DIRECTORY = \"%s\"\n"
                   "TOKEN_FILE = \"%s/rooster.token\"\nCOLLECTOR_HOST = \"%s\"\n"
                   "ROOSTER_NAME = \"r\"\nROOSTER_WAKEUP_CMD = \"%s\"\n"
                   "ROOSTER_WAKE_ATTEMPTS = 2\n%s\n",
                   bed->dir, bed->dir, bed->dir, bed->dir, bed->tcp + 4, rig->script, more);
    const struct config_source source = {.read_file = rooster_read,
                                         .list_directory = bed_list,
                                         .get_env = bed_env,
                                         .context = rig};
    const struct config_options options = {.subsystem = "ROOSTER",
                                           .path = "/roost.conf",
                                           .tables = rooster_daemon.tables,
                                           .table_count = rooster_daemon.table_count};
    config_destroy(rig->config);
    BED_MUST(config_load(&source, &options, &rig->config, err));
}

static void start(struct rig *rig)
{
    void *state = NULL;
    rig->env = (struct daemon_env){.loop = rig->bed->loop,
                                   .os = rig->bed->os,
                                   .log = rig->bed->log,
                                   .config = rig->config,
                                   .name = "rooster"};
    BED_MUST(rooster_daemon.start(&rig->env, &state, err));
    rig->rooster = state;
}

static void stop(struct rig *rig)
{
    rooster_daemon.destroy(rig->rooster);
    rig->rooster = NULL;
}

static void restart(struct rig *rig)
{
    stop(rig);
    start(rig);
}

/* Writes its argument down, keeps a copy of the ledger as it finds it, and fails where it is told
 * to. */
static const char SCRIPT[] =
    "#!/bin/sh\ncd \"$(dirname $0)\"\nmkdir -p copy\ncp rooster.db* copy/\ncat >ad\n"
    "echo \"$1\" >>wakes\ntest ! -e fail\n";

static void script(struct rig *rig, const char *text)
{
    BED_MUST(os_write_file(rig->bed->os, rig->script, text, strlen(text), 0755, false, err));
}

static int setup(void **state)
{
    struct rig *rig = mem_zalloc(sizeof *rig);
    struct bed *bed = rig->bed = bed_create("");
    bed_start(bed);
    bed_find_address(bed);
    bed_path(bed, "wake.sh", rig->script);
    bed_path(bed, "wakes", rig->wakes);
    script(rig, SCRIPT);
    struct client *token =
        client_dial(bed, SCOPE_READ | SCOPE_DAEMON | SCOPE_ADVERTISE, "", NULL, NULL);
    char from[300], to[300];
    bed_path(bed, token->token_id, from);
    bed_path(bed, "rooster.token", to);
    BED_MUST(os_rename(bed->os, from, to, false, err));
    rig->startd = client_dial(bed, SCOPE_ADVERTISE, "", NULL, NULL);
    rig->negotiator = client_dial(bed, SCOPE_NEGOTIATOR, "", NULL, NULL);
    rig->tick = loop_timer_create(bed->loop, tick, rig);
    load(rig, "");
    start(rig);
    *state = rig;
    return 0;
}

static int teardown(void **state)
{
    struct rig *rig = *state;
    if (rig->rooster != NULL) {
        stop(rig);
    }
    loop_timer_destroy(rig->tick);
    config_destroy(rig->config);
    bed_destroy(rig->bed);
    mem_free(rig);
    return 0;
}

/* ---- what happens in the pool ---- */

static void must(struct client *client, enum wire_verb verb, const char *args, const char *ad)
{
    const char *const ads[] = {ad, NULL};
    struct answer answer;
    if (client_call(client, verb, args, ads, &answer) != 0) {
        fail_msg("%s %s: %s", wire_verb_name(verb), args, answer.text);
    }
    answer_fini(&answer);
}

static void falls_asleep(struct rig *rig, const char *machine)
{
    char ad[400];
    (void)snprintf(ad, sizeof ad,
                   "[ MyType = \"Machine\"; Name = \"slot1@%s\"; Machine = \"%s\"; Offline = true;"
                   " OfflineBootId = \"b1\"; ClassAdLifetime = 86400; PowerState = \"Off\";"
                   " Unhibernate = MachineLastMatchTime =!= undefined ]",
                   machine, machine);
    must(rig->startd, VERB_UPDATE, "[]", ad);
}

static void is_held(struct rig *rig, const char *machine, int count)
{
    char args[128], ad[256];
    (void)snprintf(args, sizeof args, "[ Type = \"Machine\"; Name = \"slot1@%s\" ]", machine);
    (void)snprintf(ad, sizeof ad,
                   count > 0 ? "[ OfflineMatches = { [ Schedd = \"s\"; AutoCluster = 1; Count = %d;"
                               " Until = 4000000000 ] }; MachineLastMatchTime = 5 ]"
                             : "[ OfflineMatches = {} ]",
                   count);
    must(rig->negotiator, VERB_MERGE, args, ad);
}

static void boots(struct rig *rig)
{
    must(rig->startd, VERB_UPDATE, "[]",
         "[ MyType = \"Machine\"; Name = \"slot1@wn01\"; Machine = \"wn01\"; BootId = \"b2\";"
         " BootTime = 77; State = \"Unclaimed\" ]");
}

/* What the script was called with, "wn01 wn02 ". */
static const char *wakes(struct rig *rig)
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

static int outcome(void *arg, const char *key, const void *value, size_t length)
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

/* The records of a ledger that no rooster has open. */
static const char *ledger(struct rig *rig, const char *name)
{
    static _Thread_local char text[256];
    static const char *const TABLES[] = {"wakes", NULL};
    static const struct store_schema SCHEMA = {.daemon = "rooster", .tables = TABLES, .version = 1};
    struct store *store;
    char path[300];
    text[0] = '\0';
    bed_path(rig->bed, name, path);
    BED_MUST(store_open(rig->bed->loop, rig->bed->os, path, &SCHEMA, NULL, &store, err));
    BED_MUST(store_load(store, "wakes", outcome, text, err));
    store_close(store);
    return text;
}

static void may_fail(struct rig *rig, bool fails)
{
    char path[300];
    bed_path(rig->bed, "fail", path);
    if (fails) {
        BED_MUST(os_write_file(rig->bed->os, path, "", 0, 0644, false, err));
    } else {
        BED_MUST(os_remove(rig->bed->os, path, err));
    }
}

static void time_passes(struct rig *rig)
{
    node_named(rig, "wn01")->retry_at_ms = 0;
    look_soon(rig->rooster);
}

/* ---------------------------------------------------------------------------------------------- */

static void a_hold_wakes_the_machine_and_its_live_ad_is_the_success(void **state)
{
    struct rig *rig = *state;
    falls_asleep(rig, "wn01");
    is_held(rig, "wn01", 2);
    until(rig, is_waking);
    until(rig, shows_waking);
    assert_string_equal(wakes(rig), "wn01 ");
    assert_string_equal(node_named(rig, "wn01")->reason, "2 jobs wait for it");
    boots(rig);
    until(rig, is_up);
    stop(rig);
    assert_string_equal(ledger(rig, "rooster.db"), "wn01:Wake:Up ");
}

static void the_ledger_is_durable_before_the_command_runs(void **state)
{
    struct rig *rig = *state;
    falls_asleep(rig, "wn01");
    is_held(rig, "wn01", 1);
    until(rig, is_waking);
    assert_string_equal(ledger(rig, "copy/rooster.db"), "wn01:Wake:Started ");
}

static void the_command_gets_the_offline_ad(void **state)
{
    struct rig *rig = *state;
    char path[300], *text;
    size_t length;
    falls_asleep(rig, "wn01");
    is_held(rig, "wn01", 1);
    until(rig, is_waking);
    bed_path(rig->bed, "ad", path);
    BED_MUST(os_read_file(rig->bed->os, path, 65536, &text, &length, err));
    assert_non_null(strstr(text, "Name = \"slot1@wn01\""));
    assert_non_null(strstr(text, "OfflineMatches = "));
    mem_free(text);
}

static void without_a_hold_nothing_is_woken(void **state)
{
    struct rig *rig = *state;
    falls_asleep(rig, "wn01");
    falls_asleep(rig, "wn02");
    is_held(rig, "wn02", 1);
    until(rig, is_waking_2);
    assert_true(is_off(rig));
    assert_string_equal(wakes(rig), "wn02 ");
}

static void a_hold_that_unhibernate_does_not_confirm_wakes_nothing(void **state)
{
    struct rig *rig = *state;
    stop(rig);
    load(rig, "ROOSTER_UNHIBERNATE = \"Offline && Unhibernate && Machine != \\\"wn01\\\"\"");
    start(rig);
    falls_asleep(rig, "wn01");
    falls_asleep(rig, "wn02");
    is_held(rig, "wn01", 1);
    is_held(rig, "wn02", 1);
    until(rig, is_waking_2);
    assert_true(is_off(rig));
    assert_string_equal(wakes(rig), "wn02 ");
}

static void a_command_that_fails_is_tried_again_and_then_the_machine_is_left_alone(void **state)
{
    struct rig *rig = *state;
    may_fail(rig, true);
    falls_asleep(rig, "wn01");
    is_held(rig, "wn01", 1);
    until(rig, is_backing_off);
    assert_string_equal(wakes(rig), "wn01 ");
    assert_true(node_named(rig, "wn01")->retry_at_ms > loop_now_ms(rig->bed->loop));
    time_passes(rig);
    until(rig, is_quarantined);
    until(rig, shows_failed);
    assert_string_equal(wakes(rig), "wn01 wn01 ");
    assert_non_null(strstr(node_named(rig, "wn01")->reason, "ended with status 1"));
    stop(rig);
    assert_string_equal(ledger(rig, "rooster.db"), "wn01:Wake:Failed ");
}

static void after_quarantine_the_machine_may_be_held_again(void **state)
{
    struct rig *rig = *state;
    may_fail(rig, true);
    falls_asleep(rig, "wn01");
    is_held(rig, "wn01", 1);
    until(rig, is_backing_off);
    time_passes(rig);
    until(rig, is_quarantined);
    is_held(rig, "wn01", 0); /* the negotiator takes the hold of a failed machine back */
    until(rig, shows_failed);
    time_passes(rig);
    until(rig, shows_off);
    assert_true(is_off(rig));
    may_fail(rig, false);
    is_held(rig, "wn01", 1);
    until(rig, is_waking);
    assert_string_equal(wakes(rig), "wn01 wn01 wn01 ");
}

static void a_restart_forgets_no_quarantine(void **state)
{
    struct rig *rig = *state;
    may_fail(rig, true);
    falls_asleep(rig, "wn01");
    is_held(rig, "wn01", 1);
    until(rig, is_backing_off);
    time_passes(rig);
    until(rig, is_quarantined);
    until(rig, shows_failed);
    restart(rig);
    until(rig, is_demanded);
    assert_true(is_quarantined(rig));
    assert_in_range(node_named(rig, "wn01")->retry_at_ms - loop_now_ms(rig->bed->loop), 3500000,
                    3600000);
    assert_string_equal(wakes(rig), "wn01 wn01 ");
}

static void a_machine_that_does_not_come_is_tried_again(void **state)
{
    struct rig *rig = *state;
    falls_asleep(rig, "wn01");
    is_held(rig, "wn01", 1);
    until(rig, is_waking);
    assert_true(loop_timer_is_set(node_named(rig, "wn01")->deadline));
    loop_timer_set(node_named(rig, "wn01")->deadline, 0);
    until(rig, is_backing_off);
    assert_non_null(strstr(node_named(rig, "wn01")->reason, "did not join the pool in time"));
    time_passes(rig);
    until(rig, is_waking);
    assert_string_equal(wakes(rig), "wn01 wn01 ");
}

static void a_wake_that_nobody_waits_for_any_more_is_over_in_the_ledger(void **state)
{
    struct rig *rig = *state;
    may_fail(rig, true);
    falls_asleep(rig, "wn01");
    is_held(rig, "wn01", 1);
    until(rig, is_backing_off);
    is_held(rig, "wn01", 0);
    until(rig, is_off);
    restart(rig); /* which takes up what has no outcome */
    until(rig, is_seen);
    assert_true(is_off(rig));
    stop(rig);
    assert_string_equal(ledger(rig, "rooster.db"), "wn01:Wake:Failed ");
}

static void a_restart_in_mid_wake_does_not_wake_twice(void **state)
{
    struct rig *rig = *state;
    falls_asleep(rig, "wn01");
    is_held(rig, "wn01", 1);
    until(rig, is_waking);
    restart(rig);
    until(rig, is_demanded); /* it has looked, and chosen */
    assert_true(is_waking(rig));
    assert_string_equal(wakes(rig), "wn01 ");
    assert_true(loop_timer_is_set(node_named(rig, "wn01")->deadline));
    boots(rig);
    until(rig, is_up);
    stop(rig);
    assert_string_equal(ledger(rig, "rooster.db"), "wn01:Wake:Up ");
}

static void going_to_sleep_is_written_down(void **state)
{
    struct rig *rig = *state;
    boots(rig);
    until(rig, is_up);
    must(rig->startd, VERB_UPDATE, "[]",
         "[ MyType = \"Machine\"; Name = \"slot1@wn01\"; Machine = \"wn01\"; Offline = true;"
         " OfflineBootId = \"b2\"; ClassAdLifetime = 86400; PowerStateReason = \"no work\" ]");
    until(rig, is_off);
    assert_string_equal(node_named(rig, "wn01")->reason, "no work");
    stop(rig);
    assert_string_equal(ledger(rig, "rooster.db"), "wn01:Sleep:Asleep ");
}

/* ---- machines that are taken down from here ---- */

/* From now on wn01 has a section: its sleep command writes "sleep LEVEL" down and fails where it is
 * told to; its status is what the file `status` says. */
static void has_section(struct rig *rig)
{
    static const char SLEEP[] = "#!/bin/sh\ncd \"$(dirname $0)\"\nmkdir -p copy\n"
                                "cp rooster.db* copy/\necho \"sleep-$ROOST_LEVEL\" >>wakes\n"
                                "test ! -e fail\n";
    static const char STATUS[] = "#!/bin/sh\ncd \"$(dirname $0)\"\necho status >>wakes\n"
                                 "exit $(cat status)\n";
    char text[900], path[300];
    const char *dir = rig->bed->dir;
    stop(rig);
    bed_path(rig->bed, "sleep.sh", path);
    BED_MUST(os_write_file(rig->bed->os, path, SLEEP, sizeof SLEEP - 1, 0755, false, err));
    bed_path(rig->bed, "status.sh", path);
    BED_MUST(os_write_file(rig->bed->os, path, STATUS, sizeof STATUS - 1, 0755, false, err));
    (void)snprintf(text, sizeof text,
                   "node \"wn01\" {\n method = command\n wake_command = \"%s\"\n"
                   " sleep_command = \"%s/sleep.sh\"\n status_command = \"%s/status.sh\"\n}\n",
                   rig->script, dir, dir);
    load(rig, text);
    start(rig);
}

static void status_is(struct rig *rig, const char *status)
{
    char path[300];
    bed_path(rig->bed, "status", path);
    BED_MUST(os_write_file(rig->bed->os, path, status, strlen(status), 0644, false, err));
}

static void asks_to_go_down(struct rig *rig, int at)
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

/* What a rooster before us left in the ledger: an order of long ago. */
static void has_begun_long_ago(struct rig *rig)
{
    static const char *const TABLES[] = {"wakes", NULL};
    static const struct store_schema SCHEMA = {.daemon = "rooster", .tables = TABLES, .version = 1};
    struct store *store;
    struct ad *record = NULL;
    struct strbuf bytes;
    char path[300];
    static const char TEXT[] = "[ MyType = \"Wake\"; WakeId = \"0a\"; Kind = \"Sleep\";"
                               " Machine = \"wn01\"; StartTime = 5; Outcome = \"Started\" ]";
    stop(rig);
    bed_path(rig->bed, "rooster.db", path);
    BED_MUST(store_open(rig->bed->loop, rig->bed->os, path, &SCHEMA, NULL, &store, err));
    BED_MUST(ad_parse(TEXT, sizeof TEXT - 1, &record, err));
    strbuf_init(&bytes, 0);
    ad_encode(record, false, &bytes);
    struct store_txn *txn = store_begin(store);
    store_put(txn, "wakes", "0a", bytes.data, bytes.length);
    store_commit(txn, NULL, NULL);
    store_close(store);
    strbuf_fini(&bytes);
    ad_destroy(record);
    start(rig);
}

static bool shows_on(struct rig *rig)
{
    return shows(rig, "On");
}
static bool is_going_down(struct rig *rig)
{
    return is(rig, "wn01", WAKE_GOING_DOWN);
}

static void a_machine_that_asks_for_it_is_taken_down(void **state)
{
    struct rig *rig = *state;
    has_section(rig);
    asks_to_go_down(rig, 100);
    until(rig, shows_off);
    until(rig, is_off);
    assert_string_equal(wakes(rig), "sleep-S4 ");
    assert_string_equal(ledger(rig, "copy/rooster.db"), "wn01:Sleep:Started ");
    assert_string_equal(node_named(rig, "wn01")->reason, "no work");
    stop(rig);
    assert_string_equal(ledger(rig, "rooster.db"), "wn01:Sleep:Asleep ");
}

static void one_that_cannot_be_taken_down_is_on_and_comes_back(void **state)
{
    struct rig *rig = *state;
    has_section(rig);
    may_fail(rig, true);
    asks_to_go_down(rig, 100);
    until(rig, shows_on);
    assert_string_equal(wakes(rig), "sleep-S4 ");
    assert_non_null(strstr(node_named(rig, "wn01")->reason, "ended with status 1"));
    is_held(rig, "wn01", 1);
    until(rig, is_demanded);
    assert_true(is(rig, "wn01", WAKE_STAYING)); /* it runs: there is nothing to wake */
    must(rig->startd, VERB_UPDATE, "[ CancelOffline = true ]",
         "[ MyType = \"Machine\"; Name = \"slot1@wn01\"; Machine = \"wn01\"; BootId = \"b1\" ]");
    until(rig, is_up);
    may_fail(rig, false);
    asks_to_go_down(rig, 200);
    until(rig, shows_off);
    assert_string_equal(wakes(rig), "sleep-S4 sleep-S4 ");
    stop(rig);
    assert_string_equal(ledger(rig, "rooster.db"), "wn01:Sleep:Failed wn01:Sleep:Asleep ");
}

static void one_without_a_way_down_is_told_so(void **state)
{
    struct rig *rig = *state;
    asks_to_go_down(rig, 100); /* ROOSTER_WAKEUP_CMD only wakes */
    until(rig, shows_on);
    assert_non_null(strstr(node_named(rig, "wn01")->reason, "sleep_command"));
    assert_string_equal(wakes(rig), "");
}

static void a_job_that_comes_meanwhile_wakes_it_when_it_is_down(void **state)
{
    struct rig *rig = *state;
    has_section(rig);
    asks_to_go_down(rig, 100);
    is_held(rig, "wn01", 1);
    until(rig, is_waking);
    assert_string_equal(wakes(rig), "sleep-S4 wn01 ");
}

static void an_order_of_long_ago_is_not_given_but_its_outcome_is_found_out(void **state)
{
    struct rig *rig = *state;
    has_section(rig);
    has_begun_long_ago(rig);
    status_is(rig, "1"); /* off */
    asks_to_go_down(rig, 100);
    until(rig, shows_off);
    assert_string_equal(wakes(rig), "status ");
    stop(rig);
    assert_string_equal(ledger(rig, "rooster.db"), "wn01:Sleep:Asleep ");
}

static void one_that_runs_after_an_order_of_long_ago_stays_up(void **state)
{
    struct rig *rig = *state;
    has_section(rig);
    has_begun_long_ago(rig);
    status_is(rig, "0");
    asks_to_go_down(rig, 100);
    until(rig, shows_on);
    assert_string_equal(wakes(rig), "status ");
    stop(rig);
    assert_string_equal(ledger(rig, "rooster.db"), "wn01:Sleep:Failed ");
}

static void unknown_is_never_acted_on(void **state)
{
    struct rig *rig = *state;
    has_section(rig);
    has_begun_long_ago(rig);
    status_is(rig, "7");
    asks_to_go_down(rig, 100);
    until(rig, is_going_down);
    assert_string_equal(wakes(rig), "status ");
    assert_true(shows(rig, "GoingDown"));
    status_is(rig, "1");
    loop_timer_set(node_named(rig, "wn01")->deadline, 0); /* time passes */
    until(rig, shows_off);
    assert_string_equal(wakes(rig), "status status ");
}

static void a_sleep_that_another_rooster_saw_the_end_of_is_written_down(void **state)
{
    struct rig *rig = *state;
    falls_asleep(rig, "wn01");
    has_begun_long_ago(rig);
    until(rig, is_seen);
    assert_true(is_off(rig));
    stop(rig);
    assert_string_equal(ledger(rig, "rooster.db"), "wn01:Sleep:Asleep ");
}

#define RIG(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

UNIT_TESTS(RIG(a_hold_wakes_the_machine_and_its_live_ad_is_the_success),
           RIG(the_ledger_is_durable_before_the_command_runs), RIG(the_command_gets_the_offline_ad),
           RIG(without_a_hold_nothing_is_woken),
           RIG(a_hold_that_unhibernate_does_not_confirm_wakes_nothing),
           RIG(a_command_that_fails_is_tried_again_and_then_the_machine_is_left_alone),
           RIG(after_quarantine_the_machine_may_be_held_again),
           RIG(a_restart_forgets_no_quarantine), RIG(a_machine_that_does_not_come_is_tried_again),
           RIG(a_wake_that_nobody_waits_for_any_more_is_over_in_the_ledger),
           RIG(a_restart_in_mid_wake_does_not_wake_twice), RIG(going_to_sleep_is_written_down),
           RIG(a_machine_that_asks_for_it_is_taken_down),
           RIG(one_that_cannot_be_taken_down_is_on_and_comes_back),
           RIG(one_without_a_way_down_is_told_so),
           RIG(a_job_that_comes_meanwhile_wakes_it_when_it_is_down),
           RIG(an_order_of_long_ago_is_not_given_but_its_outcome_is_found_out),
           RIG(one_that_runs_after_an_order_of_long_ago_stays_up), RIG(unknown_is_never_acted_on),
           RIG(a_sleep_that_another_rooster_saw_the_end_of_is_written_down))
