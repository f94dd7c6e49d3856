/* tests/unit/base/test_shell_words.c - the promises of base/shell_words.h; bash is the judge.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/shell_words.h"
#include "base/strbuf.h"
#include "base/vec.h"

/* Appends the words that bash makes of this text. */
static void ask_bash(const char *text, struct vec *words)
{
    struct strbuf script, out;
    int ends[2], status = -1;
    char block[4096];
    ssize_t got;
    strbuf_init(&script, 0);
    strbuf_init(&out, 0);
    /* f prints its words, each with a zero byte behind it, and nothing when there is none */
    strbuf_printf(&script, "set -f; f() { [ $# = 0 ] || printf '%%s\\0' \"$@\"; }; f %s\n", text);
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        (void)dup2(ends[1], STDOUT_FILENO);
        (void)execl("/bin/bash", "bash", "-c", strbuf_text(&script), (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    while ((got = read(ends[0], block, sizeof(block))) > 0) {
        strbuf_append(&out, block, (size_t)got);
    }
    close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    for (size_t at = 0; at < out.length; at += strlen(out.data + at) + 1) {
        vec_push(words, mem_strdup(out.data + at));
    }
    strbuf_fini(&script);
    strbuf_fini(&out);
}

static void assert_same(const struct vec *words, const struct vec *expected)
{
    assert_int_equal(words->count, expected->count);
    for (size_t i = 0; i < words->count; i++) {
        assert_string_equal(words->items[i], expected->items[i]);
    }
}

static void assert_words(const char *text, const char *const *expected, size_t count)
{
    struct vec words = {0};
    assert_int_equal(shell_words_parse(text, strlen(text), &words, NULL), 0);
    assert_int_equal(words.count, count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(words.items[i], expected[i]);
    }
    vec_fini(&words, mem_free);
}

static void quotes_keep_what_the_header_says(void **state)
{
    (void)state;
    assert_words("  job  /bin/echo\ta\nb ", (const char *const[]){"job", "/bin/echo", "a", "b"}, 4);
    assert_words("'a b' \"c d\" e\\ f '' \"\" g'h'\"i\"",
                 (const char *const[]){"a b", "c d", "e f", "", "", "ghi"}, 6);
}

static void double_quotes_know_four_escapes(void **state)
{
    (void)state;
    assert_words("\"\\\"\\\\\\`\\$\" \"\\n\\'$HOME`|\" '\\\"'",
                 (const char *const[]){"\"\\`$", "\\n\\'$HOME`|", "\\\""}, 3);
}

static void dollar_quotes_know_the_bytes(void **state)
{
    (void)state;
    assert_words("$'\\n\\t\\r\\\\\\'\\\"\\e\\a\\b\\f\\v' $'\\x41\\x7g\\x417' $'\\101\\7\\0418'",
                 (const char *const[]){"\n\t\r\\'\"\033\a\b\f\v",
                                       "A\ag"
                                       "A7",
                                       "A\a!8"},
                 3);
}

static void a_number_sign_begins_a_comment_only_at_the_start_of_a_word(void **state)
{
    (void)state;
    assert_words("a#b '#c' \\#d # e 'f", (const char *const[]){"a#b", "#c", "#d"}, 3);
    assert_words("# a\nb", (const char *const[]){"b"}, 1);
    assert_words("", NULL, 0);
}

static void an_error_names_the_character_and_its_column(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t length; /* 0: strlen() */
        const char *names[2];
    } CASES[] = {
        {"a | b", 0, {"column 3", "|"}},
        {"a&", 0, {"column 2", "&"}},
        {";", 0, {"column 1", ";"}},
        {"a <b", 0, {"column 3", "<"}},
        {"a >b", 0, {"column 3", ">"}},
        {"(a", 0, {"column 1", "("}},
        {"a)", 0, {"column 2", ")"}},
        {"$HOME", 0, {"column 1", "$"}},
        {"a$", 0, {"column 2", "$"}},
        {"$\"a\"", 0, {"column 1", "$"}},
        {"ab`c", 0, {"column 3", "`"}},
        {"a 'b c", 0, {"column 3", "quote ' is not closed"}},
        {"\"b c", 0, {"column 1", "quote \" is not closed"}},
        {"\"b c\\\"", 0, {"column 1", "quote \" is not closed"}},
        {"a $'b", 0, {"column 3", "quote $' is not closed"}},
        {"a $'b\\'", 0, {"column 3", "quote $' is not closed"}},
        {"a\\", 0, {"column 2", "\\"}},
        {"$'a\\q'", 0, {"column 4", "unknown escape"}},
        {"$'a\\xg'", 0, {"column 4", "unknown escape"}},
        {"$'a\\", 0, {"column 4", "unknown escape"}},
        {"$'\\400'", 0, {"column 3", "1 to 255"}},
        {"$'\\0'", 0, {"column 3", "1 to 255"}},
        {"$'\\x00'", 0, {"column 3", "1 to 255"}},
        {"a\0b", 3, {"column 2", "0x00"}},
        {"'\0'", 3, {"column 2", "0x00"}},
        {"\"\0\"", 3, {"column 2", "0x00"}},
        {"$'\0'", 4, {"column 3", "0x00"}},
        {"$'\\\0'", 5, {"column 3", "unknown escape"}},
        {"\\\0", 2, {"column 2", "0x00"}},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct vec words = {0};
        struct err err = {""};
        size_t length = CASES[i].length != 0 ? CASES[i].length : strlen(CASES[i].text);
        vec_push(&words, mem_strdup("before"));
        assert_int_equal(shell_words_parse(CASES[i].text, length, &words, &err), -EINVAL);
        assert_int_equal(words.count, 1); /* untouched */
        if (strstr(err.text, CASES[i].names[0]) == NULL ||
            strstr(err.text, CASES[i].names[1]) == NULL) {
            fail_msg("case %zu, %s: %s", i, CASES[i].text, err.text);
        }
        vec_fini(&words, mem_free);
    }
}

static void too_much_is_refused(void **state)
{
    (void)state;
    struct vec words = {0};
    struct err err;
    char *text = mem_zalloc(SHELL_WORDS_BYTES_MAX + 2);
    memset(text, 'a', SHELL_WORDS_BYTES_MAX + 1);
    assert_int_equal(shell_words_parse(text, SHELL_WORDS_BYTES_MAX + 1, &words, &err), -E2BIG);
    assert_int_equal(shell_words_parse(text, SHELL_WORDS_BYTES_MAX, &words, &err), 0);
    assert_int_equal(strlen(words.items[0]), SHELL_WORDS_BYTES_MAX);
    vec_clear(&words, mem_free);
    for (size_t i = 1; i < SHELL_WORDS_BYTES_MAX; i += 2) {
        text[i] = ' ';
    }
    size_t full = 2 * SHELL_WORDS_COUNT_MAX;
    assert_int_equal(shell_words_parse(text, full, &words, &err), 0);
    assert_int_equal(words.count, SHELL_WORDS_COUNT_MAX);
    vec_clear(&words, mem_free);
    assert_int_equal(shell_words_parse(text, full + 1, &words, &err), -E2BIG);
    assert_int_equal(words.count, 0);
    vec_fini(&words, mem_free);
    mem_free(text);
}

static void plain_words_are_not_quoted(void **state)
{
    (void)state;
    struct strbuf out;
    strbuf_init(&out, 0);
    static const char *const WORDS[] = {"job", "-timeout", "2.5",  "/usr/bin/a_b,c@d:e=f%g+h",
                                        "",    "a b",      "it's", "a\nb",
                                        "#x"};
    for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++) {
        shell_words_append(&out, WORDS[i]);
    }
    assert_string_equal(strbuf_text(&out), "job -timeout 2.5 /usr/bin/a_b,c@d:e=f%g+h '' 'a b' "
                                           "'it'\\''s' $'a\\nb' '#x'");
    strbuf_fini(&out);
}

