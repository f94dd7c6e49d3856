/* tests/unit/shadow/test_ckpt_place_plan.c - which directory the checkpoints of a job go to.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include "base/strbuf.h"
#include "classad/ad.h"
#include "shadow/ckpt/ckpt_place_plan.h"

static struct ad *job_to(const char *destination)
{
    struct ad *job = ad_create();
    if (destination != NULL) {
        ad_set_string(job, "CheckpointDestination", destination);
    }
    return job;
}

static void place_is(const char *destination, const char *site, const char *wanted)
{
    struct ad *job = job_to(destination);
    const char *place = checkpoint_place_plan(job, site);
    if (wanted == NULL) {
        assert_null(place);
    } else {
        assert_non_null(place);
        assert_string_equal(place, wanted);
    }
    ad_destroy(job);
}

static void the_job_says_where_else_the_site_else_it_is_the_spool(void **state)
{
    (void)state;
    place_is("/scratch/alice", "/big", "/scratch/alice");
    place_is("file:///scratch/alice", NULL, "/scratch/alice");
    place_is(NULL, "/big", "/big");
    place_is("", "file:///big", "/big");
    place_is(NULL, "", NULL);
    place_is(NULL, NULL, NULL);
}

static void what_is_no_directory_is_none_and_not_the_spool(void **state)
{
    (void)state;
    place_is("s3://bucket/key", "/big", "");
    place_is("scratch", "/big", "");
    place_is("file://host/scratch", NULL, "");
}

static void name_is(const char *global, const char *wanted)
{
    struct strbuf path;
    struct ad *job = ad_create();
    strbuf_init(&path, 0);
    ad_set_string(job, "GlobalJobId", global);
    checkpoint_place_plan_name(job, "12.3", "/big", &path);
    assert_string_equal(strbuf_text(&path), wanted);
    strbuf_fini(&path);
    ad_destroy(job);
}

static void each_job_has_a_directory_of_its_name(void **state)
{
    (void)state;
    name_is("submit.example#12.3#1700000000", "/big/submit.example_12.3_1700000000");
    name_is("", "/big/12.3");
    name_is("../../etc", "/big/12.3");
    name_is("..", "/big/12.3");
    name_is("a/../../etc", "/big/12.3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_job_says_where_else_the_site_else_it_is_the_spool),
        cmocka_unit_test(what_is_no_directory_is_none_and_not_the_spool),
        cmocka_unit_test(each_job_has_a_directory_of_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
