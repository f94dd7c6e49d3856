/* Logs in a directory of the test's own, written by one life of a writer after the other.
 *
 * LINK: eventlog
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/check.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/os/os_run.h"
#include "eventlog/log_append.h"

#define ONE   "000 (001.000.000) 2026-11-20 09:08:50 Job submitted from host: <h>\n...\n"
#define TWO   "001 (001.000.000) 2026-11-20 09:08:51 Job executing on host: <h>\n...\n"
#define THREE "009 (001.000.000) 2026-11-20 09:08:52 Job was aborted.\n...\n"
#define OTHER "000 (002.000.000) 2026-11-20 09:08:50 Job submitted from host: <h>\n...\n"

struct fixture {
    struct loop *loop;
    struct os *os;
    char dir[64], a[96], b[96], note[96];
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    (void)snprintf(fixture->dir, sizeof(fixture->dir), "/tmp/roost_append_XXXXXX");
    assert_non_null(mkdtemp(fixture->dir));
    assert_int_equal(loop_create(&fixture->loop, NULL), 0);
    assert_int_equal(os_create(fixture->loop, &fixture->os, NULL), 0);
    (void)snprintf(fixture->a, sizeof(fixture->a), "%s/a.log", fixture->dir);
    (void)snprintf(fixture->b, sizeof(fixture->b), "%s/b.log", fixture->dir);
    (void)snprintf(fixture->note, sizeof(fixture->note), "%s/note", fixture->dir);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    (void)os_remove_tree(fixture->os, fixture->dir, NULL);
    os_destroy(fixture->os);
    loop_destroy(fixture->loop);
    free(fixture);
    return 0;
}

static struct log_append life(const struct fixture *fixture, bool is_first)
{
    return (struct log_append){.os = fixture->os,
                               .note_path = fixture->note,
                               .boot_id = "boot-1",
                               .is_first = is_first,
                               .sync = true};
}

static void append(const struct fixture *fixture, bool is_first, const char *path,
                   const char *first, const char *second)
{
    struct log_append_item items[2] = {{.path = path, .text = first, .status = -1},
                                       {.path = path, .text = second, .status = -1}};
    const struct log_append how = life(fixture, is_first);
    size_t count = second != NULL ? 2 : 1;
    struct err err = {{0}};
    if (log_append(&how, items, count, &err) != 0) {
        fail_msg("%s", err.text);
    }
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(items[i].status, 0);
    }
}

static void put(const struct fixture *fixture, const char *path, const char *text)
{
    assert_int_equal(os_write_file(fixture->os, path, text, strlen(text), 0644, false, NULL), 0);
}

static void check(const struct fixture *fixture, const char *path, const char *expected)
{
    char *data = NULL;
    size_t length = 0;
    assert_int_equal(os_read_file(fixture->os, path, 1 << 20, &data, &length, NULL), 0);
    assert_string_equal(data, expected);
    mem_free(data);
}

static void events_are_appended_in_their_order(void **state)
{
    const struct fixture *fixture = *state;
    append(fixture, true, fixture->a, ONE, TWO);
    append(fixture, false, fixture->a, THREE, NULL);
    check(fixture, fixture->a, ONE TWO THREE);
}

static void what_another_wrote_stays(void **state)
{
    const struct fixture *fixture = *state;
    put(fixture, fixture->a, OTHER);
    append(fixture, true, fixture->a, ONE, NULL);
    check(fixture, fixture->a, OTHER ONE);
}

static void a_batch_that_was_written_is_not_written_again_by_the_next_life(void **state)
{
    const struct fixture *fixture = *state;
    append(fixture, true, fixture->a, ONE, NULL);
    append(fixture, false, fixture->a, TWO, THREE);
    append(fixture, true, fixture->a, TWO, THREE);
    check(fixture, fixture->a, ONE TWO THREE);
    append(fixture, true, fixture->a, TWO, THREE); /* nor by the one after that */
    check(fixture, fixture->a, ONE TWO THREE);
}

static void a_batch_that_was_half_written_is_completed(void **state)
{
    const struct fixture *fixture = *state;
    append(fixture, true, fixture->a, ONE, NULL);
    append(fixture, false, fixture->a, TWO, THREE);
    put(fixture, fixture->a, ONE TWO);
    append(fixture, true, fixture->a, TWO, THREE);
    check(fixture, fixture->a, ONE TWO THREE);
}

