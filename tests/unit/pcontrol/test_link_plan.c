/* tests/unit/pcontrol/test_link_plan.c - what a pclient sends, in pieces of any size.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pcontrol/link_plan.h"

#include <string.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "tests/support/unit.h"

/* Reads the text in pieces of this size, and writes what was understood, one word for each. */
static void read_all(const char *text, size_t piece, struct strbuf *out)
{
    struct link_reader reader;
    struct strbuf in;
    size_t given = 0, length = strlen(text);
    strbuf_init(&in, 0);
    link_reader_init(&reader, "abc");
    while (given < length) {
        size_t part = length - given < piece ? length - given : piece;
        strbuf_append(&in, text + given, part);
        given += part;
        for (;;) {
            struct link_message message;
            struct err err = {""};
            size_t used;
            enum link_read read =
                link_plan_read(&reader, in.data, in.length, &used, &message, &err);
            if (read == LINK_BAD) {
                strbuf_printf(out, "BAD(%s) ", err.text);
                strbuf_fini(&in);
                return;
            }
            if (read == LINK_MESSAGE) {
                switch (message.kind) {
                case LINK_FOLLOWS:
                    strbuf_printf(out, "follows(%d %lld %s) ", message.namespaces,
                                  (long long)message.lease_s, message.token);
                    break;
                case LINK_STARTED:
                    strbuf_printf(out, "started(%lld) ", (long long)message.pid);
                    break;
                case LINK_REFUSED:
                    strbuf_printf(out, "refused(%.*s) ", (int)message.length, message.data);
                    break;
                case LINK_OK:
                    strbuf_puts(out, "ok ");
                    break;
                case LINK_PONG:
                    strbuf_printf(out, "pong(%s) ", message.token);
                    break;
                case LINK_OUTPUT: /* each byte by itself: pieces do not show */
                    for (size_t i = 0; i < message.length; i++) {
                        strbuf_printf(out, "%d:%c ", message.stream, message.data[i]);
                    }
                    break;
                case LINK_DONE:
                    strbuf_puts(out, "done ");
                    break;
                case LINK_ENDED:
                    strbuf_printf(out, "%s(%d %s %g %g %lld) ",
                                  message.end.crashed ? "crash" : "exit", message.end.code,
                                  message.end.why, message.end.user_cpu_s, message.end.system_cpu_s,
                                  (long long)message.end.max_rss_kib);
                    break;
                }
            }
            in.length -= used;
            memmove(in.data, in.data + used, in.length);
            if (read == LINK_MORE) {
                break;
            }
        }
    }
    strbuf_fini(&in);
}

static void expect_words(const char *text, const char *expected)
{
    for (size_t piece = 1; piece <= strlen(text); piece++) {
        struct strbuf out;
        strbuf_init(&out, 0);
        read_all(text, piece, &out);
        assert_string_equal(strbuf_text(&out), expected);
        strbuf_fini(&out);
    }
}

static void a_whole_conversation_is_understood_in_any_pieces(void **state)
{
    (void)state;
    expect_words("Welcome to host a!\nOK\nFOLLOW abd 1 namespace 60 1\n"
                 "FOLLOW abc 1 namespace 60 123.5\nPONG 124\n77\nOUT 3\na\nbERR 1\nxDONE\n"
                 "END EXIT 3 0.25 0.5 100\n-1 nosuch: not found\n-1\nOK\n"
                 "78\nDONE\nEND CRASH 9 timeout 1 2 3\nEND CRASH 11 1 2 3\n",
                 "follows(1 60 123.5) pong(124) started(77) 1:a 1:\n 1:b 2:x done "
                 "exit(3  0.25 0.5 100) refused(nosuch: not found) refused() ok "
                 "started(78) done crash(9 timeout 1 2 3) crash(11  1 2 3) ");
    expect_words("FOLLOW abc 1 subreaper 5 t\n", "follows(0 5 t) ");
}

static void what_no_pclient_sends_is_refused_with_the_line(void **state)
{
    (void)state;
    static const char *const LINES[] = {
        "hello",
        "OUT",
        "OUT 0",
        "OUT 65537",
        "OUT 1 2",
        "END",
        "END EXIT 0",
        "END EXIT 256 0 0 0",
        "END GONE 0 0 0 0",
        "END EXIT 0 x 0 0",
        "END EXIT 0 0 0 -1",
        "PONG",
        "0",
        "-5",
        "2147483648",
        "DONE now",
    };
    for (size_t i = 0; i < sizeof(LINES) / sizeof(LINES[0]); i++) {
        char text[200], expected[200];
        (void)snprintf(text, sizeof(text), "FOLLOW abc 1 namespace 60 1\n%s\n", LINES[i]);
        (void)snprintf(expected, sizeof(expected), "follows(1 60 1) BAD(unknown message '%s') ",
                       LINES[i]);
        expect_words(text, expected);
    }
}

static void a_host_that_only_talks_is_given_up(void **state)
{
    (void)state;
    struct strbuf text, out;
    strbuf_init(&text, 0);
    strbuf_init(&out, 0);
    while (text.length <= LINK_NOISE_MAX) {
        strbuf_puts(&text, "Last login: never\n");
    }
    read_all(strbuf_text(&text), 4096, &out);
    assert_non_null(strstr(strbuf_text(&out), "no answer of a pclient"));
    assert_non_null(strstr(strbuf_text(&out), "Last login: never"));
    strbuf_clear(&text);
    strbuf_clear(&out);
    while (text.length <= LINK_LINE_MAX + 1) {
        strbuf_putc(&text, 'x');
    }
    read_all(strbuf_text(&text), 4096, &out);
    assert_non_null(strstr(strbuf_text(&out), "a line has more than 65536 bytes"));
    strbuf_fini(&text);
    strbuf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_conversation_is_understood_in_any_pieces),
        cmocka_unit_test(what_no_pclient_sends_is_refused_with_the_line),
        cmocka_unit_test(a_host_that_only_talks_is_given_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
