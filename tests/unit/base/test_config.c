/* Tests of base/config.h: layers, macros, types, sections, and what is refused with which words.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/config.h"

#include <errno.h>

#include "base/check.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "tests/support/config_memory.h"
#include "tests/support/death.h"
#include "tests/support/unit.h"

static const struct knob KNOBS[] = {
    {.name = "START", .type = KNOB_EXPR, .fallback = "TRUE", .help = "h"},
    {.name = "HIBERNATE", .type = KNOB_EXPR, .help = "h"},
    {.name = "PORT", .type = KNOB_INT, .fallback = "9618", .min = 1, .max = 65535, .help = "h"},
    {.name = "ANY_INT", .type = KNOB_INT, .fallback = "-1", .help = "h"},
    {.name = "FACTOR", .type = KNOB_REAL, .fallback = "0.5", .min = 0, .max = 1, .help = "h"},
    {.name = "ENABLED", .type = KNOB_BOOL, .fallback = "false", .help = "h"},
    {.name = "INTERVAL",
     .type = KNOB_DURATION_S,
     .fallback = "5 * $(MINUTE)",
     .min = 1,
     .max = 86400,
     .help = "h"},
    {.name = "BEAT", .type = KNOB_DURATION_MS, .fallback = "250", .help = "h"},
    {.name = "MAX_SIZE",
     .type = KNOB_SIZE_BYTES,
     .fallback = "10 MiB",
     .max = 1 << 30,
     .help = "h"},
    {.name = "ATTRS", .type = KNOB_LIST, .fallback = "Arch", .help = "h"},
    {.name = "UNSET_LIST", .type = KNOB_LIST, .help = "h"},
    {.name = "NOTE", .type = KNOB_STRING, .help = "h"},
    {.name = "METHOD",
     .type = KNOB_STRING,
     .fallback = "process",
     .choices = "process|command|wol",
     .help = "h"},
    {.name = "DIRECTORY", .type = KNOB_PATH, .fallback = "$(LOG)/d", .help = "h"},
    {.name = "UNSET_PATH", .type = KNOB_PATH, .help = "h"},
};

static const struct knob NODE_OPTIONS[] = {
    {.name = "method",
     .type = KNOB_STRING,
     .fallback = "process",
     .choices = "process|command",
     .help = "h"},
    {.name = "dir", .type = KNOB_PATH, .fallback = "$(LOG)/$(TITLE)", .help = "h"},
    {.name = "watts",
     .type = KNOB_INT,
     .fallback = "100",
     .min = 1,
     .max = 5000,
     .unit = "watts",
     .help = "h"},
    {.name = "tags", .type = KNOB_LIST, .help = "h"},
    {.name = "wake_within", .type = KNOB_DURATION_S, .fallback = "10m", .help = "h"},
    {.name = "poll", .type = KNOB_DURATION_MS, .fallback = "1s", .help = "h"},
    {.name = "share", .type = KNOB_REAL, .fallback = "0.25", .help = "h"},
    {.name = "spare", .type = KNOB_BOOL, .fallback = "no", .help = "h"},
    {.name = "disk", .type = KNOB_SIZE_BYTES, .fallback = "1G", .help = "h"},
    {.name = "when", .type = KNOB_EXPR, .fallback = "", .help = "h"},
};

static const struct knob_section SECTIONS[] = {
    {"node", NODE_OPTIONS, ARRAY_COUNT(NODE_OPTIONS), "h"}};
static const struct knob_table TABLE = {"STARTD", KNOBS, ARRAY_COUNT(KNOBS), SECTIONS, 1};

static const struct knob OTHER_KNOBS[] = {
    {.name = "NEGOTIATOR_INTERVAL", .type = KNOB_DURATION_S, .fallback = "60", .help = "h"},
    {.name = "OTHER_LIST", .type = KNOB_LIST, .fallback = "$(USED_BY_OTHER:)", .help = "h"},
    {.name = "PORT", .type = KNOB_INT, .fallback = "1", .help = "h"},
};
static const struct knob SITE_OPTIONS[] = {
    {.name = "jobs", .type = KNOB_INT, .fallback = "1", .help = "h"}};
static const struct knob_section OTHER_SECTIONS[] = {{"site", SITE_OPTIONS, 1, "h"}};
static const struct knob_table OTHER = {"NEGOTIATOR", OTHER_KNOBS, ARRAY_COUNT(OTHER_KNOBS),
                                        OTHER_SECTIONS, 1};

static int no_at_sign(void *context, const char *text, struct err *err)
{
    (void)context;
    return strchr(text, '@') ? err_set(err, -EINVAL, "'%s' is no expression", text) : 0;
}

static const struct config_macro MACROS[] = {{"HOSTNAME", "wn07"}};

static int load(struct config_memory *memory, struct config **ret, struct err *err)
{
    static const struct knob_table *const tables[] = {&TABLE, &knobs_common};
    static const struct knob_table *const others[] = {&OTHER, &knobs_common};
    const struct config_options options = {.subsystem = "STARTD",
                                           .path = "/etc/roost.conf",
                                           .tables = tables,
                                           .table_count = 2,
                                           .others = others,
                                           .other_count = 2,
                                           .macros = MACROS,
                                           .macro_count = 1,
                                           .check_expr = no_at_sign};
    const struct config_source source = config_memory_source(memory);
    return config_load(&source, &options, ret, err);
}

static struct config *load_good(struct config_memory *memory)
{
    struct config *config = NULL;
    struct err err = {""};
    int rc = load(memory, &config, &err);
    if (rc < 0) {
        fail_msg("refused: %s", err.text);
    }
    return config;
}

static struct config *load_one(const char *text)
{
    struct config_memory memory = {.files = {{"/etc/roost.conf", text}}};
    return load_good(&memory);
}

/* The message with which a file is refused. */
static const char *refusal(const char *text)
{
    static struct err err;
    struct config_memory memory = {.files = {{"/etc/roost.conf", text}}};
    struct config *config = (struct config *)&memory; /* stays as it is */
    err.text[0] = '\0';
    int rc = load(&memory, &config, &err);
    assert_true(rc < 0);
    assert_ptr_equal(config, &memory);
    return err.text;
}

