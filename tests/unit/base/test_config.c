/* Tests of base/config/config.h: types and macros, and what is refused with which words.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/config/config.h"

#include <errno.h>

#include "base/check.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "tests/support/death.h"
#include "tests/unit/base/config_fixture.h"

/* ---- types ---- */

static void without_any_file_text_the_table_decides(void **state)
{
    (void)state;
    struct config *config = load_one("");
    assert_string_equal(config_expr(config, "START"), "TRUE");
    assert_null(config_expr(config, "HIBERNATE"));
    assert_int_equal(config_int(config, "PORT"), 9618);
    assert_int_equal(config_int(config, "ANY_INT"), -1);
    assert_true(config_real(config, "FACTOR") == 0.5);
    assert_false(config_bool(config, "ENABLED"));
    assert_int_equal(config_duration_s(config, "INTERVAL"), 300);
    assert_int_equal(config_duration_ms(config, "INTERVAL"), 300000);
    assert_int_equal(config_duration_ms(config, "BEAT"), 250);
    assert_int_equal(config_bytes(config, "MAX_SIZE"), 10 << 20);
    size_t count = 9;
    assert_string_equal(joined(config_list(config, "ATTRS", &count)), "[Arch]");
    assert_int_equal(count, 1);
    assert_string_equal(joined(config_list(config, "UNSET_LIST", &count)), "");
    assert_int_equal(count, 0);
    assert_null(config_string(config, "NOTE"));
    assert_string_equal(config_string(config, "METHOD"), "process");
    assert_string_equal(config_path(config, "DIRECTORY"), "/var/log/roost/d");
    assert_null(config_path(config, "UNSET_PATH"));
    assert_int_equal(config_section_count(config, "node"), 0);
    assert_int_equal(config_unknown_count(config), 0);
    config_destroy(config);
    config_destroy(NULL);
}

static void values_of_all_types_are_read(void **state)
{
    (void)state;
    struct config *config = load_one("start = \"KeyboardIdle > 60\"\n"
                                     "Port = 80\n"
                                     "FACTOR = \"1 / 4\"\n"
                                     "ENABLED = yes\n"
                                     "INTERVAL = 10m\n"
                                     "BEAT = \"2 s\"\n"
                                     "MAX_SIZE = 0\n"
                                     "NOTE = \"say \\\"hi\\\"\"\n"
                                     "METHOD = WOL\n"
                                     "DIRECTORY = /x\n"
                                     "UNSET_PATH = \"\"\n"
                                     "HIBERNATE = \" \"\n");
    assert_string_equal(config_expr(config, "START"), "KeyboardIdle > 60");
    assert_int_equal(config_int(config, "PORT"), 80);
    assert_true(config_real(config, "FACTOR") == 0.25);
    assert_true(config_bool(config, "ENABLED"));
    assert_int_equal(config_duration_s(config, "INTERVAL"), 600);
    assert_int_equal(config_duration_ms(config, "BEAT"), 2000);
    assert_int_equal(config_bytes(config, "MAX_SIZE"), 0);
    assert_string_equal(config_string(config, "NOTE"), "say \"hi\"");
    assert_string_equal(config_string(config, "METHOD"), "wol");
    assert_string_equal(config_path(config, "DIRECTORY"), "/x");
    assert_null(config_path(config, "UNSET_PATH"));
    assert_null(config_expr(config, "HIBERNATE"));
    config_destroy(config);
}

