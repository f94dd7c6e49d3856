/* Text as a terminal shows it.
 *
 * LINK: cli
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/cli/ads.h"

#include "cli/status/status_totals_plan.h"
#include "cli/table_plan.h"
#include "cli/terminal_plan.h"

#define E_ACUTE "\xc3\xa9"
#define KANJI   "\xe8\xa8\x88"
#define COMBINE "\xcc\x81" /* on the letter before it */

static void a_column_is_a_character_not_a_byte(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t width;
    } CASES[] = {{"", 0},
                 {"abc", 3},
                 {"caf" E_ACUTE, 4},
                 {KANJI KANJI, 4},
                 {"e" COMBINE, 1},
                 {"\xf0\x9f\x98\x80", 2},
                 {"\xff\xfe", 2},      /* no UTF-8: a mark for each byte */
                 {"\xc3", 1},          /* cut off */
                 {"\xe0\x80\x80", 3}}; /* too long a form */
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        assert_int_equal(terminal_width(CASES[i].text, strlen(CASES[i].text)), CASES[i].width);
    }
}

static void a_text_is_cut_between_characters(void **state)
{
    (void)state;
    assert_int_equal(terminal_fit("caf" E_ACUTE "s", 6, 4), 5);
    assert_int_equal(terminal_fit(KANJI KANJI, 6, 3), 3);
    assert_int_equal(terminal_fit("abc", 3, 9), 3);
    assert_int_equal(terminal_fit("abcdef", 6, 0), 0);
    struct strbuf out;
    strbuf_init(&out, 0);
    strbuf_puts(&out, "first\nsecond");
    terminal_cut(&out, 6, 3);
    assert_string_equal(strbuf_text(&out), "first\nsec");
    terminal_cut(&out, 6, 0);
    ads_expect(&out, "first\nsec");
}

static void nothing_that_moves_the_cursor_is_left(void **state)
{
    (void)state;
    static const struct {
        const char *text, *clean;
    } CASES[] = {{"a\x1b[2Jb", "a?[2Jb"},
                 {"a\nb\x7f", "a?b?"},
                 {"\xc2\x9b"
                  "2J",
                  "??2J"}, /* U+009B is an escape sequence's beginning */
                 {"a\xe2\x80\xae"
                  "b",
                  "a???b"}, /* turns the direction */
                 {"\xff", "?"},
                 {"caf" E_ACUTE KANJI, "caf" E_ACUTE KANJI}};
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        char text[64];
        (void)snprintf(text, sizeof text, "%s", CASES[i].text);
        terminal_clean(text, strlen(text));
        assert_string_equal(text, CASES[i].clean);
    }
}

static void cell_name(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    table_plan_string(ad, "Name", out);
}

static void cell_state(const struct ad *ad, const struct ad_context *context, struct strbuf *out)
{
    (void)context;
    table_plan_string(ad, "State", out);
}

static const struct column COLUMNS[] = {
    {"Name", TABLE_LEFT, 30, TABLE_LEFT, true, cell_name},
    {"State", TABLE_LEFT, 10, TABLE_LEFT, true, cell_state},
};

static void table_is(const struct terminal *terminal, const char *name, const char *text)
{
    struct vec ads = {0};
    struct strbuf out;
    char ad[200];
    (void)snprintf(ad, sizeof ad, "[Name = \"%s\"; State = \"Claimed\"]", name);
    ads_add(&ads, ad);
    struct table *table = table_plan_begin(COLUMNS, 2, NULL);
    table_plan_look(table, terminal);
    table_plan_add(table, ads.items[0]);
    strbuf_init(&out, 0);
    table_plan_end(table, false, NULL, NULL, NULL, &out);
    ads_expect(&out, text);
    vec_fini(&ads, ads_destroy_one);
}

static void colours_are_for_terminals_alone(void **state)
{
    (void)state;
    const struct terminal none = {0}, colour = {.colour = true};
    table_is(&none, "wn01",
             "Name                           State\n"
             "wn01                           Claimed\n");
    table_is(&colour, "wn01",
             "\x1b[1mName                           State\x1b[0m\n"
             "wn01                           \x1b[32mClaimed\x1b[0m\n");
    assert_string_equal(terminal_colour("State", "Unheard", 7), "");
    assert_string_equal(terminal_colour("Name", "Claimed", 7), "");
}

static void a_table_gives_way_on_a_narrow_terminal(void **state)
{
    (void)state;
    const struct terminal wide = {.columns = 80}, narrow = {.columns = 30};
    table_is(&wide, "wn01",
             "Name                           State\n"
             "wn01                           Claimed\n");
    table_is(&narrow, "wn01",
             "Name State\n"
             "wn01 Claimed\n");
    table_is(&narrow, "a-machine-with-a-very-long-name",
             "Name                   State\n"
             "a-machine-with-a-very~ Claimed\n");
}

static void totals_leave_out_what_is_zero_where_they_do_not_fit(void **state)
{
    (void)state;
    static const char WIDE[] = "\n"
                               "               Total Drain Backfill BkIdle Offline\n"
                               "\n"
                               "  X86_64/LINUX     4     2        0      0       1\n"
                               "\n"
                               "         Total     4     2        0      0       1\n";
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_puts(&text, WIDE);
    status_totals_narrow(&text, 80);
    assert_string_equal(strbuf_text(&text), WIDE);
    status_totals_narrow(&text, 0);
    assert_string_equal(strbuf_text(&text), WIDE);
    status_totals_narrow(&text, 45);
    assert_string_equal(strbuf_text(&text), "\n"
                                            "               Total Drain Backfill Offline\n"
                                            "\n"
                                            "  X86_64/LINUX     4     2        0       1\n"
                                            "\n"
                                            "         Total     4     2        0       1\n");
    status_totals_narrow(&text, 10); /* Drain holds something, and stays */
    assert_null(strstr(strbuf_text(&text), "Backfill"));
    assert_non_null(strstr(strbuf_text(&text), "Drain"));
    strbuf_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_column_is_a_character_not_a_byte),
        cmocka_unit_test(a_text_is_cut_between_characters),
        cmocka_unit_test(nothing_that_moves_the_cursor_is_left),
        cmocka_unit_test(colours_are_for_terminals_alone),
        cmocka_unit_test(a_table_gives_way_on_a_narrow_terminal),
        cmocka_unit_test(totals_leave_out_what_is_zero_where_they_do_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