static const char *joined(const char *const *items)
{
    static char text[512];
    text[0] = '\0';
    for (; *items; items++) {
        size_t used = strlen(text);
        (void)snprintf(text + used, sizeof(text) - used, "[%s]", *items);
    }
    return text;
}

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
                                     "MAX_SIZE = \"2 MiB\"\n"
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
    assert_int_equal(config_bytes(config, "MAX_SIZE"), 2 << 20);
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
                        "/etc/roost.conf:1: PORT: '': it ends where a number is expected");
    assert_string_equal(refusal("FACTOR = 1.5"),
                        "/etc/roost.conf:1: FACTOR: '1.5' is out of range: 0 to 1");
    assert_string_equal(refusal("ENABLED = perhaps"),
                        "/etc/roost.conf:1: ENABLED: 'perhaps' is neither true nor false");
    assert_string_equal(refusal("INTERVAL = 2d"),
                        "/etc/roost.conf:1: INTERVAL: '2d' is out of range: 1 to 86400 seconds");
    assert_string_equal(refusal("INTERVAL = 1500ms"),
                        "/etc/roost.conf:1: INTERVAL: '1500ms' is not a whole number of seconds");
    assert_string_equal(refusal("BEAT = -1"), "/etc/roost.conf:1: BEAT: '-1' is negative");
    assert_string_equal(refusal("MAX_SIZE = 2G"),
                        "/etc/roost.conf:1: MAX_SIZE: '2G' is out of range: 0 to 1073741824 bytes");
    assert_string_equal(refusal("METHOD = wolf"),
                        "/etc/roost.conf:1: METHOD: 'wolf' is none of process|command|wol");
    assert_string_equal(
        refusal("DIRECTORY = x/y"),
        "/etc/roost.conf:1: DIRECTORY: 'x/y' is not an absolute path ($(CONFIG_ROOT) is the "
        "directory of the shared file)");
    assert_string_equal(refusal("START = \"@\""), "/etc/roost.conf:1: START: '@' is no expression");
    assert_string_equal(refusal("ATTRS = \"a \\\"b\""),
                        "/etc/roost.conf:1: ATTRS: the item 'b' has an open quote");
    assert_string_equal(
        refusal("PORT = {1, 2}"),
        "/etc/roost.conf:1: PORT: it is not a list: only lists have several values or +=");
    assert_string_equal(
        refusal("START += x"),
        "/etc/roost.conf:1: START: it is not a list: only lists have several values or +=");
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
    config_destroy(config);
    assert_string_equal(
        refusal("NOTE = \"$ENV(NONE)\""),
        "/etc/roost.conf:1: NOTE: $ENV(NONE): the environment has no such variable");
}

