/* tests/unit/schedd/test_machine_attrs.c - what a job keeps of its slots, and is told of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include "classad/ad.h"
#include "schedd/claim/machine_attrs.h"
#include "schedd/queue/queue_table.h"
#include "schedd/schedd_state.h"

static const char *const SITE[] = {"Cpus", NULL};

static struct ad *parse(const char *text)
{
    struct ad *ad = NULL;
    assert_int_equal(ad_parse(text, strlen(text), &ad, NULL), 0);
    return ad;
}

static void the_newest_slot_is_0_and_older_ones_move_on(void **state)
{
    (void)state;
    struct schedd schedd = {.settings = {.machine_attrs = SITE}};
    struct cluster cluster = {.ad = parse("[JobMachineAttrs = \"Name, Nothing,_condor_priv_x\"; "
                                          "JobMachineAttrsHistoryLength = 2]")};
    struct job job = {.cluster = &cluster};
    static const char *const SLOTS[] = {"[Name = \"a\"; Cpus = 1 + 1]", "[Name = \"b\"; Cpus = 4]",
                                        "[Name = \"c\"; Cpus = 2.5]"};
    machine_attrs_look_at(&schedd, &job);
    assert_true(schedd.wants_slots);
    machine_attrs_note(&schedd, &job, NULL); /* its ad is not known */
    assert_null(job.own);
    for (size_t i = 0; i < 3; i++) {
        struct ad *slot = parse(SLOTS[i]);
        machine_attrs_note(&schedd, &job, slot);
        ad_destroy(slot);
        if (i == 0) {
            assert_int_equal(ad_int_or(job.own, "MachineAttrCpus0", 0), 2);
            assert_false(ad_has(job.own, "MachineAttrCpus1"));
        }
    }
    assert_string_equal(ad_string_or(job.own, "MachineAttrName0", ""), "c");
    assert_string_equal(ad_string_or(job.own, "MachineAttrName1", ""), "b");
    assert_false(ad_has(job.own, "MachineAttrName2"));
    assert_int_equal(ad_int_or(job.own, "MachineAttrCpus1", 0), 4);
    assert_true(ad_real_or(job.own, "MachineAttrCpus0", 0) > 2.4);
    assert_true(ad_has(job.own, "MachineAttrNothing0")); /* undefined */
    assert_int_equal(ad_int_or(job.own, "MachineAttrNothing0", 7), 7);
    ad_destroy(job.own);
    ad_destroy(cluster.ad);
}

static void a_history_of_no_length_keeps_nothing(void **state)
{
    (void)state;
    struct schedd schedd = {0};
    struct cluster cluster = {
        .ad = parse("[JobMachineAttrs = \"Name\"; JobMachineAttrsHistoryLength = 0]")};
    struct job job = {.cluster = &cluster};
    struct ad *slot = parse("[Name = \"a\"]");
    machine_attrs_note(&schedd, &job, slot);
    assert_null(job.own);
    ad_destroy(slot);
    ad_destroy(cluster.ad);
}

static void the_log_is_told_what_the_slot_has_of_it(void **state)
{
    (void)state;
    struct cluster cluster = {.ad = parse("[UserLogExecuteEventAttrs = \"Name Cpus,Nothing\"]")};
    struct job job = {.cluster = &cluster};
    struct schedd schedd = {0};
    struct ad *slot = parse("[Name = \"a\"; Cpus = 3; Other = 1]"), *props = ad_create();
    machine_attrs_look_at(&schedd, &job);
    assert_true(schedd.wants_slots);
    machine_attrs_tell(&job, NULL, props);
    assert_int_equal(ad_count(props), 0);
    machine_attrs_tell(&job, slot, props);
    assert_int_equal(ad_count(props), 2);
    assert_string_equal(ad_string_or(props, "Name", ""), "a");
    assert_int_equal(ad_int_or(props, "Cpus", 0), 3);
    ad_destroy(slot);
    ad_destroy(props);
    ad_destroy(cluster.ad);
}

UNIT_TESTS(UNIT(the_newest_slot_is_0_and_older_ones_move_on),
           UNIT(a_history_of_no_length_keeps_nothing),
           UNIT(the_log_is_told_what_the_slot_has_of_it))
