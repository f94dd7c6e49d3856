/* tests/unit/site/test_site_script.c - what is sent to hosts; what the scripts do is tested with
 * real shells (tests/integration/site_process.sh).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "site/site_script.h"

#include <string.h>

#include "base/mem.h"
#include "base/shell_words.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "tests/support/unit.h"

static const struct site_script SCRIPT = {.prefix = "f-s-",
                                          .directory = "/a b/c'd",
                                          .host = "wn01",
                                          .pclient = "pclient",
                                          .pilot = "/opt/the pilot"};

static void a_job_is_read_as_it_was_meant(void **state)
{
    static const char *const NAMES[] = {"f-s-1.1"};
    const char *arguments[] = {"--pool", "it's $HOME", ""};
    const struct site_request request = {.arguments = arguments, .argument_count = 3};
    struct vec words = {0};
    struct strbuf out;
    (void)state;
    strbuf_init(&out, 0);
    site_script_jobs(&SCRIPT, NAMES, 1, &request, 900, &out);
    const char *text = strbuf_text(&out), *end = strchr(text, '\n');
    assert_string_equal(end, "\nexit\n");
    assert_int_equal(shell_words_parse(text, (size_t)(end - text), &words, NULL), 0);
    assert_int_equal(words.count, 18);
    assert_string_equal(words.items[2], "f-s-1.1");
    assert_string_equal(words.items[4], "900");
    assert_string_equal(words.items[9], "--");
    assert_string_equal(words.items[13], "f-s-1.1");
    assert_string_equal(words.items[14], "/opt/the pilot");
    assert_string_equal(words.items[16], "it's $HOME");
    assert_string_equal(words.items[17], "");
    vec_fini(&words, mem_free);
    strbuf_fini(&out);
}

static void what_another_program_reads_comes_after_the_last_command(void **state)
{
    static const char *const NAMES[] = {"f-s-1.1", "f-s-1.2"};
    struct strbuf out;
    (void)state;
    strbuf_init(&out, 0);
    const char *tickets[] = {"first\n", "second\n"};
    const struct site_request request = {.secret = "the secret", .tickets = tickets, .count = 2};
    site_script_start(&SCRIPT, NAMES, 2, &request, 15, &out);
    const char *ready = strstr(strbuf_text(&out), SITE_SCRIPT_READY);
    assert_non_null(ready);
    assert_string_equal(strchr(ready, '\n'), "\n");
    assert_non_null(strstr(strbuf_text(&out), "s='the secret'\n"));
    assert_non_null(
        strstr(strbuf_text(&out), "t='first\n'\nprintf '%s%s' \"$t\" \"$s\" >f-s-1.1.token"));
    assert_non_null(
        strstr(strbuf_text(&out), "t='second\n'\nprintf '%s%s' \"$t\" \"$s\" >f-s-1.2.token"));
    assert_non_null(strstr(strbuf_text(&out), "d='/a b/c'\\''d'\n"));
    strbuf_clear(&out);
    site_script_copy(&SCRIPT, "../bin/x", "00", &out);
    ready = strstr(strbuf_text(&out), SITE_SCRIPT_READY);
    assert_non_null(ready);
    assert_string_equal(strchr(ready, '\n'), "\n");
    strbuf_fini(&out);
}

UNIT_TESTS(UNIT(a_job_is_read_as_it_was_meant),
           UNIT(what_another_program_reads_comes_after_the_last_command))
