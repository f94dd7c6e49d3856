/* tests/unit/schedd/test_checkpoint_plan.c - what checkpoints make of a job's ad.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"
#include "classad/ad.h"
#include "schedd/checkpoint_plan.h"

#define NOW 1000000

static struct ad *parse(const char *text)
{
    struct ad *ad = NULL;
    struct err err = {{0}};
    if (ad_parse(text, strlen(text), &ad, &err) != 0) {
        fail_msg("%s", err.text);
    }
    return ad;
}

static bool take(struct ad *own, const char *told, int64_t suspended_s)
{
    const struct checkpoint_facts facts = {.now_s = NOW,
                                           .began_s = NOW - 1000,
                                           .run_max_s = 1000,
                                           .suspended_s = suspended_s,
                                           .weight = 2};
    struct ad *ad = parse(told);
    bool taken = checkpoint_plan_taken(own, ad, &facts);
    ad_destroy(ad);
    return taken;
}

static void refuse(struct ad *own, const char *told)
{
    struct ad *ad = parse(told);
    checkpoint_plan_refused(own, ad);
    ad_destroy(ad);
}

static void committed(const struct ad *own, int64_t time_s, int64_t suspended_s)
{
    assert_int_equal(ad_int_or(own, "CommittedTime", 0), time_s);
    assert_int_equal(ad_int_or(own, "CommittedSlotTime", 0), 2 * time_s);
    assert_int_equal(ad_int_or(own, "CommittedSuspensionTime", 0), suspended_s);
}

#define FIRST                                                                                  \
    "[CkptSequence = 1; LastCkptTime = 999500; CkptImageSize = 11; CkptFilesSize = 3;"         \
    " CkptArch = \"X86_64\"; CkptOpSys = \"LINUX\"; CkptFeatures = \"avx\"; CkptRunSeconds = " \
    "100.7; LastCheckpointPlatform = \"p\"]"
#define SECOND                                                                                  \
    "[CkptSequence = 2; CkptPrevious = 1; LastCkptTime = 999900; CkptImageSize = 12;"           \
    " CkptArch = \"X86_64\"; CkptOpSys = \"LINUX\"; CkptFeatures = \"avx2\"; CkptRunSeconds = " \
    "300]"

static void what_a_checkpoint_saved_counts_once(void **state)
{
    (void)state;
    struct ad *own = ad_create();
    checkpoint_plan_run_begins(own);
    assert_false(checkpoint_plan_run_has_one(own));
    assert_true(take(own, FIRST, 0));
    committed(own, 100, 0);
    assert_false(take(own, FIRST, 0)); /* its answer was lost */
    committed(own, 100, 0);
    assert_int_equal(ad_int_or(own, "NumCkpts", 0), 1);
    assert_true(take(own, SECOND, 0));
    committed(own, 300, 0);
    assert_int_equal(ad_int_or(own, "NumCkpts", 0), 2);
    assert_int_equal(ad_int_or(own, "CkptSequence", 0), 2);
    assert_int_equal(ad_int_or(own, "CkptPrevious", 0), 1);
    assert_int_equal(ad_int_or(own, "LastCkptTime", 0), 999900);
    assert_int_equal(ad_int_or(own, "CkptImageSize", 0), 12);
    assert_false(ad_has(own, "CkptFilesSize")); /* not told of this one */
    assert_string_equal(ad_string_or(own, "CkptFeatures", ""), "avx2");
    assert_true(checkpoint_plan_run_has_one(own));
    assert_int_equal(checkpoint_plan_run_saved_s(own), 300);
    checkpoint_plan_run_begins(own); /* evicted */
    assert_false(checkpoint_plan_run_has_one(own));
    assert_int_equal(checkpoint_plan_run_saved_s(own), 0);
    checkpoint_plan_resumed(own, 2);
    committed(own, 300, 0);
    assert_int_equal(ad_int_or(own, "NumRestarts", 0), 1);
    assert_true(take(own, "[CkptSequence = 3; CkptPrevious = 2; CkptRunSeconds = 50]", 0));
    committed(own, 350, 0);
    ad_destroy(own);
}

