/* The method host: what is done, and what is refused; below a root, never to the machine that runs
 * the test.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "tests/support/loop_rig.h"

#include <errno.h>

#include "base/check.h"
#include "power/power.h"

struct rig {
    char root[FAST_DIR_SIZE];
    struct loop *loop;
    struct os *os;
    struct power *power;
    bool over;
    int status;
    char text[512];
    struct power_node node;
};

static int setup(void **state)
{
    struct rig *rig = mem_zalloc(sizeof *rig);
    char path[200];
    loop_rig_open(&rig->loop, &rig->os, rig->root);
    rig->power = power_create(rig->loop, rig->os, NULL);
    rig->node = (struct power_node){.name = "wn01", .method = "host", .root = rig->root};
    (void)snprintf(path, sizeof path, "%s/sys/power", rig->root);
    assert_int_equal(os_mkdirs(rig->os, path, 0755, NULL), 0);
    *state = rig;
    return 0;
}

static int teardown(void **state)
{
    struct rig *rig = *state;
    power_destroy(rig->power);
    loop_rig_close(rig->loop, rig->os, rig->root);
    mem_free(rig);
    return 0;
}

static void done(void *arg, int status, const char *text)
{
    struct rig *rig = arg;
    rig->over = true;
    rig->status = status;
    (void)snprintf(rig->text, sizeof rig->text, "%s", text);
}

static int sleep_to(struct rig *rig, const char *level)
{
    struct err err;
    rig->over = false;
    assert_int_equal(power_sleep(rig->power, &rig->node, level, done, rig, &err), 0);
    loop_run_until(rig->loop, &rig->over); /* ctest's limit ends what never comes */
    return rig->status;
}

static void file_is(struct rig *rig, const char *name, const char *expected)
{
    char path[200], *text = NULL;
    size_t length;
    (void)snprintf(path, sizeof path, "%s%s", rig->root, name);
    int rc = os_read_file(rig->os, path, 4096, &text, &length, NULL);
    assert_string_equal(rc == 0 ? text : "(none)", expected);
    mem_free(text);
}

static void touch(struct rig *rig, const char *name)
{
    char path[200];
    (void)snprintf(path, sizeof path, "%s%s", rig->root, name);
    assert_int_equal(os_write_file(rig->os, path, "", 0, 0644, false, NULL), 0);
}

static void each_level_has_its_word(void **state)
{
    struct rig *rig = *state;
    touch(rig, "/sys/power/mem_sleep");
    assert_int_equal(sleep_to(rig, "S3"), 0);
    file_is(rig, "/sys/power/state", "mem\n");
    file_is(rig, "/sys/power/mem_sleep", "deep\n");
    assert_int_equal(sleep_to(rig, "S1"), 0);
    file_is(rig, "/sys/power/state", "mem\n"); /* it has the word that was written */
    assert_int_equal(sleep_to(rig, "S4"), 0);
    file_is(rig, "/sys/power/state", "disk\n");
}

static void put(struct rig *rig, const char *name, const char *text)
{
    char path[200];
    (void)snprintf(path, sizeof path, "%s%s", rig->root, name);
    assert_int_equal(os_write_file(rig->os, path, text, strlen(text), 0755, false, NULL), 0);
}

static void the_lightest_sleep_is_the_first_that_the_kernel_has(void **state)
{
    static const char *const KERNELS[][2] = {{"freeze standby mem disk\n", "freeze\n"},
                                             {"standby mem disk\n", "standby\n"},
                                             {"disk mem\n", "mem\n"},
                                             {"\n", "mem\n"}};
    struct rig *rig = *state;
    for (size_t i = 0; i < ARRAY_COUNT(KERNELS); i++) {
        put(rig, "/sys/power/state", KERNELS[i][0]);
        put(rig, "/sys/power/mem_sleep", "s2idle [deep]\n");
        assert_int_equal(sleep_to(rig, "S1"), 0);
        file_is(rig, "/sys/power/state", KERNELS[i][1]);
        file_is(rig, "/sys/power/mem_sleep", i < 2 ? "s2idle [deep]\n" : "s2idle\n");
    }
}