static void an_event_that_was_cut_is_completed(void **state)
{
    const struct fixture *fixture = *state;
    append(fixture, true, fixture->a, ONE, NULL);
    append(fixture, false, fixture->a, TWO, THREE);
    put(fixture, fixture->a, ONE TWO "009 (001.0");
    append(fixture, true, fixture->a, TWO, THREE);
    check(fixture, fixture->a, ONE TWO THREE);
}

static void events_of_others_in_between_hide_none(void **state)
{
    const struct fixture *fixture = *state;
    append(fixture, true, fixture->a, ONE, NULL);
    append(fixture, false, fixture->a, TWO, THREE);
    put(fixture, fixture->a, ONE OTHER TWO OTHER);
    append(fixture, true, fixture->a, TWO, THREE);
    check(fixture, fixture->a, ONE OTHER TWO OTHER THREE);
}

static void the_same_text_may_come_twice(void **state)
{
    const struct fixture *fixture = *state;
    append(fixture, true, fixture->a, ONE, NULL);
    append(fixture, false, fixture->a, ONE, NULL);
    check(fixture, fixture->a, ONE ONE);
    append(fixture, true, fixture->a, ONE, ONE); /* the second is new: only one was under way */
    check(fixture, fixture->a, ONE ONE ONE);
}

static void a_log_that_is_not_in_the_note_was_not_written(void **state)
{
    const struct fixture *fixture = *state;
    append(fixture, true, fixture->b, ONE, NULL);
    put(fixture, fixture->a, ONE);
    append(fixture, true, fixture->a, ONE, NULL);
    check(fixture, fixture->a, ONE ONE);
}

static void after_a_crash_of_the_machine_the_log_itself_is_looked_at(void **state)
{
    const struct fixture *fixture = *state;
    append(fixture, true, fixture->b, ONE, NULL);
    put(fixture, fixture->a, OTHER ONE TWO);
    struct log_append_item items[2] = {{.path = fixture->a, .text = TWO},
                                       {.path = fixture->a, .text = THREE}};
    struct log_append how = life(fixture, true);
    how.boot_id = "boot-2";
    assert_int_equal(log_append(&how, items, 2, NULL), 0);
    check(fixture, fixture->a, OTHER ONE TWO THREE);
}

static void a_log_that_was_made_anew_meanwhile_gets_all(void **state)
{
    const struct fixture *fixture = *state;
    append(fixture, true, fixture->a, ONE, TWO);
    append(fixture, false, fixture->a, THREE, NULL);
    put(fixture, fixture->a, "");
    append(fixture, true, fixture->a, THREE, NULL);
    check(fixture, fixture->a, THREE);
    append(fixture, false, fixture->a, ONE, TWO);
    append(fixture, false, fixture->a, OTHER, NULL);
    put(fixture, fixture->a, OTHER); /* what was written went into the new one */
    append(fixture, true, fixture->a, OTHER, NULL);
    check(fixture, fixture->a, OTHER);
}

static void a_log_that_cannot_be_written_keeps_no_other_back(void **state)
{
    const struct fixture *fixture = *state;
    char nowhere[160];
    (void)snprintf(nowhere, sizeof(nowhere), "%s/none/a.log", fixture->dir);
    struct log_append_item items[3] = {{.path = fixture->a, .text = ONE, .status = -1},
                                       {.path = nowhere, .text = ONE},
                                       {.path = fixture->b, .text = OTHER, .status = -1}};
    const struct log_append how = life(fixture, true);
    assert_int_equal(log_append(&how, items, 3, NULL), 0);
    assert_int_equal(items[0].status, 0);
    assert_int_equal(items[1].status, -ENOENT);
    assert_int_equal(items[2].status, 0);
    check(fixture, fixture->a, ONE);
    check(fixture, fixture->b, OTHER);
}

static void without_its_note_nothing_is_written(void **state)
{
    const struct fixture *fixture = *state;
    struct log_append_item item = {.path = fixture->a, .text = ONE};
    struct log_append how = life(fixture, true);
    how.note_path = "/nonexistent/note";
    struct err err;
    assert_int_equal(log_append(&how, &item, 1, &err), -ENOENT);
    check(fixture, fixture->a, "");
}

