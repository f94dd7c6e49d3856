/* Locks of machines, over real wires.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>

#include "tests/support/collector_talk.h"

#define WAIT_MS 20000

static int make_bed(void **state)
{
    return make_bed_with(state, "CLASSAD_LIFETIME = 60");
}

static void every_ad_of_a_locked_machine_says_so_until_it_is_unlocked(void **state)
{
    struct bed *bed = *state;
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    struct client *reader = dial(bed, SCOPE_READ);
    struct client *admin = dial(bed, SCOPE_ADMINISTRATOR);
    OK(startd, VERB_UPDATE, "[]", LIVE("1", "b1", "Cpus = 4"));
    OK(startd, VERB_UPDATE, "[]", ASLEEP("2", "b0"));
    OK(admin, VERB_POWER_LOCK, "[ Nodes = { \"WN01\" }; Reason = \"fan\" ]", NULL);
    assert_string_equal(show(reader, "Machine", "PowerLocked"), "slot1@wn01=true slot2@wn01=true ");
    assert_string_equal(show(reader, "Machine", "PowerLockedReason"),
                        "slot1@wn01=fan slot2@wn01=fan ");
    assert_string_equal(show(reader, "PowerLock", "PowerLockedReason"), "wn01=fan ");
    /* a whole ad, another boot, a new slot, and changes alone */
    OK(startd, VERB_UPDATE, "[ Epoch = 5; Sequence = 1 ]", LIVE("1", "b1", "Cpus = 5"));
    OK(startd, VERB_UPDATE, "[ Epoch = 5; Sequence = 2 ]", LIVE("1", "b2", "Cpus = 6"));
    OK(startd, VERB_UPDATE, "[ Epoch = 5; Sequence = 3 ]", LIVE("3", "b2", ""));
    OK(startd, VERB_UPDATE,
       "[ Full = false; Epoch = 5; Sequence = 4; Delete = { \"PowerLocked\" } ]",
       "[ MyType = \"Machine\"; Name = \"slot1@wn01\"; Cpus = 7 ]");
    assert_string_equal(show(reader, "Machine", "Cpus"), "slot1@wn01=7 slot3@wn01=- ");
    assert_string_equal(show(reader, "Machine", "PowerLocked"), "slot1@wn01=true slot3@wn01=true ");
    /* another lock takes the place of the first one */
    OK(admin, VERB_POWER_LOCK, "[ Nodes = { \"wn01\" } ]", NULL);
    assert_string_equal(show(reader, "Machine", "PowerLockedReason"), "slot1@wn01=- slot3@wn01=- ");
    OK(admin, VERB_POWER_LOCK, "[ Nodes = { \"wn01\" }; Lock = false ]", NULL);
    assert_string_equal(show(reader, "Machine", "PowerLocked"), "slot1@wn01=- slot3@wn01=- ");
    assert_string_equal(show(reader, "PowerLock", "Name"), "");
}

static void a_lock_is_there_after_a_restart_also_for_machines_that_were_away(void **state)
{
    struct bed *bed = *state;
    OK(dial(bed, SCOPE_ADVERTISE), VERB_UPDATE, "[]", ASLEEP("1", "b0"));
    OK(dial(bed, SCOPE_ADMINISTRATOR), VERB_POWER_LOCK,
       "[ Nodes = { \"wn01\" }; Reason = \"fan\" ]", NULL);
    restart(bed);
    struct client *reader = dial(bed, SCOPE_READ);
    assert_string_equal(show(reader, "Machine", "PowerLockedReason"), "slot1@wn01=fan ");
    OK(dial(bed, SCOPE_ADVERTISE), VERB_UPDATE, "[]", LIVE("2", "b1", ""));
    assert_string_equal(show(reader, "Machine", "PowerLockedReason"), "slot2@wn01=fan ");
    OK(dial(bed, SCOPE_ADMINISTRATOR), VERB_POWER_LOCK, "[ Nodes = { \"wn01\" }; Lock = false ]",
       NULL);
    restart(bed);
    OK(dial(bed, SCOPE_ADVERTISE), VERB_UPDATE, "[]", LIVE("1", "b2", ""));
    assert_string_equal(show(dial(bed, SCOPE_READ), "Machine", "PowerLocked"), "slot1@wn01=- ");
}

static void the_answer_names_strangers_and_what_was_not_locked(void **state)
{
    struct bed *bed = *state;
    struct client *admin = dial(bed, SCOPE_ADMINISTRATOR);
    struct answer answer;
    OK(dial(bed, SCOPE_ADVERTISE), VERB_UPDATE, "[]", LIVE("1", "b1", ""));
    assert_int_equal(client_call(admin, VERB_POWER_LOCK, "[ Nodes = { \"wn01\", \"wn77\" } ]", NULL,
                                 &answer),
                     0);
    struct ad_value list, item;
    assert_int_equal(ad_eval_attr(answer.args, NULL, "Unknown", NULL, &list), 0);
    assert_int_equal(ad_value_count(&list), 1);
    ad_value_item(&list, 0, &item);
    assert_string_equal(item.string.text, "wn77");
    ad_value_fini(&item);
    ad_value_fini(&list);
    answer_fini(&answer);
    assert_int_equal(client_call(admin, VERB_POWER_LOCK,
                                 "[ Nodes = { \"wn02\", \"wn01\" }; Lock = false ]", NULL, &answer),
                     0);
    assert_int_equal(ad_eval_attr(answer.args, NULL, "NotLocked", NULL, &list), 0);
    assert_int_equal(ad_value_count(&list), 1);
    ad_value_fini(&list);
    answer_fini(&answer);
}

