/* tests/unit/shadow/test_transfer_plan.c - which files, under which names, to which places.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "shadow/transfer_plan.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "transfer/transfer_names.h"

static struct ad *parse(const char *text)
{
    struct ad *ad = NULL;
    assert_int_equal(ad_parse(text, strlen(text), &ad, NULL), 0);
    return ad;
}

static void program_stdin_and_inputs_go_under_their_own_names(void **state)
{
    (void)state;
    struct ad *job = parse("[Cmd = \"/opt/run.sh\"; Iwd = \"/home/a\"; In = \"in/data.txt\"; "
                           "TransferInput = \" /etc/x.conf , b.dat,, in/data.txt\"]");
    struct vec inputs = {0};
    assert_int_equal(transfer_plan_inputs(job, &inputs, NULL), 0);
    static const char *const EXPECTED[][2] = {
        {"/opt/run.sh", TRANSFER_EXECUTABLE},
        {"/home/a/in/data.txt", "data.txt"},
        {"/etc/x.conf", "x.conf"},
        {"/home/a/b.dat", "b.dat"},
    };
    assert_int_equal(inputs.count, 4);
    for (size_t i = 0; i < 4; i++) {
        const struct transfer_input *input = inputs.items[i];
        assert_string_equal(input->path, EXPECTED[i][0]);
        assert_string_equal(input->name, EXPECTED[i][1]);
        assert_int_equal(input->is_executable, i == 0);
    }
    vec_fini(&inputs, transfer_input_destroy);
    ad_destroy(job);
}

static void input_result(const char *text, int expected, const char *mentions)
{
    struct ad *job = parse(text);
    struct vec inputs = {0};
    struct err err = {{0}};
    assert_int_equal(transfer_plan_inputs(job, &inputs, &err), expected);
    if (mentions != NULL) {
        assert_non_null(strstr(err.text, mentions));
    }
    vec_fini(&inputs, transfer_input_destroy);
    ad_destroy(job);
}

static void what_cannot_be_transferred_is_named(void **state)
{
    (void)state;
    input_result("[Cmd = \"/a\"; Iwd = \"/h\"; TransferInput = \"x/d, y/d\"]", -EINVAL, "/h/y/d");
    input_result("[Cmd = \"/a\"; Iwd = \"/h\"; TransferInput = \"http://x/\"]", 0, NULL);
    input_result("[Cmd = \"/a\"; Iwd = \"/h\"; TransferInput = \"..\"]", -EINVAL, "..");
    input_result("[Cmd = \"/a\"; Iwd = \"/h\"; TransferInput = \"x/../y\"; "
                 "PreserveRelativePaths = true]",
                 -EINVAL, "x/../y");
    input_result("[Cmd = \"\"; Iwd = \"/h\"]", -EINVAL, NULL);
}

static void without_transfer_nothing_is_sent_or_renamed(void **state)
{
    (void)state;
    struct ad *job = parse("[Cmd = \"/a\"; Iwd = \"/h\"; In = \"i\"; Out = \"o\"; "
                           "ShouldTransferFiles = \"no\"]");
    struct vec inputs = {0};
    assert_int_equal(transfer_plan_inputs(job, &inputs, NULL), 0);
    assert_int_equal(inputs.count, 0);
    struct ad *sandbox = transfer_plan_sandbox_ad(job);
    assert_true(ad_same(job, sandbox));
    struct transfer_place place = {0};
    assert_int_equal(transfer_plan_output(job, "o", &place, NULL), -EPERM);
    ad_destroy(sandbox);
    ad_destroy(job);
}

static void the_sandbox_has_names_of_its_own(void **state)
{
    (void)state;
    struct ad *job = parse("[Cmd = \"/opt/run.sh\"; Iwd = \"/h\"; In = \"/data/i\"; "
                           "Out = \"o\"; Err = \"e\"]");
    struct ad *ad = transfer_plan_sandbox_ad(job);
    assert_string_equal(ad_string_or(ad, "Cmd", ""), "condor_exec.exe");
    assert_string_equal(ad_string_or(ad, "In", ""), "i");
    assert_string_equal(ad_string_or(ad, "Out", ""), "_condor_stdout");
    assert_string_equal(ad_string_or(ad, "Err", ""), "_condor_stderr");
    ad_destroy(ad);
    ad_set_string(job, "Err", "/h/o");
    ad_set_bool(job, "TransferExecutable", false);
    ad_set_string(job, "In", "/dev/null");
    ad = transfer_plan_sandbox_ad(job);
    assert_string_equal(ad_string_or(ad, "Cmd", ""), "/opt/run.sh");
    assert_string_equal(ad_string_or(ad, "In", ""), "/dev/null");
    assert_string_equal(ad_string_or(ad, "Err", ""), "_condor_stdout");
    ad_destroy(ad);
    ad_set_string(job, "Out", "/dev/null");
    ad_set_string(job, "Err", "");
    ad = transfer_plan_sandbox_ad(job);
    assert_string_equal(ad_string_or(ad, "Out", ""), "/dev/null");
    assert_string_equal(ad_string_or(ad, "Err", ""), "/dev/null");
    ad_destroy(ad);
    ad_destroy(job);
}

/* expected: "base|below", or NULL: dropped. */
static void goes_to(const struct ad *job, const char *name, const char *expected)
{
    struct transfer_place place = {0};
    char text[300];
    struct err err = {{0}};
    if (transfer_plan_output(job, name, &place, &err) != 0) {
        fail_msg("%s: %s", name, err.text);
    }
    if (expected == NULL) {
        assert_null(place.base);
    } else {
        (void)snprintf(text, sizeof(text), "%s|%s", place.base, place.below);
        assert_string_equal(text, expected);
    }
    transfer_place_fini(&place);
}

