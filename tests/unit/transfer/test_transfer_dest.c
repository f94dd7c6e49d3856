/* Where output goes: names, remaps and URLs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include "base/err.h"
#include "base/mem.h"
#include "classad/ad.h"
#include "transfer/transfer_dest.h"

static void expect_url(const char *job_text, const char *name, const char *stream, const char *want)
{
    struct ad *job;
    struct err err = {""};
    assert_int_equal(ad_parse(job_text, strlen(job_text), &job, &err), 0);
    char *url = transfer_dest_url(job, name, stream);
    if (want == NULL) {
        assert_null(url);
    } else {
        assert_non_null(url);
        assert_string_equal(url, want);
    }
    mem_free(url);
    ad_destroy(job);
}

static void a_remap_to_a_url_is_where_that_file_goes(void **state)
{
    (void)state;
    const char *job = "[TransferOutput = \"a,d/b,c\";"
                      " TransferOutputRemaps = \"a = s3://x/y ; d/b=http://h/b?k=1;c = other\"]";
    expect_url(job, "a", NULL, "s3://x/y");
    expect_url(job, "d/b", NULL, "http://h/b?k=1");
    expect_url(job, "c", NULL, NULL);
    expect_url(job, "e", NULL, NULL); /* no output of the job */
    expect_url(job, "_condor_stdout", "out", NULL);
}

static void a_directory_goes_below_its_url_and_a_slash_keeps_the_name(void **state)
{
    (void)state;
    const char *job = "[TransferOutput = \"tree,deep/f\";"
                      " TransferOutputRemaps = \"tree = http://h/t?x;deep/f = ftp://h/in/\"]";
    expect_url(job, "tree/a/b", NULL, "http://h/t/a/b?x");
    expect_url(job, "deep/f", NULL, "ftp://h/in/f");
}

static void an_output_destination_takes_all_but_what_was_given_another_place(void **state)
{
    (void)state;
    const char *job = "[OutputDestination = \"http://h/base/\";"
                      " TransferOutputRemaps = \"n = new; z = /dev/null; u = s3://b/u; p = /a/b\"]";
    expect_url(job, "x", NULL, "http://h/base/x");
    expect_url(job, "n", NULL, "http://h/base/new");
    expect_url(job, "p", NULL, "http://h/base/p");
    expect_url(job, "u", NULL, "s3://b/u");
    expect_url(job, "z", NULL, NULL);
    expect_url(job, "_condor_stdout", "my.out", "http://h/base/my.out");
    expect_url("[OutputDestination = \"/no/url\"]", "x", NULL, NULL);
    expect_url("[a = 1]", "x", NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_remap_to_a_url_is_where_that_file_goes),
        cmocka_unit_test(a_directory_goes_below_its_url_and_a_slash_keeps_the_name),
        cmocka_unit_test(an_output_destination_takes_all_but_what_was_given_another_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
