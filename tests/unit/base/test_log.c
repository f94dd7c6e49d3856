/* Tests of base/log.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/log.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "tests/support/unit.h"

struct capture {
    char text[2 * LOG_LINE_MAX];
    size_t lines;
    bool closed;
};

static void capture_write(void *context, const char *line, size_t length)
{
    struct capture *capture = context;
    assert_int_equal(strlen(line), length);
    assert_true(length <= LOG_LINE_MAX);
    memcpy(capture->text, line, length + 1);
    capture->lines++;
}

static void capture_close(void *context)
{
    ((struct capture *)context)->closed = true;
}

static int64_t fixed_time(void *context)
{
    return *(const int64_t *)context;
}

static int64_t now_ms = INT64_C(1795167276123);

static struct log *capturing(struct capture *capture, enum log_level level)
{
    *capture = (struct capture){0};
    return log_create("rooster", level, (struct log_sink){capture_write, capture_close, capture},
                      (struct log_clock){fixed_time, &now_ms});
}

static void an_event_is_one_line_with_all_its_parts(void **state)
{
    (void)state;
    struct capture capture;
    struct log *log = capturing(&capture, LOG_LEVEL_INFO);
    log_info(log, "wake.sent", "wake command started", LOG_TEXT("machine", "wn01"),
             LOG_INT("attempt", 2), LOG_REAL("boot_s", 1.5), LOG_BOOL("forced", true),
             LOG_TEXT("asked_by", NULL));
    assert_string_equal(capture.text,
                        "2026-11-20T09:34:36.123Z rooster info wake.sent \"wake command started\" "
                        "machine=wn01 attempt=2 boot_s=1.5 forced=true asked_by=-\n");
    log_warn(log, "plain", "word");
    assert_string_equal(capture.text, "2026-11-20T09:34:36.123Z rooster warn plain \"word\"\n");
    log_destroy(log);
    assert_true(capture.closed);
}

static void a_stranger_s_bytes_cannot_forge_a_line(void **state)
{
    (void)state;
    struct capture capture;
    struct log *log = capturing(&capture, LOG_LEVEL_INFO);
    log_error(log, "ad.refused", "line\nbreak", LOG_TEXT("name", "x\" level=info\n2026 forged"));
    assert_string_equal(capture.text,
                        "2026-11-20T09:34:36.123Z rooster error ad.refused \"line\\nbreak\" "
                        "name=\"x\\\" level=info\\n2026 forged\"\n");
    log_destroy(log);
}

static int64_t counted_calls;

static int64_t count_call(void)
{
    return ++counted_calls;
}

static void levels_above_the_chosen_one_cost_nothing(void **state)
{
    (void)state;
    struct capture capture;
    struct log *log = capturing(&capture, LOG_LEVEL_WARN);
    counted_calls = 0;
    log_info(log, "x", "y", LOG_INT("n", count_call()));
    assert_int_equal(counted_calls, 0);
    log_warn(log, "x", "y", LOG_INT("n", count_call()));
    assert_int_equal(capture.lines, 1);
    log_set_level(log, LOG_LEVEL_DEBUG);
    log_debug(log, "x", "y");
    assert_int_equal(capture.lines, 2);
    log_write(NULL, LOG_LEVEL_ERROR, "x", "y", NULL, 0);
    log_error((struct log *)NULL, "x", "y", LOG_INT("n", count_call()));
    assert_int_equal(counted_calls, 1);
    log_set_level(NULL, LOG_LEVEL_DEBUG);
    log_destroy(log);
    log_destroy(NULL);
}

static void long_lines_are_cut_at_a_field(void **state)
{
    (void)state;
    struct capture capture;
    struct log *log = capturing(&capture, LOG_LEVEL_INFO);
    char value[LOG_LINE_MAX];
    memset(value, 'v', sizeof(value));
    value[sizeof(value) - 1] = '\0';
    log_info(log, "e", "m", LOG_INT("first", 1), LOG_TEXT("big", value), LOG_INT("last", 3));
    assert_string_equal(capture.text,
                        "2026-11-20T09:34:36.123Z rooster info e \"m\" first=1 ...\n");
    memset(value, '\n', sizeof(value) - 1);
    log_info(log, "e", value);
    assert_int_equal(strlen(capture.text), LOG_LINE_MAX);
    assert_string_equal(capture.text + LOG_LINE_MAX - 5, " ...\n");
    log_info(log, "e", "m");
    assert_string_equal(capture.text, "2026-11-20T09:34:36.123Z rooster info e \"m\"\n");
    log_destroy(log);
}

static void levels_have_our_names_and_htcondor_s(void **state)
{
    (void)state;
    enum log_level level = LOG_LEVEL_ERROR;
    assert_int_equal(log_level_parse("Debug", &level, NULL), 0);
    assert_int_equal(level, LOG_LEVEL_DEBUG);
    assert_int_equal(log_level_parse("D_ALWAYS", &level, NULL), 0);
    assert_int_equal(level, LOG_LEVEL_INFO);
    assert_int_equal(log_level_parse("loud", &level, NULL), -EINVAL);
    assert_int_equal(level, LOG_LEVEL_INFO);
    assert_string_equal(log_level_name(LOG_LEVEL_WARN), "warn");
}

/* ---- the file sink ---- */

