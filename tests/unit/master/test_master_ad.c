/* The master's ad: in the collector while it runs, and taken back when it ends; daemons that left a
 * note that they stay down, and the order to start them none the less.
 *
 * LINK: master collector
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/collector_bed.h"

#include <signal.h>

#include "base/daemon/daemon_down.h"
#include "collector/collector_state.h"
#include "master/master.h"

struct rig {
    struct bed *bed;
    struct daemon_rig daemon;
    struct log *log; /* NULL: nobody reads it */
    char text[2048];
};

static void write_token(struct rig *rig)
{
    struct bed *bed = rig->bed;
    struct token token =
        pool_rig_token(bed->loop, "wn01@pool", "master-token", SCOPE_ADVERTISE | SCOPE_READ);
    (void)snprintf(token.pattern, sizeof(token.pattern), "wn01");
    pool_rig_issue(bed->loop, bed->os, bed->dir, &token, "master.token");
}

static void start_master(struct rig *rig, const char *name)
{
    struct bed *bed = rig->bed;
    (void)
        snprintf(rig->text, sizeof(rig->text),
                 "LOCAL_DIR = \"%s\"\nSBIN = \"%s\"\nLOCK = \"%s\"\nDAEMON_LIST = {STARTD}\n"
                 "SEC_DIRECTORY = \"%s\"\nTOKEN_FILE = \"%s/master.token\"\nMASTER_NAME = \"%s\"\n"
                 "COLLECTOR_HOST = \"%s\"\nMASTER_UPDATE_INTERVAL = 1\n",
                 bed->dir, bed->dir, bed->dir, bed->dir, bed->dir, name, bed->tcp + 4);
    daemon_rig_load(&rig->daemon, &master_daemon, rig->text);
    (void)daemon_rig_start(&rig->daemon, bed->loop, bed->os, rig->log);
}

static struct rig rig_open(void)
{
    struct rig rig = {.bed = bed_create("")};
    bed_start(rig.bed);
    bed_find_address(rig.bed);
    return rig;
}

static void rig_close(struct rig *rig)
{
    daemon_rig_fini(&rig->daemon);
    bed_destroy(rig->bed);
}

/* The masters' ads that the collector has, once there are as many as wanted. */
static void until_masters(struct rig *rig, size_t wanted, struct answer *answer)
{
    struct client *client = client_dial(rig->bed, 0, "", NULL, NULL);
    size_t count = wanted + 1;
    for (int i = 0; i < 100000 && count != wanted; i++) {
        if (i > 0) {
            answer_fini(answer);
        }
        assert_int_equal(client_call(client, VERB_QUERY, "[ Type = \"DaemonMaster\" ]", NULL,
                                     answer),
                         0);
        count = answer->ads.count;
    }
    assert_int_equal(count, wanted);
    client_close(client);
}

static void a_master_shows_itself_and_its_daemons_until_it_ends(void **state)
{
    (void)state;
    struct rig rig = rig_open();
    struct answer answer;
    write_token(&rig);
    start_master(&rig, "wn01");
    until_masters(&rig, 1, &answer);
    const struct ad *ad = answer.ads.items[0];
    assert_string_equal(ad_string_or(ad, "Name", ""), "wn01");
    assert_string_equal(ad_string_or(ad, "Machine", ""), "wn01");
    assert_string_equal(ad_string_or(ad, "RoostVersion", ""), ROOST_VERSION);
    assert_int_equal(strncmp(ad_string_or(ad, "MyAddress", ""), "tcp:127.0.0.1:", 14), 0);
    assert_true(ad_int_or(ad, "DaemonStartTime", 0) > 0);
    assert_true(ad_int_or(ad, "DetectedCpus", 0) > 0);
    assert_int_equal(ad_int_or(ad, "DaemonsRunning", -1), 0); /* there is no such program */
    assert_int_equal(ad_int_or(ad, "STARTD_Restarts", -1), 0);
    answer_fini(&answer);
    bool never = false;
    master_daemon.stop(rig.daemon.state);
    loop_run_until(rig.bed->loop, &never); /* no daemon runs: once the ad is taken back */
    const struct collector *collector = rig.bed->collector; /* the loop is over: nobody answers */
    assert_int_equal(collector_ads_count(collector->ads, "DaemonMaster"), 0);
    rig_close(&rig);
}

static void a_master_waits_for_its_token(void **state)
{
    (void)state;
    struct rig rig = rig_open();
    struct answer answer;
    struct strbuf text;
    char path[LOOP_RIG_PATH_SIZE];
    strbuf_init(&text, 0);
    rig.log = loop_rig_log(rig.bed->loop, LOG_LEVEL_WARN, &text);
    start_master(&rig, "wn01");
    bed_path(rig.bed, "master.token", path);
    do { /* ctest's limit ends it */
        until_masters(&rig, 0, &answer);
        answer_fini(&answer);
    } while (strstr(strbuf_text(&text), path) == NULL);
    write_token(&rig);
    until_masters(&rig, 1, &answer); /* with the next interval */
    answer_fini(&answer);
    assert_null(strstr(strstr(strbuf_text(&text), path) + 1, path)); /* once */
    struct log *log = rig.log;
    rig_close(&rig);
    log_destroy(log);
    strbuf_fini(&text);
}

/* ---- daemons that stay down */

/* Says in "runs" that it was started; leaves the note that the test has prepared, and ends; without
 * one it takes its note back, and stays. */
static const char STARTD[] = "#!/bin/sh\ncd \"$(dirname \"$0\")\"\necho run >>runs\n"
                             "mv prepared startd.down 2>/dev/null && exit 0\n"
                             "rm -f startd.down\nexec sleep 600\n";

