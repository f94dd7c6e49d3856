/* Tests of base/text.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/text.h"

#include <errno.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "tests/support/unit.h"

static void whole_numbers_are_read_strictly(void **state)
{
    (void)state;
    int64_t value = 77;
    assert_int_equal(text_parse_int64("0", &value, NULL), 0);
    assert_int_equal(value, 0);
    assert_int_equal(text_parse_int64("-9223372036854775808", &value, NULL), 0);
    assert_true(value == INT64_MIN);
    assert_int_equal(text_parse_int64("+9223372036854775807", &value, NULL), 0);
    assert_true(value == INT64_MAX);
    value = 77;
    assert_int_equal(text_parse_int64("9223372036854775808", &value, NULL), -ERANGE);
    assert_int_equal(text_parse_int64("-9223372036854775809", &value, NULL), -ERANGE);
    const char *const bad[] = {
        "", "-", "+", " 1", "1 ", "0x10", "1.0", "--1", "1e3", "m1", "99999999999999999999x"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(text_parse_int64(bad[i], &value, NULL), -EINVAL);
    }
    assert_int_equal(value, 77);
    struct err err;
    (void)text_parse_int64("10 m1nutes", &value, &err);
    assert_string_equal(err.text, "'10 m1nutes' is not a whole number");
}

static void numbers_are_read_strictly(void **state)
{
    (void)state;
    double value = 7;
    assert_int_equal(text_parse_double("-1.5e-2", &value, NULL), 0);
    assert_true(value == -1.5e-2);
    assert_int_equal(text_parse_double(".5", &value, NULL), 0);
    assert_true(value == .5);
    assert_int_equal(text_parse_double("3.", &value, NULL), 0);
    assert_true(value == 3);
    value = 7;
    const char *const bad[] = {"",    ".",     "-",  "e5", "1e",  "1e+",   "inf",
                               "nan", "0x1p3", " 1", "1 ", "1,5", "1.2.3", "-.e1"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(text_parse_double(bad[i], &value, NULL), -EINVAL);
    }
    assert_int_equal(text_parse_double("1e999", &value, NULL), -ERANGE);
    assert_int_equal(text_parse_double("-1e999", &value, NULL), -ERANGE);
    assert_true(value == 7);
}

static void truth_has_its_words_and_no_others(void **state)
{
    (void)state;
    const char *const words[2][7] = {{"false", "no", "off", "F", "N", "0", "FALSE"},
                                     {"true", "yes", "on", "T", "Y", "1", "True"}};
    bool value = false;
    for (int truth = 0; truth < 2; truth++) {
        for (size_t i = 0; i < 7; i++) {
            value = !truth;
            assert_int_equal(text_parse_bool(words[truth][i], &value, NULL), 0);
            assert_int_equal(value, truth);
        }
    }
    assert_int_equal(text_parse_bool("2", &value, NULL), -EINVAL);
    assert_int_equal(text_parse_bool("", &value, NULL), -EINVAL);
    assert_int_equal(text_parse_bool("truely", &value, NULL), -EINVAL);
    assert_true(value);
}

static int64_t duration_ms(const char *text)
{
    int64_t value = -1;
    int rc = text_parse_duration_ms(text, &value, NULL);
    return rc < 0 ? rc : value;
}

static void durations_have_units(void **state)
{
    (void)state;
    assert_int_equal(duration_ms("250"), 250);
    assert_int_equal(duration_ms("250 ms"), 250);
    assert_int_equal(duration_ms("10m"), 600000);
    assert_int_equal(duration_ms("1h30m"), 5400000);
    assert_int_equal(duration_ms("1 hour 30 Minutes"), 5400000);
    assert_int_equal(duration_ms("2 days"), 172800000);
    assert_int_equal(duration_ms("1w"), 604800000);
    int64_t seconds = 0;
    assert_int_equal(text_parse_duration_s("90", &seconds, NULL), 0);
    assert_int_equal(seconds, 90);
    assert_int_equal(text_parse_duration_s("2000ms", &seconds, NULL), 0);
    assert_int_equal(seconds, 2);
    assert_int_equal(text_parse_duration_s("1500ms", &seconds, NULL), -EINVAL);
    assert_int_equal(seconds, 2);
}

static void what_is_not_a_duration_is_refused(void **state)
{
    (void)state;
    const char *const bad[] = {"",   "m",    "-5m",  "10 m1nutes", "10mm", "5 ",
                               " 5", "5m 3", "3 5m", "1.5h",       "10m,"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(duration_ms(bad[i]), -EINVAL);
    }
    assert_int_equal(duration_ms("9223372036854775807s"), -ERANGE);
    assert_int_equal(duration_ms("9223372036854775808"), -ERANGE);
    assert_int_equal(duration_ms("9223372036854775807ms 1ms"), -ERANGE);
    int64_t value = 0;
    struct err err;
    (void)text_parse_duration_ms("5 parsecs", &value, &err);
    assert_string_equal(err.text, "'5 parsecs' is not a duration: unknown unit 'parsecs'");
}

static int64_t size_bytes(const char *text)
{
    int64_t value = -1;
    int rc = text_parse_size(text, &value, NULL);
    return rc < 0 ? rc : value;
}

static void sizes_have_binary_units_in_any_case(void **state)
{
    (void)state;
    assert_int_equal(size_bytes("0"), 0);
    assert_int_equal(size_bytes("4096"), 4096);
    assert_int_equal(size_bytes("17 bytes"), 17);
    assert_int_equal(size_bytes("1k"), 1024);
    assert_int_equal(size_bytes("1 KB"), 1024);
    assert_int_equal(size_bytes("2 GiB"), INT64_C(2) << 30);
    assert_int_equal(size_bytes("10 Mb"), 10 << 20);
    assert_int_equal(size_bytes("3T"), INT64_C(3) << 40);
    assert_int_equal(size_bytes("1pib"), INT64_C(1) << 50);
    assert_int_equal(size_bytes("9000P"), -ERANGE);
    const char *const bad[] = {"", "G", "1.5G", "-1", "1 X", "1 Gi", "1GiBs", "1ki b"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(size_bytes(bad[i]), -EINVAL);
    }
}

static void numbers_are_written_with_leading_zeros(void **state)
{
    (void)state;
    static const struct {
        uint64_t value;
        size_t width;
        const char *text;
    } CASES[] = {
        {0, 0, "0"},
        {0, 3, "000"},
        {7, 1, "7"},
        {42, 3, "042"},
        {1000, 3, "1000"},
        {999, 3, "999"},
        {10, 10, "0000000010"},
        {UINT64_MAX, 20, "18446744073709551615"},
        {1, TEXT_DECIMAL_MAX, "00000000000000000001"},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        char text[TEXT_DECIMAL_MAX + 1] = "";
        text[text_put_decimal(text, CASES[i].value, CASES[i].width)] = '\0';
        assert_string_equal(text, CASES[i].text);
    }
}

static void times_are_written_and_read_back(void **state)
{
    (void)state;
    char text[TEXT_UTC_MAX];
    text_utc_ms(0, text);
    assert_string_equal(text, "1970-01-01T00:00:00.000Z");
    text_utc_ms(-1, text);
    assert_string_equal(text, "1969-12-31T23:59:59.999Z");
    text_utc_ms(INT64_C(1795167276123), text);
    assert_string_equal(text, "2026-11-20T09:34:36.123Z");
    text_utc_s(951782400, text);
    assert_string_equal(text, "2000-02-29T00:00:00Z");
    text_utc_s(INT64_MAX, text);
    assert_string_equal(text, "9999-12-31T23:59:59Z");
    text_utc_ms(INT64_MIN, text);
    assert_string_equal(text, "0000-01-01T00:00:00.192Z");
    int64_t ms = 7;
    assert_int_equal(text_parse_utc("2026-11-20T09:34:36.123Z", &ms, NULL), 0);
    assert_int_equal(ms, INT64_C(1795167276123));
    assert_int_equal(text_parse_utc("2000-02-29T00:00:00Z", &ms, NULL), 0);
    assert_int_equal(ms, INT64_C(951782400000));
    assert_int_equal(text_parse_utc("1969-12-31T23:59:59.999Z", &ms, NULL), 0);
    assert_int_equal(ms, -1);
}

static void what_is_not_a_time_is_refused(void **state)
{
    (void)state;
    const char *const bad[] = {"",
                               "2026-11-20",
                               "2026-11-20T09:34:36",
                               "2026-11-20 09:34:36Z",
                               "2026-11-20T09:34:36+",
                               "2026-02-29T00:00:00Z",
                               "2026-06-31T00:00:00Z",
                               "2026-13-01T00:00:00Z",
                               "2026-00-01T00:00:00Z",
                               "2026-01-00T00:00:00Z",
                               "2026-01-01T24:00:00Z",
                               "2026-01-01T00:60:00Z",
                               "2026-01-01T00:00:60Z",
                               "2026-01-01T00:00:00,123Z",
                               "2026-01-01T00:00:00.12xZ",
                               "2026-01-01T00:00:00.123z",
                               "20x6-01-01T00:00:00Z"};
    int64_t ms = 7;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(text_parse_utc(bad[i], &ms, NULL), -EINVAL);
    }
    assert_int_equal(ms, 7);
}

static void hex_goes_both_ways(void **state)
{
    (void)state;
    char text[9];
    text_hex("\x00\x7f\x80\xff", 4, text);
    assert_string_equal(text, "007f80ff");
    unsigned char bytes[4] = {9, 9, 9, 9};
    assert_int_equal(text_unhex("007F80fF", bytes, 4, NULL), 0);
    assert_memory_equal(bytes, "\x00\x7f\x80\xff", 4);
    assert_int_equal(text_unhex("007f80f", bytes, 4, NULL), -EINVAL);
    assert_int_equal(text_unhex("007f80ff0", bytes, 4, NULL), -EINVAL);
    assert_int_equal(text_unhex("007f80fg", bytes, 4, NULL), -EINVAL);
    assert_memory_equal(bytes, "\x00\x7f\x80\xff", 4);
}

static void patterns_match_whole_texts(void **state)
{
    (void)state;
    assert_true(text_glob("", "", false));
    assert_false(text_glob("", "a", false));
    assert_true(text_glob("*", "", false));
    assert_true(text_glob("wn*.example.org", "wn01.example.org", false));
    assert_false(text_glob("wn*.example.org", "wn01.example.com", false));
    assert_false(text_glob("wn*", "xwn01", false));
    assert_true(text_glob("wn?1", "wn01", false));
    assert_false(text_glob("wn?1", "wn1", false));
    assert_true(text_glob("*a*b*", "xxaxxbxx", false));
    assert_false(text_glob("*a*b", "ba", false));
    assert_true(text_glob("*ab", "aab", false));
    assert_true(text_glob("WN*", "wn01", true));
    assert_false(text_glob("WN*", "wn01", false));
    /* Patterns that make careless matchers take forever. */
    assert_false(text_glob("*a*a*a*a*a*a*a*a*a*a*a*b",
                           "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false));
}

static void comparisons_know_ascii_case_only(void **state)
{
    (void)state;
    assert_true(text_equal_nocase("Requirements", "REQUIREMENTS"));
    assert_false(text_equal_nocase("a", "ab"));
    assert_false(text_equal_nocase("ab", "a"));
    assert_false(text_equal_nocase("\xc3\xa4", "\xc3\x84"));
    assert_true(text_compare_nocase("A", "b") < 0);
    assert_true(text_compare_nocase("b", "A") > 0);
    assert_true(text_equal_secret("abc", "abd", 2));
    assert_false(text_equal_secret("abc", "abd", 3));
    assert_false(text_equal_secret("xbc", "abc", 3));
    assert_true(text_equal_secret("", "", 0));
}

static void likeness_counts_edits_and_swaps(void **state)
{
    (void)state;
    assert_int_equal(text_distance("START", "start", 3), 0);
    assert_int_equal(text_distance("STRAT", "START", 3), 1);
    assert_int_equal(text_distance("STAR", "START", 3), 1);
    assert_int_equal(text_distance("XSTART", "START", 3), 1);
    assert_int_equal(text_distance("STEERT", "START", 3), 2);
    assert_int_equal(text_distance("", "abc", 3), 3);
    assert_int_equal(text_distance("abc", "", 2), 3);
    assert_int_equal(text_distance("abcdef", "uvwxyz", 3), 4);
    char longer[70];
    memset(longer, 'x', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    assert_int_equal(text_distance(longer, longer, 3), 4);
    longer[64] = '\0';
    assert_int_equal(text_distance(longer, longer, 3), 0);
}

static void the_nearest_name_is_one_that_is_near_enough(void **state)
{
    (void)state;
    static const char *const NAMES[] = {"biology", "physik", "physics", "chem"};
    static const struct {
        const char *name, *nearest;
    } CASES[] = {{"phisics", "physics"},
                 {"physic", "physik"},
                 {"cehm", "chem"},
                 {"ch", NULL},
                 {"astronomy", NULL}};
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        size_t distance = text_near_enough(CASES[i].name) + 1;
        const char *nearest = NULL;
        for (size_t j = 0; j < sizeof NAMES / sizeof NAMES[0]; j++) {
            text_take_nearer(NAMES[j], CASES[i].name, &nearest, &distance);
        }
        assert_string_equal(nearest != NULL ? nearest : "none",
                            CASES[i].nearest != NULL ? CASES[i].nearest : "none");
    }
}

/* Every word of up to four of three letters. */
static void word_of(unsigned number, char ret[5])
{
    size_t length = 0;
    for (; number > 0; number = (number - 1) / 3) {
        ret[length++] = (char)('a' + (number - 1) % 3);
    }
    ret[length] = '\0';
}

static void a_limit_of_likeness_changes_no_answer_within_it(void **state)
{
    (void)state;
    const unsigned words = 1 + 3 + 9 + 27 + 81;
    for (unsigned i = 0; i < words; i++) {
        for (unsigned j = 0; j < words; j++) {
            char a[5], b[5];
            word_of(i, a);
            word_of(j, b);
            size_t whole = text_distance(a, b, 10);
            for (size_t max = 0; max < 5; max++) {
                size_t wanted = whole <= max ? whole : max + 1;
                assert_int_equal(text_distance(a, b, max), wanted);
            }
        }
    }
}

static void one_token_stays_one_token(void **state)
{
    (void)state;
    const struct {
        const char *text, *quoted;
    } cases[] = {{"plain-1.2/x", "plain-1.2/x"},
                 {"", "\"\""},
                 {"two words", "\"two words\""},
                 {"a=b", "\"a=b\""},
                 {"say \"hi\" \\", "\"say \\\"hi\\\" \\\\\""},
                 {"a\nb\r\t\x01\x7f", "\"a\\nb\\r\\t\\x01\\x7f\""},
                 {"\x7f", "\"\\x7f\""},
                 {"it's", "\"it's\""},
                 {"Zürich", "Zürich"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct strbuf buf;
        strbuf_init(&buf, 0);
        text_append_quoted(&buf, cases[i].text);
        assert_string_equal(strbuf_text(&buf), cases[i].quoted);
        strbuf_fini(&buf);
    }
}

static void a_value_is_put_in_the_place_of_each_mark(void **state)
{
    static const struct {
        const char *text, *result;
        bool found;
    } CASES[] = {{"", "", false},         {"ssh", "ssh", false},
                 {"%h", "wn1", true},     {"a%hb%h", "awn1bwn1", true},
                 {"%%h%", "%wn1%", true}, {"%", "%", false}};
    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        bool found = false;
        char *text = text_insert(CASES[i].text, "%h", "wn1", &found);
        assert_string_equal(text, CASES[i].result);
        assert_int_equal(found, CASES[i].found);
        mem_free(text);
    }
}

UNIT_TESTS(UNIT(a_value_is_put_in_the_place_of_each_mark), UNIT(whole_numbers_are_read_strictly),
           UNIT(numbers_are_read_strictly), UNIT(truth_has_its_words_and_no_others),
           UNIT(durations_have_units), UNIT(what_is_not_a_duration_is_refused),
           UNIT(sizes_have_binary_units_in_any_case), UNIT(numbers_are_written_with_leading_zeros),
           UNIT(times_are_written_and_read_back), UNIT(what_is_not_a_time_is_refused),
           UNIT(hex_goes_both_ways), UNIT(patterns_match_whole_texts),
           UNIT(comparisons_know_ascii_case_only), UNIT(likeness_counts_edits_and_swaps),
           UNIT(the_nearest_name_is_one_that_is_near_enough),
           UNIT(a_limit_of_likeness_changes_no_answer_within_it), UNIT(one_token_stays_one_token))