static void is_refused(const struct ad *job, const char *name, int expected)
{
    struct transfer_place place = {0};
    assert_int_equal(transfer_plan_output(job, name, &place, NULL), expected);
    assert_null(place.base);
    transfer_place_fini(&place);
}

static void output_goes_where_the_job_says(void **state)
{
    (void)state;
    struct ad *job = parse("[Iwd = \"/h\"; Out = \"logs/o\"; Err = \"/var/e\"; "
                           "TransferOutputRemaps = \" a.dat = b/c.dat ; x=/abs/x; y = into/; "
                           "u = http://x/u\"]");
    goes_to(job, "_condor_stdout", "/h/logs/o|");
    goes_to(job, "_condor_stderr", "/var/e|");
    goes_to(job, "a.dat", "/h/b/c.dat|");
    goes_to(job, "x", "/abs/x|");
    goes_to(job, "y", "/h/into//y|");
    goes_to(job, "new.dat", "/h/new.dat|");
    goes_to(job, "u", NULL); /* its starter has sent it there */
    ad_set_string(job, "Err", "/dev/null");
    goes_to(job, "_condor_stderr", NULL);
    ad_destroy(job);
}

static void a_starter_cannot_name_its_way_out(void **state)
{
    (void)state;
    struct ad *job = parse("[Iwd = \"/h\"; Out = \"o\"]");
    static const char *const HOSTILE[] = {
        "", ".", "..", "../x", "a/b", "/etc/passwd", "_condor_roost_result", "_condor_x",
    };
    for (size_t i = 0; i < sizeof(HOSTILE) / sizeof(HOSTILE[0]); i++) {
        is_refused(job, HOSTILE[i], -EPERM);
    }
    ad_set_string(job, "TransferOutput", "d, e/");
    static const char *const HOSTILE_BELOW[] = {"d/../x", "d/..", "e/../x", "d//x", "dx", "f/x"};
    for (size_t i = 0; i < sizeof(HOSTILE_BELOW) / sizeof(HOSTILE_BELOW[0]); i++) {
        is_refused(job, HOSTILE_BELOW[i], -EPERM);
    }
    ad_remove(job, "TransferOutput");
    char name[TRANSFER_NAME_MAX + 2];
    memset(name, 'a', sizeof(name));
    name[sizeof(name) - 1] = '\0';
    is_refused(job, name, -EPERM);
    name[sizeof(name) - 2] = '\0';
    struct transfer_place place = {0};
    assert_int_equal(transfer_plan_output(job, name, &place, NULL), 0);
    transfer_place_fini(&place);
    ad_destroy(job);
}

static void only_listed_files_come_back_where_the_job_lists_them(void **state)
{
    (void)state;
    struct ad *job = parse("[Iwd = \"/h\"; Out = \"o\"; "
                           "TransferOutput = \"res/a.dat, b, dir, ./all/, res/deep\"]");
    goes_to(job, "res/a.dat", "/h/a.dat|");
    goes_to(job, "b", "/h/b|");
    goes_to(job, "dir", "/h/dir|");
    goes_to(job, "dir/x/y", "/h/dir|x/y");
    goes_to(job, "all/x/y", "/h|x/y");
    goes_to(job, "res/deep/z", "/h/deep|z");
    goes_to(job, "_condor_stdout", "/h/o|");
    is_refused(job, "c", -EPERM);
    is_refused(job, "a.dat", -EPERM);
    is_refused(job, "res", -EPERM);
    ad_set_bool(job, "PreserveRelativePaths", true);
    goes_to(job, "res/a.dat", "/h/res/a.dat|");
    goes_to(job, "all/x/y", "/h/all|x/y");
    goes_to(job, "res/deep/z", "/h/res/deep|z");
    ad_set_string(job, "TransferOutput", "");
    is_refused(job, "b", -EPERM);
    ad_destroy(job);
}

