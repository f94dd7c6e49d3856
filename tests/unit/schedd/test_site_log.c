/* tests/unit/schedd/test_site_log.c - a real schedd writes EVENT_LOG.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/schedd/schedd_world.h"

static void add_config(struct world *world, const char *more)
{
    char *text = NULL;
    size_t length = 0;
    struct strbuf config;
    assert_int_equal(os_read_file(world->os, world->config, 10000, &text, &length, NULL), 0);
    strbuf_init(&config, 0);
    strbuf_printf(&config, "%sEVENT_LOG = \"%s/events\"\n%s", text, world->dir, more);
    put(world, "roost.conf", strbuf_text(&config));
    strbuf_fini(&config);
    mem_free(text);
}

/* The whole file, "" where there is none; mem_free it. */
static char *text_of(struct world *world, const char *name)
{
    char path[160];
    char *text = NULL;
    size_t length = 0;
    (void)snprintf(path, sizeof(path), "%s/%s", world->dir, name);
    if (os_read_file(world->os, path, 1 << 20, &text, &length, NULL) != 0) {
        text = mem_strdup("");
    }
    return text;
}

static size_t count_in(const char *text, const char *what)
{
    size_t count = 0;
    for (const char *at = strstr(text, what); at != NULL; at = strstr(at + 1, what)) {
        count++;
    }
    return count;
}

/* Until it is so often in the file; the answers to our questions let the time pass. */
static void until(struct world *world, const char *name, const char *what, size_t count)
{
    uint64_t give_up_ms = loop_now_ms(world->loop) + LOOP_RIG_PATIENCE_MS;
    for (;;) {
        char *text = text_of(world, name);
        size_t found = count_in(text, what);
        if (found != count && loop_now_ms(world->loop) > give_up_ms) {
            fail_msg("%zu of '%s', not %zu: %s", found, what, count, text);
        }
        mem_free(text);
        if (found == count) {
            return;
        }
        count_is(world, "[Constraint = \"false\"]", 0);
    }
}

static void it_tells_of_jobs_that_have_no_log_of_their_own(void **state)
{
    struct world *world = *state;
    add_config(world, "EVENT_LOG_JOB_AD_INFORMATION_ATTRS = \"Owner, RequestCpus\"\n");
    restart(world);
    (void)submit(world, "[" GOOD "; ProcCount = 3]");
    act(world, "[Action = \"Hold\"; Ids = {\"1.1\"}; Reason = \"stay\"]", "Success", 1);
    until(world, "events", "\n012 (001.001.000) ", 1);
    until(world, "events", "\n028 ", 4);
    char *text = text_of(world, "events");
    assert_int_equal(strncmp(text, "008 (-01.-01.-01) ", 18), 0);
    assert_non_null(strstr(text, " Global JobLog: ctime="));
    assert_non_null(strstr(text, " sequence=1 size=0 events=0 offset=0 event_off=0 "
                                 "max_rotation=1 creator_name=<> "));
    assert_int_equal(strcspn(strstr(text, "Global"), "\n"), 256);
    assert_int_equal(count_in(text, "\n000 (001.00"), 3);
    assert_non_null(strstr(text, "\n\tstay\n"));
    assert_int_equal(count_in(text, "\nRequestCpus = 1\n"), 4);
    mem_free(text);
}

static void it_tells_each_event_once_whatever_ends_in_between(void **state)
{
    struct world *world = *state;
    add_config(world, "EVENT_LOG_FORMAT_OPTIONS = \"UTC, SUB_SECOND\"\n");
    restart(world);
    for (int i = 1; i <= 5; i++) {
        (void)submit(world, "[" GOOD "]");
        restart(world); /* most often before the row of the event is gone */
    }
    until(world, "events", "...\n", 6);
    char *text = text_of(world, "events");
    for (int i = 1; i <= 5; i++) {
        char head[32];
        (void)snprintf(head, sizeof(head), "\n000 (%03d.000.000) ", i);
        assert_int_equal(count_in(text, head), 1);
        assert_int_equal(strstr(text, head)[19 + 19 + 4], 'Z'); /* "2026-11-20 09:08:50.123Z" */
    }
    mem_free(text);
}

static void it_is_rotated_when_it_has_grown(void **state)
{
    struct world *world = *state;
    add_config(world, "EVENT_LOG_MAX_SIZE = 300\nEVENT_LOG_MAX_ROTATIONS = 2\n");
    restart(world);
    for (int i = 1; i <= 4; i++) {
        char head[32];
        (void)submit(world, "[" GOOD "]");
        (void)snprintf(head, sizeof(head), "\n000 (%03d.000.000) ", i);
        until(world, "events", head, 1);
    }
    until(world, "events", " sequence=4 ", 1);
    until(world, "events.1", " sequence=3 ", 1);
    until(world, "events.1", "\n000 (003.000.000) ", 1);
    until(world, "events.2", "\n000 (002.000.000) ", 1);
    until(world, "events.3", "...", 0);
}

static void its_forms_are_those_of_json_and_xml(void **state)
{
    struct world *world = *state;
    add_config(world, "EVENT_LOG_FORMAT_OPTIONS = \"JSON\"\n");
    restart(world);
    (void)submit(world, "[" GOOD "]");
    until(world, "events", "\"MyType\": \"SubmitEvent\"", 1);
    char *text = text_of(world, "events");
    assert_int_equal(text[0], '{');
    assert_non_null(strstr(text, "\"MyType\": \"GenericEvent\""));
    assert_int_equal(count_in(text, "\"Cluster\": "), 1); /* the header is of none */
    mem_free(text);
}

static void a_log_that_cannot_be_written_is_said_once_and_stops_nothing(void **state)
{
    struct world *world = *state;
    char path[160];
    add_config(world, "");
    (void)snprintf(path, sizeof(path), "%s/events", world->dir);
    assert_int_equal(os_mkdirs(world->os, path, 0700, NULL), 0); /* a directory is no log */
    restart(world);
    for (int i = 0; i < 3; i++) {
        (void)submit(world, "[" GOOD "]");
    }
    count_is(world, "[Constraint = \"JobStatus == 1\"]", 3);
    uint64_t give_up_ms = loop_now_ms(world->loop) + LOOP_RIG_PATIENCE_MS;
    while (strstr(strbuf_text(&world->log_text), "events.site_log") == NULL &&
           loop_now_ms(world->loop) < give_up_ms) {
        count_is(world, "[Constraint = \"false\"]", 0);
    }
    assert_int_equal(count_in(strbuf_text(&world->log_text), "events.site_log"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(it_tells_of_jobs_that_have_no_log_of_their_own),
        CASE(it_tells_each_event_once_whatever_ends_in_between),
        CASE(it_is_rotated_when_it_has_grown),
        CASE(its_forms_are_those_of_json_and_xml),
        CASE(a_log_that_cannot_be_written_is_said_once_and_stops_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