static void the_lock_of_another_process_is_waited_for_unless_forced(void **state)
{
    const struct fixture *fixture = *state;
    int ready[2], leave[2];
    char byte = 0;
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(leave), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct os_file *file = NULL;
        int result = os_file_open(fixture->os, fixture->a, OS_APPEND, 0644, &file, NULL);
        result = result == 0 ? os_file_lock(file) : result;
        ssize_t said = write(ready[1], "r", result == 0 ? 1 : 0);
        close(leave[1]);
        _exit(said == 1 && read(leave[0], &byte, 1) == 0 ? 0 : 1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    struct log_append_item item = {.path = fixture->a, .text = ONE};
    struct log_append how = life(fixture, true);
    struct err err;
    assert_int_equal(log_append(&how, &item, 1, &err), -EAGAIN);
    assert_non_null(strstr(err.text, "a.log"));
    check(fixture, fixture->a, "");
    how.force = true;
    assert_int_equal(log_append(&how, &item, 1, &err), 0);
    check(fixture, fixture->a, ONE);
    close(leave[1]);
    close(leave[0]);
    close(ready[0]);
    close(ready[1]);
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    append(fixture, false, fixture->a, TWO, NULL); /* a lock of one's own is not left behind */
    append(fixture, false, fixture->a, THREE, NULL);
}

static void a_log_that_is_a_symbolic_link_is_not_written(void **state)
{
    const struct fixture *fixture = *state;
    char target[128];
    for (int there = 0; there < 2; there++) { /* neither made nor changed */
        (void)snprintf(target, sizeof(target), "%s/keys%d", fixture->dir, there);
        if (there == 1) {
            assert_int_equal(os_write_file(fixture->os, target, "key\n", 4, 0600, false, NULL), 0);
        }
        (void)unlink(fixture->b);
        assert_int_equal(symlink(target, fixture->b), 0);
        struct log_append_item items[] = {{.path = fixture->b, .text = ONE},
                                          {.path = fixture->a, .text = TWO}};
        struct log_append how = life(fixture, false);
        assert_int_equal(log_append(&how, items, 2, NULL), 0);
        assert_int_equal(items[0].status, -ELOOP);
        assert_int_equal(items[1].status, 0);
        if (there == 1) {
            check(fixture, target, "key\n");
        } else {
            assert_int_equal(access(target, F_OK), -1);
        }
    }
}

static void a_text_of_several_events_is_split_by_their_sizes(void **state)
{
    size_t lengths[LOG_APPEND_ITEMS_MAX] = {0};
    (void)state;
    assert_int_equal(log_append_split("one\ntwo!\n", "4 5", lengths), 2);
    assert_int_equal(lengths[0], 4);
    assert_int_equal(lengths[1], 5);
    static const char *const BAD[] = {"",      "9",     "4 4", "4 6",
                                      "4 5 1", "4 0 5", "x",   "4 5x",
                                      "-4 5",  "4  5",  "5 ",  "18446744073709551620 5"};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        lengths[0] = 0;
        assert_int_equal(log_append_split("one\ntwo!\n", BAD[i], lengths), 1);
        assert_int_equal(lengths[0], 9);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(events_are_appended_in_their_order),
        TEST(what_another_wrote_stays),
        TEST(a_batch_that_was_written_is_not_written_again_by_the_next_life),
        TEST(a_batch_that_was_half_written_is_completed),
        TEST(an_event_that_was_cut_is_completed),
        TEST(events_of_others_in_between_hide_none),
        TEST(the_same_text_may_come_twice),
        TEST(a_log_that_is_not_in_the_note_was_not_written),
        TEST(after_a_crash_of_the_machine_the_log_itself_is_looked_at),
        TEST(a_log_that_was_made_anew_meanwhile_gets_all),
        TEST(a_log_that_cannot_be_written_keeps_no_other_back),
        TEST(without_its_note_nothing_is_written),
        TEST(a_log_that_is_a_symbolic_link_is_not_written),
        TEST(a_text_of_several_events_is_split_by_their_sizes),
        TEST(the_lock_of_another_process_is_waited_for_unless_forced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