/* Writes the words, and reads them back; bash must read the same. */
static void assert_round_trip(const struct vec *words)
{
    struct strbuf out;
    struct vec again = {0}, judged = {0};
    strbuf_init(&out, 0);
    for (size_t i = 0; i < words->count; i++) {
        shell_words_append(&out, words->items[i]);
    }
    assert_null(strchr(strbuf_text(&out), '\n'));
    assert_int_equal(shell_words_parse(out.data, out.length, &again, NULL), 0);
    assert_same(&again, words);
    ask_bash(strbuf_text(&out), &judged);
    assert_same(&judged, words);
    vec_fini(&again, mem_free);
    vec_fini(&judged, mem_free);
    strbuf_fini(&out);
}

static void every_byte_survives_alone_and_among_others(void **state)
{
    (void)state;
    struct vec words = {0};
    char all[256];
    for (int c = 1; c < 256; c++) {
        char word[6] = {(char)c, '\0'};
        vec_push(&words, mem_strdup(word));
        (void)snprintf(word, sizeof(word), "a%cb", c);
        vec_push(&words, mem_strdup(word));
        (void)snprintf(word, sizeof(word), "\n%c7", c); /* an escape before a digit */
        vec_push(&words, mem_strdup(word));
        all[c - 1] = (char)c;
    }
    all[255] = '\0';
    vec_push(&words, mem_strdup(all));
    assert_round_trip(&words);
    vec_fini(&words, mem_free);
}

static void bash_reads_what_we_read(void **state)
{
    (void)state;
    static const char *const TEXTS[] = {
        "a 'b c' \"d e\" f\\ g '' \"\"",
        "\"\\\"\\\\\\`\\$\" \"\\n\\'\\a\" 'a\\'",
        "$'\\n\\t\\r\\\\\\'\\\"\\e\\a\\b\\f\\v' $'\\x41\\x7g\\x417' $'\\101\\7\\0418'",
        "a#b '#c' \\#d # e 'f",
        "\\'\\\" a\\bc x'y'\"z\"$'\\x2e'w",
        "=a a=b --c=d %e ^f @g !h ,i .j :k",
        "\303\244 '\377' \\\303",
        "\ta\t\tb ",
    };
    for (size_t i = 0; i < sizeof(TEXTS) / sizeof(TEXTS[0]); i++) {
        struct vec words = {0}, judged = {0};
        assert_int_equal(shell_words_parse(TEXTS[i], strlen(TEXTS[i]), &words, NULL), 0);
        ask_bash(TEXTS[i], &judged);
        assert_same(&words, &judged);
        vec_fini(&words, mem_free);
        vec_fini(&judged, mem_free);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quotes_keep_what_the_header_says),
        cmocka_unit_test(double_quotes_know_four_escapes),
        cmocka_unit_test(dollar_quotes_know_the_bytes),
        cmocka_unit_test(a_number_sign_begins_a_comment_only_at_the_start_of_a_word),
        cmocka_unit_test(an_error_names_the_character_and_its_column),
        cmocka_unit_test(too_much_is_refused),
        cmocka_unit_test(plain_words_are_not_quoted),
        cmocka_unit_test(every_byte_survives_alone_and_among_others),
        cmocka_unit_test(bash_reads_what_we_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
