/* How long the pool keeps offline ads (OFFLINE_EXPIRE_ADS_AFTER), over real wires.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>

#include "tests/support/collector_talk.h"

#define WAIT_MS 20000

static int make_bed(void **state)
{
    return make_bed_with(state, "OFFLINE_EXPIRE_ADS_AFTER = 1\n");
}

static void an_offline_ad_is_kept_no_longer_than_the_pool_says(void **state)
{
    struct bed *bed = *state;
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    struct client *reader = dial(bed, SCOPE_READ);
    uint64_t begin_ms = loop_now_ms(bed->loop);
    OK(startd, VERB_UPDATE, "[]", LIVE("2", "b1", ""));
    OK(startd, VERB_UPDATE, "[]",
       "[ MyType = \"Machine\"; Name = \"slot1@wn02\"; Machine = \"wn02\"; Offline = true;"
       " OfflineBootId = \"b1\"; ClassAdLifetime = 100000 ]");
    while (strcmp(show(reader, "Machine", "Offline"), "slot2@wn01=- ") != 0) {
        assert_true(loop_now_ms(bed->loop) < begin_ms + WAIT_MS);
    }
}

/* A collector that forgets nothing finds nothing: it is gone from the store, too. */
static void one_that_is_forgotten_does_not_come_back_with_a_longer_memory(void **state)
{
    struct bed *bed = *state;
    size_t length = strlen(bed->config_text);
    an_offline_ad_is_kept_no_longer_than_the_pool_says(state);
    bed_stop(bed);
    (void)snprintf(bed->config_text + length, sizeof(bed->config_text) - length,
                   "OFFLINE_EXPIRE_ADS_AFTER = 0\n");
    daemon_rig_load(&bed->daemon, &collector_daemon, bed->config_text);
    bed_start(bed);
    bed_find_address(bed);
    assert_string_equal(show(dial(bed, SCOPE_READ), "Machine", "Offline"), "");
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, make_bed, remove_bed)
UNIT_TESTS(CASE(an_offline_ad_is_kept_no_longer_than_the_pool_says),
           CASE(one_that_is_forgotten_does_not_come_back_with_a_longer_memory))
