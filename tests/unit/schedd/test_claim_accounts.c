/* tests/unit/schedd/test_claim_accounts.c - the length of a run while the wall clock is set.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/loop.h"
#include "base/loop_run.h"
#include "classad/ad.h"
#include "schedd/claim/claim_accounts.h"
#include "schedd/moments.h"
#include "schedd/queue/queue_table.h"
#include "schedd/schedd_state.h"
#include "tests/support/clock_shift.h"

#define DEADLINE_S 120 /* a machine that stands still meanwhile fails no test */

struct fixture {
    struct schedd schedd;
    struct cluster cluster;
    struct job job;
};

static int set_up(void **state)
{
    static struct fixture f;
    f = (struct fixture){0};
    clock_shift_s = 0;
    assert_int_equal(loop_create(&f.schedd.loop, NULL), 0);
    (void)snprintf(f.schedd.self.boot_id, sizeof f.schedd.self.boot_id, "boot-one");
    f.cluster.ad = ad_create();
    f.job.cluster = &f.cluster;
    f.job.own = ad_create();
    f.job.phase = JOB_ACTIVE;
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    ad_destroy(f->job.own);
    ad_destroy(f->cluster.ad);
    loop_destroy(f->schedd.loop);
    return 0;
}

/* As if the moment had been noted ago_s seconds earlier, in the boot with this id. */
static void note_earlier(struct fixture *f, const char *name, int64_t ago_s, const char *boot_id)
{
    char text[96];
    (void)snprintf(text, sizeof text, "%" PRId64 " %s",
                   (int64_t)loop_now_ms(f->schedd.loop) - ago_s * 1000, boot_id);
    ad_set_string(f->job.own, name, text);
}

static void begin(struct fixture *f)
{
    claim_run_given(&f->schedd, &f->job);
    claim_run_began(&f->schedd, &f->job);
}

static void a_run_is_as_long_as_it_was_whatever_the_wall_clock_says(void **state)
{
    struct fixture *f = *state;
    static const int64_t SHIFTS_S[] = {0, TEN_YEARS_S, -TEN_YEARS_S, -5};
    for (size_t i = 0; i < sizeof SHIFTS_S / sizeof *SHIFTS_S; i++) {
        clock_shift_s = 0;
        begin(f);
        note_earlier(f, "RunGivenAt", 50, "boot-one");
        note_earlier(f, "RunBeganAt", 40, "boot-one");
        ad_remove(f->job.own, "RemoteWallClockTime");
        clock_shift_s = SHIFTS_S[i];
        assert_in_range(claim_given_s(&f->schedd, &f->job), 50, 50 + DEADLINE_S);
        claim_run_ended(&f->schedd, &f->job);
        assert_in_range(ad_real_or(f->job.own, "RemoteWallClockTime", 0), 40, 40 + DEADLINE_S);
        note_earlier(f, "RunEndedAt", 70, "boot-one");
        assert_in_range(claim_idle_s(&f->schedd, &f->job), 70, 70 + DEADLINE_S);
    }
}

static void over_a_boot_of_this_machine_a_run_counts_what_is_plausible(void **state)
{
    struct fixture *f = *state;
    int64_t up_s = (int64_t)(loop_now_ms(f->schedd.loop) / 1000);
    begin(f);
    note_earlier(f, "RunBeganAt", 0, "boot-zero");
    ad_set_int(f->job.own, "JobCurrentStartDate", loop_wall_s(f->schedd.loop) - up_s - 1000);
    assert_in_range(claim_ran_s(&f->schedd, &f->job), up_s + 999, up_s + 1000 + DEADLINE_S);
    clock_shift_s = TEN_YEARS_S;
    assert_in_range(claim_ran_s(&f->schedd, &f->job), up_s - 1, up_s + DEADLINE_S);
    clock_shift_s = -TEN_YEARS_S;
    assert_in_range(claim_ran_s(&f->schedd, &f->job), up_s - 1, up_s + DEADLINE_S);
}

static void a_job_that_never_ran_has_no_length(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(claim_ran_s(&f->schedd, &f->job), 0);
    claim_run_ended(&f->schedd, &f->job);
    assert_false(ad_has(f->job.own, "RemoteWallClockTime"));
    ad_set_int(f->job.own, "JobCurrentStartDate", loop_wall_s(f->schedd.loop) - 30);
    assert_in_range(claim_ran_s(&f->schedd, &f->job), 30, 30 + DEADLINE_S); /* an old row */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_run_is_as_long_as_it_was_whatever_the_wall_clock_says,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(over_a_boot_of_this_machine_a_run_counts_what_is_plausible,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_job_that_never_ran_has_no_length, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