static int make_directory(void **state)
{
    static char directory[] = "/tmp/roost-test-log-XXXXXX";
    memcpy(directory + sizeof(directory) - 7, "XXXXXX", 6);
    *state = mkdtemp(directory);
    return *state ? 0 : -1;
}

static int remove_directory(void **state)
{
    char path[512];
    DIR *list = opendir(*state);
    const struct dirent *entry = NULL;
    while (list && (entry = readdir(list))) {
        (void)snprintf(path, sizeof(path), "%s/%s", (const char *)*state, entry->d_name);
        if (entry->d_name[0] != '.' && remove(path) != 0) {
            (void)fprintf(stderr, "%s is left behind\n", path);
        }
    }
    (void)closedir(list);
    return rmdir(*state);
}

static const char *read_file(const char *directory, const char *name)
{
    static char text[4096];
    char path[512];
    (void)snprintf(path, sizeof(path), "%s/%s", directory, name);
    FILE *file = fopen(path, "r");
    if (!file) {
        return NULL;
    }
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    (void)fclose(file);
    return text;
}

static void put(struct log_sink sink, const char *line)
{
    sink.write(sink.context, line, strlen(line));
}

static void a_file_is_appended_to_and_rotated_by_size(void **state)
{
    char path[512];
    (void)snprintf(path, sizeof(path), "%s/Log", (const char *)*state);
    struct log_sink sink;
    assert_int_equal(log_sink_file(path, 8, 2, &sink, NULL), 0);
    put(sink, "aaaa\n");
    put(sink, "bbbb\n"); /* the file had 5 bytes: not full */
    assert_string_equal(read_file(*state, "Log"), "aaaa\nbbbb\n");
    put(sink, "cccc\n");
    assert_string_equal(read_file(*state, "Log"), "cccc\n");
    assert_string_equal(read_file(*state, "Log.old"), "aaaa\nbbbb\n");
    sink.close(sink.context);

    assert_int_equal(log_sink_file(path, 5, 2, &sink, NULL), 0);
    put(sink, "dddd\n");
    put(sink, "eeee\n");
    assert_string_equal(read_file(*state, "Log"), "eeee\n");
    assert_string_equal(read_file(*state, "Log.old"), "dddd\n");
    assert_string_equal(read_file(*state, "Log.old.2"), "cccc\n");
    assert_null(read_file(*state, "Log.old.3"));
    sink.close(sink.context);

    assert_int_equal(log_sink_file(path, 5, 0, &sink, NULL), 0);
    put(sink, "ffff\n");
    assert_string_equal(read_file(*state, "Log"), "ffff\n");
    assert_string_equal(read_file(*state, "Log.old"), "dddd\n");
    sink.close(sink.context);
}

