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
#include <string.h>
#include <cmocka.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"
#include "classad/ad.h"

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
    input_result("[Cmd = \"/a\"; Iwd = \"/h\"; TransferInput = \"http://x/d\"]", -ENOTSUP, "URL");
    input_result("[Cmd = \"/a\"; Iwd = \"/h\"; TransferInput = \"dir/\"]", -ENOTSUP, "dir/");
    input_result("[Cmd = \"/a\"; Iwd = \"/h\"; TransferInput = \"..\"]", -ENOTSUP, "..");
    input_result("[Cmd = \"\"; Iwd = \"/h\"]", -ENOTSUP, NULL);
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
    char *path = NULL;
    assert_int_equal(transfer_plan_output(job, "o", &path, NULL), -EPERM);
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

static void goes_to(const struct ad *job, const char *name, const char *expected)
{
    char *path = NULL;
    assert_int_equal(transfer_plan_output(job, name, &path, NULL), 0);
    if (expected == NULL) {
        assert_null(path);
    } else {
        assert_string_equal(path, expected);
    }
    mem_free(path);
}

static void output_goes_where_the_job_says(void **state)
{
    (void)state;
    struct ad *job = parse("[Iwd = \"/h\"; Out = \"logs/o\"; Err = \"/var/e\"; "
                           "TransferOutputRemaps = \" a.dat = b/c.dat ; x=/abs/x\"]");
    goes_to(job, "_condor_stdout", "/h/logs/o");
    goes_to(job, "_condor_stderr", "/var/e");
    goes_to(job, "a.dat", "/h/b/c.dat");
    goes_to(job, "x", "/abs/x");
    goes_to(job, "new.dat", "/h/new.dat");
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
    char *path = NULL;
    for (size_t i = 0; i < sizeof(HOSTILE) / sizeof(HOSTILE[0]); i++) {
        assert_int_equal(transfer_plan_output(job, HOSTILE[i], &path, NULL), -EPERM);
    }
    char name[TRANSFER_NAME_MAX + 2];
    memset(name, 'a', sizeof(name));
    name[sizeof(name) - 1] = '\0';
    assert_int_equal(transfer_plan_output(job, name, &path, NULL), -EPERM);
    name[sizeof(name) - 2] = '\0';
    assert_int_equal(transfer_plan_output(job, name, &path, NULL), 0);
    mem_free(path);
    ad_destroy(job);
}

static void only_listed_files_come_back_where_the_job_lists_them(void **state)
{
    (void)state;
    struct ad *job = parse("[Iwd = \"/h\"; Out = \"o\"; TransferOutput = \"res/a.dat, b\"]");
    char *path = NULL;
    goes_to(job, "a.dat", "/h/a.dat");
    goes_to(job, "b", "/h/b");
    goes_to(job, "_condor_stdout", "/h/o");
    assert_int_equal(transfer_plan_output(job, "c", &path, NULL), -EPERM);
    ad_set_string(job, "TransferOutput", "");
    assert_int_equal(transfer_plan_output(job, "b", &path, NULL), -EPERM);
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
        cmocka_unit_test(only_listed_files_come_back_where_the_job_lists_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