static void remaps_take_directories_with_what_is_in_them(void **state)
{
    (void)state;
    struct ad *job = parse("[Iwd = \"/h\"; TransferOutput = \"d, res/a.dat, all/\"; "
                           "TransferOutputRemaps = \"d = /data/new; d/sub/x = one; res/a.dat = b; "
                           "q = moved\"]");
    goes_to(job, "d", "/data/new|");
    goes_to(job, "d/f", "/data/new|f");
    goes_to(job, "d/sub/f", "/data/new|sub/f");
    goes_to(job, "d/sub/x", "/h/one|");
    goes_to(job, "res/a.dat", "/h/b|");
    goes_to(job, "all/q/r", "/h/moved|r");
    ad_destroy(job);
}

static void directories_and_urls_are_inputs_too(void **state)
{
    (void)state;
    struct ad *job = parse("[Cmd = \"/p\"; Iwd = \"/h\"; TransferIn = false; In = \"/there\"; "
                           "TransferInput = \"d/e, all/, http://x/y/z.csv?v=1, ./k/l\"]");
    static const char *const EXPECTED[][2] = {
        {"/p", TRANSFER_EXECUTABLE},       {"/h/d/e", "e"},   {"/h/all/", ""},
        {"http://x/y/z.csv?v=1", "z.csv"}, {"/h/./k/l", "l"},
    };
    static const char *const PRESERVED[] = {TRANSFER_EXECUTABLE, "d/e", "all", "z.csv", "k/l"};
    for (int preserve = 0; preserve < 2; preserve++) {
        struct vec inputs = {0};
        ad_set_bool(job, "PreserveRelativePaths", preserve != 0);
        assert_int_equal(transfer_plan_inputs(job, &inputs, NULL), 0);
        assert_int_equal(inputs.count, 5);
        for (size_t i = 0; i < 5; i++) {
            const struct transfer_input *input = inputs.items[i];
            assert_string_equal(input->path, EXPECTED[i][0]);
            assert_string_equal(input->name, preserve ? PRESERVED[i] : EXPECTED[i][1]);
            assert_int_equal(input->is_url, i == 3);
            assert_int_equal(input->is_contents, i == 2);
        }
        vec_fini(&inputs, transfer_input_destroy);
    }
    struct ad *ad = transfer_plan_sandbox_ad(job);
    assert_string_equal(ad_string_or(ad, "In", ""), "/there");
    ad_destroy(ad);
    ad_destroy(job);
}

static void if_needed_is_settled_by_the_machine(void **state)
{
    (void)state;
    struct ad *job = parse("[ShouldTransferFiles = \"IF_NEEDED\"; FileSystemDomain = \"Fs\"]");
    struct ad *other = ad_copy(job);
    transfer_plan_settle(job, "fs");
    assert_false(transfer_plan_is_wanted(job));
    transfer_plan_settle(other, "else");
    assert_true(transfer_plan_is_wanted(other));
    transfer_plan_settle(other, "fs"); /* was settled */
    assert_true(transfer_plan_is_wanted(other));
    ad_destroy(other);
    ad_destroy(job);
}

static void a_job_with_checkpoints_transfers_its_files(void **state)
{
    (void)state;
    struct ad *job = ad_create();
    ad_set_string(job, "ShouldTransferFiles", "IF_NEEDED");
    ad_set_string(job, "FileSystemDomain", "fs");
    ad_set_bool(job, "WantCheckpoint", true);
    transfer_plan_settle(job, "fs");
    assert_string_equal(ad_string_or(job, "ShouldTransferFiles", ""), "YES");
    ad_destroy(job);
}

static void limits_are_the_jobs_or_the_sites(void **state)
{
    (void)state;
    struct ad *job = parse("[A = 2; B = 1 + 2; C = -1]");
    assert_int_equal(transfer_plan_limit(job, "A", 7), 2 << 20);
    assert_int_equal(transfer_plan_limit(job, "B", 7), 3 << 20);
    assert_int_equal(transfer_plan_limit(job, "C", 7), -1);
    assert_int_equal(transfer_plan_limit(job, "D", 7), 7 << 20);
    assert_int_equal(transfer_plan_limit(job, "D", -1), -1);
    ad_destroy(job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(program_stdin_and_inputs_go_under_their_own_names),
        cmocka_unit_test(what_cannot_be_transferred_is_named),
        cmocka_unit_test(without_transfer_nothing_is_sent_or_renamed),
        cmocka_unit_test(the_sandbox_has_names_of_its_own),
        cmocka_unit_test(output_goes_where_the_job_says),
        cmocka_unit_test(a_starter_cannot_name_its_way_out),
        cmocka_unit_test(remaps_take_directories_with_what_is_in_them),
        cmocka_unit_test(directories_and_urls_are_inputs_too),
        cmocka_unit_test(if_needed_is_settled_by_the_machine),
        cmocka_unit_test(a_job_with_checkpoints_transfers_its_files),
        cmocka_unit_test(limits_are_the_jobs_or_the_sites),
        cmocka_unit_test(only_listed_files_come_back_where_the_job_lists_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