static void a_run_counts_with_what_it_stood_still_and_not_longer_than_it_was(void **state)
{
    (void)state;
    struct ad *own = ad_create();
    assert_true(take(own, FIRST, 40));
    committed(own, 140, 40);
    assert_int_equal(checkpoint_plan_suspension_saved_s(own), 40);
    assert_true(take(own, "[CkptSequence = 2; CkptRunSeconds = 5000.0]", 70));
    committed(own, 1000, 70);
    assert_true(take(own, "[CkptSequence = 3; CkptRunSeconds = 1e300]", 70));
    assert_true(take(own, "[CkptSequence = 4; CkptRunSeconds = -5]", 70));
    committed(own, 1000, 70);
    ad_destroy(own);
}

static void a_wrong_clock_is_not_believed(void **state)
{
    (void)state;
    struct ad *own = ad_create();
    assert_true(take(own, "[CkptSequence = 1; LastCkptTime = 1000001]", 0));
    assert_int_equal(ad_int_or(own, "LastCkptTime", 0), NOW);
    assert_true(take(own, "[CkptSequence = 2; LastCkptTime = 12]", 0));
    assert_int_equal(ad_int_or(own, "LastCkptTime", 0), NOW);
    assert_true(take(own, "[CkptSequence = 3; CkptPrevious = 9]", 0));
    assert_int_equal(ad_int_or(own, "LastCkptTime", 0), NOW);
    assert_int_equal(ad_int_or(own, "CkptPrevious", -1), 0); /* none is after it */
    ad_destroy(own);
}

static void a_run_that_goes_on_from_an_older_one_takes_back_what_that_loses(void **state)
{
    (void)state;
    struct ad *own = parse("[NumRestarts = 0]");
    assert_true(take(own, FIRST, 10));
    assert_true(take(own, SECOND, 30));
    committed(own, 330, 30);
    checkpoint_plan_run_begins(own);
    refuse(own, "[CkptSequence = 2; Reason = \"another processor\"]");
    assert_string_equal(ad_string_or(own, "LastCkptRefused", ""), "another processor");
    assert_int_equal(ad_int_or(own, "CkptSequence", 0), 2); /* elsewhere it may go */
    checkpoint_plan_resumed(own, 1);
    committed(own, 110, 10);
    checkpoint_plan_run_begins(own);
    checkpoint_plan_resumed(own, 0); /* from the start */
    committed(own, 0, 0);
    assert_int_equal(ad_int_or(own, "NumRestarts", 0), 1);
    assert_true(take(own, "[CkptSequence = 3; CkptPrevious = 2; CkptRunSeconds = 7]", 0));
    committed(own, 7, 0);
    assert_false(ad_has(own, "LastCkptRefused"));
    ad_destroy(own);
}

static void a_damaged_one_is_forgotten_for_the_one_before(void **state)
{
    (void)state;
    struct ad *own = ad_create();
    assert_true(take(own, FIRST, 0));
    assert_true(take(own, SECOND, 0));
    refuse(own, "[CkptSequence = 2; CkptPrevious = 1; Damaged = true; Reason = \"sum\"]");
    assert_int_equal(ad_int_or(own, "CkptSequence", 0), 1);
    assert_int_equal(ad_int_or(own, "CkptPrevious", -1), 0);
    assert_int_equal(ad_int_or(own, "CkptImageSize", 0), 11);
    assert_int_equal(ad_int_or(own, "CkptFilesSize", 0), 3);
    assert_int_equal(ad_int_or(own, "LastCkptTime", 0), 999500);
    assert_string_equal(ad_string_or(own, "CkptFeatures", ""), "avx");
    checkpoint_plan_resumed(own, 1);
    committed(own, 100, 0);
    refuse(own, "[CkptSequence = 1; CkptPrevious = 0; Damaged = true]");
    assert_int_equal(ad_int_or(own, "CkptSequence", -1), 0);
    assert_false(ad_has(own, "CkptArch")); /* it may run anywhere */
    assert_false(ad_has(own, "LastCkptTime"));
    checkpoint_plan_resumed(own, 0);
    committed(own, 0, 0);
    ad_destroy(own);
}