static void put(struct rig *rig, const char *name, const char *text, mode_t mode)
{
    bed_write(rig->bed, name, text, mode);
}

static size_t count_runs(struct rig *rig)
{
    char path[300], *text = NULL;
    size_t length = 0;
    bed_path(rig->bed, "runs", path);
    (void)os_read_file(rig->bed->os, path, 4096, &text, &length, NULL); /* absent: none */
    mem_free(text);
    return length / strlen("run\n");
}

static void note(struct rig *rig, const char *name, const char *boot_id)
{
    char text[400];
    struct os_machine machine;
    MUST(os_machine(rig->bed->os, &machine, err));
    (void)snprintf(text, sizeof(text), "%s\ndrained by request 12\n",
                   boot_id != NULL ? boot_id : machine.boot_id);
    put(rig, name, text, 0644);
}

/* The master's ad, once it says so. */
static void until_says(struct rig *rig, const char *attr, bool wanted)
{
    bool says = !wanted;
    for (int i = 0; i < 100000 && says != wanted; i++) {
        struct answer answer;
        until_masters(rig, 1, &answer);
        says = ad_has(answer.ads.items[0], attr);
        if (says && strcmp(attr, "STARTD_Down") == 0) {
            assert_string_equal(ad_string_or(answer.ads.items[0], attr, ""),
                                "drained by request 12");
        }
        answer_fini(&answer);
    }
    assert_int_equal(says, wanted);
}

static int daemon_on(struct rig *rig, uint32_t scopes, const char *daemon, struct answer *answer)
{
    struct client *client = client_dial(rig->bed, scopes, "", NULL, NULL);
    char args[80] = "[]";
    if (daemon != NULL) {
        (void)snprintf(args, sizeof(args), "[Daemon = \"%s\"]", daemon);
    }
    int status = client_relay(client, "master/wn01", VERB_DAEMON_ON, args, NULL, answer);
    client_close(client);
    return status;
}

static void end_startd(struct rig *rig)
{
    struct answer answer;
    until_masters(rig, 1, &answer);
    pid_t pid = (pid_t)ad_int_or(answer.ads.items[0], "STARTD_Pid", 0);
    answer_fini(&answer);
    assert_true(pid > 0);
    (void)os_kill(rig->bed->os, pid, SIGKILL);
}

static struct rig rig_with_startd(void)
{
    struct rig rig = rig_open();
    write_token(&rig);
    put(&rig, "roost-startd", STARTD, 0755);
    return rig;
}

static void who_left_a_note_is_not_started_again_until_somebody_asks(void **state)
{
    (void)state;
    struct rig rig = rig_with_startd();
    struct answer answer;
    note(&rig, "prepared", NULL);
    start_master(&rig, "wn01"); /* its startd runs, leaves the note and ends */
    until_says(&rig, "STARTD_Down", true);
    assert_int_equal(count_runs(&rig), 1);
    master_daemon.reload(rig.daemon.state, rig.daemon.config); /* is no reason */
    until_says(&rig, "STARTD_Down", true);
    assert_int_equal(daemon_on(&rig, SCOPE_WRITE | SCOPE_SCHEDD, NULL, &answer), -EACCES);
    answer_fini(&answer);
    assert_int_equal(daemon_on(&rig, SCOPE_ADMINISTRATOR, "schedd", &answer), -ENOENT);
    answer_fini(&answer);
    assert_int_equal(count_runs(&rig), 1);
    assert_int_equal(daemon_on(&rig, SCOPE_ADMINISTRATOR, "STARTD", &answer), 0);
    assert_true(ad_has(answer.args, "Daemons"));
    answer_fini(&answer);
    until_says(&rig, "STARTD_Down", false);
    until_says(&rig, "STARTD_Pid", true);
    while (count_runs(&rig) < 2) { /* the loop turns */
        until_says(&rig, "STARTD_Pid", true);
    }
    end_startd(&rig); /* without a note: as ever */
    while (count_runs(&rig) < 3) {
        until_says(&rig, "Name", true);
    }
    end_startd(&rig);
    rig_close(&rig);
}

static void a_note_is_heeded_by_another_master_unless_it_is_to_start_all(void **state)
{
    (void)state;
    struct rig rig = rig_with_startd();
    char *const all[] = {"-all"};
    note(&rig, "startd.down", NULL);
    start_master(&rig, "wn01");
    until_says(&rig, "STARTD_Down", true);
    assert_int_equal(count_runs(&rig), 0);
    daemon_rig_stop(&rig.daemon);
    rig.daemon.env.argc = 1;
    rig.daemon.env.argv = all;
    (void)daemon_rig_start(&rig.daemon, rig.bed->loop, rig.bed->os, NULL);
    until_says(&rig, "STARTD_Pid", true);
    while (count_runs(&rig) < 1) {
        until_says(&rig, "STARTD_Pid", true);
    }
    end_startd(&rig);
    rig_close(&rig);
}

static void a_note_of_another_boot_counts_no_more(void **state)
{
    (void)state;
    struct rig rig = rig_with_startd();
    note(&rig, "startd.down", "of-another-boot");
    start_master(&rig, "wn01");
    until_says(&rig, "STARTD_Pid", true);
    while (count_runs(&rig) < 1) {
        until_says(&rig, "STARTD_Pid", true);
    }
    end_startd(&rig);
    rig_close(&rig);
}

UNIT_TESTS(UNIT(who_left_a_note_is_not_started_again_until_somebody_asks),
           UNIT(a_note_is_heeded_by_another_master_unless_it_is_to_start_all),
           UNIT(a_note_of_another_boot_counts_no_more),
           UNIT(a_master_shows_itself_and_its_daemons_until_it_ends),
           UNIT(a_master_waits_for_its_token))