static void logind_is_told_by_its_program(void **state)
{
    static const char *const TOLD[][2] = {{"S3", "suspend\n"},
                                          {"S4", "hibernate\n"},
                                          {"S5", "poweroff\n"}};
    struct rig *rig = *state;
    char path[200];
    (void)snprintf(path, sizeof path, "%s/usr/bin", rig->root);
    assert_int_equal(os_mkdirs(rig->os, path, 0755, NULL), 0);
    put(rig, "/usr/bin/systemctl", "#!/bin/sh\necho \"$*\" >\"$(dirname \"$0\")/told\"\n");
    rig->node.by_logind = true;
    for (size_t i = 0; i < ARRAY_COUNT(TOLD); i++) {
        put(rig, "/sys/power/mem_sleep", "[s2idle] deep\n");
        assert_int_equal(sleep_to(rig, TOLD[i][0]), 0);
        file_is(rig, "/usr/bin/told", TOLD[i][1]);
        file_is(rig, "/sys/power/mem_sleep", i == 0 ? "deep\n" : "[s2idle] deep\n");
        file_is(rig, "/sys/power/state", "(none)");
    }
    assert_int_equal(sleep_to(rig, "S1"), 0); /* it has no word for that */
    file_is(rig, "/sys/power/state", "mem\n");
    put(rig, "/usr/bin/systemctl", "#!/bin/sh\nexit 1\n");
    assert_int_equal(sleep_to(rig, "S5"), -EIO);
}

static void an_old_kernel_has_no_choice_of_memory_sleep(void **state)
{
    struct rig *rig = *state;
    assert_int_equal(sleep_to(rig, "S3"), 0);
    file_is(rig, "/sys/power/state", "mem\n");
    file_is(rig, "/sys/power/mem_sleep", "(none)");
}

static void what_the_kernel_refuses_is_an_error(void **state)
{
    struct rig *rig = *state;
    char path[200];
    (void)snprintf(path, sizeof path, "%s/sys/power/state", rig->root);
    assert_int_equal(os_mkdirs(rig->os, path, 0755, NULL), 0); /* cannot be written to */
    assert_int_equal(sleep_to(rig, "S3"), -EIO);
    assert_non_null(strstr(rig->text, "wn01 (host): S3: the program failed"));
    assert_int_equal(sleep_to(rig, "S2"), -EINVAL);
    assert_non_null(strstr(rig->text, "the kernel does not support 'S2'"));
}

static void below_a_root_nothing_is_switched_off_but_by_a_command(void **state)
{
    struct rig *rig = *state;
    assert_int_equal(sleep_to(rig, "S5"), -EINVAL);
    assert_non_null(strstr(rig->text, "POWER_SLEEP_CMD"));
    rig->node.sleep_command = "/bin/false";
    assert_int_equal(sleep_to(rig, "S5"), -EIO);
    rig->node.sleep_command = "poweroff";
    assert_int_equal(sleep_to(rig, "S5"), -EINVAL); /* which one? */
    rig->node.sleep_command = "/bin/true";
    assert_int_equal(sleep_to(rig, "S5"), 0);
}

static void it_wakes_nobody(void **state)
{
    struct rig *rig = *state;
    struct err err;
    assert_int_equal(power_wake(rig->power, &rig->node, done, rig, &err), -EINVAL);
    assert_non_null(strstr(err.text, "can put only its own machine to sleep"));
}

int main(void)
{
#define RIG(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        RIG(each_level_has_its_word),
        RIG(the_lightest_sleep_is_the_first_that_the_kernel_has),
        RIG(logind_is_told_by_its_program),
        RIG(an_old_kernel_has_no_choice_of_memory_sleep),
        RIG(what_the_kernel_refuses_is_an_error),
        RIG(below_a_root_nothing_is_switched_off_but_by_a_command),
        RIG(it_wakes_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
