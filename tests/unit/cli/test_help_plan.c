/* Help and manual pages.
 *
 * LINK: cli
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/cli/ads.h"

#include "base/knob.h"
#include "base/mem.h"
#include "cli/commands.h"
#include "cli/help_plan.h"

static const struct cli_command Q = {
    "q", NULL, "[ID...] [-nobatch|-run|-hold|-idle|-io|-goodput] [-constraint EXPR] [-limit N]",
    "show jobs",
    "  -run      those that run, wherever they do, and however long they have been at it\n"
    "            'quoted' \\ and - dashes\n"
    "  -x        short\n"};
static const struct cli_command *const COMMANDS[] = {&Q, NULL};

static const struct knob KNOBS[] = {{.name = "A_KNOB",
                                     .type = KNOB_INT,
                                     .fallback = "5",
                                     .min = 1,
                                     .max = 9,
                                     .help = "What it is."}};
static const struct knob_table TABLE = {.owner = "OWNER", .knobs = KNOBS, .knob_count = 1};
static const struct knob_table *const TABLES[] = {&TABLE, NULL};

static const char *no_more(const char *command)
{
    (void)command;
    return NULL;
}

static void help_fits_into_80_columns(void **state)
{
    (void)state;
    struct strbuf out;
    strbuf_init(&out, 0);
    help_command(&Q, "  -more     of it\n", &out);
    ads_expect(&out,
               "usage: roost q [ID...] [-nobatch|-run|-hold|-idle|-io|-goodput]\n"
               "           [-constraint EXPR] [-limit N]\n"
               "\n"
               "show jobs\n"
               "  -run      those that run, wherever they do, and however long they have been at\n"
               "            it\n"
               "            'quoted' \\ and - dashes\n"
               "  -x        short\n"
               "  -more     of it\n");
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        strbuf_init(&out, 0);
        help_command(cli_commands[i], NULL, &out);
        for (const char *line = strbuf_text(&out); *line != '\0';) {
            size_t length = strcspn(line, "\n");
            if (length > 80) {
                fail_msg("roost %s --help: %.*s", cli_commands[i]->name, (int)length, line);
            }
            line += length + 1;
        }
        strbuf_fini(&out);
    }
}

static void a_page_is_safe_for_roff(void **state)
{
    (void)state;
    struct strbuf out;
    strbuf_init(&out, 0);
    assert_true(help_page(COMMANDS, TABLES, no_more, "roost-q.1", &out));
    assert_non_null(strstr(strbuf_text(&out), ".TH \"ROOST\\-Q\" \"1\""));
    assert_non_null(strstr(strbuf_text(&out), "\\(aqquoted\\(aq \\e and \\- dashes"));
    assert_non_null(strstr(strbuf_text(&out), "\\-nobatch|\\-run"));
    strbuf_fini(&out);
}

static void no_line_of_a_page_is_taken_for_a_request(void **state)
{
    (void)state;
    static const struct cli_command DOTS = {"dots", NULL, "", "more", ".so /etc/passwd\n'br\n"};
    static const struct cli_command *const ONE[] = {&DOTS, NULL};
    struct strbuf out;
    strbuf_init(&out, 0);
    assert_true(help_page(ONE, TABLES, no_more, "dots", &out));
    assert_non_null(strstr(strbuf_text(&out), "\n\\&.so /etc/passwd\n\\&\\(aqbr\n"));
    strbuf_fini(&out);
}

static void every_name_is_a_page_and_no_other(void **state)
{
    (void)state;
    struct vec names = {0};
    struct strbuf out;
    help_pages(COMMANDS, &names);
    assert_int_equal(names.count, 4);
    for (size_t i = 0; i < names.count; i++) {
        strbuf_init(&out, 0);
        assert_true(help_page(COMMANDS, TABLES, no_more, names.items[i], &out));
        assert_non_null(strstr(strbuf_text(&out), ".SH NAME"));
        strbuf_fini(&out);
    }
    vec_fini(&names, mem_free);
    strbuf_init(&out, 0);
    assert_false(help_page(COMMANDS, TABLES, no_more, "roost-nosuch.1", &out));
    assert_true(help_page(COMMANDS, TABLES, no_more, "q", &out));
    strbuf_fini(&out);
}

static void knobs_and_submit_commands_have_pages(void **state)
{
    (void)state;
    struct strbuf out;
    strbuf_init(&out, 0);
    assert_true(help_page(COMMANDS, TABLES, no_more, "roost_config.5", &out));
    assert_non_null(strstr(strbuf_text(&out), ".B \"A_KNOB\"\nWhat it is.\n"));
    assert_non_null(strstr(strbuf_text(&out), "; 1 to 9"));
    assert_non_null(strstr(strbuf_text(&out), "default: 5"));
    strbuf_clear(&out);
    assert_true(help_page(COMMANDS, TABLES, no_more, "roost_submit", &out));
    assert_non_null(strstr(strbuf_text(&out), ".B \"executable\"\nCmd\n"));
    strbuf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(help_fits_into_80_columns),
        cmocka_unit_test(a_page_is_safe_for_roff),
        cmocka_unit_test(no_line_of_a_page_is_taken_for_a_request),
        cmocka_unit_test(every_name_is_a_page_and_no_other),
        cmocka_unit_test(knobs_and_submit_commands_have_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
