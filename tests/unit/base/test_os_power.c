/* What a machine says of sleep, below a root that the test fills.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/os/os_power.h"

#include "tests/support/unit.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utmpx.h>

#include "base/os/os.h"
#include "base/os/os_run.h"
#include "tests/support/fast_dir.h"

struct rig {
    char root[FAST_DIR_SIZE];
    struct os *os;
};

static int setup(void **state)
{
    static struct rig rig;
    assert_true(fast_dir_make(rig.root));
    assert_int_equal(os_create(NULL, &rig.os, NULL), 0);
    *state = &rig;
    return 0;
}

static int teardown(void **state)
{
    struct rig *rig = *state;
    (void)os_remove_tree(rig->os, rig->root, NULL);
    os_destroy(rig->os);
    return 0;
}

static void put(struct rig *rig, const char *directory, const char *name, const void *data,
                size_t length)
{
    char path[400];
    (void)snprintf(path, sizeof path, "%s%s", rig->root, directory);
    assert_int_equal(os_mkdirs(rig->os, path, 0755, NULL), 0);
    (void)snprintf(path, sizeof path, "%s%s/%s", rig->root, directory, name);
    assert_int_equal(os_write_file(rig->os, path, data, length, 0644, false, NULL), 0);
}

static void put_text(struct rig *rig, const char *directory, const char *name, const char *text)
{
    put(rig, directory, name, text, strlen(text));
}

static void the_kernels_words_are_read_without_their_newline(void **state)
{
    struct rig *rig = *state;
    struct os_sleep_words words;
    os_sleep_words(rig->os, rig->root, &words);
    assert_string_equal(words.state, "");
    assert_false(words.has_systemd);
    put_text(rig, "/sys/power", "state", "freeze mem disk\n");
    put_text(rig, "/sys/power", "mem_sleep", "s2idle [deep]\n");
    put_text(rig, "/sys/power", "disk", "[platform]\n");
    put_text(rig, "/sys/power", "resume", "8:2\n");
    put_text(rig, "/run/systemd/system", "x", "");
    os_sleep_words(rig->os, rig->root, &words);
    assert_string_equal(words.state, "freeze mem disk");
    assert_string_equal(words.mem_sleep, "s2idle [deep]");
    assert_string_equal(words.disk, "[platform]");
    assert_string_equal(words.resume, "8:2");
    assert_true(words.has_systemd);
}

static void a_session_that_utmp_and_logind_know_is_counted_once(void **state)
{
    struct rig *rig = *state;
    char who[40] = "x";
    assert_int_equal(os_sessions(rig->os, rig->root, who, sizeof who), 0);
    assert_string_equal(who, "");
    put_text(rig, "/run/systemd/sessions", "1", "# private\nUSER=ann\nTTY=pts/0\nCLASS=user\n");
    put_text(rig, "/run/systemd/sessions", "2", "USER=bob\nCLASS=user\nSTATE=closing\n");
    put_text(rig, "/run/systemd/sessions", "3", "USER=gdm\nCLASS=greeter\n");
    put_text(rig, "/run/systemd/sessions", "4.ref", "USER=eve\nCLASS=user\n");
    struct utmpx entries[4] = {{.ut_type = BOOT_TIME, .ut_user = "reboot", .ut_line = "~"},
                               {.ut_type = USER_PROCESS, .ut_user = "ann", .ut_line = "pts/0"},
                               {.ut_type = USER_PROCESS, .ut_user = "cid", .ut_line = "tty1"},
                               {.ut_type = DEAD_PROCESS, .ut_user = "dan", .ut_line = "pts/4"}};
    put(rig, "/run", "utmp", entries, sizeof entries);
    assert_int_equal(os_sessions(rig->os, rig->root, who, sizeof who), 2);
    assert_string_equal(who, "ann");
    put(rig, "/run", "utmp", entries, sizeof entries - sizeof entries[3] * 2 - 1); /* cut */
    assert_int_equal(os_sessions(rig->os, rig->root, who, sizeof who), 1);
}

static void add_id(void *arg, const char *id)
{
    (void)snprintf((char *)arg + strlen(arg), 20, "%s ", id);
}

static void only_sessions_before_a_screen_are_graphical(void **state)
{
    struct rig *rig = *state;
    char ids[80] = "";
    put_text(rig, "/run/systemd/sessions", "1", "USER=ann\nTYPE=tty\nCLASS=user\n");
    put_text(rig, "/run/systemd/sessions", "c2", "USER=gdm\nTYPE=wayland\nCLASS=greeter\n");
    put_text(rig, "/run/systemd/sessions", "3",
             "USER=bob\nTYPE=wayland\nCLASS=user\nSTATE=closing\n");
    os_graphical_sessions(rig->os, rig->root, add_id, ids);
    assert_string_equal(ids, "");
    put_text(rig, "/run/systemd/sessions", "4", "USER=ann\nTYPE=wayland\nCLASS=user\n");
    os_graphical_sessions(rig->os, rig->root, add_id, ids);
    assert_string_equal(ids, "4 ");
    put_text(rig, "/run/systemd/sessions", "4", "USER=ann\nTYPE=x11\nCLASS=user\n");
    os_graphical_sessions(rig->os, rig->root, add_id, ids);
    assert_string_equal(ids, "4 4 ");
}

struct seen {
    int count;
    char text[300];
};

static void see(void *arg, const char *what, const char *who, const char *why)
{
    struct seen *seen = arg;
    seen->count++;
    (void)snprintf(seen->text, sizeof seen->text, "%s|%s|%s", what, who, why);
}

static void locks_that_forbid_are_told_those_that_delay_are_not(void **state)
{
    struct rig *rig = *state;
    struct seen seen = {0};
    os_inhibitors(rig->os, rig->root, see, &seen);
    assert_int_equal(seen.count, 0);
    put_text(rig, "/run/systemd/inhibit", "1",
             "WHAT=sleep:shutdown\nMODE=block\nWHO=backup\nWHY=nightly run\n");
    put_text(rig, "/run/systemd/inhibit", "2", "WHAT=sleep\nMODE=delay\nWHO=nm\nWHY=\n");
    os_inhibitors(rig->os, rig->root, see, &seen);
    assert_int_equal(seen.count, 1);
    assert_string_equal(seen.text, "sleep:shutdown|backup|nightly run");
}

static void a_machine_that_runs_has_not_slept_meanwhile(void **state)
{
    struct rig *rig = *state;
    uint64_t before_ms = os_suspended_ms(rig->os);
    uint64_t after_ms = os_suspended_ms(rig->os);
    assert_true(after_ms <= before_ms + 400 && before_ms <= after_ms + 400);
}

int main(void)
{
#define RIG(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        RIG(the_kernels_words_are_read_without_their_newline),
        RIG(a_session_that_utmp_and_logind_know_is_counted_once),
        RIG(only_sessions_before_a_screen_are_graphical),
        RIG(locks_that_forbid_are_told_those_that_delay_are_not),
        RIG(a_machine_that_runs_has_not_slept_meanwhile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