static void values_that_do_not_fit_their_knob_are_refused(void **state)
{
    (void)state;
    assert_string_equal(refusal("\nPORT = 0"),
                        "/etc/roost.conf:2: PORT: '0' is out of range: 1 to 65535");
    assert_string_equal(refusal("PORT = 65536"),
                        "/etc/roost.conf:1: PORT: '65536' is out of range: 1 to 65535");
    assert_string_equal(refusal("PORT = many"),
                        "/etc/roost.conf:1: PORT: 'many': a number is expected");
    assert_string_equal(refusal("PORT = \"\""),
                        "/etc/roost.conf:1: PORT: '': a number is expected at the end");
    assert_string_equal(refusal("FACTOR = 1.5"),
                        "/etc/roost.conf:1: FACTOR: '1.5' is out of range: 0 to 1");
    assert_string_equal(refusal("ENABLED = perhaps"),
                        "/etc/roost.conf:1: ENABLED: 'perhaps' is not true or false");
    assert_string_equal(refusal("INTERVAL = 2d"),
                        "/etc/roost.conf:1: INTERVAL: '2d' is out of range: 1 to 86400 seconds");
    assert_string_equal(refusal("INTERVAL = 1500ms"),
                        "/etc/roost.conf:1: INTERVAL: '1500ms' is not a whole number of seconds");
    assert_string_equal(refusal("BEAT = -1"), "/etc/roost.conf:1: BEAT: '-1' is negative");
    assert_string_equal(refusal("MAX_SIZE = 2G"),
                        "/etc/roost.conf:1: MAX_SIZE: '2G' is out of range: 0 to 1073741824 bytes");
    assert_string_equal(refusal("METHOD = wolf"),
                        "/etc/roost.conf:1: METHOD: 'wolf' is not one of: process|command|wol");
    assert_string_equal(
        refusal("DIRECTORY = x/y"),
        "/etc/roost.conf:1: DIRECTORY: 'x/y' is not an absolute path ($(CONFIG_ROOT) is the "
        "directory of the shared file)");
    assert_string_equal(refusal("START = \"@\""), "/etc/roost.conf:1: START: '@' is no expression");
    assert_string_equal(refusal("ATTRS = \"a \\\"b\""),
                        "/etc/roost.conf:1: ATTRS: the item 'b' has an open quote");
    assert_string_equal(
        refusal("PORT = {1, 2}"),
        "/etc/roost.conf:1: PORT: not a list; only lists take several values or +=");
    assert_string_equal(
        refusal("START += x"),
        "/etc/roost.conf:1: START: not a list; only lists take several values or +=");
}

static void a_value_that_is_corrected_later_is_no_error(void **state)
{
    (void)state;
    struct config *config = load_one("PORT = 0\nNOTE = \"$(NOWHERE)\"\nPORT = 5\nNOTE = x");
    assert_int_equal(config_int(config, "PORT"), 5);
    config_destroy(config);
}

static void lists_have_items_in_every_way_they_are_written(void **state)
{
    (void)state;
    const struct {
        const char *text, *items;
    } cases[] = {{"ATTRS = \"a, b c,,d\"", "[a][b][c][d]"},
                 {"ATTRS = a", "[a]"},
                 {"ATTRS = {a, \"b c\", d}", "[a][b c][d]"},
                 {"ATTRS = {\"say \\\"x\\\"\", \"back\\\\slash\", \"\"}",
                  "[say \"x\"][back\\slash][]"},
                 {"ATTRS = {}", ""},
                 {"ATTRS = \"\"", ""},
                 {"ATTRS = \" , \"", ""},
                 {"ATTRS += OpSys", "[Arch][OpSys]"},
                 {"ATTRS += {OpSys, \"x y\"}", "[Arch][OpSys][x y]"},
                 {"ATTRS = {}\nATTRS += x", "[x]"},
                 {"ATTRS = \"$(ATTRS), Memory\"", "[Arch][Memory]"},
                 {"UNSET_LIST = \"$(UNSET_LIST), a\"\nATTRS = \"$(UNSET_LIST)\"", "[a]"},
                 {"MINE = x\nMINE += y\nATTRS = \"$(MINE) z\"", "[x][y][z]"},
                 {"MINE = {x, \"y z\"}\nATTRS = \"$(MINE)\"", "[x][y z]"}};
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct config *config = load_one(cases[i].text);
        assert_string_equal(joined(config_list(config, "ATTRS", NULL)), cases[i].items);
        config_destroy(config);
    }
}

static void ask_unknown(void *arg)
{
    (void)config_int(arg, "NO_SUCH_KNOB");
}

static void ask_wrong_type(void *arg)
{
    (void)config_int(arg, "START");
}

static void ask_other(void *arg)
{
    (void)config_duration_s(arg, "NEGOTIATOR_INTERVAL");
}

static void ask_unknown_kind(void *arg)
{
    (void)config_section_count(arg, "site");
}