static void macros_that_lead_nowhere_are_refused(void **state)
{
    (void)state;
    assert_string_equal(refusal("\nNOTE = \"$(NOWHERE)\""),
                        "/etc/roost.conf:2: NOTE: $(NOWHERE): no such knob or macro; $(NOWHERE:) "
                        "stands for nothing");
    assert_string_equal(
        refusal("NOTE = \"$(PROT)\""),
        "/etc/roost.conf:1: NOTE: $(PROT): no such knob or macro (did you mean PORT?); $(PROT:) "
        "stands for nothing");
    assert_string_equal(
        refusal("NOTE = \"$(HIBERNATE)\""),
        "/etc/roost.conf:1: NOTE: $(HIBERNATE): it is not set; $(HIBERNATE:) stands for nothing");
    assert_string_equal(refusal("NOTE = \"$(PORT\""),
                        "/etc/roost.conf:1: NOTE: '$(PORT': the $( is not closed");
    assert_string_equal(refusal("NOTE = \"$(9x)\""),
                        "/etc/roost.conf:1: NOTE: '9x' is not the name of a macro ($(DOLLAR) "
                        "stands for a dollar sign)");
    assert_string_equal(
        refusal("NOTE = \"$INT(PORT)\""),
        "/etc/roost.conf:1: NOTE: no function is called $INT ($(DOLLAR) stands for a dollar sign)");
    /* The error is where the reference stands, not where it was needed. */
    assert_string_equal(
        refusal("A = \"$(B)\"\nB = \"$(C)\"\nNOTE = \"$(A)\""),
        "/etc/roost.conf:2: B: $(C): no such knob or macro; $(C:) stands for nothing");
}