static void a_damaged_older_one_leaves_the_latest(void **state)
{
    (void)state;
    struct ad *own = ad_create();
    assert_true(take(own, FIRST, 0));
    assert_true(take(own, SECOND, 0));
    refuse(own, "[CkptSequence = 1; Damaged = true; Reason = \"sum\"]");
    assert_int_equal(ad_int_or(own, "CkptSequence", 0), 2);
    assert_int_equal(ad_int_or(own, "CkptPrevious", -1), 0);
    assert_int_equal(ad_int_or(own, "CkptImageSize", 0), 12);
    ad_destroy(own);
}

static void after_a_result_the_job_begins_at_its_start_and_keeps_what_counted(void **state)
{
    (void)state;
    struct ad *own = ad_create();
    assert_false(checkpoint_plan_forget(own)); /* nothing was there */
    assert_int_equal(ad_count(own), 0);
    assert_true(take(own, FIRST, 0));
    ad_set_int(own, "CommittedTime", 500); /* its result */
    ad_set_real(own, "CommittedSlotTime", 1000);
    assert_true(checkpoint_plan_forget(own));
    assert_false(ad_has(own, "CkptSequence"));
    assert_false(ad_has(own, "CkptArch"));
    assert_int_equal(ad_int_or(own, "NumCkpts", 0), 1);
    assert_int_equal(ad_int_or(own, "LastCkptTime", 0), 999500);
    checkpoint_plan_run_begins(own);
    checkpoint_plan_resumed(own, 0);
    committed(own, 500, 0);
    assert_true(take(own, FIRST, 0)); /* numbers begin anew */
    committed(own, 600, 0);
    checkpoint_plan_run_begins(own);
    checkpoint_plan_resumed(own, 0);
    committed(own, 500, 0);
    ad_destroy(own);
}

static void a_job_without_checkpoints_is_left_alone(void **state)
{
    (void)state;
    struct ad *own = parse("[CommittedTime = 77; CommittedSlotTime = 154.0]");
    checkpoint_plan_run_begins(own);
    checkpoint_plan_resumed(own, 0);
    committed(own, 77, 0);
    assert_int_equal(ad_count(own), 2);
    assert_false(checkpoint_plan_run_has_one(NULL));
    ad_destroy(own);
}

static void a_job_that_no_machine_can_resume_gives_up_after_its_patience(void **state)
{
    (void)state;
    struct ad *own = ad_create();
    assert_false(checkpoint_plan_gives_up(NULL, 100, 100, "no match found"));
    assert_false(checkpoint_plan_gives_up(own, 100, 100, "no match found"));
    assert_true(take(own, FIRST, 0));
    assert_true(checkpoint_plan_gives_up(own, 100, 100, "no match found"));
    assert_false(checkpoint_plan_gives_up(own, 99, 100, "no match found"));
    assert_false(checkpoint_plan_gives_up(own, 100, 0, "no match found"));
    assert_false(checkpoint_plan_gives_up(own, 100, 100, NULL));
    assert_false(checkpoint_plan_gives_up(own, 100, 100, "submitter limit exceeded"));
    ad_set_bool(own, "CkptAnywhere", true);
    assert_false(checkpoint_plan_gives_up(own, 100, 100, "no match found"));
    assert_true(take(own, SECOND, 0));
    assert_false(ad_has(own, "CkptAnywhere"));
    ad_destroy(own);
}

UNIT_TESTS(UNIT(what_a_checkpoint_saved_counts_once),
           UNIT(a_run_counts_with_what_it_stood_still_and_not_longer_than_it_was),
           UNIT(a_wrong_clock_is_not_believed),
           UNIT(a_run_that_goes_on_from_an_older_one_takes_back_what_that_loses),
           UNIT(a_damaged_one_is_forgotten_for_the_one_before),
           UNIT(a_damaged_older_one_leaves_the_latest),
           UNIT(after_a_result_the_job_begins_at_its_start_and_keeps_what_counted),
           UNIT(a_job_without_checkpoints_is_left_alone),
           UNIT(a_job_that_no_machine_can_resume_gives_up_after_its_patience))