static void asking_for_what_is_not_in_the_tables_is_our_bug(void **state)
{
    (void)state;
    struct config *config = load_one("");
    void (*const asks[])(void *arg) = {ask_unknown, ask_wrong_type, ask_other, ask_unknown_kind};
    for (size_t i = 0; i < ARRAY_COUNT(asks); i++) {
        char text[512];
        assert_int_equal(death_by_abort(asks[i], config, text, sizeof(text)), 1);
        assert_non_null(strstr(text, "check failed"));
    }
    config_destroy(config);
}

/* ---- macros ---- */

static void macros_stand_for_knobs_and_for_names_of_the_user_s(void **state)
{
    (void)state;
    struct config *config =
        load_one("BackgroundLoad = 0.3\n"
                 "CPU_Idle = \"LoadAvg <= $(BackgroundLoad)\"\n"
                 "StartIdleTime = \"15 * $(MINUTE)\"\n"
                 "START = \"$(CPU_IDLE) && KeyboardIdle > $(StartIdleTime)\"\n"
                 "INTERVAL = \"$(StartIdleTime)\"\n"
                 "NOTE = \"$(HOSTNAME) $(SUBSYSTEM) $(CONFIG_ROOT) $(DOLLAR)(x) $5 $$(OpSys)\"\n");
    assert_string_equal(config_expr(config, "START"), "LoadAvg <= 0.3 && KeyboardIdle > 15 * 60");
    assert_int_equal(config_duration_s(config, "INTERVAL"), 900);
    assert_string_equal(config_string(config, "NOTE"), "wn07 STARTD /etc $(x) $5 $$(OpSys)");
    assert_string_equal(config_text(config, "startidletime"), "15 * 60");
    assert_string_equal(config_text(config, "PORT"), "9618");
    assert_null(config_text(config, "NEGOTIATOR_INTERVAL"));
    assert_null(config_text(config, "NOWHERE"));
    assert_int_equal(config_unknown_count(config), 0);
    config_destroy(config);
}

static void a_self_reference_means_the_value_before(void **state)
{
    (void)state;
    struct config *config = load_one("START = \"($(START)) && A\"\n"
                                     "START = \"($(Start)) && B\"\n"
                                     "NEW = \"$(NEW:first) second\"\n"
                                     "NEW = \"$(NEW) third\"\n"
                                     "EMPTY = \"<$(EMPTY)>\"\n"
                                     "X = 1\n"
                                     "NESTED = \"$(UNDEFINED:$(NESTED:n)) $(X)\"\n"
                                     "NOTE = \"$(NEW) $(EMPTY) $(NESTED)\"\n"
                                     "X = 2\n");
    assert_string_equal(config_expr(config, "START"), "((TRUE) && A) && B");
    assert_string_equal(config_string(config, "NOTE"), "first second third <> n 2");
    config_destroy(config);
}

static void defaults_serve_where_nothing_is_set(void **state)
{
    (void)state;
    struct config *config = load_one(
        "NOTE = \"$(A:x) $(B:) $(C:$(HOSTNAME:y)(z)) $(NOTE2:$(PORT)) $(HIBERNATE:FALSE)\"");
    assert_string_equal(config_string(config, "NOTE"), "x  wn07(z) 9618 FALSE");
    config_destroy(config);
}

static void the_environment_is_asked_only_through_the_source(void **state)
{
    (void)state;
    struct config_memory memory = {.files = {{"/etc/roost.conf",
                                              "NOTE = \"$ENV(HOME) $ENV(NONE:x)\""}},
                                   .environment = {{"HOME", "/home/me"}}};
    struct config *config = load_good(&memory);
    assert_string_equal(config_string(config, "NOTE"), "/home/me x");
    assert_true(config_reads_variable(config, "HOME", 4));
    assert_false(config_reads_variable(config, "HOM", 3));
    assert_false(config_reads_variable(config, "NONE", 4));
    config_destroy(config);
    assert_string_equal(refusal("NOTE = \"$ENV(NONE)\""),
                        "/etc/roost.conf:1: NOTE: $ENV(NONE): no such environment variable");
}

