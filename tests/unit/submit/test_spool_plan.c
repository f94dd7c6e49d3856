/* tests/unit/submit/test_spool_plan.c - what becomes of the names of a job that is spooled.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "submit/spool_plan.h"

#define DIRECTORY "/s/owner/a/sandbox/12"

static struct ad *ad_of(const char *text)
{
    struct ad *ad = NULL;
    struct err err;
    if (ad_parse_long(text, strlen(text), &ad, &err) != 0) {
        fail_msg("%s", err.text);
    }
    return ad;
}

/* A cluster and its job 3, as the schedd shows the job. */
static struct ad *spooled(const char *cluster_text, const char *own_text)
{
    struct ad *cluster = ad_of(cluster_text), *own = ad_of(own_text), *flat;
    struct err err;
    ad_set_int(cluster, "ClusterId", 12);
    spool_plan_keep(cluster);
    if (spool_plan_rewrite(own, cluster, DIRECTORY, 3, &err) != 0) {
        fail_msg("%s", err.text);
    }
    flat = ad_copy(cluster);
    ad_merge(flat, own);
    ad_destroy(cluster);
    ad_destroy(own);
    return flat;
}

static const char CLUSTER[] =
    "Iwd = \"/home/a/w\"\nCmd = \"/home/a/w/prog.sh\"\nIn = \"stdin\"\nErr = \"err\"\n"
    "UserLog = \"/home/a/w/job.log\"\nShouldTransferFiles = \"IF_NEEDED\"\n"
    "TransferInput = \"data/a, ../b , http://x/y, dir/\"\nLeaveJobInQueue = false\n"
    "TransferOutputRemaps = \"m=there/m.dat;u = s3://b/u ;d=elsewhere\"\n";

static const struct spool_item *item_of(const struct vec *items, const char *local)
{
    for (size_t i = 0; i < items->count; i++) {
        const struct spool_item *item = items->items[i];
        if (item->local != NULL && strcmp(item->local, local) == 0) {
            return item;
        }
    }
    fail_msg("%s is not sent", local);
    return NULL;
}

static void names_lie_below_the_sandbox_and_are_kept_as_they_were(void **state)
{
    (void)state;
    struct ad *job = spooled(CLUSTER, "Out = \"res/out.3\"\n");
    assert_string_equal(ad_string_or(job, "Iwd", ""), DIRECTORY "/out/3");
    assert_string_equal(ad_string_or(job, "SUBMIT_Iwd", ""), "/home/a/w");
    assert_string_equal(ad_string_or(job, "Out", ""), "_condor_stdout");
    assert_string_equal(ad_string_or(job, "SUBMIT_Out", ""), "res/out.3");
    assert_string_equal(ad_string_or(job, "Err", ""), "_condor_stderr");
    assert_string_equal(ad_string_or(job, "ShouldTransferFiles", ""), "YES");
    assert_string_equal(ad_string_or(job, "TransferOutputRemaps", "-"), "u = s3://b/u ");
    const char *input = ad_string_or(job, "TransferInput", "");
    assert_non_null(strstr(input, ",http://x/y,"));
    assert_int_equal(strncmp(input, DIRECTORY "/in/", strlen(DIRECTORY "/in/")), 0);
    assert_string_equal(input + strlen(input) - 5, "/dir/");
    assert_true(spool_plan_waits_for_fetch(job));
    ad_destroy(job);
}

static void the_submitter_knows_from_the_ad_what_to_send(void **state)
{
    (void)state;
    struct ad *job = spooled(CLUSTER, "Out = \"res/out.3\"\n");
    struct vec items = {0};
    assert_int_equal(spool_plan_items(job, &items, NULL), 0);
    assert_int_equal(items.count, 7); /* out/3, the log's directory, five files */
    assert_string_equal(((struct spool_item *)items.items[0])->name, "out/3");
    const char *name = item_of(&items, "/home/a/w/data/a")->name;
    assert_int_equal(strncmp(name, "in/", 3), 0);
    assert_string_equal(name + strlen("in/0123456789abcdef"), "/a");
    (void)item_of(&items, "/home/a/w/../b");
    (void)item_of(&items, "/home/a/w/prog.sh");
    (void)item_of(&items, "/home/a/w/stdin");
    name = item_of(&items, "/home/a/w/dir")->name;
    assert_string_equal(name + strlen(name) - 4, "/dir");
    vec_fini(&items, spool_item_destroy);
    ad_destroy(job);
}