static void two_writers_follow_one_another_s_rotation(void **state)
{
    char path[512];
    (void)snprintf(path, sizeof(path), "%s/Log", (const char *)*state);
    struct log_sink one, two;
    assert_int_equal(log_sink_file(path, 10, 1, &one, NULL), 0);
    assert_int_equal(log_sink_file(path, 10, 1, &two, NULL), 0);
    put(one, "1111\n");
    put(two, "2222\n");
    put(one, "3333\n"); /* moves the file aside */
    put(two, "4444\n");
    assert_string_equal(read_file(*state, "Log"), "3333\n4444\n");
    assert_string_equal(read_file(*state, "Log.old"), "1111\n2222\n");
    one.close(one.context);
    two.close(two.context);
}

static void a_log_moved_away_by_hand_is_made_again(void **state)
{
    char path[512], away[512];
    (void)snprintf(path, sizeof(path), "%s/Log", (const char *)*state);
    (void)snprintf(away, sizeof(away), "%s/Away", (const char *)*state);
    struct log_sink sink;
    assert_int_equal(log_sink_file(path, 0, 1, &sink, NULL), 0);
    put(sink, "1\n");
    assert_int_equal(rename(path, away), 0);
    put(sink, "2\n");
    assert_string_equal(read_file(*state, "Log"), "2\n");
    assert_string_equal(read_file(*state, "Away"), "1\n");
    sink.close(sink.context);
}

static void lost_lines_are_counted_and_reported(void **state)
{
    char path[512], away[512];
    (void)snprintf(path, sizeof(path), "%s/Log", (const char *)*state);
    (void)snprintf(away, sizeof(away), "%s/Away", (const char *)*state);
    struct log_sink sink;
    assert_int_equal(log_sink_file(path, 0, 1, &sink, NULL), 0);
    assert_int_equal(rename(path, away), 0);
    assert_int_equal(mkdir(path, 0700), 0); /* in the way, for root too */
    put(sink, "T1 lost\n");
    put(sink, "T2 lost\n");
    assert_int_equal(rmdir(path), 0);
    put(sink, "T3 kept\n");
    put(sink, "T4 kept\n");
    assert_string_equal(read_file(*state, "Log"),
                        "T3 log warn log.lost \"lines were lost\" lines=2\nT3 kept\nT4 kept\n");
    sink.close(sink.context);
}

static void a_path_that_cannot_be_opened_is_named(void **state)
{
    char path[512];
    (void)snprintf(path, sizeof(path), "%s/absent/Log", (const char *)*state);
    struct log_sink sink;
    struct err err;
    assert_int_equal(log_sink_file(path, 0, 1, &sink, &err), -ENOENT);
    assert_non_null(strstr(err.text, path));
    assert_non_null(strstr(err.text, "No such file"));
}

/* ---- lines that repeat themselves ---- */

struct repeating {
    uint64_t now_ms, wake_ms; /* wake_ms: when log_flush() is to be called */
};

static uint64_t repeating_now(void *context)
{
    return ((struct repeating *)context)->now_ms;
}

static void repeating_wake(void *context, uint64_t at_ms)
{
    ((struct repeating *)context)->wake_ms = at_ms;
}

static struct log *counting(struct capture *capture, struct repeating *clock)
{
    struct log *log = capturing(capture, LOG_LEVEL_INFO);
    log_collapse(log, &(struct log_repeats){repeating_now, repeating_wake, clock});
    return log;
}