static void macros_that_lead_nowhere_are_refused(void **state)
{
    (void)state;
    assert_string_equal(refusal("\nNOTE = \"$(NOWHERE)\""),
                        "/etc/roost.conf:2: NOTE: $(NOWHERE): unknown knob or macro; $(NOWHERE:) "
                        "stands for an empty text");
    assert_string_equal(
        refusal("NOTE = \"$(PROT)\""),
        "/etc/roost.conf:1: NOTE: $(PROT): unknown knob or macro (did you mean PORT?); $(PROT:) "
        "stands for an empty text");
    assert_string_equal(refusal("NOTE = \"$(HIBERNATE)\""),
                        "/etc/roost.conf:1: NOTE: $(HIBERNATE): the knob has no value; "
                        "$(HIBERNATE:) stands for an empty text");
    assert_string_equal(refusal("NOTE = \"$(PORT\""),
                        "/etc/roost.conf:1: NOTE: '$(PORT': $( is not closed");
    assert_string_equal(refusal("NOTE = \"$(9x)\""),
                        "/etc/roost.conf:1: NOTE: '9x' is not the name of a macro ($(DOLLAR) "
                        "stands for a dollar sign)");
    assert_string_equal(
        refusal("NOTE = \"$INT(PORT)\""),
        "/etc/roost.conf:1: NOTE: unknown function $INT ($(DOLLAR) stands for a dollar sign)");
    /* The error is where the reference stands, not where it was needed. */
    assert_string_equal(
        refusal("A = \"$(B)\"\nB = \"$(C)\"\nNOTE = \"$(A)\""),
        "/etc/roost.conf:2: B: $(C): unknown knob or macro; $(C:) stands for an empty text");
}

static void the_place_of_an_error_is_its_own_after_one_that_was_passed_over(void **state)
{
    (void)state;
    assert_string_equal(refusal("MINE = \"$(ABSENT)\"\nnode a { watts = 0 }"),
                        "/etc/roost.conf:2: watts: node 'a': '0' is out of range: 1 to 5000 watts");
    assert_string_equal(refusal("MINUTE = x"),
                        "built-in value of INTERVAL: '5 * x': a number is expected");
}

static void defaults_nest_to_a_limit(void **state)
{
    (void)state;
    for (int depth = 31; depth <= 32; depth++) {
        struct strbuf text;
        strbuf_init(&text, 0);
        strbuf_puts(&text, "NOTE = \"");
        for (int i = 0; i < depth; i++) {
            strbuf_puts(&text, "$(A:");
        }
        strbuf_puts(&text, "x");
        for (int i = 0; i < depth; i++) {
            strbuf_putc(&text, ')');
        }
        strbuf_putc(&text, '"');
        if (depth == 31) {
            struct config *config = load_one(strbuf_text(&text));
            assert_string_equal(config_string(config, "NOTE"), "x");
            config_destroy(config);
        } else {
            assert_string_equal(refusal(strbuf_text(&text)),
                                "/etc/roost.conf:1: NOTE: macros refer "
                                "to one another more than 32 deep");
        }
        strbuf_fini(&text);
    }
}

static void cycles_are_named(void **state)
{
    (void)state;
    assert_string_equal(refusal("A = \"$(B)\"\nB = \"$(C)\"\nC = \"$(B)\"\nNOTE = \"$(A)\""),
                        "/etc/roost.conf:3: C: the value refers to itself: B -> C -> B");
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_puts(&text, "NOTE = \"$(M1)\"\n");
    for (int i = 1; i < 40; i++) {
        strbuf_printf(&text, "M%d = \"$(M%d)\"\n", i, i + 1);
    }
    strbuf_puts(&text, "M40 = x\n");
    assert_string_equal(refusal(strbuf_text(&text)),
                        "/etc/roost.conf:32: M31: macros refer to one another more than 32 deep");
    strbuf_fini(&text);
}