static void files_of_one_name_from_two_places_do_not_meet(void **state)
{
    (void)state;
    struct ad *job = spooled("Iwd = \"/w\"\nTransferExecutable = false\nCmd = \"/bin/true\"\n",
                             "TransferInput = \"x/f,y/f,./x/f\"\n");
    struct vec items = {0};
    assert_int_equal(spool_plan_items(job, &items, NULL), 0);
    assert_string_equal(ad_string_or(job, "Cmd", ""), "/bin/true");
    assert_int_equal(items.count, 4);
    assert_string_not_equal(item_of(&items, "/w/x/f")->name, item_of(&items, "/w/y/f")->name);
    vec_fini(&items, spool_item_destroy);
    ad_destroy(job);
}

static void is_at(const struct ad *job, const char *name, const char *wanted)
{
    char *place = spool_plan_destination(job, name);
    if (wanted == NULL) {
        assert_null(place);
    } else {
        assert_non_null(place);
        assert_string_equal(place, wanted);
    }
    mem_free(place);
}

static void output_belongs_where_the_submit_file_said(void **state)
{
    (void)state;
    struct ad *job = spooled(CLUSTER, "Out = \"res/out.3\"\n");
    is_at(job, "_condor_stdout", "/home/a/w/res/out.3");
    is_at(job, "_condor_stderr", "/home/a/w/err");
    is_at(job, "m", "/home/a/w/there/m.dat");
    is_at(job, "d", "/home/a/w/elsewhere");
    is_at(job, "d/e/f", "/home/a/w/elsewhere/e/f");
    is_at(job, "mm", "/home/a/w/mm");
    is_at(job, "", "/home/a/w/job.log");
    ad_destroy(job);
    job = spooled("Iwd = \"/w\"\nCmd = \"/x\"\nOut = \"both\"\nErr = \"both\"\n", "");
    assert_string_equal(ad_string_or(job, "Err", ""), "_condor_stdout");
    is_at(job, "", NULL);
    ad_destroy(job);
}

static void what_cannot_be_spooled_is_refused(void **state)
{
    (void)state;
    static const char *const OWN[] = {
        "ShouldTransferFiles = \"NO\"\n", "PreserveRelativePaths = true\n",
        "WantRemoteSyscalls = true\n",    "TransferInput = \"..\"\n",
        "TransferInput = \"a,/\"\n",
    };
    for (size_t i = 0; i < sizeof(OWN) / sizeof(OWN[0]); i++) {
        struct ad *cluster = ad_of("Iwd = \"/w\"\nCmd = \"/w/x\"\n"), *own = ad_of(OWN[i]);
        spool_plan_keep(cluster);
        assert_int_equal(spool_plan_rewrite(own, cluster, DIRECTORY, 0, NULL), -EINVAL);
        ad_destroy(cluster);
        ad_destroy(own);
    }
    struct ad *job = ad_of("Iwd = \"/w\"\nClusterId = 12\n");
    struct vec items = {0};
    assert_int_equal(spool_plan_items(job, &items, NULL), -EINVAL);
    is_at(job, "f", NULL);
    ad_destroy(job);
    vec_fini(&items, spool_item_destroy);
}

static void an_own_wish_to_stay_is_respected(void **state)
{
    (void)state;
    struct ad *job =
        spooled("Iwd = \"/w\"\nCmd = \"/w/x\"\nLeaveJobInQueue = JobStatus == 4\n", "");
    assert_false(spool_plan_waits_for_fetch(job));
    ad_destroy(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_lie_below_the_sandbox_and_are_kept_as_they_were),
        cmocka_unit_test(the_submitter_knows_from_the_ad_what_to_send),
        cmocka_unit_test(files_of_one_name_from_two_places_do_not_meet),
        cmocka_unit_test(output_belongs_where_the_submit_file_said),
        cmocka_unit_test(what_cannot_be_spooled_is_refused),
        cmocka_unit_test(an_own_wish_to_stay_is_respected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