static void a_warning_that_repeats_itself_becomes_one_line_with_a_count(void **state)
{
    (void)state;
    struct capture capture;
    struct repeating clock = {.now_ms = 5000};
    struct log *log = counting(&capture, &clock);
    for (int i = 0; i < 337; i++, clock.now_ms += 20) {
        log_warn(log, "loop.overrun", "too long", LOG_TEXT("function", "f"), LOG_INT("took_ms", i));
    }
    assert_int_equal(capture.lines, 1);
    assert_int_equal(clock.wake_ms, 15000);
    clock.now_ms = 15000;
    log_flush(log);
    assert_int_equal(capture.lines, 2);
    assert_non_null(strstr(capture.text, " rooster warn loop.overrun \"too long\" function=f "
                                         "took_ms=336 repeated=336 in_s=10\n"));
    /* It goes on: the next count comes after twice the time. */
    log_warn(log, "loop.overrun", "too long", LOG_TEXT("function", "f"), LOG_INT("took_ms", 9));
    assert_int_equal(capture.lines, 2);
    assert_int_equal(clock.wake_ms, 35000);
    clock.now_ms = 36000;
    log_flush(log);
    assert_int_equal(capture.lines, 3);
    assert_non_null(strstr(capture.text, "repeated=1 in_s=21\n"));
    /* After a quiet time it is a new line. */
    clock.now_ms = 80000;
    log_flush(log);
    log_warn(log, "loop.overrun", "too long", LOG_TEXT("function", "f"), LOG_INT("took_ms", 7));
    assert_int_equal(capture.lines, 4);
    assert_null(strstr(capture.text, "repeated="));
    log_destroy(log);
}

static void what_differs_in_more_than_amounts_is_written(void **state)
{
    (void)state;
    struct capture capture;
    struct repeating clock = {.now_ms = 1};
    struct log *log = counting(&capture, &clock);
    log_warn(log, "a.b", "m", LOG_INT("job", 1));
    log_warn(log, "a.b", "m", LOG_INT("job", 2));
    log_warn(log, "a.b", "n", LOG_INT("job", 1));
    log_error(log, "a.b", "m", LOG_INT("job", 1));
    log_warn(log, "a.c", "m", LOG_INT("job", 1));
    log_warn(log, "a.b", "m", LOG_TEXT("job", NULL));
    assert_int_equal(capture.lines, 6);
    for (size_t i = 0; i < LOG_REPEAT_INFO + 2; i++) { /* changes of state: only when they flap */
        log_info(log, "a.b", "state", LOG_TEXT("machine", "wn01"));
    }
    assert_int_equal(capture.lines, 6 + LOG_REPEAT_INFO);
    log_destroy(log); /* what was counted is not lost */
    assert_int_equal(capture.lines, 6 + LOG_REPEAT_INFO + 1);
    assert_non_null(strstr(capture.text, "machine=wn01 repeated=2 in_s=0\n"));
}

static void more_lines_than_can_be_counted_are_written(void **state)
{
    (void)state;
    struct capture capture;
    struct repeating clock = {.now_ms = 1};
    struct log *log = counting(&capture, &clock);
    for (int i = 0; i < 300; i++, clock.now_ms++) {
        log_warn(log, "a.b", "m", LOG_INT("job", i % 100));
    }
    assert_int_equal(capture.lines, 300);
    log_destroy(log);
    log = counting(&capture, &clock);
    log_set_level(log, LOG_LEVEL_DEBUG);
    for (int i = 0; i < 9; i++) {
        log_warn(log, "a.b", "m");
    }
    assert_int_equal(capture.lines, 9);
    log_destroy(log);
}

#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, make_directory, remove_directory)

UNIT_TESTS(UNIT(an_event_is_one_line_with_all_its_parts),
           UNIT(a_stranger_s_bytes_cannot_forge_a_line),
           UNIT(levels_above_the_chosen_one_cost_nothing), UNIT(long_lines_are_cut_at_a_field),
           UNIT(levels_have_our_names_and_htcondor_s),
           UNIT(a_warning_that_repeats_itself_becomes_one_line_with_a_count),
           UNIT(what_differs_in_more_than_amounts_is_written),
           UNIT(more_lines_than_can_be_counted_are_written),
           IN_DIRECTORY(a_file_is_appended_to_and_rotated_by_size),
           IN_DIRECTORY(two_writers_follow_one_another_s_rotation),
           IN_DIRECTORY(a_log_moved_away_by_hand_is_made_again),
           IN_DIRECTORY(lost_lines_are_counted_and_reported),
           IN_DIRECTORY(a_path_that_cannot_be_opened_is_named))