static void nothing_grows_without_limit(void **state)
{
    (void)state;
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_puts(&text, "M0 = \"0123456789\"\nNOTE = \"$(M20)\"\n");
    for (int i = 1; i <= 20; i++) {
        strbuf_printf(&text, "M%d = \"$(M%d)$(M%d)\"\n", i, i - 1, i - 1);
    }
    assert_non_null(strstr(refusal(strbuf_text(&text)), "longer than 65536 bytes after expansion"));
    strbuf_clear(&text);
    for (int i = 0; i <= 20; i++) {
        strbuf_puts(&text, "M = \"$(M:0123456789)$(M:0123456789)\"\n");
    }
    assert_non_null(strstr(refusal(strbuf_text(&text)), "M: the value is longer than 65536 bytes"));
    /* Doubling nothing costs nothing. */
    strbuf_clear(&text);
    strbuf_puts(&text, "M0 = \"\"\nNOTE = \"$(M30)\"\n");
    for (int i = 1; i <= 30; i++) {
        strbuf_printf(&text, "M%d = \"$(M%d)$(M%d)\"\n", i, i - 1, i - 1);
    }
    struct config *config = load_one(strbuf_text(&text));
    assert_string_equal(config_string(config, "NOTE"), "");
    config_destroy(config);
    strbuf_clear(&text);
    strbuf_printf(&text, "M = \"%060000d\"\n", 0);
    for (int i = 0; i < 1200; i++) {
        strbuf_printf(&text, "node n%d { when = \"$(M)\" }\n", i);
    }
    assert_non_null(strstr(refusal(strbuf_text(&text)), "larger than 67108864 bytes"));
    strbuf_clear(&text);
    for (int i = 0; i <= CONFIG_NAMES_MAX; i++) {
        strbuf_printf(&text, "M%d = x\n", i);
    }
    assert_non_null(strstr(refusal(strbuf_text(&text)), "more than 10000 names are defined"));
    strbuf_clear(&text);
    for (int i = 0; i <= CONFIG_SECTIONS_MAX; i++) {
        strbuf_printf(&text, "node n%d{}\n", i);
    }
    assert_non_null(strstr(refusal(strbuf_text(&text)), "more than 20000 sections"));
    strbuf_fini(&text);
}

static void a_macro_nobody_uses_may_be_nonsense(void **state)
{
    (void)state;
    struct config *config = load_one("MINE = \"$(NOWHERE)\"\nNOTE = x");
    assert_null(config_text(config, "MINE"));
    struct config_origin origin;
    assert_true(config_why(config, "MINE", &origin));
    assert_string_equal(origin.raw, "$(NOWHERE)");
    config_destroy(config);
}

static bool has_text(const struct config *config, const char *text)
{
    for (size_t i = 0; i < config_text_count(config); i++) {
        if (strcmp(config_text_at(config, i), text) == 0) {
            return true;
        }
    }
    return false;
}

static void texts_with_paths_are_told_of_every_daemon(void **state)
{
    (void)state;
    struct config *config = load_one("TOP = /srv\nNOTE = \"$(TOP)/note\"\nMETHOD = wol\n"
                                     "OTHER_LIST = {\"$(TOP)/hook\", plain}\n"
                                     "NEGOTIATOR.NOTE = \"$(TOP)/of_negotiator\"\n"
                                     "OTHER_ATTRS = \"$(NOWHERE)/x\"\n"
                                     "node a { dir = \"$(TOP)/node\" }\n"
                                     "site b { program = \"$(TOP)/$(TITLE)\" }\n");
    static const char *const TOLD[] = {"/srv",      "/srv/note", "/srv/hook, plain",
                                       "/srv/node", "/srv/b",    "/srv/of_negotiator"};
    for (size_t i = 0; i < ARRAY_COUNT(TOLD); i++) {
        if (!has_text(config, TOLD[i])) {
            fail_msg("not told: %s", TOLD[i]);
        }
    }
    assert_false(has_text(config, "wol"));
    assert_null(config_text(config, "OTHER_LIST")); /* another's stays another's */
    config_destroy(config);
}

UNIT_TESTS(UNIT(texts_with_paths_are_told_of_every_daemon),
           UNIT(without_any_file_text_the_table_decides), UNIT(values_of_all_types_are_read),
           UNIT(values_that_do_not_fit_their_knob_are_refused),
           UNIT(a_value_that_is_corrected_later_is_no_error),
           UNIT(lists_have_items_in_every_way_they_are_written),
           UNIT(asking_for_what_is_not_in_the_tables_is_our_bug),
           UNIT(macros_stand_for_knobs_and_for_names_of_the_user_s),
           UNIT(a_self_reference_means_the_value_before), UNIT(defaults_serve_where_nothing_is_set),
           UNIT(the_environment_is_asked_only_through_the_source),
           UNIT(macros_that_lead_nowhere_are_refused),
           UNIT(the_place_of_an_error_is_its_own_after_one_that_was_passed_over),
           UNIT(defaults_nest_to_a_limit), UNIT(cycles_are_named),
           UNIT(nothing_grows_without_limit), UNIT(a_macro_nobody_uses_may_be_nonsense))