static void a_drain_neither_replaces_nor_ends_the_lock_of_somebody(void **state)
{
    struct bed *bed = *state;
    struct client *admin = dial(bed, SCOPE_ADMINISTRATOR);
    struct client *reader = dial(bed, SCOPE_READ);
    OK(dial(bed, SCOPE_ADVERTISE), VERB_UPDATE, "[]", ASLEEP("1", "b0"));
    OK(admin, VERB_POWER_LOCK, "[ Nodes = { \"wn01\" }; Reason = \"fan\" ]", NULL);
    OK(admin, VERB_POWER_LOCK, "[ Nodes = { \"wn01\" }; Reason = \"disk\"; Drain = true ]", NULL);
    OK(admin, VERB_POWER_LOCK, "[ Nodes = { \"wn01\" }; Lock = false; Drain = true ]", NULL);
    assert_string_equal(show(reader, "Machine", "PowerLockedReason"), "slot1@wn01=fan ");
    OK(admin, VERB_POWER_LOCK, "[ Nodes = { \"wn01\" }; Lock = false ]", NULL);
    OK(admin, VERB_POWER_LOCK, "[ Nodes = { \"wn01\" }; Reason = \"disk\"; Drain = true ]", NULL);
    assert_string_equal(show(reader, "Machine", "PowerLockedByDrain"), "slot1@wn01=true ");
    OK(admin, VERB_POWER_LOCK, "[ Nodes = { \"wn01\" }; Lock = false; Drain = true ]", NULL);
    assert_string_equal(show(reader, "Machine", "PowerLocked"), "slot1@wn01=- ");
}

static void a_lock_ends_when_its_time_is_over(void **state)
{
    struct bed *bed = *state;
    struct client *admin = dial(bed, SCOPE_ADMINISTRATOR);
    struct client *reader = dial(bed, SCOPE_READ);
    uint64_t begin_ms = loop_now_ms(bed->loop);
    char args[100];
    OK(dial(bed, SCOPE_ADVERTISE), VERB_UPDATE, "[]", LIVE("1", "b1", ""));
    (void)snprintf(args, sizeof args, "[ Nodes = { \"wn01\" }; Until = %lld ]",
                   (long long)loop_wall_s(bed->loop) + 1);
    OK(admin, VERB_POWER_LOCK, args, NULL);
    while (strcmp(show(reader, "Machine", "PowerLocked"), "slot1@wn01=- ") != 0) {
        assert_true(loop_now_ms(bed->loop) < begin_ms + WAIT_MS);
    }
}

static void who_may_lock_and_what_is_refused(void **state)
{
    struct bed *bed = *state;
    struct client *admin = dial(bed, SCOPE_ADMINISTRATOR);
    struct client *startd = dial(bed, SCOPE_ADVERTISE);
    expect(startd, -EACCES, VERB_POWER_LOCK, "[ Nodes = { \"wn01\" } ]", NULL, "");
    expect(admin, -EINVAL, VERB_POWER_LOCK, "[]", NULL, "Nodes must be a list");
    expect(admin, -EINVAL, VERB_POWER_LOCK, "[ Nodes = { } ]", NULL, "Nodes must be a list");
    expect(admin, -EINVAL, VERB_POWER_LOCK, "[ Nodes = { 7 } ]", NULL, "Nodes must be a list");
    expect(admin, -EINVAL, VERB_POWER_LOCK, "[ Nodes = { \"wn01\" }; Until = 7 ]", NULL,
           "Until is in the past");
    /* what only the collector writes */
    OK(startd, VERB_UPDATE, "[]", ASLEEP("1", "b0"));
    expect(admin, -EACCES, VERB_MERGE, "[ Name = \"slot1@wn01\" ]", "[ PowerLocked = true ]",
           "PowerLocked");
    expect(dial(bed, SCOPE_ROOSTER), -EACCES, VERB_MERGE, "[ Name = \"slot1@wn01\" ]",
           "[ PowerKeptOff = true ]", "PowerKeptOff");
    OK(admin, VERB_MERGE, "[ Name = \"slot1@wn01\" ]", "[ PowerKeptOff = true ]");
    OK(startd, VERB_UPDATE, "[]", LIVE("1", "b2", ""));
    expect(admin, -ENOENT, VERB_MERGE, "[ Name = \"slot1@wn01\" ]", "[ PowerKeptOff = true ]",
           "is awake");
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, make_bed, remove_bed)
UNIT_TESTS(CASE(every_ad_of_a_locked_machine_says_so_until_it_is_unlocked),
           CASE(a_lock_is_there_after_a_restart_also_for_machines_that_were_away),
           CASE(the_answer_names_strangers_and_what_was_not_locked),
           CASE(a_drain_neither_replaces_nor_ends_the_lock_of_somebody),
           CASE(a_lock_ends_when_its_time_is_over), CASE(who_may_lock_and_what_is_refused))
