/* LINK: eventlog
 *
 * Logs of HTCondor's own are in tests/conformance/eventlog.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/strbuf.h"
#include "eventlog/event_reader.h"

#define ABORTED "009 (014.001.000) 2026-11-20 09:09:11 Job was aborted.\n\tvia\n...\n"

/* "type cluster.proc " of each, fed in pieces of that size */
static size_t read_all(const char *text, size_t length, size_t piece, struct strbuf *out)
{
    struct event_reader *reader = event_reader_create();
    struct event_entry event;
    size_t bytes = 0;
    for (size_t at = 0; at < length; at += piece) {
        event_reader_feed(reader, text + at, length - at < piece ? length - at : piece);
        while (event_reader_next(reader, &event)) {
            strbuf_printf(out, "%d %d.%d ", (int)event.type, (int)event.cluster, (int)event.proc);
            bytes += event.length;
        }
    }
    size_t skipped = event_reader_skipped(reader);
    event_reader_destroy(reader);
    assert_true(bytes <= length);
    return skipped;
}

static void check(const char *text, size_t skipped, const char *expected)
{
    static const size_t PIECES[] = {1, 7, 1 << 20};
    for (size_t i = 0; i < sizeof(PIECES) / sizeof(PIECES[0]); i++) {
        struct strbuf out;
        strbuf_init(&out, 0);
        assert_int_equal(read_all(text, strlen(text), PIECES[i], &out), skipped);
        assert_string_equal(strbuf_text(&out), expected);
        strbuf_fini(&out);
    }
}

static void check_sample(const char *name, const char *expected)
{
    char path[512];
    (void)snprintf(path, sizeof(path), "%s/tests/conformance/eventlog/%s", getenv("ROOST_SRC"),
                   name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char *text = calloc(1, 65536);
    size_t length = fread(text, 1, 65535, file);
    (void)fclose(file);
    assert_true(length > 0);
    check(text, 0, expected);
    free(text);
}

static void logs_of_htcondor_are_read_in_each_way_of_dates(void **state)
{
    (void)state;
    check_sample("default/exit3.log", "0 2.0 1 2.0 6 2.0 5 2.0 ");
    check_sample("legacy/idlerm.log", "0 50.0 0 50.1 9 50.0 9 50.1 ");
    check_sample("iso-subsecond/exit3.log", "0 18.0 1 18.0 6 18.0 5 18.0 ");
    check_sample("default/factory.log", "35 12.-1 0 12.0 1 12.0 6 12.0 5 12.0 0 12.1 1 12.1 6 12.1 "
                                        "5 12.1 0 12.2 1 12.2 6 12.2 5 12.2 36 12.-1 ");
}

static void json_and_xml_are_read(void **state)
{
    (void)state;
    check("{\n  \"Proc\": 1,\n  \"Cluster\": 28,\n  \"EventTypeNumber\": 9\n}\n"
          "{\n  \"Cluster\": 28,\n  \"EventTypeNumber\": 36,\n  \"X\": {\n    \"a\": 1\n  }\n}\n",
          0, "9 28.1 36 28.-1 ");
    check("<c>\n    <a n=\"Proc\"><i>1</i></a>\n    <a n=\"Cluster\"><i>28</i></a>\n"
          "    <a n=\"EventTypeNumber\"><i>9</i></a>\n</c>\n" ABORTED,
          0, "9 28.1 9 14.1 ");
}

static void an_event_without_its_end_is_waited_for(void **state)
{
    (void)state;
    check(ABORTED "009 (014.002.000) 2026-11-20 09:09:11 Job was aborted.\n\tvia\n..", 0,
          "9 14.1 ");
}

static void what_is_no_event_is_skipped(void **state)
{
    (void)state;
    check("rubbish\n...\n" ABORTED "\n\n" ABORTED "005 (1.x.0)\n...\n-5 (1.1.0) x\n...\n", 3,
          "9 14.1 9 14.1 ");
}

static void an_event_beyond_the_limit_is_skipped(void **state)
{
    (void)state;
    size_t length = EVENT_BYTES_MAX + 500000;
    char *text = malloc(length + 200);
    memset(text, 'x', length);
    for (size_t i = 100; i < length; i += 100) {
        text[i] = '\n';
    }
    memcpy(text, "009 (1.1.0) ", 12);
    memcpy(text + length, "\n...\n" ABORTED, sizeof("\n...\n" ABORTED));
    struct strbuf out;
    strbuf_init(&out, 0);
    assert_int_equal(read_all(text, strlen(text), 65536, &out), 1);
    assert_string_equal(strbuf_text(&out), "9 14.1 ");
    strbuf_fini(&out);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logs_of_htcondor_are_read_in_each_way_of_dates),
        cmocka_unit_test(json_and_xml_are_read),
        cmocka_unit_test(an_event_without_its_end_is_waited_for),
        cmocka_unit_test(what_is_no_event_is_skipped),
        cmocka_unit_test(an_event_beyond_the_limit_is_skipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
