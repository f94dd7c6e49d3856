/* A rooster at a collector: what it shows of machines that it does not wake.
 *
 * LINK: collector
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/collector_bed.h"
#include "tests/support/unit.h"

#include <stdarg.h>

#include "base/daemon/daemon.h"
#include "rooster/rooster.h"

struct coop { /* a collector, a client that is everybody else, and a rooster */
    struct bed *bed;
    struct client *client;
    struct client *other; /* with a token */
    struct daemon_rig daemon;
    char config_text[2048];
};

static struct coop *coop_create(const char *wake_command, int attempts)
{
    struct coop *coop = mem_zalloc(sizeof *coop);
    struct bed *bed = coop->bed = bed_create("");
    bed_start(bed);
    bed_find_address(bed);
    coop->client = client_dial(bed, 0, "", NULL, NULL);
    /* leaves its token behind, which the rooster uses */
    struct client *other = coop->other =
        client_dial(bed,
                    SCOPE_READ | SCOPE_WRITE | SCOPE_ADVERTISE | SCOPE_SCHEDD | SCOPE_ROOSTER |
                        SCOPE_NEGOTIATOR,
                    "", NULL, NULL);
    assert_int_equal(other->status, 0);
    (void)snprintf(coop->config_text, sizeof coop->config_text,
                   "LOCAL_DIR = \"%s\"\nSPOOL = \"%s/rooster\"\nSEC_DIRECTORY = \"%s\"\n"
                   "TOKEN_FILE = \"%s/%s\"\nCOLLECTOR_HOST = \"%s\"\n"
                   "ROOSTER_WAKE_ATTEMPTS = %d\nROOSTER_QUARANTINE = 1s\nROOSTER_NAME = r\n"
                   "node \"wn\" {\n method = command\n wake_command = \"%s\"\n}\n",
                   bed->dir, bed->dir, bed->dir, bed->dir, other->token_id,
                   bed->tcp + strlen("tcp:"), attempts, wake_command);
    daemon_rig_load(&coop->daemon, &rooster_daemon, coop->config_text);
    (void)daemon_rig_start(&coop->daemon, bed->loop, bed->os, bed->log);
    return coop;
}

static void coop_destroy(struct coop *coop)
{
    daemon_rig_fini(&coop->daemon);
    bed_destroy(coop->bed);
    mem_free(coop);
}

/* Runs the loop until an ad of the collector meets the constraint; fails the test after thirty
 * seconds. */
static void wait_for(struct coop *coop, const char *constraint)
{
    char args[512];
    (void)snprintf(args, sizeof args, "[ Type = \"Any\"; Constraint = \"%s\" ]", constraint);
    for (int i = 0; i < 3000; i++) {
        struct answer answer;
        assert_int_equal(client_call(coop->client, VERB_QUERY, args, NULL, &answer), 0);
        size_t found = answer.ads.count;
        answer_fini(&answer);
        if (found > 0) {
            return;
        }
        loop_rig_turn(coop->bed->loop, 10);
    }
    fail_msg("no ad ever met: %s", constraint);
}

/* A machine asleep for which a job waits, or not. */
static void sleeps(struct coop *coop, const char *machine, bool demanded, const char *power_state)
{
    char ad[1024];
    const int64_t now_s = loop_wall_s(coop->bed->loop);
    (void)snprintf(ad, sizeof ad,
                   "[ MyType = \"Machine\"; Name = \"slot1@%s\"; Machine = \"%s\"; Offline = true; "
                   "ClassAdLifetime = 100000; LastHeardFrom = %lld; PowerState = \"%s\"; "
                   "OfflineBootId = \"b1\"; Unhibernate = true%s ]",
                   machine, machine, (long long)now_s, power_state,
                   demanded ? "; MachineLastMatchTime = 1; OfflineMatches = { [ Schedd = \"s\"; "
                              "AutoCluster = 1; Count = 1; Until = 99999999999 ] }"
                            : "");
    const char *const ads[] = {ad, NULL};
    struct answer answer;
    int rc = client_call(coop->client, VERB_UPDATE,
                         "[ Full = true; Durable = true; Epoch = 1; Sequence = 1 ]", ads, &answer);
    assert_string_equal(answer.text, "");
    assert_int_equal(rc, 0);
    answer_fini(&answer);
}

static void machine_sleeps(struct coop *coop, bool demanded, const char *power_state)
{
    sleeps(coop, "wn", demanded, power_state);
}

static void what_the_ad_shows_is_put_right_whenever_it_is_wrong(void **state)
{
    (void)state;
    struct coop *coop = coop_create("/bin/true", 1);
    machine_sleeps(coop, false, "Waking"); /* of an earlier life */
    wait_for(coop, "PowerState == \\\"Off\\\"");
    machine_sleeps(coop, false, "Waking"); /* a MERGE was lost */
    wait_for(coop, "PowerState == \\\"Off\\\"");
    coop_destroy(coop);
}

static void a_machine_that_nobody_can_wake_is_shown_as_unknown(void **state)
{
    (void)state;
    struct coop *coop = coop_create("/bin/true", 1);
    sleeps(coop, "other", true, "Off");
    wait_for(coop, "PowerState == \\\"Unknown\\\" && "
                   "regexp(\\\"ROOSTER_WAKEUP_CMD\\\", PowerStateReason)");
    coop_destroy(coop);
}

UNIT_TESTS(UNIT(what_the_ad_shows_is_put_right_whenever_it_is_wrong),
           UNIT(a_machine_that_nobody_can_wake_is_shown_as_unknown))