static void cycles_are_named(void **state)
{
    (void)state;
    assert_string_equal(refusal("A = \"$(B)\"\nB = \"$(C)\"\nC = \"$(B)\"\nNOTE = \"$(A)\""),
                        "/etc/roost.conf:3: C: it refers to itself: B -> C -> B");
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
    assert_non_null(strstr(refusal(strbuf_text(&text)), "more than 65536 bytes after expansion"));
    strbuf_clear(&text);
    for (int i = 0; i <= 20; i++) {
        strbuf_puts(&text, "M = \"$(M:0123456789)$(M:0123456789)\"\n");
    }
    assert_non_null(strstr(refusal(strbuf_text(&text)), "M: it has more than 65536 bytes"));
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

/* ---- layers ---- */

static void later_layers_win_and_say_so(void **state)
{
    (void)state;
    struct config_memory memory = {
        .files =
            {{"/etc/roost.conf",
              "LOCAL_CONFIG = \"conf.d /opt/last\"\nPERSISTENT_CONFIG_DIR = /persist\n"
              "NOTE = \"shared $(PORT)\"\nPORT = 1\nFACTOR = 0.1\nANY_INT = 1\nMAX_SIZE = 1\n"},
             {"/etc/conf.d/20-b.conf", "PORT = 3\nFACTOR = 0.3\n"},
             {"/etc/conf.d/10-a.conf", "PORT = 2\nFACTOR = 0.2\nATTRS += Local\nANY_INT = 2\n"},
             {"/etc/conf.d/.hidden.conf", "PORT = 9\n"},
             {"/etc/conf.d/readme", "not read {"},
             {"/opt/last", "ANY_INT = 3\n"},
             {"/persist/startd.conf", "\nANY_INT = 4\nBEAT = 7\n"}},
        .environment = {{"ROOST_BEAT", "8"},
                        {"ROOST_ATTRS", "$(ATTRS) Env"},
                        {"ROOST_MINE", "unseen"}}};
    struct config *config = load_good(&memory);
    assert_int_equal(config_int(config, "PORT"), 3);
    assert_true(config_real(config, "FACTOR") == 0.3);
    assert_int_equal(config_int(config, "ANY_INT"), 4);
    assert_int_equal(config_duration_ms(config, "BEAT"), 8);
    assert_string_equal(config_string(config, "NOTE"), "shared 3");
    assert_string_equal(joined(config_list(config, "ATTRS", NULL)), "[Arch][Local][Env]");
    const struct {
        const char *name;
        enum config_layer layer;
        const char *file;
        unsigned line;
        const char *raw;
    } origins[] = {{"ENABLED", CONFIG_BUILTIN, NULL, 0, "false"},
                   {"MAX_SIZE", CONFIG_SHARED, "/etc/roost.conf", 7, "1"},
                   {"port", CONFIG_LOCAL, "/etc/conf.d/20-b.conf", 1, "3"},
                   {"ANY_INT", CONFIG_PERSISTENT, "/persist/startd.conf", 2, "4"},
                   {"BEAT", CONFIG_ENVIRONMENT, "ROOST_BEAT", 0, "8"},
                   {"ATTRS", CONFIG_ENVIRONMENT, "ROOST_ATTRS", 0, "Arch, Local Env"}};
    for (size_t i = 0; i < ARRAY_COUNT(origins); i++) {
        struct config_origin origin;
        assert_true(config_why(config, origins[i].name, &origin));
        assert_int_equal(origin.layer, origins[i].layer);
        assert_string_equal(origin.file ? origin.file : "-",
                            origins[i].file ? origins[i].file : "-");
        assert_int_equal(origin.line, origins[i].line);
        assert_string_equal(origin.raw, origins[i].raw);
    }
    struct config_origin origin;
    assert_true(config_why(config, "UNSET_PATH", &origin));
    assert_null(origin.raw);
    assert_false(config_why(config, "MINE", &origin));
    assert_false(config_why(config, "NEGOTIATOR_INTERVAL", &origin));
    assert_string_equal(config_layer_name(CONFIG_PERSISTENT), "set at run time");
    assert_int_equal(config_file_count(config), 5);
    assert_string_equal(config_file(config, 1), "/etc/conf.d/10-a.conf");
    assert_string_equal(config_file(config, 3), "/opt/last");
    config_destroy(config);
}

static void the_environment_also_decides_which_files_are_read(void **state)
{
    (void)state;
    struct config_memory memory = {
        .files = {{"/etc/roost.conf",
                   "BASE = /a\nLOCAL_CONFIG = \"$(BASE)/local\"\ninclude(\"$(BASE)/more\")\n"},
                  {"/b/local", "PORT = 5\nLOCAL_CONFIG = ignored\n"},
                  {"/b/more", "ANY_INT = 6\n"}},
        .environment = {{"ROOST_BASE", "/b"}}};
    struct config *config = load_good(&memory);
    assert_int_equal(config_int(config, "PORT"), 5);
    assert_int_equal(config_int(config, "ANY_INT"), 6);
    assert_string_equal(config_text(config, "BASE"), "/b");
    config_destroy(config);
}

static void the_shared_file_is_found_by_argument_environment_or_habit(void **state)
{
    (void)state;
    static const struct knob_table *const tables[] = {&knobs_common};
    struct config_options options = {.tables = tables, .table_count = 1};
    struct config_memory memory = {
        .files = {{"/home/me/pool/roost.conf", "LOG = $(X)"},
                  {CONFIG_DEFAULT_PATH, "LOG = \"$(CONFIG_ROOT)/log\""}}};
    const struct config_source source = config_memory_source(&memory);
    memory.files[0].text = "LOG = \"$(CONFIG_ROOT)/log\"";
    struct config *config = NULL;
    assert_int_equal(config_load(&source, &options, &config, NULL), 0);
    assert_string_equal(config_path(config, "LOG"), "/etc/roost/log");
    config_destroy(config);
    memory.environment[0] = (struct config_memory_pair){"ROOST_CONFIG", "pool/roost.conf"};
    assert_int_equal(config_load(&source, &options, &config, NULL), 0);
    assert_string_equal(config_path(config, "LOG"), "/home/me/pool/log");
    config_destroy(config);
    options.path = CONFIG_DEFAULT_PATH;
    assert_int_equal(config_load(&source, &options, &config, NULL), 0);
    assert_string_equal(config_path(config, "LOG"), "/etc/roost/log");
    config_destroy(config);

    struct err err;
    struct config_memory nothing = {0};
    const struct config_source empty = config_memory_source(&nothing);
    options.path = NULL;
    assert_int_equal(config_load(&empty, &options, &config, &err), -ENOENT);
    assert_string_equal(err.text, "there is no /etc/roost/roost.conf: set ROOST_CONFIG to a pool's "
                                  "configuration, or make a pool with 'roost init'");
    options.path = "/nowhere.conf";
    assert_int_equal(config_load(&empty, &options, &config, &err), -ENOENT);
    assert_string_equal(err.text, "/nowhere.conf: no such file");
    struct config_source rooted = empty;
    rooted.absolute = NULL;
    options.path = "x.conf";
    assert_int_equal(config_load(&rooted, &options, &config, &err), -EINVAL);
    assert_string_equal(err.text, "x.conf: give the whole path");
}

static void refusals_name_the_layer_at_fault(void **state)
{
    (void)state;
    struct config *config = NULL;
    struct err err;
    struct config_memory memory = {.files = {{"/etc/roost.conf", "LOCAL_CONFIG = none.conf"}}};
    assert_int_equal(load(&memory, &config, &err), -ENOENT);
    assert_string_equal(err.text, "LOCAL_CONFIG: /etc/none.conf: no such file");
    memory = (struct config_memory){.files = {{"/etc/roost.conf", ""}},
                                    .environment = {{"ROOST_PORT", "x"}}};
    assert_int_equal(load(&memory, &config, &err), -EINVAL);
    assert_string_equal(err.text, "environment variable ROOST_PORT: 'x': a number is expected");
    memory.environment[0].text = "$(";
    assert_int_equal(load(&memory, &config, &err), -EINVAL);
    assert_string_equal(err.text, "environment variable ROOST_PORT: '$(': the $( is not closed");
    memory = (struct config_memory){.files = {{"/etc/roost.conf", "PERSISTENT_CONFIG_DIR = /p"},
                                              {"/p/startd.conf", "PORT = "}}};
    assert_int_equal(load(&memory, &config, &err), -EINVAL);
    assert_string_equal(err.text, "/p/startd.conf:1: the file ends where a value should be");
    memory = (struct config_memory){
        .files = {{"/etc/roost.conf", "LOCAL_CONFIG = d"}, {"/etc/d/a.conf", "PORT = 0"}}};
    assert_int_equal(load(&memory, &config, &err), -ERANGE);
    assert_string_equal(err.text, "/etc/d/a.conf:1: PORT: '0' is out of range: 1 to 65535");
}

static void includes_are_relative_to_their_file_and_bounded(void **state)
{
    (void)state;
    struct config_memory memory = {
        .files = {{"/etc/roost.conf", "PORT = 1\ninclude(\"sub/a.conf\")\nANY_INT = \"$(PORT)\""},
                  {"/etc/sub/a.conf", "include(b.conf)\nPORT = 3"},
                  {"/etc/sub/b.conf", "PORT = 2\nNOTE = b"}}};
    struct config *config = load_good(&memory);
    assert_int_equal(config_int(config, "ANY_INT"), 3);
    assert_string_equal(config_string(config, "NOTE"), "b");
    assert_int_equal(config_file_count(config), 3);
    config_destroy(config);
    assert_string_equal(refusal("\ninclude(\"none.conf\")"),
                        "/etc/roost.conf:2: include: /etc/none.conf: no such file");
    assert_non_null(
        strstr(refusal("include(\"roost.conf\")"), "files include one another more than 10 deep"));
    assert_string_equal(refusal("include(\"$(NOWHERE)\")"),
                        "/etc/roost.conf:1: include: $(NOWHERE): no such knob or macro; "
                        "$(NOWHERE:) stands for nothing");
}

static void a_file_that_is_too_large_is_refused(void **state)
{
    (void)state;
    struct strbuf text;
    strbuf_init(&text, 0);
    while (text.length <= CONFIG_FILE_MAX) {
        strbuf_puts(&text, "# a comment that fills the file\n");
    }
    assert_string_equal(refusal(strbuf_text(&text)), "/etc/roost.conf: more than 1048576 bytes");
    strbuf_fini(&text);
}

/* ---- sections ---- */

static void sections_are_merged_over_files_and_typed(void **state)
{
    (void)state;
    struct config_memory memory = {
        .files = {{"/etc/roost.conf", "LOCAL_CONFIG = local.conf\nW = 20\n"
                                      "node \"wn01\" { watts = \"5 * $(W)\" tags = a }\n"
                                      "node wn02 {}\n"
                                      "node \"wn01\" { tags += \"b, c\" spare = yes }\n"},
                  {"/etc/local.conf",
                   "node wn01 { method = COMMAND wake_within = \"$(MINUTE)\" poll = 20 }\n"
                   "node wn03 { share = 0.5 disk = 2G when = \"x > $(W)\" dir = /d }\n"}}};
    struct config *config = load_good(&memory);
    assert_int_equal(config_section_count(config, "node"), 3);
    assert_int_equal(config_section_count(config, "NODE"), 3);
    const struct config_section *node = config_section_at(config, "node", 0);
    assert_string_equal(section_title(node), "wn01");
    assert_int_equal(section_int(node, "watts"), 100);
    size_t count = 0;
    assert_string_equal(joined(section_list(node, "tags", &count)), "[a][b][c]");
    assert_int_equal(count, 3);
    assert_string_equal(section_string(node, "method"), "command");
    assert_string_equal(section_path(node, "dir"), "/var/log/roost/wn01");
    assert_int_equal(section_duration_s(node, "wake_within"), 60);
    assert_int_equal(section_duration_ms(node, "poll"), 20);
    assert_true(section_bool(node, "spare"));
    assert_null(section_expr(node, "when"));
    node = config_section_find(config, "node", "wn03");
    assert_true(section_real(node, "share") == 0.5);
    assert_int_equal(section_bytes(node, "disk"), INT64_C(2) << 30);
    assert_string_equal(section_expr(node, "when"), "x > 20");
    assert_string_equal(section_path(node, "dir"), "/d");
    node = config_section_find(config, "node", "wn02");
    assert_int_equal(section_int(node, "watts"), 100);
    assert_string_equal(joined(section_list(node, "tags", NULL)), "");
    assert_null(config_section_find(config, "node", "WN02"));
    config_destroy(config);
}

static void options_of_sections_are_checked(void **state)
{
    (void)state;
    assert_string_equal(
        refusal("node a {\n methd = wol }"),
        "/etc/roost.conf:2: node 'a': methd: no such option of a section 'node' (did you mean "
        "method?)");
    assert_string_equal(refusal("node a { x = 1 }"),
                        "/etc/roost.conf:1: node 'a': x: no such option of a section 'node'");
    assert_string_equal(refusal("node a { watts = 0 }"),
                        "/etc/roost.conf:1: watts: node 'a': '0' is out of range: 1 to 5000 watts");
    assert_string_equal(refusal("node a { watts = \"$(ABSENT)\" }"),
                        "/etc/roost.conf:1: watts: node 'a': $(ABSENT): no such knob or macro; "
                        "$(ABSENT:) stands for "
                        "nothing");
    assert_string_equal(
        refusal("M = \"$(ABSENT)\"\nnode a { watts = \"$(M)\" }"),
        "/etc/roost.conf:1: M: $(ABSENT): no such knob or macro; $(ABSENT:) stands for nothing");
    assert_string_equal(
        refusal("node a { method = \"$(METHOD)x\" }"),
        "/etc/roost.conf:1: method: node 'a': 'processx' is none of process|command");
    assert_string_equal(refusal("node a { watts += 1 }"),
                        "/etc/roost.conf:1: node 'a': watts: it is not a list: "
                        "only lists have several values or +=");
    assert_string_equal(
        refusal("node a { dir = \"$(TITLE)\" }"),
        "/etc/roost.conf:1: dir: node 'a': 'a' is not an absolute path ($(CONFIG_ROOT) is the "
        "directory of the shared file)");
}

/* ---- what is unknown ---- */

static void unknown_names_are_reported_with_the_nearest_known_one(void **state)
{
    (void)state;
    struct config *config = load_one("STRAT = TRUE\n"
                                     "MINE = 1\n"
                                     "USED = 2\nNOTE = \"$(used)\"\n"
                                     "USED_IN_VAIN = 3\nNOTE = \"$(USED_IN_VAIN) "
                                     "$(X:$(USED_DEEP))\"\nX = 1\nUSED_DEEP = 4\nNOTE = x\n"
                                     "USED_BY_OTHER = 5\nUSED_BY_SITE = 6\n"
                                     "NEGOTIATOR_INTERVAL = nonsense\n"
                                     "NEGOTIATOR_INTERVALL = 1\n"
                                     "site a { jobs = \"$(USED_BY_SITE)\" }\n"
                                     "noed wn01 { x = \"$(Y)\" }\n"
                                     "Y = 1\n"
                                     "flock b { }\n");
    assert_int_equal(config_unknown_count(config), 5);
    assert_string_equal(config_unknown(config, 0),
                        "/etc/roost.conf:15: unknown section 'noed' (did you mean node?)");
    assert_string_equal(config_unknown(config, 1), "/etc/roost.conf:17: unknown section 'flock'");
    assert_string_equal(config_unknown(config, 2),
                        "/etc/roost.conf:1: unknown knob 'STRAT' (did you mean START?)");
    assert_string_equal(config_unknown(config, 3), "/etc/roost.conf:2: unknown knob 'MINE'");
    assert_string_equal(config_unknown(config, 4),
                        "/etc/roost.conf:13: unknown knob 'NEGOTIATOR_INTERVALL' (did "
                        "you mean NEGOTIATOR_INTERVAL?)");
    config_destroy(config);
}

static void a_walk_lists_our_knobs_and_the_user_s_macros(void **state)
{
    (void)state;
    struct config *config = load_one("MINE = 1\nPORT = 2\nOTHER_LIST = x\n");
    size_t at = 0, knobs = 0, macros = 0;
    const char *name = NULL;
    const struct knob *knob = NULL;
    while (config_next(config, &at, &name, &knob)) {
        if (knob) {
            assert_string_equal(name, knob->name);
            assert_int_equal(macros, 0);
            knobs++;
        } else {
            assert_string_equal(name, "MINE");
            macros++;
        }
    }
    assert_int_equal(knobs, ARRAY_COUNT(KNOBS) + knobs_common.knob_count);
    assert_int_equal(macros, 1);
    config_destroy(config);
}

static void every_type_has_a_name(void **state)
{
    (void)state;
    for (int type = KNOB_STRING; type <= KNOB_LIST; type++) {
        assert_true(strlen(knob_type_name((enum knob_type)type)) > 3);
    }
    assert_string_equal(knob_type_name(KNOB_DURATION_MS), "duration");
}

UNIT_TESTS(UNIT(without_any_file_text_the_table_decides), UNIT(values_of_all_types_are_read),
           UNIT(values_that_do_not_fit_their_knob_are_refused),
           UNIT(a_value_that_is_corrected_later_is_no_error),
           UNIT(lists_have_items_in_every_way_they_are_written),
           UNIT(asking_for_what_is_not_in_the_tables_is_our_bug),
           UNIT(macros_stand_for_knobs_and_for_names_of_the_user_s),
           UNIT(a_self_reference_means_the_value_before), UNIT(defaults_serve_where_nothing_is_set),
           UNIT(the_environment_is_asked_only_through_the_source),
           UNIT(macros_that_lead_nowhere_are_refused), UNIT(cycles_are_named),
           UNIT(nothing_grows_without_limit), UNIT(a_macro_nobody_uses_may_be_nonsense),
           UNIT(later_layers_win_and_say_so),
           UNIT(the_environment_also_decides_which_files_are_read),
           UNIT(the_shared_file_is_found_by_argument_environment_or_habit),
           UNIT(refusals_name_the_layer_at_fault),
           UNIT(includes_are_relative_to_their_file_and_bounded),
           UNIT(a_file_that_is_too_large_is_refused),
           UNIT(sections_are_merged_over_files_and_typed), UNIT(options_of_sections_are_checked),
           UNIT(unknown_names_are_reported_with_the_nearest_known_one),
           UNIT(a_walk_lists_our_knobs_and_the_user_s_macros), UNIT(every_type_has_a_name))
